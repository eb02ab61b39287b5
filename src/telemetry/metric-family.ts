/** Numbers with one name, in the shape in which prom-client hands them on, adds them up and renders them. */

/** The labels of a number. INVARIANT: their values are from short lists of ours, and never come from a request. */
export type Labels = Readonly<Record<string, string | number>>;

/** One number of a family. */
export interface MetricSample {
	readonly labels: Labels;
	readonly value: number;
	/** Its own name, in a histogram, where it is not that of the family. */
	readonly metricName?: string;
}

/** How the numbers that several processes give under one name and labels become one. */
export type Aggregator = 'sum' | 'min' | 'max' | 'average' | 'first' | 'omit';

/** All numbers of one name. */
export interface MetricFamily {
	readonly name: string;
	readonly help: string;
	readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
	readonly aggregator: Aggregator;
	readonly values: readonly MetricSample[];
}

/** A number with its labels. */
export function sample(value: number, labels: Labels = {}): MetricSample {
	return { labels, value };
}

/** What only grows while the process lives. */
export function counter(name: string, help: string, values: readonly MetricSample[]): MetricFamily {
	return { name, help, type: 'counter', aggregator: 'sum', values };
}

/** What is as it is now. */
export function gauge(
	name: string,
	help: string,
	values: readonly MetricSample[],
	aggregator: Aggregator = 'sum',
): MetricFamily {
	return { name, help, type: 'gauge', aggregator, values };
}
