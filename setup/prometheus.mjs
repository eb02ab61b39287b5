import { installProgram } from './debian.mjs';

/**
 * Finds the Prometheus of the machine, for the tests of the dashboard and of the alert rules, or installs the one of Debian,
 * which includes `promtool`.
 * @param {(detail: string) => void} say
 */
export function providePrometheus(say) {
	return installProgram({ names: ['prometheus'], package: 'prometheus', variable: 'PROMETHEUS_PATH' }, say);
}
