/** Error when a wait is abandoned. Its name is the standard name on the web platform. */
class Abandoned extends Error {
	override readonly name = 'AbortError';
}

/** A set of event listeners. */
export class Listeners<T> {
	readonly #listeners = new Set<(value: T) => void>();

	add(listener: (value: T) => void): void {
		this.#listeners.add(listener);
	}

	remove(listener: (value: T) => void): void {
		this.#listeners.delete(listener);
	}

	/** Calls all current listeners. */
	tell(value: T): void {
		for (const listener of [...this.#listeners]) listener(value);
	}

	/** Resolves with the next value. Rejects with an `AbortError` if the signal aborts. */
	next(signal?: AbortSignal): Promise<T> {
		return new Promise((resolve, reject) => {
			const end = () => {
				this.remove(hear);
				signal?.removeEventListener('abort', abort);
			};
			const hear = (value: T) => {
				end();
				resolve(value);
			};
			const abort = () => {
				end();
				reject(new Abandoned('no caller is waiting', { cause: signal?.reason }));
			};
			this.add(hear);
			signal?.addEventListener('abort', abort);
			if (signal?.aborted) abort();
		});
	}
}
