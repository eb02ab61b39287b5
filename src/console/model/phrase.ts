import { visibleText } from './visible-text.js';

/**
 * A piece of a sentence: words, the key of a thing (a user, a tenant, an instance), or a name of the schema or a value,
 * which are written as code.
 */
export type Phrase = string | { readonly key: string } | { readonly name: string };

/** A sentence as plain text, with names of the schema in backticks. */
export function phraseText(phrases: readonly Phrase[]): string {
	return phrases
		.map((phrase) => {
			if (typeof phrase === 'string') return phrase;
			return 'key' in phrase ? visibleText(phrase.key) : `\`${visibleText(phrase.name)}\``;
		})
		.join('');
}

/** A sentence of a decision point, which has keys and names in backticks. */
export function reasonPhrases(reason: string): readonly Phrase[] {
	const pieces = reason.split('`');
	// With a key that has a backtick itself, nobody can tell which of them end it.
	if (pieces.length % 2 === 0) return [visibleText(reason)];
	return pieces.map((piece, index) => (index % 2 === 0 ? visibleText(piece) : { key: piece }));
}
