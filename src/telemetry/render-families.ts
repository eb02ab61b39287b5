import type { Registry } from 'prom-client';
import type { MetricFamily } from './metric-family.js';

/** Numbers of one process. */
type Families = readonly MetricFamily[];

/** The content type of what `renderFamilies` makes: Prometheus's text format. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

/** The numbers of some processes as one text, each added up as its family says. */
export async function renderFamilies(processes: readonly Families[]): Promise<string> {
	return (await aggregate(processes)).metrics();
}

/** The numbers of some processes as those of one. */
export async function addFamilies(processes: readonly Families[]): Promise<Families> {
	// As in `processFamilies`.
	return (await (await aggregate(processes)).getMetricsAsJSON()) as unknown as Families;
}

/** prom-client is loaded by the first who asks: a start does not wait for it. */
async function aggregate(processes: readonly Families[]): Promise<Registry> {
	const { AggregatorRegistry } = await import('prom-client');
	return AggregatorRegistry.aggregate(processes.map((families) => [...families]));
}
