/**
 * Single flight: concurrent calls with the same name share a result. The shared work starts only after every sharing
 * caller has called, so a result is never older than the call.
 */
export class SingleFlight<T> {
	readonly #asked = new Map<string, Flight<T>>();

	/**
	 * Returns the result of `work` for this name. If several callers wait, settles with the result of the first waiting
	 * caller's `work`.
	 */
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
	/** Resolves when the running work has ended, whether it succeeded or failed. */
	readonly over: Promise<void>;
	/** Result for callers that called after the work began. */
	next: Promise<T> | undefined;
}

function nothing(): void {}
