import type { Json } from '../json.js';

/** A condition set as documents and drafts have it (docs/documents.md). */
export interface ConditionSetValue {
	readonly name: string;
	readonly description: string | null;
	readonly type: 'userset' | 'resourceset';
	readonly conditions: Json;
	/** The key of the resource that a resource set narrows. */
	readonly resource: string | null;
	/** The key of the set that this one narrows. */
	readonly parent: string | null;
}

/** A set with every member, from a document, which leaves out what equals its default. */
export function readConditionSetValue(entry: unknown): ConditionSetValue {
	const given = (entry ?? {}) as Partial<ConditionSetValue>;
	const { name = '', description = null, type = 'userset', conditions = {}, resource = null, parent = null } = given;
	return { name, description, type, conditions, resource, parent };
}

/** Whether two sets are the same. */
export function isSameSet(left: ConditionSetValue, right: ConditionSetValue): boolean {
	const text = (set: ConditionSetValue) =>
		JSON.stringify([set.name, set.description, set.type, set.conditions, set.resource, set.parent]);
	return text(left) === text(right);
}

/** The keys of the sets that one could narrow: of its type and resource, and neither itself nor one that narrows it. */
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

/** Whether a set is another one or narrows it, directly or through others. */
function narrows(sets: Readonly<Record<string, ConditionSetValue>>, from: string, to: string): boolean {
	const seen = new Set<string>();
	for (let key: string | null = from; key !== null && !seen.has(key); key = sets[key]?.parent ?? null) {
		if (key === to) return true;
		seen.add(key);
	}
	return false;
}
