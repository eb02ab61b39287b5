import type { MetricFamilies } from '../telemetry/metric-family.js';
import { addFamilies } from '../telemetry/render-families.js';

/** Maximum time in milliseconds to wait for a worker's metrics. After this time, the worker's last metrics are used. */
const patience = 2_000;

/** Metrics from all decision point workers. Keeps the counts from ended workers. */
export class WorkerMetrics {
	readonly #last = new Map<number, MetricFamilies>();
	readonly #waiting = new Map<number, () => void>();
	/** Sum of counters and histograms from ended workers. */
	#ended: MetricFamilies = [];
	#ending: Promise<void> = Promise.resolve();

	/**
	 * Asks the workers with these ids for their metrics. Resolves to the metrics from each worker and from ended
	 * workers.
	 */
	async collect(workers: readonly number[], ask: (worker: number) => void): Promise<readonly MetricFamilies[]> {
		await Promise.all(workers.map((worker) => this.#answer(worker, () => ask(worker))));
		await this.#ending;
		return [this.#ended, ...this.#last.values()];
	}

	/** Stores a worker's metrics. */
	take(worker: number, families: MetricFamilies): void {
		this.#last.set(worker, families);
		this.#waiting.get(worker)?.();
	}

	/** Keeps the last counts from an ended worker. */
	end(worker: number): void {
		const last = this.#last.get(worker);
		this.#last.delete(worker);
		this.#waiting.get(worker)?.();
		if (last === undefined) return;
		const counted = last.filter(({ type }) => type === 'counter' || type === 'histogram');
		this.#ending = this.#ending.then(async () => {
			this.#ended = await addFamilies([this.#ended, counted]);
		});
	}

	#answer(worker: number, ask: () => void): Promise<void> {
		return new Promise((resolve) => {
			const before = this.#waiting.get(worker);
			const done = () => {
				clearTimeout(timer);
				this.#waiting.delete(worker);
				before?.();
				resolve();
			};
			const timer = setTimeout(done, patience);
			this.#waiting.set(worker, done);
			ask();
		});
	}
}
