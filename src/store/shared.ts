/**
 * Lets those who ask the same while it is being found out share one answer, which is looked for only after each of them
 * asked: so nobody gets one that was out of date when they came.
 */
export class Shared<T> {
	readonly #asked = new Map<string, Question<T>>();

	/** The answer that `work` finds to what goes by this name. Settles as the `work` of the first who waits for it does. */
	ask(name: string, work: () => Promise<T>): Promise<T> {
		const running = this.#asked.get(name);
		if (running === undefined) return this.#start(name, work);
		running.next ??= running.over.then(() => this.#start(name, work));
		return running.next;
	}

	#start(name: string, work: () => Promise<T>): Promise<T> {
		const answer = work();
		const question: Question<T> = { over: answer.then(nothing, nothing), next: undefined };
		this.#asked.set(name, question);
		void question.over.then(() => {
			if (question.next === undefined) this.#asked.delete(name);
		});
		return answer;
	}
}

interface Question<T> {
	/** Resolves when the running work has ended, however it ended. */
	readonly over: Promise<void>;
	/** What those share who have asked since that began. */
	next: Promise<T> | undefined;
}

function nothing(): void {}
