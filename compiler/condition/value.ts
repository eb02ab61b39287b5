/** JSON values as conditions see them: of one kind, equal, in order, and led into by names. */
import { canonicalText } from '../json-writer.js';
import type { Json } from '../model.js';
import { isObject } from './shown.js';

/** What a JSON value is. */
export type Kind = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

/** The kind of a value. */
export function kindOf(value: Json): Kind {
	if (value === null) {
		return 'null';
	}
	// JSON knows no other types.
	return Array.isArray(value) ? 'array' : (typeof value as Exclude<Kind, 'null' | 'array'>);
}

/** The greatest whole number, either way, that every reader of JSON keeps apart from the next one. */
export const greatestWhole = Number.MAX_SAFE_INTEGER;

/** Whether a value is, or holds at any depth, a whole number beyond the greatest: it may stand for another one. */
export function isInexact(value: Json): boolean {
	if (typeof value === 'number') {
		return Math.abs(value) > greatestWhole;
	}
	return typeof value === 'object' && value !== null && Object.values(value).some(isInexact);
}

/** Whether two values are equal as JSON: the order of members carries no meaning, and a number is never its text. */
export function equal(left: Json, right: Json): boolean {
	return left === right || (kindOf(left) === kindOf(right) && canonicalText(left) === canonicalText(right));
}

/** The items of an array; of anything else, none. */
export function itemsOf(value: Json): readonly Json[] {
	return Array.isArray(value) ? value : [];
}

/** Values to be looked for. */
export interface Values {
	has(value: Json): boolean;
}

/** The items of an array as a set: looking for one does not go through all. */
export function valueSet(value: Json): Values {
	const texts = new Set(itemsOf(value).map(canonicalText));
	return { has: (item) => texts.has(canonicalText(item)) };
}

/** Below, at or above zero, as `left` comes before, with or after `right`. Texts are in the order of code points. */
export function order(left: Json, right: Json): number {
	if (typeof left === 'string' && typeof right === 'string') {
		return byCodePoint(left, right);
	}
	return Number(left) - Number(right);
}

/** What is found in a value by names, one after another: `undefined` when it is missing, which null is too. */
export function lookUp(value: Json, path: readonly string[]): Json | undefined {
	let found: Json | undefined = value;
	for (const name of path) {
		found = memberOf(found, name);
	}
	return found ?? undefined;
}

/** Own members alone: nothing of a value is found that JSON did not say. */
function memberOf(value: Json | undefined, name: string): Json | undefined {
	return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function byCodePoint(left: string, right: string): number {
	for (let index = 0; index < left.length && index < right.length; index += 1) {
		const difference = rank(left.charCodeAt(index)) - rank(right.charCodeAt(index));
		if (difference !== 0) {
			return difference;
		}
	}
	return left.length - right.length;
}

/** Halves of pairs stand for code points above all others, though their numbers are lower than some. */
function rank(unit: number): number {
	if (unit < 0xd800) {
		return unit;
	}
	return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
