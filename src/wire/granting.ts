import { z } from 'zod';
import { environmentObject } from './common.js';

/**
 * Bodies of writes that give somebody access. A member that is not known, such as a limit in time or a condition, would
 * be lost, and the grant would be wider than it was meant: so such members are refused. What an answer holds besides is
 * ignored, so that clients can send back what they read, and so is null, which says nothing.
 */

/** What every object that is shown carries. */
const everywhere = Object.keys(environmentObject);

/**
 * A body of these members, which gives access. `echoed` are the other members of what the endpoint answers, beside ids
 * and times: they are ignored.
 */
export function granting<S extends z.ZodRawShape>(shape: S, echoed: readonly string[] = []) {
	const ignored = new Set([...everywhere, ...echoed].filter((name) => !Object.hasOwn(shape, name)));
	const isLost = ([name, value]: readonly [string, unknown]) =>
		ignored.has(name) || (value === null && !Object.hasOwn(shape, name));
	return z.preprocess((body) => {
		if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
		const members = Object.entries(body);
		return members.some(isLost) ? Object.fromEntries(members.filter((member) => !isLost(member))) : body;
	}, z.strictObject(shape));
}
