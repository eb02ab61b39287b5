/** Makes work of one name follow each other, in the order it came; work of different names runs side by side. */
export class Turns {
	readonly #last = new Map<string, Promise<unknown>>();

	/** Runs `work` when all that came before it under this name has ended, however it ended. Settles as `work` does. */
	async take<T>(name: string, work: () => Promise<T>): Promise<T> {
		const before = this.#last.get(name) ?? Promise.resolve();
		const run = before.then(work);
		const ended = run.then(
			() => {},
			() => {},
		);
		this.#last.set(name, ended);
		try {
			return await run;
		} finally {
			if (this.#last.get(name) === ended) this.#last.delete(name);
		}
	}
}
