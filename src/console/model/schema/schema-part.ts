import { type Draft, withoutChange } from '../draft/draft.js';
import { isRecord } from '../equal-json.js';
import {
	draftedObjects,
	isSameValue,
	type SchemaObject,
	type SchemaObjects,
	subjectName,
	withObject,
	withoutObject,
} from '../matrix/schema-objects.js';
import { recordMember, type Value } from '../matrix/value-members.js';
import { draftedSchema, withoutDependents } from './drafted-schema.js';

/** Schema parts for the model screen. In drafts, actions and attributes belong to their resource. */
export const partKinds = [
	'resource',
	'action',
	'attribute',
	'relation',
	'resource_role',
	'action_group',
	'role',
	'user_attribute',
] as const;

export type PartKind = (typeof partKinds)[number];

export interface SchemaPart {
	readonly kind: PartKind;
	/** Key; `<resource>:<key>` for parts that belong to a resource. */
	readonly key: string;
	/** Content in a document's format. A resource contains neither its actions nor its attributes. */
	readonly value: Value;
}

/** A part's identity. */
export type PartName = Pick<SchemaPart, 'kind' | 'key'>;

/** Schema parts, keyed by `partName`. */
export type SchemaParts = ReadonlyMap<string, SchemaPart>;

/** Built-in resource for users. The model screen does not show it. */
const userResource = '__user';

/** Resource fields that contain actions and attributes, keyed by part kind. */
const members = { action: 'actions', attribute: 'attributes' } as const;

/** Returns a part's identity as text, such as `action:document:read`. */
export function partName({ kind, key }: PartName): string {
	return `${kind}:${key}`;
}

/** Parses a part's identity. Returns `null` if its kind is unknown. */
export function readPartName(text: string): PartName | null {
	const end = text.indexOf(':');
	const kind = partKinds.find((one) => one === text.slice(0, end));
	return kind === undefined ? null : { kind, key: text.slice(end + 1) };
}

/** Returns a part's resource key; `null` for tenant roles and user attributes. */
export function partResource({ kind, key }: PartName): string | null {
	return kind === 'role' || kind === 'user_attribute' ? null : (key.split(':')[0] ?? '');
}

/** Returns a part's own key, without its resource. */
export function ownKey({ key }: PartName): string {
	return key.slice(key.indexOf(':') + 1);
}

/** Lists a schema's parts. */
export function readParts(objects: SchemaObjects): SchemaParts {
	const parts = [...objects.values()].flatMap(({ kind, key = '', value }): readonly SchemaPart[] => {
		const known = partKinds.find((one) => one === kind);
		if (known === undefined || !isRecord(value) || key === userResource) return [];
		if (known !== 'resource') return [{ kind: known, key, value }];
		const { actions, attributes, ...own } = value;
		return [
			{ kind: 'resource', key, value: own },
			...nestedParts('action', key, actions),
			...nestedParts('attribute', key, attributes),
		];
	});
	return new Map(parts.map((part) => [partName(part), part]));
}

function nestedParts(kind: PartKind, resource: string, held: unknown): readonly SchemaPart[] {
	if (!isRecord(held)) return [];
	return Object.entries(held).map(([key, value]) => ({
		kind,
		key: `${resource}:${key}`,
		value: isRecord(value) ? value : {},
	}));
}

/** A part's difference from the stored schema. */
export type PartState = 'added' | 'changed' | 'removed' | null;

/** Part with its state in the draft. */
export interface PartRow {
	/** Drafted part, or the stored part if the draft removes it. */
	readonly part: SchemaPart;
	readonly state: PartState;
}

/** Lists the stored and the drafted parts, sorted by key. */
export function partRows(stored: SchemaParts, drafted: SchemaParts): readonly PartRow[] {
	const rows = [...new Set([...stored.keys(), ...drafted.keys()])].flatMap((name): readonly PartRow[] => {
		const [before, after] = [stored.get(name), drafted.get(name)];
		if (after !== undefined) return [{ part: after, state: partState(before, after) }];
		return before === undefined ? [] : [{ part: before, state: 'removed' }];
	});
	return rows.sort((one, other) => (one.part.key < other.part.key ? -1 : 1));
}

function partState(before: SchemaPart | undefined, after: SchemaPart): PartState {
	if (before === undefined) return 'added';
	return isSameValue(before.value, after.value) ? null : 'changed';
}

/** Changes the draft so that a part gets the wanted content. */
export function withPart(stored: SchemaObjects, draft: Draft, { kind, key, value }: SchemaPart): Draft {
	const drafted = draftedSchema(stored, draft);
	if (kind === 'action' || kind === 'attribute') {
		return withResourceMember(stored, draft, { kind, key }, (held) => ({ ...held, [ownKey({ kind, key })]: value }));
	}
	const current = drafted.get(subjectName({ kind, key, value }))?.value;
	const { actions, attributes } = kind === 'resource' && isRecord(current) ? current : {};
	const parts = { ...(isRecord(actions) && { actions }), ...(isRecord(attributes) && { attributes }) };
	return withObject(stored, draft, { kind, key, value: { ...parts, ...value } });
}

/**
 * Changes the draft so that a part is deleted. Also removes its dependents and references to it from all other changes
 * in the draft, because the server rejects such references.
 */
export function withoutPart(stored: SchemaObjects, draft: Draft, name: PartName): Draft {
	return settledDraft(stored, draft, withoutPartAlone(stored, draft, name));
}

/**
 * Removes a change from a draft, with the other changes that depend on it. Without a created resource, for example, its
 * roles cannot be created.
 */
export function withoutDraftChange(stored: SchemaObjects, draft: Draft, index: number): Draft {
	return settledDraft(stored, draft, withoutChange(draft, index));
}

/** Removes references from `next` to objects that exist in `draft` and not in `next`. */
function settledDraft(stored: SchemaObjects, draft: Draft, next: Draft): Draft {
	const before = draftedSchema(stored, draft);
	const after = withoutDependents(before, draftedObjects(stored, next));
	return next.changes.reduce((settled, { kind, key, value, operation }) => {
		const object: SchemaObject = { kind, key, value };
		const subject = subjectName(object);
		if (operation === 'delete' || !before.has(subject)) return settled;
		const left = after.get(subject);
		if (left === undefined) return withoutChangeTo(stored, settled, object);
		return left.value === value ? settled : withObject(stored, settled, left);
	}, next);
}

function withoutPartAlone(stored: SchemaObjects, draft: Draft, { kind, key }: PartName): Draft {
	if (kind !== 'action' && kind !== 'attribute') return withoutObject(stored, draft, { kind, key, value: null });
	return withResourceMember(stored, draft, { kind, key }, (held) => {
		const { [ownKey({ kind, key })]: _, ...rest } = held;
		return rest;
	});
}

/** Removes an object's change from the draft. A stored object is deleted anyway, with the object it depends on. */
function withoutChangeTo(stored: SchemaObjects, draft: Draft, object: SchemaObject): Draft {
	const subject = subjectName(object);
	const value = stored.get(subject);
	return value === undefined ? withoutObject(stored, draft, object) : withObject(stored, draft, value);
}

/** Edits a resource's actions or attributes. Ignores a resource that does not exist. */
function withResourceMember(
	stored: SchemaObjects,
	draft: Draft,
	{ kind, key }: { readonly kind: keyof typeof members; readonly key: string },
	edit: (held: Value) => Value,
): Draft {
	const [resource = ''] = key.split(':');
	const name = { kind: 'resource', key: resource };
	const value = draftedSchema(stored, draft).get(subjectName({ ...name, value: null }))?.value;
	if (!isRecord(value)) return draft;
	const member = members[kind];
	return withObject(stored, draft, { ...name, value: { ...value, [member]: edit(recordMember(value, member)) } });
}

/**
 * Changes the draft so that a stored part is no longer deleted. Returns `null` if the part is deleted only because the
 * object it depends on is deleted.
 */
export function withRestoredPart(stored: SchemaObjects, draft: Draft, name: PartName): Draft | null {
	const { kind, key } = name;
	const before = readParts(stored).get(partName(name));
	if (before === undefined) return null;
	if (kind === 'action' || kind === 'attribute') {
		const next = withPart(stored, draft, before);
		return next === draft ? null : next;
	}
	const object = stored.get(subjectName({ kind, key, value: null }));
	const isDeleted = draft.changes.some((one) => one.operation === 'delete' && one.kind === kind && one.key === key);
	return object !== undefined && isDeleted ? withObject(stored, draft, object) : null;
}
