/** Times before a check, for comparisons in condition sets. */

import { timeBefore } from '../../../compiler/condition/duration.js';
import { durationsIn } from '../../../compiler/condition/parse/grammar.js';
import { conditionSetsIn } from './condition-sets.js';
import { valueAt } from './json-members.js';
import type { SchemaTables } from './schema-tables.js';

/** Durations by type and action; `undefined` if no condition contains a duration. */
type Durations = Map<string, readonly string[]> | undefined;

const known = new WeakMap<SchemaTables, { readonly durations: Durations }>();

/** A check. The time is in milliseconds since 1970. */
interface Check {
	readonly action: string;
	readonly resource: { readonly type: string };
	readonly time: number;
}

/**
 * Returns the check time minus each duration in the conditions that may grant the action, as strings keyed by duration;
 * `undefined` if there are no durations.
 */
export function timesBefore(
	schema: SchemaTables,
	{ action, resource, time }: Check,
): Readonly<Record<string, string>> | undefined {
	const durations = durationsFor(schema, resource.type, action);
	if (durations.length === 0) return undefined;
	return Object.fromEntries(durations.map((one) => [one, timeBefore(time, one)]));
}

/** Returns the durations without repetition. */
function durationsFor(schema: SchemaTables, type: string, action: string): readonly string[] {
	let entry = known.get(schema);
	if (entry === undefined) {
		entry = { durations: mayHaveDurations(schema) ? new Map() : undefined };
		known.set(schema, entry);
	}
	const { durations } = entry;
	if (durations === undefined) return [];
	const name = `${type} ${action}`;
	const before = durations.get(name);
	if (before !== undefined) return before;
	const found = findDurations(schema, type, action);
	// Unknown names are not cached. Otherwise clients could fill the map with such names.
	if (schema.setsMayGrant(type, action)) durations.set(name, found);
	return found;
}

function mayHaveDurations(schema: SchemaTables): boolean {
	return /"(?:within-last|older-than)"/.test(JSON.stringify(valueAt(schema.value, 'conditions') ?? null));
}

function findDurations(schema: SchemaTables, type: string, action: string): readonly string[] {
	const sets = conditionSetsIn(schema);
	const found = new Set<string>();
	for (const { userSet, resourceSet } of sets.rules(type, action)) {
		const both = [...sets.ancestry('userset', type, userSet), ...sets.ancestry('resourceset', type, resourceSet)];
		for (const { condition } of both) {
			for (const duration of condition === undefined ? [] : durationsIn(condition)) found.add(duration);
		}
	}
	return [...found];
}
