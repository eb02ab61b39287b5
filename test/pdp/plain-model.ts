import fc from 'fast-check';
import type { Patch } from '../../compiler/model.js';
import { anyCodePoint } from '../support/any-code-point.js';

/** Plain values. Objects have no prototype, so that any key is allowed. */
export type Model = { [key: string]: unknown };

const isObject = (value: unknown): value is Model =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

function emptyModel(): Model {
	return Object.create(null) as Model;
}

/** Patches the model as specified by `Patch`. If the patch has no meaning, returns false and changes nothing. */
export function patchModel(model: Model, patch: Patch): boolean {
	const parents = patch.path.slice(0, -1);
	const last = patch.path.at(-1) ?? '';
	let at = model;
	for (const key of parents) {
		if (!(key in at)) {
			if (patch.op === 'remove') return true;
			break;
		}
		const next = at[key];
		if (!isObject(next)) return false;
		at = next;
	}
	at = model;
	for (const key of parents) {
		at[key] ??= emptyModel();
		const next = at[key];
		if (isObject(next)) at = next;
	}
	if (patch.op === 'upsert') at[last] = ownCopy(patch.value);
	else delete at[last];
	return true;
}

/** Copies a value to `Model` form. */
export function ownCopy(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(ownCopy);
	if (!isObject(value)) return value;
	const copy = emptyModel();
	for (const [key, inner] of Object.entries(value)) copy[key] = ownCopy(inner);
	return copy;
}

/** Returns a value as JSON with sorted members. */
export function sorted(value: unknown): string {
	if (Array.isArray(value)) return `[${value.map(sorted).join()}]`;
	if (!isObject(value)) return JSON.stringify(value);
	const members = Object.keys(value).sort();
	return `{${members.map((key) => `${JSON.stringify(key)}:${sorted(value[key])}`).join()}}`;
}

/** Keys: inherited member names, strings with characters to escape, and random strings. */
export const key = fc.oneof(
	fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor', '', '0', 'a/b', '~', 'key of more than sixteen bytes é'),
	fc.string({ unit: anyCodePoint, maxLength: 80 }),
);
/** Any JSON value. */
export const value = fc.oneof(
	fc.jsonValue({ maxDepth: 3, stringUnit: anyCodePoint }),
	fc.constantFrom(null, true, false, {}, [], 0),
);
