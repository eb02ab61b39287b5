/** Reads JSON objects as tables. Any key may be a field, even a name inherited by every JavaScript object. */

import type { Json } from '../../../compiler/model.js';

/** Returns the fields of a value; an empty list if the value is not an object. */
export function jsonMembers(value: Json | undefined): readonly (readonly [string, Json])[] {
	return isTable(value) ? Object.entries(value) : [];
}

/** Returns a field of a value; `undefined` if the value is not an object or lacks the key. */
export function jsonMember(value: Json | undefined, key: string): Json | undefined {
	return isTable(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

export function valueAt(value: Json | undefined, ...path: readonly string[]): Json | undefined {
	return path.reduce(jsonMember, value);
}

/**
 * Returns the value with the part at a path replaced or removed. Setting a value creates missing tables on the path.
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
