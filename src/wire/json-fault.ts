import type { z } from 'zod';
import { maxProblems } from './bounded.js';

/** Something in a JSON value that is refused, and its place. */
interface JsonFault {
	readonly path: readonly (string | number)[];
	readonly message: string;
	/** The number, the text, or the name of the member. */
	readonly input: unknown;
}

/**
 * Tells what is wrong with a leaf (a number, a text, true, false or null) or with the name of a member; `null` if
 * nothing is.
 */
export interface JsonJudge {
	readonly leaf: (value: unknown) => string | null;
	readonly name?: (name: string) => string | null;
}

/** The faults that `judge` finds in a JSON value, the first twenty. The server has bounded the depth before. */
function jsonFaults(value: unknown, judge: JsonJudge): readonly JsonFault[] {
	const faults: JsonFault[] = [];
	collect(value, judge, [], faults);
	return faults;
}

/** Reports the faults of a value, each at its place. */
export function refuseFaults(value: unknown, judge: JsonJudge, ctx: z.RefinementCtx): void {
	for (const { path, message, input } of jsonFaults(value, judge)) {
		ctx.addIssue({ code: 'custom', message, path: [...path], input });
	}
}

/** Collects the faults of a value. `path` is its place; it is modified on the way, and restored at the end. */
function collect(value: unknown, judge: JsonJudge, path: (string | number)[], faults: JsonFault[]): void {
	const note = (message: string | null, input: unknown) => {
		if (message !== null) faults.push({ path: [...path], message, input });
		return message === null;
	};
	if (typeof value !== 'object' || value === null) {
		note(judge.leaf(value), value);
		return;
	}
	const list = Array.isArray(value);
	for (const [name, member] of list ? value.entries() : Object.entries(value)) {
		path.push(name);
		if (list || note(judge.name?.(String(name)) ?? null, name)) collect(member, judge, path, faults);
		path.pop();
		if (faults.length >= maxProblems) return;
	}
}
