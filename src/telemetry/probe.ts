import { valueInTime } from '../limit/value-in-time.js';

/** How long a caller waits for a new answer, in milliseconds. */
const patience = 3_000;
/** How long the last answer holds while a new one is outstanding, in milliseconds. */
const trust = 30_000;

/** Tells whether something works. A caller has an answer soon, however slow that something is. */
export class Probe {
	#asking: Promise<void> | undefined;
	#last: { readonly works: boolean; readonly at: number } | undefined;

	/** `ask` resolves to `false` or rejects when it does not work. */
	constructor(
		private readonly ask: () => Promise<unknown>,
		private readonly now: () => number = () => performance.now(),
		private readonly wait = patience,
	) {}

	/** Whether it works. Calls at the same time share one question. */
	async works(): Promise<boolean> {
		this.#asking ??= this.#ask();
		await valueInTime(this.#asking, this.wait, undefined);
		const last = this.#last;
		return last?.works === true && this.now() - last.at < trust;
	}

	async #ask(): Promise<void> {
		const works = (await this.ask().catch(() => false)) !== false;
		this.#last = { works, at: this.now() };
		this.#asking = undefined;
	}
}
