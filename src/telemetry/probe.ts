import { setTimeout as sleep } from 'node:timers/promises';

/** How long who asks waits for the answer of now, in milliseconds. */
const patience = 1_000;
/** How long the answer before counts while the next one does not come, in milliseconds: what is busy is not gone. */
const trust = 30_000;

/** Tells whether something works. Who asks soon has an answer, however long that something takes. */
export class Probe {
	#asking: Promise<void> | undefined;
	#last: { readonly works: boolean; readonly at: number } | undefined;

	/** `ask` says that it does not by `false`, or by rejecting. */
	constructor(
		private readonly ask: () => Promise<unknown>,
		private readonly now: () => number = () => performance.now(),
		private readonly wait = patience,
	) {}

	/** Whether it works. Calls meanwhile share one question. */
	async works(): Promise<boolean> {
		this.#asking ??= this.#ask();
		const answered = new AbortController();
		const tooLong = sleep(this.wait, undefined, { signal: answered.signal }).catch(() => undefined);
		await Promise.race([this.#asking, tooLong]).finally(() => answered.abort());
		const last = this.#last;
		return last?.works === true && this.now() - last.at < trust;
	}

	async #ask(): Promise<void> {
		const works = (await this.ask().catch(() => false)) !== false;
		this.#last = { works, at: this.now() };
		this.#asking = undefined;
	}
}
