import { provideProgram } from './debian.mjs';

/**
 * Finds the machine's Prometheus, for the test of the dashboard and of the alert rules, or installs Debian's, which also
 * brings `promtool`.
 * @param {(detail: string) => void} say
 */
export function providePrometheus(say) {
	return provideProgram({ names: ['prometheus'], package: 'prometheus', variable: 'PROMETHEUS_PATH' }, say);
}
