import { type MetricSample, sample } from './metric-family.js';

/**
 * Counts events by a word from a short list. All words begin with the count 0, so a rate computed by the monitoring
 * system includes the first event.
 */
export class WordCounts<Word extends string> {
	readonly #counts: Map<Word, number>;

	constructor(words: readonly Word[]) {
		this.#counts = new Map(words.map((word) => [word, 0]));
	}

	add(word: Word): void {
		this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
	}

	/** Returns the counts. Each sample has its word as the value of this label. */
	samples(label: string): readonly MetricSample[] {
		return [...this.#counts].map(([word, count]) => sample(count, { [label]: word }));
	}
}
