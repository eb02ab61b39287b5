/** JSON values as conditions see them: kinds, equality, order, and access by names. */

import { isObject } from '../json.js';
import { canonicalText } from '../json-writer.js';
import type { Json } from '../model.js';

/** What a JSON value is. */
export type Kind = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

/** The kind of a value. */
export function jsonKind(value: Json): Kind {
	if (value === null) {
		return 'null';
	}
	// JSON knows no other types.
	return Array.isArray(value) ? 'array' : (typeof value as Exclude<Kind, 'null' | 'array'>);
}

/** The greatest whole number, either way, that every JSON parser keeps apart from the next one. */
export const greatestWhole = Number.MAX_SAFE_INTEGER;

/** Whether a value is, or holds at any depth, a number beyond the greatest: a parser may have rounded it. */
export function isInexact(value: Json): boolean {
	if (typeof value === 'number') {
		return Math.abs(value) > greatestWhole;
	}
	return typeof value === 'object' && value !== null && Object.values(value).some(isInexact);
}

/** Whether two values are equal as JSON: the order of members carries no meaning, and a number is never its text. */
export function equal(left: Json, right: Json): boolean {
	return left === right || (jsonKind(left) === jsonKind(right) && canonicalText(left) === canonicalText(right));
}

/** The items of an array; of anything else, none. */
export function arrayItems(value: Json): readonly Json[] {
	return Array.isArray(value) ? value : [];
}

/** Values to be looked for. */
export interface Values {
	has(value: Json): boolean;
}

/** The items of an array as a set: looking for one does not go through all. */
export function valueSet(value: Json): Values {
	const texts = new Set(arrayItems(value).map(canonicalText));
	return { has: (item) => texts.has(canonicalText(item)) };
}

/** Negative, zero or positive, as `left` comes before, with or after `right`. Texts are ordered by code points. */
export function compareValues(left: Json, right: Json): number {
	if (typeof left === 'string' && typeof right === 'string') {
		return byCodePoint(left, right);
	}
	return Number(left) - Number(right);
}

/** Follows names into a value, one after another. `undefined` when nothing is there, or null. */
export function lookUp(value: Json, path: readonly string[]): Json | undefined {
	let found: Json | undefined = value;
	for (const name of path) {
		found = ownMember(found, name);
	}
	return found ?? undefined;
}

/** Own members only, so that nothing inherited is ever found. */
function ownMember(value: Json | undefined, name: string): Json | undefined {
	return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function byCodePoint(left: string, right: string): number {
	for (let index = 0; index < left.length && index < right.length; index += 1) {
		const difference = codePointRank(left.charCodeAt(index)) - codePointRank(right.charCodeAt(index));
		if (difference !== 0) {
			return difference;
		}
	}
	return left.length - right.length;
}

/** Surrogates encode the highest code points, yet some code units are greater than they are. */
function codePointRank(unit: number): number {
	if (unit < 0xd800) {
		return unit;
	}
	return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
