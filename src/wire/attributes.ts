import type { z } from 'zod';
import { mostProblems } from './bounded.js';
import { Attributes } from './common.js';

/**
 * Attributes that conditions compare: of users, tenants and resource instances, stored or sent with a check, and the
 * context of a check. They are bounded, so that no check takes long, whoever shapes them (decision 26).
 */

/** The most values that attributes hold at all depths, objects and arrays among them. */
export const mostValues = 10_000;

/** The most members that one object has: the engine compares objects in time quadratic in their members. */
export const mostMembers = 500;

/** The most text that attributes hold, names of members among it, in UTF-16 code units. */
export const mostText = 65_536;

const bounds =
	`At most ${mostValues} values at all depths, ${mostMembers} members in one object, and ${mostText} characters of text ` +
	'and names.';

/** Attributes to store: bounded, and without whole numbers that readers of JSON round. */
export const ComparedAttributes = Attributes.superRefine((value, ctx) => {
	if (!refuseTooLarge(value, ctx)) refuseInexact(value, ctx);
}).meta({ type: 'object', additionalProperties: true, description: bounds });

/** Notes that attributes are too large, at the object that is. Returns whether they are. */
export function refuseTooLarge(value: unknown, ctx: z.RefinementCtx): boolean {
	const problem = excessIn(value);
	if (problem !== null) ctx.addIssue({ code: 'custom', ...problem });
	return problem !== null;
}

type Path = (string | number)[];

function excessIn(value: unknown): { readonly message: string; readonly path: Path } | null {
	const found = { values: 0, text: 0 };
	for (const { path, inner } of everythingIn(value)) {
		found.values += 1;
		if (typeof inner === 'string') found.text += inner.length;
		else if (isPlainObject(inner)) {
			const names = Object.keys(inner);
			if (names.length > mostMembers)
				return { message: `must not have more than ${mostMembers} members`, path: path() };
			for (const name of names) found.text += name.length;
		}
		if (found.values > mostValues) return { message: `must not hold more than ${mostValues} values`, path: [] };
		if (found.text > mostText) return { message: `must not hold more than ${mostText} characters of text`, path: [] };
	}
	return null;
}

function refuseInexact(value: unknown, ctx: z.RefinementCtx): void {
	let told = 0;
	for (const { path, inner } of everythingIn(value)) {
		if (typeof inner !== 'number' || !Number.isFinite(inner) || Math.abs(inner) <= Number.MAX_SAFE_INTEGER) continue;
		const message = `must not be beyond ${Number.MAX_SAFE_INTEGER} either way, where readers of JSON round: use a string`;
		ctx.addIssue({ code: 'custom', message, path: path(), input: inner });
		told += 1;
		if (told === mostProblems) return;
	}
}

interface Found {
	readonly inner: unknown;
	/** Made only for those who ask. */
	path(): Path;
}

/** A value and all that is in it, one by one: whoever has seen enough stops. The server bounds the depth before. */
function* everythingIn(inner: unknown, path: () => Path = () => []): Generator<Found> {
	yield { inner, path };
	if (typeof inner !== 'object' || inner === null) return;
	if (Array.isArray(inner)) {
		for (const [index, item] of inner.entries()) yield* everythingIn(item, () => [...path(), index]);
	} else {
		for (const [name, member] of Object.entries(inner)) yield* everythingIn(member, () => [...path(), name]);
	}
}

function isPlainObject(value: unknown): value is object {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
