/** SQL text with gaps for values. Only this module and the dialects create it, so user text never becomes code. */

import { Pauses, type Steps } from '../../../compiler/steps.js';

/** A value in a gap. A list is a single parameter. */
export type SqlValue = string | number | readonly string[];

export interface SqlText {
	/** Code, gaps and strings, in order. */
	readonly pieces: readonly SqlPiece[];
}

type SqlPiece = { readonly code: string } | { readonly value: SqlValue } | SqlText;

/** Template for SQL. An interpolated string, number or list becomes a value; `SqlText` stays code. */
export function sql(template: TemplateStringsArray, ...parts: readonly (SqlText | SqlValue)[]): SqlText {
	const pieces: SqlPiece[] = [{ code: template.raw[0] ?? '' }];
	for (const [index, part] of parts.entries()) {
		pieces.push(isSqlText(part) ? part : { value: part }, { code: template.raw[index + 1] ?? '' });
	}
	return { pieces };
}

/** SQL without values. The text must not contain user text, except in quoted identifiers. */
export function code(text: string): SqlText {
	return { pieces: [{ code: text }] };
}

export function joinSql(parts: readonly SqlText[], separator: string): SqlText {
	return { pieces: parts.flatMap((part, index) => (index === 0 ? [part] : [{ code: separator }, part])) };
}

/** Returns the text, with the results of `write` in its gaps. Calls `write` in the order of the gaps. */
export function* fillGaps(text: SqlText, write: (value: SqlValue) => string): Steps<string> {
	const written = { text: '' };
	yield* fill(text, written, write, new Pauses());
	return written.text;
}

function* fill(
	{ pieces }: SqlText,
	written: { text: string },
	write: (value: SqlValue) => string,
	pauses: Pauses,
): Steps<void> {
	for (const piece of pieces) {
		if (pauses.step()) yield;
		if ('pieces' in piece) yield* fill(piece, written, write, pauses);
		else written.text += 'code' in piece ? piece.code : write(piece.value);
	}
}

function isSqlText(part: SqlText | SqlValue): part is SqlText {
	return typeof part === 'object' && 'pieces' in part;
}
