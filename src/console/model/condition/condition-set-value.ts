import type { GrantParameters } from '../grant-condition.js';
import type { Json } from '../json.js';

/** Condition set, in the format of documents and drafts (docs/policy/documents.md). */
export interface ConditionSetValue {
	readonly name: string;
	readonly description: string | null;
	/** A `grant` set is a condition for role assignments and relationships. */
	readonly type: 'userset' | 'resourceset' | 'grant';
	readonly conditions: Json;
	/** Resource key, for a resource set. */
	readonly resource: string | null;
	/** Key of the parent set. */
	readonly parent: string | null;
	/** Parameters with their types, only for a `grant` set. */
	readonly parameters?: GrantParameters | undefined;
}

/** Reads a condition set from a document, and fills in defaults for omitted fields. */
export function readConditionSetValue(entry: unknown): ConditionSetValue {
	const given = (entry ?? {}) as Partial<ConditionSetValue>;
	const { name = '', description = null, type = 'userset', conditions = {}, resource = null, parent = null } = given;
	const { parameters } = given;
	return { name, description, type, conditions, resource, parent, ...(parameters != null && { parameters }) };
}

/** True if two sets are equal. */
export function isSameSet(left: ConditionSetValue, right: ConditionSetValue): boolean {
	const text = (set: ConditionSetValue) =>
		JSON.stringify([set.name, set.description, set.type, set.conditions, set.resource, set.parent, set.parameters]);
	return text(left) === text(right);
}

/**
 * Returns the keys of possible parent sets. These are the sets with the same type and resource, except the set itself
 * and its descendants.
 */
export function possibleParents(
	sets: Readonly<Record<string, ConditionSetValue>>,
	key: string | null,
	{ type, resource }: ConditionSetValue,
): readonly string[] {
	return Object.keys(sets).filter((other) => {
		const set = sets[other];
		if (set === undefined || set.type !== type || set.resource !== resource) return false;
		return key === null || !narrows(sets, other, key);
	});
}

/** True if a set is the same as a second set, or descends from it. */
function narrows(sets: Readonly<Record<string, ConditionSetValue>>, from: string, to: string): boolean {
	const seen = new Set<string>();
	for (let key: string | null = from; key !== null && !seen.has(key); key = sets[key]?.parent ?? null) {
		if (key === to) return true;
		seen.add(key);
	}
	return false;
}
