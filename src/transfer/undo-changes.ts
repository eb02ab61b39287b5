import { userResource } from '../domain/environment.js';
import { Tenant } from '../store/table/tenant.js';
import type { Change, ChangedRecord } from '../store/unit/change.js';
import { keysWithIds } from '../store/unit/keyed-rows.js';
import type { ReadingUnit } from '../store/unit/reading-unit.js';
import { DraftChange, type ReverseChange } from '../wire/general/draft.js';
import { resourcePart, storedResources } from './part/schema.js';
import { members, resourceKey, undoResources } from './undo-resources.js';

/**
 * Converts logged changes to draft changes that reverse them. The log contains rows, but drafts contain document
 * objects. Only exactly reversible changes are converted; the remaining changes are reported.
 */

/** Draft changes that undo logged changes, and the logged changes that cannot be undone. */
export interface Undo<C extends Change> {
	readonly changes: ReverseChange[];
	readonly left: readonly C[];
}

/** Information that an undo needs and the log does not contain. */
export interface UndoSurroundings {
	/** Resources in the form of documents, keyed by their keys. */
	readonly resources: ReadonlyMap<string, ChangedRecord>;
	/** Tenant keys, keyed by tenant id. */
	readonly tenants: ReadonlyMap<string, string>;
	/**
	 * True if the list contains all changes of its revision. The parts of a deleted resource are known only in this
	 * case.
	 */
	readonly whole: boolean;
	/** Current time. An expired grant cannot be restored. */
	readonly now: Date;
}

/**
 * Reverses changes, which are listed from the newest to the oldest. `drafted` contains changes that are already in the
 * draft; their resources replace the stored resources.
 */
export async function undoChanges<C extends Change>(
	unit: ReadingUnit,
	logged: readonly C[],
	{ drafted, ...options }: Pick<UndoSurroundings, 'whole' | 'now'> & { readonly drafted: readonly DraftChange[] },
): Promise<Undo<C>> {
	const resources = await readResources(unit, logged.filter(isOfResource).map(resourceKey), drafted);
	const tenants = await keysWithIds(unit, Tenant, neededTenants(logged));
	return reverseChanges(logged, { resources, tenants, ...options });
}

/** Like `undoChanges`, with known surroundings. */
export function reverseChanges<C extends Change>(logged: readonly C[], surroundings: UndoSurroundings): Undo<C> {
	const reverses = [
		...undoResources(logged.filter(isOfResource), surroundings.resources, surroundings.whole),
		...logged
			.filter((change) => !isOfResource(change))
			.map((change) => ({ undone: [change], reverse: undoObject(change, surroundings) })),
	];
	const undo = { changes: [] as ReverseChange[], left: [] as C[] };
	for (const { undone, reverse } of reverses) {
		// A value that was logged under older rules may no longer be valid.
		if (reverse === null || !DraftChange.safeParse(reverse).success) undo.left.push(...undone);
		else undo.changes.push(reverse);
	}
	return undo;
}

/** True if a draft may be able to reverse this change alone. Only the change itself is considered. */
export function isUndoable(change: Change, now: Date): boolean {
	if (isOfResource(change)) return change.kind !== 'resource' || change.operation !== 'delete';
	const tenants = new Map(neededTenants([change]).map((id) => [id, id]));
	return undoObject(change, { tenants, now }) !== null;
}

/** Returns the tenant ids whose keys are needed for an undo. */
function neededTenants(changes: readonly Change[]): readonly string[] {
	return changes.flatMap(({ kind, before }) =>
		kind === 'resource_instance' && before !== null ? [String(before['tenant_id'])] : [],
	);
}

/** Reads resources in the form of documents, with the draft's changes. */
async function readResources(unit: ReadingUnit, keys: readonly string[], drafted: readonly DraftChange[]) {
	const values = new Map(await storedResources(unit, keys));
	for (const change of drafted) {
		if (change.kind !== 'resource') continue;
		if (change.operation === 'delete') values.delete(change.key);
		else if (change.value !== undefined) values.set(change.key, change.value);
	}
	return new Map(Array.from(values, ([key, value]) => [key, resourcePart.toDocument(value) as ChangedRecord]));
}

/**
 * Key prefix for user attributes, which are separate objects in drafts. Other resources change together with their
 * parts.
 */
const userAttributes = `${userResource.key}:`;

function isOfResource({ kind, key }: Change): boolean {
	if (kind === 'resource_attribute') return !key.startsWith(userAttributes);
	return kind === 'resource' || kind === 'resource_action';
}

/** Object with its name and value in a draft. */
interface DraftObject {
	readonly kind: string;
	/** Absent if the object is identified by its value. */
	readonly key?: string;
	readonly value: ChangedRecord;
}

type TenantsAndTime = Pick<UndoSurroundings, 'tenants' | 'now'>;

function undoObject(change: Change, { tenants, now }: TenantsAndTime): ReverseChange | null {
	const { kind, operation, before, after } = change;
	const record = before ?? after;
	const write = Object.hasOwn(objects, kind) ? objects[kind] : undefined;
	const object = record === null ? null : (write?.(record, change, tenants) ?? null);
	if (object === null) return null;
	if ([before, after].some((state) => hasEnded(state, now))) return null;
	const reverse = ({ create: 'delete', update: 'update', delete: 'create' } as const)[operation];
	const named = object.key === undefined ? { kind: object.kind } : { kind: object.kind, key: object.key };
	if (reverse !== 'delete') return { ...named, operation: reverse, value: object.value };
	if (object.key !== undefined) return { ...named, operation: reverse };
	// The expiry is not part of the object's identity.
	const { expires_at: _, ...name } = object.value;
	return { ...named, operation: reverse, value: name };
}

function hasEnded(state: ChangedRecord | null, now: Date): boolean {
	const expires_at = state?.['expires_at'];
	return typeof expires_at === 'string' && new Date(expires_at) <= now;
}

type WriteObject = (record: ChangedRecord, change: Change, tenants: UndoSurroundings['tenants']) => DraftObject | null;

/** Functions to convert a record to a document object, keyed by record kind. Other kinds cannot be undone. */
const objects: Readonly<Record<string, WriteObject>> = {
	resource_attribute: (record, { key }) =>
		record['built_in'] === true
			? null
			: {
					kind: 'user_attribute',
					key: key.slice(userAttributes.length),
					value: members(record, ['type', 'description']),
				},
	relation: (record, { key }) => ({
		kind: 'relation',
		key,
		value: members(record, ['name', 'description', 'subject_resource']),
	}),
	action_group: (record, { key }) => ({
		kind: 'action_group',
		key,
		value: members(record, ['name', 'description', 'attributes', 'actions']),
	}),
	role: (record, { key }) => {
		const value = members(record, ['name', 'description', 'attributes', 'permissions', 'extends']);
		if (record['resource'] === null) return { kind: 'role', key, value };
		const granted_to = derivations(record['granted_to']);
		return { kind: 'resource_role', key, value: granted_to === null ? value : { ...value, granted_to } };
	},
	condition_set: (record, { key }) =>
		record['autogenerated'] === true
			? null
			: {
					kind: 'condition_set',
					key,
					value: members(record, ['name', 'description', 'type', 'conditions', 'resource', 'parent']),
				},
	condition_set_rule: ({ user_set, resource, action, resource_set }) => ({
		kind: 'condition_set_rule',
		value: { user_set, permission: `${resource}:${action}`, resource_set },
	}),
	check_test: (record, { key }) => ({
		kind: 'check_test',
		key,
		value: members(record, ['description', 'check', 'expected']),
	}),
	tenant: (record, { key }) => ({
		kind: 'tenant',
		key,
		value: members(record, ['name', 'description', 'attributes']),
	}),
	user: (record, { key }) => ({
		kind: 'user',
		key,
		value: members(record, ['email', 'first_name', 'last_name', 'attributes']),
	}),
	tenant_user: (record) => ({ kind: 'tenant_user', value: members(record, ['user', 'tenant']) }),
	role_assignment: (record) => {
		const place = record['resource_instance'] === null ? 'tenant' : 'resource_instance';
		return { kind: 'role_assignment', value: members(record, ['user', 'role', place, 'expires_at']) };
	},
	relationship_tuple: (record) => ({
		kind: 'relationship_tuple',
		value: members(record, ['subject', 'relation', 'object', 'expires_at']),
	}),
	resource_instance: (record, { key, operation }, tenants) => {
		const tenant = tenants.get(String(record['tenant_id']));
		if (tenant === undefined && operation !== 'create') return null;
		return { kind: 'resource_instance', key, value: { tenant, ...members(record, ['attributes']) } };
	},
	group: (record, { key }) => ({ kind: 'group', key, value: members(record, ['made_instance']) }),
};

/** Returns a role's derivations, in which keys name the objects; `null` if the role has none. */
function derivations(block: unknown): ChangedRecord | null {
	if (block === null || block === undefined) return null;
	const { users_with_role, when } = block as { readonly users_with_role: readonly ChangedRecord[]; when: unknown };
	const rules = users_with_role.map((rule) => members(rule, ['role', 'on_resource', 'linked_by_relation', 'when']));
	return { users_with_role: rules, when };
}
