/** JSON values in conditions: kinds, equality, order, and access by names. */

import { isObject } from '../json.js';
import { canonicalText } from '../json-writer.js';
import type { Json } from '../model.js';

export type Kind = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

export function jsonKind(value: Json): Kind {
	if (value === null) {
		return 'null';
	}
	// JSON has no other types.
	return Array.isArray(value) ? 'array' : (typeof value as Exclude<Kind, 'null' | 'array'>);
}

/** Greatest absolute value for whole numbers. Every JSON parser reads numbers up to this value exactly. */
export const greatestWhole = Number.MAX_SAFE_INTEGER;

/** True if a value contains, at any depth, a number beyond `greatestWhole`. A parser may have rounded such a number. */
export function isInexact(value: Json): boolean {
	if (typeof value === 'number') {
		return Math.abs(value) > greatestWhole;
	}
	return typeof value === 'object' && value !== null && Object.values(value).some(isInexact);
}

/** Compares values as JSON: field order has no meaning, and a number never equals a string. */
export function equal(left: Json, right: Json): boolean {
	// Only arrays and objects can be equal without being identical.
	if (left === right || !isNested(left) || !isNested(right)) return left === right;
	return Array.isArray(left) === Array.isArray(right) && canonicalText(left) === canonicalText(right);
}

/** Returns an array's items; none for any other value. */
export function arrayItems(value: Json): readonly Json[] {
	return Array.isArray(value) ? value : [];
}

/** A set of JSON values. */
export interface Values {
	readonly has: (value: Json) => boolean;
}

/** Returns an array's items as a set, for lookups without a scan. */
export function valueSet(value: Json): Values {
	const plain = new Set<Json>();
	const nested = new Set<string>();
	for (const item of arrayItems(value)) {
		if (isNested(item)) nested.add(canonicalText(item));
		else plain.add(item);
	}
	return { has: (item) => (isNested(item) ? nested.has(canonicalText(item)) : plain.has(item)) };
}

function isNested(value: Json): boolean {
	return typeof value === 'object' && value !== null;
}

/**
 * Returns a negative number, zero or a positive number if `left` comes before, with or after `right`. Orders strings by
 * code points.
 */
export function compareValues(left: Json, right: Json): number {
	if (typeof left === 'string' && typeof right === 'string') {
		return byCodePoint(left, right);
	}
	return Number(left) - Number(right);
}

/** Looks up the field at a path. Returns `undefined` if the field is missing or null. */
export function lookUp(value: Json | undefined, path: readonly string[]): Json | undefined {
	let found = value;
	for (const name of path) {
		found = ownMember(found, name);
	}
	return found ?? undefined;
}

/** Reads only own fields, never inherited properties. */
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

/**
 * Ranks a code unit by code point order. Surrogates encode the highest code points, but other code units have greater
 * numbers.
 */
function codePointRank(unit: number): number {
	if (unit < 0xd800) {
		return unit;
	}
	return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
