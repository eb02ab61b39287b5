import { isJsonObject, type Json } from '../json.js';

/**
 * A computed role's expression as three lists of role keys: a user needs every role in the first list, any role in the
 * second list, and no role in the third list.
 */
export interface ComputedRole {
	readonly all: readonly string[];
	readonly any: readonly string[];
	readonly none: readonly string[];
}

export const emptyComputedRole: ComputedRole = { all: [], any: [], none: [] };

/** Reads an expression (docs/policy/computed-roles.md). Returns `null` if the lists cannot express it. */
export function readComputedRole(expression: Json): ComputedRole | null {
	const parts: readonly Json[] =
		isJsonObject(expression) && Object.keys(expression).length === 1 && Array.isArray(expression['allOf'])
			? expression['allOf']
			: [expression];
	let found = emptyComputedRole;
	for (const part of parts) {
		if (typeof part === 'string') {
			found = { ...found, all: [...found.all, part] };
			continue;
		}
		const [[name, inner] = ['', null], ...others] = isJsonObject(part) ? Object.entries(part) : [];
		if (others.length > 0) return null;
		if (name === 'not' && typeof inner === 'string') found = { ...found, none: [...found.none, inner] };
		else if (name === 'anyOf' && found.any.length === 0 && isTexts(inner)) found = { ...found, any: inner };
		else return null;
	}
	return found;
}

function isTexts(value: Json): value is readonly string[] {
	return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string');
}

export function writeComputedRole({ all, any, none }: ComputedRole): Json {
	return { allOf: [...all, ...(any.length > 0 ? [{ anyOf: any }] : []), ...none.map((not) => ({ not }))] };
}

/** Returns the problem with an expression; `null` if it can be saved. */
export function computedRoleProblem({ all, any }: ComputedRole): string | null {
	return all.length + any.length > 0 ? null : 'A computed role needs at least one role that users must have.';
}
