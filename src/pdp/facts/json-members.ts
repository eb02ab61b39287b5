/** JSON objects as tables of members. Any key may be a member, also one that every JavaScript object inherits. */

import type { Json } from '../../../compiler/model.js';

/** The members of a value; none when it is not an object. */
export function jsonMembers(value: Json | undefined): readonly (readonly [string, Json])[] {
	return isTable(value) ? Object.entries(value) : [];
}

/** One member of a value; `undefined` when it is not an object or has no such key. */
export function jsonMember(value: Json | undefined, key: string): Json | undefined {
	return isTable(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The value at a path of members. */
export function valueAt(value: Json | undefined, ...path: readonly string[]): Json | undefined {
	return path.reduce(jsonMember, value);
}

/**
 * The value with its part at a path replaced, or removed. Missing tables on the path are created when a value is put
 * there.
 */
export function replaceAt(whole: Json | undefined, path: readonly string[], value: Json | undefined): Json | undefined {
	const [key, ...below] = path;
	if (key === undefined) return value;
	if (value === undefined && jsonMember(whole, key) === undefined) return whole;
	const inner = replaceAt(jsonMember(whole, key), below, value);
	const others = jsonMembers(whole).filter(([other]) => other !== key);
	return Object.fromEntries(inner === undefined ? others : [...others, [key, inner]]);
}

function isTable(value: Json | undefined): value is { readonly [member: string]: Json } {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
