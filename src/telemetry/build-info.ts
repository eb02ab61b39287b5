import { gauge, type MetricFamily, sample } from './metric-family.js';

/** Returns the metric with component and version. */
export function buildInfo(component: 'api' | 'pdp', version: string): MetricFamily {
	return gauge(
		'regolith_build_info',
		'What runs, and of which version: always 1',
		[sample(1, { component, version })],
		'first',
	);
}
