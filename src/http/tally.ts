/** Counts running tasks and signals when none is left. */
export class Tally {
	#count = 0;
	#waiting: (() => void)[] = [];

	add(): void {
		this.#count += 1;
	}

	remove(): void {
		this.#count -= 1;
		if (this.#count > 0) return;
		for (const resolve of this.#waiting.splice(0)) resolve();
	}

	/** Resolves when no task is running. */
	none(): Promise<void> {
		return new Promise((resolve) => {
			if (this.#count === 0) resolve();
			else this.#waiting.push(resolve);
		});
	}
}
