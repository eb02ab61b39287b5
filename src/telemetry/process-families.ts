import type { Registry } from 'prom-client';
import type { MetricFamilies } from './metric-family.js';

/** Node.js process metrics: CPU time, memory, garbage collection, event loop delay. */

let registry: Promise<Registry> | undefined;

/**
 * Returns the metrics for this process. Measuring begins on the first call and costs nothing until then. The event loop
 * delay covers the time since the last call.
 */
export async function processFamilies(): Promise<MetricFamilies> {
	registry ??= begin();
	const measured = await (await registry).getMetricsAsJSON();
	// prom-client declares the family type as an enumeration number, but it is a word.
	return (measured as unknown as MetricFamilies).map((family) =>
		// prom-client's default aggregator would omit this metric, even with a single process.
		family.name === 'process_start_time_seconds' ? { ...family, aggregator: 'min' } : family,
	);
}

async function begin(): Promise<Registry> {
	const { collectDefaultMetrics, Registry } = await import('prom-client');
	const made = new Registry();
	collectDefaultMetrics({ register: made });
	return made;
}
