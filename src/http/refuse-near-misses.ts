import { z } from 'zod';
import { unprocessable } from '../failure.js';

/** Minimum parameter name length for near misses. Shorter names are too similar to each other. */
const minLength = 4;

/**
 * Rejects misspelled list parameters, because an ignored filter would return too many objects. Ignores all other
 * unknown names, because clients send filters that lists do not have. Throws `unprocessable`.
 */
export function refuseNearMisses(schema: z.ZodType, query: object): void {
	const known = parameterNames(schema);
	if (!known.includes('page')) return;
	const problems = Object.keys(query).flatMap((name) => {
		const meant = known.includes(name) ? undefined : known.find((parameter) => isNearMiss(name, parameter));
		if (meant === undefined) return [];
		return { loc: ['query', name], msg: `unknown parameter: did you mean \`${meant}\`?`, type: 'extra_forbidden' };
	});
	if (problems.length > 0) throw unprocessable(problems);
}

/** Returns the declared names in a query schema. */
function parameterNames(schema: z.ZodType): readonly string[] {
	if (schema instanceof z.ZodPipe) return parameterNames(schema.in as z.ZodType);
	return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

/**
 * True if a name differs from a parameter by at most one letter or digit: inserted, missing, different, or swapped with
 * its neighbor. Case and separators are ignored.
 */
function isNearMiss(name: string, parameter: string): boolean {
	const [given, wanted] = [letters(name), letters(parameter)];
	return given === wanted || (wanted.length >= minLength && isOneEditApart(given, wanted));
}

function letters(name: string): string {
	return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

function isOneEditApart(one: string, other: string): boolean {
	let start = 0;
	while (start < one.length && one[start] === other[start]) start += 1;
	const [left, right] = [one.slice(start), other.slice(start)];
	const isSwapped = left[0] === right[1] && left[1] === right[0] && left.slice(2) === right.slice(2);
	return left.slice(1) === right || left === right.slice(1) || left.slice(1) === right.slice(1) || isSwapped;
}
