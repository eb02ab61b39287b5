import { installProgram } from './debian.mjs';

/**
 * Finds the installed Prometheus for dashboard and alert rule tests, or installs Debian's Prometheus, which includes
 * `promtool`.
 * @param {(detail: string) => void} say
 */
export function providePrometheus(say) {
	return installProgram({ names: ['prometheus'], package: 'prometheus', variable: 'PROMETHEUS_PATH' }, say);
}
