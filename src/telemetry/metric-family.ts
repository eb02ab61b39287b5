/** Metrics, in the shape in which prom-client passes them on, aggregates them and renders them. */

/** The labels of a sample. INVARIANT: their values are from short lists of ours, and never come from a request. */
export type Labels = Readonly<Record<string, string | number>>;

/** One value of a family. */
export interface MetricSample {
	readonly labels: Labels;
	readonly value: number;
	/** In a histogram: the name of this sample, which differs from that of the family. */
	readonly metricName?: string;
}

/** How values of several processes with the same name and labels are combined. */
type Aggregator = 'sum' | 'min' | 'max' | 'average' | 'first' | 'omit';

/** All samples of one name. */
export interface MetricFamily {
	readonly name: string;
	readonly help: string;
	readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
	readonly aggregator: Aggregator;
	readonly values: readonly MetricSample[];
}

/** The metrics of one process, or of several processes combined. */
export type MetricFamilies = readonly MetricFamily[];

/** A value with its labels. */
export function sample(value: number, labels: Labels = {}): MetricSample {
	return { labels, value };
}

/** A value that only grows while the process lives. */
export function counter(name: string, help: string, values: readonly MetricSample[]): MetricFamily {
	return { name, help, type: 'counter', aggregator: 'sum', values };
}

/** A value that goes up and down. */
export function gauge(
	name: string,
	help: string,
	values: readonly MetricSample[],
	aggregator: Aggregator = 'sum',
): MetricFamily {
	return { name, help, type: 'gauge', aggregator, values };
}
