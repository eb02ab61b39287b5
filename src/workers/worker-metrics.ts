import type { MetricFamily } from '../telemetry/metric-family.js';
import { addFamilies } from '../telemetry/render-families.js';

type Families = readonly MetricFamily[];

/** How long a worker may take to tell its numbers, in milliseconds: after that, those it told last stand for them. */
const patience = 2_000;

/** The numbers of all workers of a decision point, those that ended included: what was counted is not forgotten. */
export class WorkerMetrics {
	readonly #last = new Map<number, Families>();
	readonly #waiting = new Map<number, () => void>();
	/** What workers that ended had counted, of what only grows. */
	#ended: Families = [];
	#ending: Promise<void> = Promise.resolve();

	/** Asks these workers, by their ids, and resolves to the numbers of each and of those that ended. */
	async collect(workers: readonly number[], ask: (worker: number) => void): Promise<readonly Families[]> {
		await Promise.all(workers.map((worker) => this.#answer(worker, () => ask(worker))));
		await this.#ending;
		return [this.#ended, ...this.#last.values()];
	}

	/** Takes the numbers that a worker told. */
	take(worker: number, families: Families): void {
		this.#last.set(worker, families);
		this.#waiting.get(worker)?.();
	}

	/** Keeps what a worker that ended had counted when it was last asked. */
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
