import { type Draft, type DraftChange, draftSubject } from '../draft/draft.js';
import { isEqualJson, isRecord } from '../equal-json.js';

/** Schema object, identified as in drafts. */
export interface SchemaObject {
	readonly kind: string;
	/** Absent if the object is identified by its content. */
	readonly key?: string | undefined;
	/** Object in the import document's format. */
	readonly value: unknown;
}

/** Schema objects, keyed by their identity (`draftSubject`). */
export type SchemaObjects = ReadonlyMap<string, SchemaObject>;

/** Object kinds with a separate field in the schema half. */
const members = [
	['user_attributes', 'user_attribute'],
	['roles', 'role'],
	['condition_sets', 'condition_set'],
	['elements_configs', 'elements_config'],
	['check_tests', 'check_test'],
] as const;

/** Object kinds nested in a resource. */
const nested = [
	['relations', 'relation'],
	['action_groups', 'action_group'],
	['roles', 'resource_role'],
] as const;

/** All schema object kinds. The other kinds in drafts are facts. */
export const schemaKinds: ReadonlySet<string> = new Set([
	'resource',
	'condition_set_rule',
	...members.map(([, kind]) => kind),
	...nested.map(([, kind]) => kind),
]);

/** Reads the objects in a schema half. Ignores values with an invalid shape. */
export function readSchemaObjects(schema: unknown): SchemaObjects {
	const objects: SchemaObject[] = [];
	for (const [key, resource] of entries(schema, 'resources')) {
		const { relations: _, action_groups: __, roles: ___, ...own } = resource;
		objects.push({ kind: 'resource', key, value: withActionNames(own) });
		for (const [member, kind] of nested) {
			for (const [name, value] of entries(resource, member)) objects.push({ kind, key: `${key}:${name}`, value });
		}
	}
	for (const [member, kind] of members) {
		for (const [key, value] of entries(schema, member)) objects.push({ kind, key, value });
	}
	const rules = isRecord(schema) && Array.isArray(schema['set_rules']) ? schema['set_rules'] : [];
	for (const value of rules.filter(isRecord)) objects.push({ kind: 'condition_set_rule', value });
	return new Map(objects.map((object) => [subjectName(object), object]));
}

/** Applies a draft to the objects. Does not apply cascaded deletions. */
export function draftedObjects(objects: SchemaObjects, draft: Draft | null): SchemaObjects {
	const drafted = new Map(objects);
	for (const { kind, key, operation, value } of draft?.changes ?? []) {
		if (!schemaKinds.has(kind)) continue;
		const subject = subjectName({ kind, key, value });
		if (operation === 'delete') drafted.delete(subject);
		else drafted.set(subject, { kind, key, value });
	}
	return drafted;
}

/**
 * Changes the draft so that an object gets the wanted state. If the stored object already has this state, removes its
 * change from the draft.
 */
export function withObject(stored: SchemaObjects, draft: Draft, wanted: SchemaObject): Draft {
	const before = stored.get(subjectName(wanted));
	if (before === undefined) return withDrafted(draft, wanted, { ...wanted, operation: 'create' });
	return withDrafted(
		draft,
		wanted,
		isSameValue(before.value, wanted.value) ? null : { ...wanted, operation: 'update' },
	);
}

/** True if two values have the same meaning in a document. Ignores empty members, which are optional. */
export function isSameValue(one: unknown, other: unknown): boolean {
	return isEqualJson(withoutEmpty(one), withoutEmpty(other));
}

/** Changes the draft so that an object is deleted. If the object is not stored, removes its change from the draft. */
export function withoutObject(stored: SchemaObjects, draft: Draft, unwanted: SchemaObject): Draft {
	const { kind, key, value } = unwanted;
	if (!stored.has(subjectName(unwanted))) return withDrafted(draft, unwanted, null);
	const change =
		key === undefined ? ({ kind, operation: 'delete', value } as const) : ({ kind, operation: 'delete', key } as const);
	return withDrafted(draft, unwanted, change);
}

/** Replaces the change to an object in a draft. `null` removes the change. */
function withDrafted(draft: Draft, object: SchemaObject, change: DraftChange | null): Draft {
	const subject = subjectName(object);
	const index = draft.changes.findIndex((one) => draftSubject(one) === subject);
	const wanted = change === null ? [] : [change];
	const changes = index < 0 ? [...draft.changes, ...wanted] : draft.changes.toSpliced(index, 1, ...wanted);
	return { ...draft, changes };
}

/** Returns a value without its empty fields, which are optional in documents. */
function withoutEmpty(value: unknown): unknown {
	if (!isRecord(value)) return value;
	return Object.fromEntries(Object.entries(value).filter(([, member]) => !isEmpty(member)));
}

function isEmpty(member: unknown): boolean {
	if (Array.isArray(member)) return member.length === 0;
	return member === null || (isRecord(member) && Object.keys(member).length === 0);
}

/** Adds missing names to a resource's actions. The default name of an action is its key. */
function withActionNames(resource: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
	const actions = entries(resource, 'actions').map(([key, action]) => [key, { name: key, ...action }] as const);
	return actions.length === 0 ? resource : { ...resource, actions: Object.fromEntries(actions) };
}

/** Returns an object's identity. */
export function subjectName({ kind, key, value }: SchemaObject): string {
	return draftSubject({ kind, key, value, operation: 'update' });
}

function entries(holder: unknown, member: string): readonly (readonly [string, Readonly<Record<string, unknown>>])[] {
	if (!isRecord(holder) || !Object.hasOwn(holder, member)) return [];
	const held = holder[member];
	if (!isRecord(held)) return [];
	return Object.entries(held).flatMap(([key, value]) => (isRecord(value) ? [[key, value] as const] : []));
}
