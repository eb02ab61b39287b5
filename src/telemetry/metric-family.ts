/** Metrics in prom-client's format for transfer, aggregation and rendering. */

/** Sample labels. INVARIANT: the values come from short lists in our code, and never from a request. */
export type Labels = Readonly<Record<string, string | number>>;

/** Value with labels. */
export interface MetricSample {
	readonly labels: Labels;
	readonly value: number;
	/** Name for a histogram sample, if it differs from the family name. */
	readonly metricName?: string;
}

/** Aggregation across processes for values with the same name and labels. */
type Aggregator = 'sum' | 'min' | 'max' | 'average' | 'first' | 'omit';

/** All samples with the same name. */
export interface MetricFamily {
	readonly name: string;
	readonly help: string;
	readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
	readonly aggregator: Aggregator;
	readonly values: readonly MetricSample[];
}

/** Metrics from a process, or from several processes combined. */
export type MetricFamilies = readonly MetricFamily[];

export function sample(value: number, labels: Labels = {}): MetricSample {
	return { labels, value };
}

/** Returns a metric whose value only grows during the process lifetime. */
export function counter(name: string, help: string, values: readonly MetricSample[]): MetricFamily {
	return { name, help, type: 'counter', aggregator: 'sum', values };
}

/** Returns a metric whose value goes up and down. */
export function gauge(
	name: string,
	help: string,
	values: readonly MetricSample[],
	aggregator: Aggregator = 'sum',
): MetricFamily {
	return { name, help, type: 'gauge', aggregator, values };
}
