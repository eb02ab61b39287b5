import { Fragment, rego } from './rego.js';

/** Nested Rego objects and arrays, written on several lines. The leaves are code. */
export type Table = Fragment | Members | Items;

/** An object as a list of pairs. In this form every key is a field, even `__proto__`. */
export interface Members {
	readonly members: readonly (readonly [key: string, value: Table])[];
}

export interface Items {
	readonly items: readonly Table[];
}

/** Writes a table in `opa fmt` layout, with one field or item per line. */
export function table(value: Table, indent = ''): Fragment {
	if (value instanceof Fragment) {
		return value;
	}
	const inner = `${indent}\t`;
	const rows =
		'items' in value
			? value.items.map((item) => `${inner}${table(item, inner).text},\n`)
			: value.members.map(([key, member]) => `${inner}${rego`${key}`.text}: ${table(member, inner).text},\n`);
	const [open, close] = 'items' in value ? '[]' : '{}';
	return new Fragment(rows.length === 0 ? `${open}${close}` : `${open}\n${rows.join('')}${indent}${close}`);
}

/** Writes keys as a set, on a single line. */
export function keySet(keys: readonly string[]): Fragment {
	const members = keys.map((key) => rego`${key}`.text).join(', ');
	return new Fragment(members === '' ? 'set()' : `{${members}}`);
}
