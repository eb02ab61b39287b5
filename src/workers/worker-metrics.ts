import type { MetricFamilies } from '../telemetry/metric-family.js';
import { addFamilies } from '../telemetry/render-families.js';

/** How long a worker may take to send its metrics, in milliseconds. After that, the ones it sent last are used. */
const patience = 2_000;

/** The metrics of all workers of a decision point. The counts of workers that have ended are kept. */
export class WorkerMetrics {
	readonly #last = new Map<number, MetricFamilies>();
	readonly #waiting = new Map<number, () => void>();
	/** The counters and histograms of workers that have ended, added up. */
	#ended: MetricFamilies = [];
	#ending: Promise<void> = Promise.resolve();

	/** Asks the workers with these ids. Resolves to the metrics of each, and of those that have ended. */
	async collect(workers: readonly number[], ask: (worker: number) => void): Promise<readonly MetricFamilies[]> {
		await Promise.all(workers.map((worker) => this.#answer(worker, () => ask(worker))));
		await this.#ending;
		return [this.#ended, ...this.#last.values()];
	}

	/** Takes the metrics that a worker sent. */
	take(worker: number, families: MetricFamilies): void {
		this.#last.set(worker, families);
		this.#waiting.get(worker)?.();
	}

	/** Keeps the counts that a worker which has ended sent last. */
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
