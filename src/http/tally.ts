/** Counts what is under way, and tells when nothing is. */
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

	/** Resolves as soon as nothing is under way. */
	none(): Promise<void> {
		return new Promise((resolve) => {
			if (this.#count === 0) resolve();
			else this.#waiting.push(resolve);
		});
	}
}
