/**
 * Single flight: concurrent callers with the same question share an answer. Its work starts only after each caller has
 * asked, so no answer is older than its question.
 */
export class SingleFlight<T> {
	readonly #asked = new Map<string, Flight<T>>();

	/** Returns the answer from `work` for this name. Settles like the `work` given by the first waiting caller. */
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
	/** Resolves when the running work has ended, with or without success. */
	readonly over: Promise<void>;
	/** Answer for callers that asked after the work began. */
	next: Promise<T> | undefined;
}

function nothing(): void {}
