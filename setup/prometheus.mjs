import { installProgram } from './debian.mjs';

/**
 * Finds Prometheus, for tests of the dashboard and the alert rules. If it is not installed, installs Debian's package,
 * which includes `promtool`.
 * @param {(detail: string) => void} say
 */
export function providePrometheus(say) {
	return installProgram({ names: ['prometheus'], package: 'prometheus', variable: 'PROMETHEUS_PATH' }, say);
}
