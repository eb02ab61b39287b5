import { valueInTime } from '../limit/value-in-time.js';

/** Maximum time in milliseconds to wait for a new result. */
const patience = 3_000;
/** Validity of the last result while a new check is running, in milliseconds. */
const trust = 30_000;

/** Checks whether a dependency works. Returns quickly, even if the dependency is slow. */
export class Probe {
	#asking: Promise<void> | undefined;
	#last: { readonly works: boolean; readonly at: number } | undefined;

	/** `ask` resolves to `false` or rejects if the dependency does not work. */
	constructor(
		private readonly ask: () => Promise<unknown>,
		private readonly now: () => number = () => performance.now(),
		private readonly wait = patience,
	) {}

	/** Returns true if the dependency works. Concurrent calls share a check. */
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
