import type { LoggedChange, LoggedRecord, Undo, UndoSurroundings } from '../change/logged-change.js';
import type { DraftChange } from './draft.js';

/** In the log, actions and attributes are separate objects. In drafts, they are parts of their resource. */

/** Resource member with the parts, keyed by their kind. */
const parts = { resource_action: 'actions', resource_attribute: 'attributes' } as const;

const ownMembers = ['name', 'urn', 'description', 'type_attributes'] as const;
const partMembers = ['name', 'type', 'description', 'attributes'] as const;

/** Reverses changes to resources, actions and attributes. Returns one change per resource. */
export function undoResources(changes: readonly LoggedChange[], surroundings: UndoSurroundings): Undo {
	const undone: DraftChange[] = [];
	const left: LoggedChange[] = [];
	for (const key of new Set(changes.map(resourceKey))) {
		const ofResource = changes.filter((change) => resourceKey(change) === key);
		const reverse = undoResource(key, ofResource, surroundings);
		if (reverse === null) left.push(...ofResource);
		else undone.push(reverse);
	}
	return { changes: undone, left };
}

function resourceKey({ key }: LoggedChange): string {
	return key.split(':', 1)[0] ?? '';
}

function undoResource(
	key: string,
	changes: readonly LoggedChange[],
	{ resources, whole }: UndoSurroundings,
): DraftChange | null {
	const own = changes.find(({ kind }) => kind === 'resource');
	if (own?.operation === 'create') return { kind: 'resource', operation: 'delete', key };
	if (own?.operation === 'delete' && !whole) return null;
	const present = Object.hasOwn(resources, key) ? resources[key] : undefined;
	if (own?.operation !== 'delete' && present === undefined) return null;
	const base = own?.operation === 'delete' ? {} : (present ?? {});
	const value = {
		...given(own?.before ?? base, ownMembers),
		actions: withParts(base, 'resource_action', changes),
		attributes: withParts(base, 'resource_attribute', changes),
	};
	return { kind: 'resource', operation: own?.operation === 'delete' ? 'create' : 'update', key, value };
}

/** Restores a resource's actions or attributes. */
function withParts(base: LoggedRecord, kind: keyof typeof parts, changes: readonly LoggedChange[]): LoggedRecord {
	const there = new Map(Object.entries((base[parts[kind]] ?? {}) as LoggedRecord));
	for (const change of changes) {
		if (change.kind !== kind) continue;
		const name = change.key.slice(change.key.indexOf(':') + 1);
		if (change.before === null) there.delete(name);
		else there.set(name, given(change.before, partMembers));
	}
	return Object.fromEntries(there);
}

function given(record: LoggedRecord, names: readonly string[]): LoggedRecord {
	return Object.fromEntries(names.flatMap((name) => (record[name] == null ? [] : [[name, record[name]]])));
}
