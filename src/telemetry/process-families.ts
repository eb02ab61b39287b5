import type { Registry } from 'prom-client';
import type { MetricFamily } from './metric-family.js';

/** What Node.js tells of a process: processor time, memory, garbage, the delay of its event loop. */

let registry: Promise<Registry> | undefined;

/**
 * The numbers of this process. It begins to measure when it is first asked, so that nobody pays who does not ask. The
 * delay of the event loop is that since the last time.
 */
export async function processFamilies(): Promise<readonly MetricFamily[]> {
	registry ??= begin();
	const measured = await (await registry).getMetricsAsJSON();
	// prom-client types the kind of a family as the number of an enumeration; it is the word.
	return (measured as unknown as readonly MetricFamily[]).map((family) =>
		// Left out otherwise, even where there is only one process.
		family.name === 'process_start_time_seconds' ? { ...family, aggregator: 'min' } : family,
	);
}

async function begin(): Promise<Registry> {
	const { collectDefaultMetrics, Registry } = await import('prom-client');
	const made = new Registry();
	collectDefaultMetrics({ register: made });
	return made;
}
