import type { Labels, MetricFamily, MetricSample } from './metric-family.js';

/** Bucket upper bounds in seconds: from a check in memory to a waiting feed request. */
const bounds = [
	0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
] as const;

/** Counts durations in buckets. Uses plain numbers, because every check is counted. */
export class Durations {
	/** Counts per bucket. The last bucket is for durations above all bounds. */
	readonly #counts = new Float64Array(bounds.length + 1);
	#sum = 0;

	/** Counts a duration in seconds. */
	add(seconds: number): void {
		let bucket = 0;
		while (seconds > (bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
		this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
		this.#sum += seconds;
	}

	/** Returns the histogram samples: cumulative bucket counts, sum and count. */
	samples(name: string, labels: Labels): readonly MetricSample[] {
		let count = 0;
		const buckets = [...bounds, '+Inf'].map((le, index) => {
			count += this.#counts[index] ?? 0;
			return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
		});
		return [
			...buckets,
			{ metricName: `${name}_sum`, labels, value: this.#sum },
			{ metricName: `${name}_count`, labels, value: count },
		];
	}
}

/** Returns a duration histogram with a series per label set. */
export function histogram(
	name: string,
	help: string,
	durations: Iterable<readonly [labels: Labels, durations: Durations]>,
): MetricFamily {
	const values = [...durations].flatMap(([labels, one]) => one.samples(name, labels));
	return { name, help, type: 'histogram', aggregator: 'sum', values };
}
