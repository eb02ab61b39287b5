import { gauge, type MetricFamily, sample } from './metric-family.js';

export function buildInfo(component: 'api' | 'pdp', version: string): MetricFamily {
	return gauge(
		'regolith_build_info',
		'Running component and version: always 1',
		[sample(1, { component, version })],
		'first',
	);
}
