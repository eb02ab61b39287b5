/** SQL text with gaps for values. Only this module and the dialects create it, so user text never becomes code. */

/** A value in a gap. A list is a single parameter. */
export type SqlValue = string | number | readonly string[];

export interface SqlText {
	/** Code around the values; one more than there are values. */
	readonly code: readonly string[];
	readonly values: readonly SqlValue[];
}

/** Template for SQL. An interpolated string, number or list becomes a value; `SqlText` stays code. */
export function sql(template: TemplateStringsArray, ...parts: readonly (SqlText | SqlValue)[]): SqlText {
	const code: string[] = [template.raw[0] ?? ''];
	const values: SqlValue[] = [];
	for (const [index, part] of parts.entries()) {
		if (isSqlText(part)) append(code, values, part);
		else {
			values.push(part);
			code.push('');
		}
		code.push(`${code.pop() ?? ''}${template.raw[index + 1] ?? ''}`);
	}
	return { code, values };
}

/** SQL without values. The text must not contain user text, except in quoted identifiers. */
export function code(text: string): SqlText {
	return { code: [text], values: [] };
}

export function joinSql(parts: readonly SqlText[], separator: string): SqlText {
	const joined: string[] = [''];
	const values: SqlValue[] = [];
	for (const [index, part] of parts.entries()) {
		if (index > 0) joined.push(`${joined.pop() ?? ''}${separator}`);
		append(joined, values, part);
	}
	return { code: joined, values };
}

/** Joins a text, with the result of `write` in its gaps. */
export function fillGaps({ code: parts, values }: SqlText, write: (value: SqlValue) => string): string {
	const [first = '', ...others] = parts;
	return values.reduce((text: string, value, index) => `${text}${write(value)}${others[index] ?? ''}`, first);
}

function append(codes: string[], values: SqlValue[], part: SqlText): void {
	const [first = '', ...others] = part.code;
	codes.push(`${codes.pop() ?? ''}${first}`);
	// A call has too few arguments for the texts of a large filter.
	for (const other of others) codes.push(other);
	for (const value of part.values) values.push(value);
}

function isSqlText(part: SqlText | SqlValue): part is SqlText {
	return typeof part === 'object' && 'code' in part;
}
