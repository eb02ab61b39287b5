/**
 * Single flight: callers that ask the same thing at the same time share one answer. Its work starts only after each of
 * them has asked, so nobody gets an answer that was out of date when they asked.
 */
export class SingleFlight<T> {
	readonly #asked = new Map<string, Flight<T>>();

	/** The answer that `work` finds for this name. Settles as the `work` of the first caller that waits for it does. */
	share(name: string, work: () => Promise<T>): Promise<T> {
		const running = this.#asked.get(name);
		if (running === undefined) return this.#start(name, work);
		running.next ??= running.over.then(() => this.#start(name, work));
		return running.next;
	}

	#start(name: string, work: () => Promise<T>): Promise<T> {
		const answer = work();
		const question: Flight<T> = { over: answer.then(nothing, nothing), next: undefined };
		this.#asked.set(name, question);
		void question.over.then(() => {
			if (question.next === undefined) this.#asked.delete(name);
		});
		return answer;
	}
}

interface Flight<T> {
	/** Resolves when the running work has ended, however it ended. */
	readonly over: Promise<void>;
	/** The answer for callers that have asked since the work began. */
	next: Promise<T> | undefined;
}

function nothing(): void {}
