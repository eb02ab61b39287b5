import { isDeepStrictEqual } from 'node:util';
import type { InstanceName, Membership, Touched } from '../../../compiler/data/delta.js';
import type { InstanceAssignment, Relationship } from '../../../compiler/model.js';
import { instanceParts } from '../../wire/common.js';
import { type Change, type ChangeKind, schemaKinds } from '../unit/change.js';
import type { ReadingUnit } from '../unit/reading-unit.js';

interface LoggedChange {
	readonly kind: ChangeKind;
	readonly operation: 'create' | 'update' | 'delete';
	readonly id: string | null;
	readonly key: string | null;
	/** Keys in the object's record; null if the record has no such field. */
	readonly user: string | null;
	readonly role: string | null;
	readonly tenant: string | null;
	readonly resource: string | null;
	readonly resource_instance: string | null;
	readonly condition_set: string | null;
	readonly subject: string | null;
	readonly relation: string | null;
	readonly object: string | null;
	readonly attributes_changed: boolean;
	readonly names_changed: boolean;
	readonly derivations_changed: boolean;
	readonly rules_changed: boolean;
	readonly contextual_facts_changed: boolean;
}

/** Touched objects, with their row ids. */
export interface TouchedRows extends Touched {
	/** Touched relationships by tuple id. A tuple that was deleted and created again has a new id. */
	readonly tuples: ReadonlyMap<string, Relationship>;
}

/**
 * Returns the objects touched after revision `base`, up to the revision visible to the unit. Returns `null` if there
 * are more than `most` changes; a snapshot is then cheaper.
 */
export async function touchedSince(unit: ReadingUnit, base: number, most: number): Promise<TouchedRows | null> {
	const { rows } = await unit.raw<LoggedChange>(
		`select kind, operation, record ->> 'id' as id, record ->> 'key' as key, record ->> 'user' as "user", record ->> 'role' as role,
			record ->> 'tenant' as tenant, record ->> 'resource' as resource,
			record ->> 'resource_instance' as resource_instance, record -> 'condition' ->> 'set' as condition_set, record ->> 'subject' as subject,
			record ->> 'relation' as relation, record ->> 'object' as object,
			(before -> 'attributes') is distinct from (after -> 'attributes') as attributes_changed,
			(before -> 'email', before -> 'first_name', before -> 'last_name')
				is distinct from (after -> 'email', after -> 'first_name', after -> 'last_name') as names_changed,
			nullif(before -> 'granted_to', 'null') is distinct from nullif(after -> 'granted_to', 'null')
				or (before -> 'grantable_to') is distinct from (after -> 'grantable_to')
				or kind = 'relation' and (before -> 'grant_conditions') is distinct from (after -> 'grant_conditions')
				as derivations_changed,
			(before -> 'mapping_rules') is distinct from (after -> 'mapping_rules') as rules_changed,
			(before -> 'settings' -> 'contextual_facts') is distinct from (after -> 'settings' -> 'contextual_facts')
				as contextual_facts_changed
		from changes cross join lateral (select coalesce(after, before) as record) as either
		where environment_id = :environment_id and revision > :base order by revision, position limit :limit`,
		{ base, limit: most + 1 },
	);
	return rows.length > most ? null : touchedBy(rows);
}

/** Returns the objects touched by changes that are not in the log yet. */
export function touchedIn(changes: readonly Change[]): TouchedRows {
	return touchedBy(changes.map(asLogged));
}

/** Converts a change to its form in the log. */
function asLogged({ kind, operation, before, after }: Change): LoggedChange {
	const record = after ?? before;
	const text = (name: string) => {
		const value = record?.[name] ?? null;
		return value === null ? null : String(value);
	};
	const differs = (...names: readonly string[]) =>
		names.some((name) => !isDeepStrictEqual(before?.[name] ?? null, after?.[name] ?? null));
	return {
		kind,
		operation,
		id: text('id'),
		key: text('key'),
		user: text('user'),
		role: text('role'),
		tenant: text('tenant'),
		resource: text('resource'),
		resource_instance: text('resource_instance'),
		condition_set: conditionSetOf(record),
		subject: text('subject'),
		relation: text('relation'),
		object: text('object'),
		attributes_changed: differs('attributes'),
		names_changed: differs('email', 'first_name', 'last_name'),
		derivations_changed: differs('granted_to', 'grantable_to') || (kind === 'relation' && differs('grant_conditions')),
		rules_changed: differs('mapping_rules'),
		contextual_facts_changed: differs('settings'),
	};
}

function conditionSetOf(record: Change['after']): string | null {
	const condition: unknown = record?.['condition'];
	return typeof condition === 'object' && condition !== null && 'set' in condition ? String(condition.set) : null;
}

function touchedBy(changes: readonly LoggedChange[]): TouchedRows {
	const changedKeys = (kind: ChangeKind, wanted: (change: LoggedChange) => boolean): readonly string[] => {
		const keys = changes.filter((change) => change.kind === kind && wanted(change)).map((change) => change.key ?? '');
		return [...new Set(keys)].sort();
	};
	const updated = (change: LoggedChange) => change.operation === 'update';
	const known = (change: LoggedChange) => !updated(change) || change.attributes_changed || change.names_changed;
	return {
		schema: changes.some((change) => schemaKinds.has(change.kind)),
		pending: false,
		contextual_facts: changes.some((change) => change.kind === 'environment' && change.contextual_facts_changed),
		users: changedKeys('user', (change) => !updated(change)),
		tenants: changedKeys('tenant', (change) => !updated(change)),
		tenant_attributes: changedKeys('tenant', (change) => updated(change) && change.attributes_changed),
		memberships: distinct(changes, asMembership),
		// When a relation, role or resource is deleted, each role with a derivation through it is logged as a separate
		// change. Changed conditions of a relation count too, because closures contain no conditional relationships.
		derivations: changes.some(
			({ kind, derivations_changed }) => (kind === 'role' || kind === 'relation') && derivations_changed,
		),
		instances: distinct(
			changes.filter((change) => !updated(change)),
			asInstance,
		),
		instance_assignments: distinct(changes, asInstanceAssignment),
		relationships: distinct(changes, asRelationship),
		mapping_rules: changedKeys('proxy_config', ({ rules_changed }) => rules_changed),
		user_attributes: changedKeys('user', known),
		instance_attributes: distinct(changes.filter(known), asInstance),
		tuples: new Map(
			changes.flatMap((change) => {
				const relationship = asRelationship(change);
				return change.id === null || relationship === null ? [] : [[change.id, relationship] as const];
			}),
		),
	};
}

/** Returns the changes' distinct objects. */
function distinct<T extends object>(
	changes: readonly LoggedChange[],
	convert: (change: LoggedChange) => T | null,
): T[] {
	const found = new Map<string, T>();
	for (const change of changes) {
		const one = convert(change);
		// Fields have a fixed order, so equal objects have equal JSON, regardless of the characters in the keys.
		if (one !== null) found.set(JSON.stringify(one), one);
	}
	return [...found.values()];
}

function asMembership({ kind, user, tenant, resource_instance }: LoggedChange): Membership | null {
	if (kind !== 'role_assignment' || resource_instance !== null || user === null || tenant === null) return null;
	return { user, tenant };
}

function asInstance({ kind, resource, key }: LoggedChange): InstanceName | null {
	if (kind !== 'resource_instance' || resource === null || key === null) return null;
	return { type: resource, key };
}

function asInstanceAssignment({
	kind,
	user,
	role,
	resource_instance,
	condition_set,
}: LoggedChange): InstanceAssignment | null {
	const instance = instanceParts(resource_instance ?? '');
	if (kind !== 'role_assignment' || instance === null || user === null || role === null) return null;
	return { user, role, type: instance.resource, instance: instance.key, ...asCondition(condition_set) };
}

function asRelationship(change: LoggedChange): Relationship | null {
	const { kind, relation, condition_set } = change;
	const [subject, object] = [instanceParts(change.subject ?? ''), instanceParts(change.object ?? '')];
	if (kind !== 'relationship_tuple' || subject === null || object === null || relation === null) return null;
	const { resource: type, key: instance } = object;
	const ends = { type, instance, relation, subject_type: subject.resource, subject: subject.key };
	return { ...ends, ...asCondition(condition_set) };
}

function asCondition(set: string | null) {
	return set === null ? {} : { condition: { set, values: {} } };
}
