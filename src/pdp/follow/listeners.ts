/** The reason when nobody waits any more. Its name is the web's. */
class Abandoned extends Error {
	override readonly name = 'AbortError';
}

/** Those who want to know of something: any number of functions, each called whenever it happens. */
export class Listeners<T> {
	readonly #listeners = new Set<(value: T) => void>();

	add(listener: (value: T) => void): void {
		this.#listeners.add(listener);
	}

	remove(listener: (value: T) => void): void {
		this.#listeners.delete(listener);
	}

	/** Tells all who listen now. */
	tell(value: T): void {
		for (const listener of [...this.#listeners]) listener(value);
	}

	/** Resolves with what is told next; rejects with an `AbortError` when the signal aborts. */
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
				reject(new Abandoned('nobody waits any more', { cause: signal?.reason }));
			};
			this.add(hear);
			signal?.addEventListener('abort', abort);
			if (signal?.aborted) abort();
		});
	}
}
