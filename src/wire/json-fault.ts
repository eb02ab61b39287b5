import type { z } from 'zod';
import { maxProblems } from './bounded.js';

/** Invalid part of a JSON value, with its path. */
interface JsonFault {
	readonly path: readonly (string | number)[];
	readonly message: string;
	/** The invalid number, string or field name. */
	readonly input: unknown;
}

/**
 * Checks a leaf (a number, a string, true, false or null) or a field name in a JSON value. Returns its problem, or
 * `null`.
 */
export interface JsonJudge {
	readonly leaf: (value: unknown) => string | null;
	readonly name?: (name: string) => string | null;
}

/** Returns the first twenty faults that `judge` finds in a JSON value. The server has already limited the depth. */
function jsonFaults(value: unknown, judge: JsonJudge): readonly JsonFault[] {
	const faults: JsonFault[] = [];
	collect(value, judge, [], faults);
	return faults;
}

/** Reports the faults in a value, each with its path. */
export function refuseFaults(value: unknown, judge: JsonJudge, ctx: z.RefinementCtx): void {
	for (const { path, message, input } of jsonFaults(value, judge)) {
		ctx.addIssue({ code: 'custom', message, path: [...path], input });
	}
}

/** Collects the faults in a value. `path` changes during the walk and has its original content at the end. */
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
