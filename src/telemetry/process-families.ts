import type { Registry } from 'prom-client';
import type { MetricFamilies } from './metric-family.js';

/** The metrics that Node.js has of a process: processor time, memory, garbage collection, the delay of its event loop. */

let registry: Promise<Registry> | undefined;

/**
 * The metrics of this process. Measuring begins with the first call, so that it costs nothing where nobody asks. The delay
 * of the event loop is that since the last call.
 */
export async function processFamilies(): Promise<MetricFamilies> {
	registry ??= begin();
	const measured = await (await registry).getMetricsAsJSON();
	// prom-client declares the type of a family as the number of an enumeration, but it is a word.
	return (measured as unknown as MetricFamilies).map((family) =>
		// Its own aggregator leaves it out, even where there is only one process.
		family.name === 'process_start_time_seconds' ? { ...family, aggregator: 'min' } : family,
	);
}

async function begin(): Promise<Registry> {
	const { collectDefaultMetrics, Registry } = await import('prom-client');
	const made = new Registry();
	collectDefaultMetrics({ register: made });
	return made;
}
