import type { Registry } from 'prom-client';
import type { MetricFamilies } from './metric-family.js';

/** Content type for `renderFamilies`: the Prometheus format. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

/** Renders the metrics from several processes as text. Each family is combined by its aggregator. */
export async function renderFamilies(processes: readonly MetricFamilies[]): Promise<string> {
	return (await aggregate(processes)).metrics();
}

/** Combines the metrics from several processes. */
export async function addFamilies(processes: readonly MetricFamilies[]): Promise<MetricFamilies> {
	// The cast is needed for the same reason as in `processFamilies`.
	return (await (await aggregate(processes)).getMetricsAsJSON()) as unknown as MetricFamilies;
}

/** The first call loads prom-client, so startup does not wait for it. */
async function aggregate(processes: readonly MetricFamilies[]): Promise<Registry> {
	const { AggregatorRegistry } = await import('prom-client');
	return AggregatorRegistry.aggregate(processes.map((families) => [...families]));
}
