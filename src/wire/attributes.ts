import { z } from 'zod';
import { maxProblems } from './bounded.js';
import { type JsonObject, refuseUnstorable } from './common.js';

/**
 * Attributes for conditions: user, tenant and instance attributes, whether stored or sent with a check, and the check
 * context. The limits keep every check fast, regardless of the attributes' source (docs/develop/limits.md).
 */

/** Maximum number of values at all depths together, including objects and arrays. */
export const maxValues = 10_000;

/** Maximum number of fields per object. The engine compares objects in quadratic time. */
export const maxMembers = 500;

/** Maximum total string length, including field names, in UTF-16 code units. */
export const maxText = 65_536;

const bounds =
	`At most ${maxValues} values at all depths, ${maxMembers} fields in one object, and ${maxText} characters of text ` +
	'and names.';

/** Attributes to store. Their size is limited. Integers that JSON parsers would round are rejected. */
export const ComparedAttributes = z
	.custom<JsonObject>()
	.superRefine((value, ctx) => {
		// Check the size first. Walking a value within the limit is cheap.
		if (refuseTooLarge(value, ctx)) return;
		refuseUnstorable(value, ctx);
		refuseInexact(value, ctx);
	})
	.meta({ type: 'object', additionalProperties: true, description: bounds });

/**
 * Reports attributes that are too large, with the path of the object that exceeds a limit. Returns true if there is a
 * problem.
 */
export function refuseTooLarge(value: unknown, ctx: z.RefinementCtx): boolean {
	const problem = excess(value);
	if (problem !== null) ctx.addIssue({ code: 'custom', ...problem });
	return problem !== null;
}

type Path = (string | number)[];

function excess(value: unknown): { readonly message: string; readonly path: Path } | null {
	const found = { values: 0, text: 0 };
	for (const { path, inner } of nestedValues(value)) {
		found.values += 1;
		if (typeof inner === 'string') found.text += inner.length;
		else if (isPlainObject(inner)) {
			const names = Object.keys(inner);
			if (names.length > maxMembers) return { message: `must not have more than ${maxMembers} fields`, path: path() };
			for (const name of names) found.text += name.length;
		}
		if (found.values > maxValues) return { message: `must not contain more than ${maxValues} values`, path: [] };
		if (found.text > maxText) return { message: `must not contain more than ${maxText} characters of text`, path: [] };
	}
	return null;
}

function refuseInexact(value: unknown, ctx: z.RefinementCtx): void {
	let reported = 0;
	for (const { path, inner } of nestedValues(value)) {
		if (typeof inner !== 'number' || !Number.isFinite(inner) || Math.abs(inner) <= Number.MAX_SAFE_INTEGER) continue;
		const message = `must be from -${Number.MAX_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}, because JSON parsers round larger numbers: use a string`;
		ctx.addIssue({ code: 'custom', message, path: path(), input: inner });
		reported += 1;
		if (reported === maxProblems) return;
	}
}

interface NestedValue {
	readonly inner: unknown;
	/** Returns the path. It is computed only on request. */
	path(): Path;
}

/**
 * Yields a value and all values nested in it, one by one, so the caller can stop early. The server has already limited
 * the depth.
 */
function* nestedValues(inner: unknown, path: () => Path = () => []): Generator<NestedValue> {
	yield { inner, path };
	if (typeof inner !== 'object' || inner === null) return;
	if (Array.isArray(inner)) {
		for (const [index, item] of inner.entries()) yield* nestedValues(item, () => [...path(), index]);
	} else {
		for (const [name, member] of Object.entries(inner)) yield* nestedValues(member, () => [...path(), name]);
	}
}

function isPlainObject(value: unknown): value is object {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
