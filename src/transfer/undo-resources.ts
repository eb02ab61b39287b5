import { groupBy } from '../../compiler/group-by.js';
import type { Change, ChangedRecord } from '../store/unit/change.js';
import type { ReverseChange } from '../wire/general/draft.js';

/** In the log, actions and attributes are separate objects. In drafts, they are parts of their resource. */

/** Resource fields that contain the parts, by part kind. */
const parts = { resource_action: 'actions', resource_attribute: 'attributes' } as const;

const ownMembers = ['name', 'urn', 'description', 'type_attributes'] as const;
const partMembers = ['name', 'type', 'description', 'attributes'] as const;

/** Net change of an object, and its logged changes. */
export interface NetChange<C extends Change> {
	readonly net: Change;
	readonly undone: readonly C[];
}

/** Reverses changes to resources, actions and attributes, with one change per resource. */
export function undoResources<C extends Change>(
	objects: readonly NetChange<C>[],
	resources: ReadonlyMap<string, ChangedRecord>,
	whole: boolean,
) {
	return [...groupBy(objects, ({ net }) => resourceKey(net))].map(([key, parts]) => ({
		undone: parts.flatMap(({ undone }) => undone),
		reverse: undoResource(
			key,
			parts.map(({ net }) => net),
			resources.get(key),
			whole,
		),
	}));
}

export function resourceKey({ key }: Change): string {
	return key.split(':', 1)[0] ?? '';
}

function undoResource(
	key: string,
	changes: readonly Change[],
	present: ChangedRecord | undefined,
	whole: boolean,
): ReverseChange | null {
	const own = changes.find(({ kind }) => kind === 'resource');
	if (own?.operation === 'create') return { kind: 'resource', operation: 'delete', key };
	const isDeleted = own?.operation === 'delete';
	if (isDeleted ? !whole : present === undefined) return null;
	const base = isDeleted ? {} : (present ?? {});
	const value = {
		...members(own?.before ?? base, ownMembers),
		actions: withParts(base, 'resource_action', changes),
		attributes: withParts(base, 'resource_attribute', changes),
	};
	return { kind: 'resource', operation: isDeleted ? 'create' : 'update', key, value };
}

/** Restores a resource's actions or attributes. */
function withParts(base: ChangedRecord, kind: keyof typeof parts, changes: readonly Change[]): ChangedRecord {
	const there = new Map(Object.entries((base[parts[kind]] ?? {}) as ChangedRecord));
	for (const change of changes) {
		if (change.kind !== kind) continue;
		const name = change.key.slice(change.key.indexOf(':') + 1);
		if (change.before === null) there.delete(name);
		else there.set(name, members(change.before, partMembers));
	}
	return Object.fromEntries(there);
}

/** Returns the given fields of a record. Null fields are omitted. */
export function members(record: ChangedRecord, names: readonly string[]): ChangedRecord {
	return Object.fromEntries(names.flatMap((name) => (record[name] == null ? [] : [[name, record[name]]])));
}
