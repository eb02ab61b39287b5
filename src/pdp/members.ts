/** JSON objects as tables of members: any key may be one, also those that every JavaScript object has. */

import type { Json } from '../../compiler/model.js';

/** The members of a value; none when it is no object. */
export function membersOf(value: Json | undefined): readonly (readonly [string, Json])[] {
	return isTable(value) ? Object.entries(value) : [];
}

/** One member of a value; `undefined` when it is no object or has none of that key. */
export function memberOf(value: Json | undefined, key: string): Json | undefined {
	return isTable(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** What stands at a path of members. */
export function valueAt(value: Json | undefined, ...path: readonly string[]): Json | undefined {
	return path.reduce(memberOf, value);
}

/** The value with another one, or none, at a path; tables on the way are made where one is put. */
export function replacedAt(
	whole: Json | undefined,
	path: readonly string[],
	value: Json | undefined,
): Json | undefined {
	const [key, ...below] = path;
	if (key === undefined) return value;
	if (value === undefined && memberOf(whole, key) === undefined) return whole;
	const inner = replacedAt(memberOf(whole, key), below, value);
	const others = membersOf(whole).filter(([other]) => other !== key);
	return Object.fromEntries(inner === undefined ? others : [...others, [key, inner]]);
}

function isTable(value: Json | undefined): value is { readonly [member: string]: Json } {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
