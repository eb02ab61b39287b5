import { visibleText } from './visible-text.js';

/**
 * Part of a sentence. It is plain words, the key of an object (a user, a tenant, an instance), or a name or value from
 * the schema. Schema names and values are displayed as code.
 */
export type Phrase = string | { readonly key: string } | { readonly name: string };

/** Formats a sentence as plain text, with schema names in backticks. */
export function phraseText(phrases: readonly Phrase[]): string {
	return phrases
		.map((phrase) => {
			if (typeof phrase === 'string') return phrase;
			return 'key' in phrase ? visibleText(phrase.key) : `\`${visibleText(phrase.name)}\``;
		})
		.join('');
}

/** Parses a sentence from a decision point. Keys and names in it are in backticks. */
export function reasonPhrases(reason: string): readonly Phrase[] {
	const pieces = reason.split('`');
	// If a key contains a backtick, its end is ambiguous.
	if (pieces.length % 2 === 0) return [visibleText(reason)];
	return pieces.map((piece, index) => (index % 2 === 0 ? visibleText(piece) : { key: piece }));
}
