import { type MetricSample, sample } from './metric-family.js';

/** Counts events by a word from a short list. All words begin at 0, so a rate sees the first event. */
export class WordCounts<Word extends string> {
	readonly #counts: Map<Word, number>;

	constructor(words: readonly Word[]) {
		this.#counts = new Map(words.map((word) => [word, 0]));
	}

	add(word: Word): void {
		this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
	}

	/** Returns the counts, with the word under this label. */
	samples(label: string): readonly MetricSample[] {
		return [...this.#counts].map(([word, count]) => sample(count, { [label]: word }));
	}
}
