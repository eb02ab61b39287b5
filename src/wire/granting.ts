import { z } from 'zod';
import { environmentObject } from './common.js';

/**
 * Bodies of requests that grant access. Unknown members, such as an expiry or a condition, are refused: without them,
 * the grant would be wider than it was meant. Members that only answers have are ignored, so that clients can send back
 * what they read, and so are nulls.
 */

/** The members that every object in an answer has. */
const everywhere = Object.keys(environmentObject);

/**
 * The schema of a body that grants access. `echoed` are further members of what the endpoint answers, besides ids and
 * times; they are ignored.
 */
export function granting<S extends z.ZodRawShape>(shape: S, echoed: readonly string[] = []) {
	const ignored = new Set([...everywhere, ...echoed].filter((name) => !Object.hasOwn(shape, name)));
	const isIgnored = ([name, value]: readonly [string, unknown]) =>
		ignored.has(name) || (value === null && !Object.hasOwn(shape, name));
	return z.preprocess((body) => {
		if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
		const members = Object.entries(body);
		return members.some(isIgnored) ? Object.fromEntries(members.filter((member) => !isIgnored(member))) : body;
	}, z.strictObject(shape));
}
