import { grantOf, isUserSet, setRelationKey, type UserSet, userSetParts } from '../../../compiler/user-set.js';
import { mismatchedTenants, notFound, type Problem, unprocessable } from '../../failure.js';
import { type AssignmentReference, type Participants, participantsIn } from '../../store/table/assignment-reference.js';
import { setRelationsOf } from '../../store/table/relation.js';
import { type TupleRow, tuplesBy } from '../../store/table/relationship-tuple.js';
import { type InstanceRow, ResourceInstance } from '../../store/table/resource-instance.js';
import { Role } from '../../store/table/role.js';
import type { AssignmentRow } from '../../store/table/role-assignment.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { instanceName } from '../../wire/common.js';
import { asDate } from '../as-date.js';
import { refuseTuplesOverLimit } from '../check-limit/cycle-limit.js';
import {
	type AssignmentTargets,
	ensureTargets,
	findTargets,
	type PlaceOf,
	tenantNamed,
} from './assignment-reference.js';
import { findInstances, requireTenant } from './named-instance.js';
import type { NamedTuple } from './named-tuple.js';
import { endTuples, writeTuples } from './relationship-tuple.js';

/** Role assignments to sets of users, stored as hidden relation tuples. */

/** A reference with its location in the request. */
export interface PlacedReference {
	readonly reference: AssignmentReference;
	readonly place: readonly (string | number)[];
}

/** Divides references into user references and set references, each with its location in the request. */
export function divideReferences(
	references: readonly AssignmentReference[],
	placeOf: PlaceOf,
): { readonly toUsers: readonly PlacedReference[]; readonly toSets: readonly PlacedReference[] } {
	const placed = references.map((reference, index) => ({ reference, place: placeOf(index) }));
	return {
		toUsers: placed.filter(({ reference }) => !isUserSet(reference.user)),
		toSets: placed.filter(({ reference }) => isUserSet(reference.user)),
	};
}

/**
 * Assigns roles to sets, and extends existing assignments if the new expiry is later or absent; with `replace`, sets
 * exactly the passed expiries. Creates missing instances like `assignMany`, but not the sets' own instances. Returns
 * the added and extended assignments. Throws `not_found`, `mismatched_tenants`, `unprocessable` for a role that cannot
 * be assigned to the set, and `limit_reached` unless `unlimited` is true.
 */
export async function assignToSets(
	unit: WritingUnit,
	wanted: readonly PlacedReference[],
	{
		changes = 'extend',
		unlimited = false,
	}: { readonly changes?: 'extend' | 'replace'; readonly unlimited?: boolean } = {},
): Promise<readonly AssignmentRow[]> {
	if (wanted.length === 0) return [];
	const references = wanted.map(({ reference }) => reference);
	refuseWrongPlaces(wanted);
	const { tenants } = await participantsIn(unit, references);
	const grants = await resolveGrants(unit, wanted, await ensureTargets(unit, references, tenants), tenants);
	refuseUndeclared(grants);
	const roleOf = new Map(grants.map(({ relation, role }) => [relation?.id, role.id]));
	const made = await writeTuples(unit, grants.flatMap(asTuple), changes);
	if (!unlimited) await refuseTuplesOverLimit(unit, made);
	return made.map((row) => asAssignment(row, roleOf.get(row.relation_id) ?? ''));
}

/**
 * Removes roles from sets, and skips missing assignments. Returns the removed assignments. Throws `not_found` for an
 * unknown role or instance.
 */
export async function unassignFromSets(
	unit: WritingUnit,
	wanted: readonly PlacedReference[],
): Promise<readonly AssignmentRow[]> {
	if (wanted.length === 0) return [];
	refuseWrongPlaces(wanted);
	const references = wanted.map(({ reference }) => reference);
	const { tenants } = await participantsIn(unit, references);
	const grants = await resolveGrants(unit, wanted, await findTargets(unit, references), tenants);
	const tuples = grants.flatMap(asTuple);
	if (tuples.length === 0) return [];
	const named = new Set(tuples.map(tupleIdentity));
	const rows = await tuplesBy(unit, {
		subject_ids: [...new Set(tuples.map(({ subject_id }) => subject_id))],
		object_ids: [...new Set(tuples.map(({ object_id }) => object_id))],
		relation_ids: [...new Set(tuples.map(({ relation_id }) => relation_id))],
		hidden: true,
	}).all();
	const roleOf = new Map(grants.map(({ relation, role }) => [relation?.id, role.id]));
	const ended = await endTuples(
		unit,
		rows.filter((row) => named.has(tupleIdentity(row))),
	);
	return ended.map((row) => asAssignment(row, roleOf.get(row.relation_id) ?? ''));
}

function tupleIdentity({
	subject_id,
	relation_id,
	object_id,
}: Pick<NamedTuple, 'subject_id' | 'relation_id' | 'object_id'>) {
	return `${subject_id}/${relation_id}/${object_id}`;
}

/** An assignment to a set. */
interface SetGrant extends PlacedReference {
	readonly set: UserSet;
	readonly subject: InstanceRow;
	readonly object: InstanceRow;
	readonly role: Role;
	/** `undefined` if the role cannot be assigned to the set. */
	readonly relation: { readonly id: string; readonly key: string } | undefined;
}

async function resolveGrants(
	unit: ReadingUnit,
	wanted: readonly PlacedReference[],
	{ instances, roles }: AssignmentTargets,
	tenants: Participants['tenants'],
): Promise<readonly SetGrant[]> {
	const sets = wanted.map(({ reference: { user }, place }) => userSetParts(user) ?? refuseForm(place));
	const names = sets.map(({ instance }) => instance);
	const subjects = await findInstances(unit, names);
	const stored = await setRelationsOf(unit, [
		...new Set([...instances.values()].map(({ resource_id }) => resource_id)),
	]).all();
	const relations = new Map(stored.map((row) => [`${row.resource_id}/${row.key}`, row]));
	return wanted.map(({ reference, place }, index): SetGrant => {
		const set = sets[index] ?? refuseForm(place);
		const named = reference.resource_instance ?? '';
		const object = instances.get(named) ?? missing(ResourceInstance.title, named);
		requireTenant(object, tenantNamed(reference.tenant, tenants));
		const role = roles.get(object.resource_id)?.get(reference.role) ?? missing(Role.title, reference.role);
		const subject = subjects.get(set.instance) ?? missing(ResourceInstance.title, set.instance);
		const relation = relations.get(`${object.resource_id}/${setRelationKey(role.key, set)}`);
		return { reference, place, set, subject, object, role, relation };
	});
}

/** Rejects malformed sets. All request schemas already do this for bodies. */
function refuseForm(place: PlacedReference['place']): never {
	const msg = 'must be `<resource key>:<instance key>#<role key>`';
	throw unprocessable([{ loc: [...place, 'user'], msg, type: 'value_error' }]);
}

function refuseWrongPlaces(wanted: readonly PlacedReference[]): void {
	const problems = wanted.flatMap(({ reference, place }): readonly Problem[] => {
		const problem = (member: string, msg: string) => [{ loc: [...place, member], msg, type: 'value_error' }];
		if (reference.condition !== undefined) {
			return problem('condition', 'must be omitted: a role assigned to a set of users cannot have a condition');
		}
		const msg = 'must name a user: only roles on instances can be assigned to sets of users';
		return reference.resource_instance === undefined ? problem('user', msg) : [];
	});
	if (problems.length > 0) throw unprocessable(problems);
}

function refuseUndeclared(grants: readonly SetGrant[]): void {
	const problems = grants.flatMap(({ place, set, object, role, relation }): readonly Problem[] => {
		if (relation !== undefined) return [];
		const msg =
			`must be a set of users to which \`${instanceName(object.resource, role.key)}\` can be assigned: ` +
			`\`grantable_to\` of this role does not contain the role \`${set.role}\` on \`${set.type}\``;
		return [{ loc: [...place, 'user'], msg, type: 'value_error' }];
	});
	if (problems.length > 0) throw unprocessable(problems);
	for (const { subject, object } of grants) {
		if (subject.tenant_id === object.tenant_id) continue;
		throw mismatchedTenants(placed(subject), placed(object));
	}
}

function placed({ resource, key, tenant }: InstanceRow) {
	return { name: instanceName(resource, key), tenant };
}

function asTuple({ reference, subject, object, relation }: SetGrant): readonly NamedTuple[] {
	if (relation === undefined) return [];
	return [
		{
			subject: placed(subject).name,
			relation: relation.key,
			object: placed(object).name,
			tenant: object.tenant,
			subject_id: subject.id,
			relation_id: relation.id,
			object_id: object.id,
			tenant_id: object.tenant_id,
			expires_at: asDate(reference.expires_at),
			condition_set: null,
			condition_values: null,
		},
	];
}

/** Converts a hidden relation tuple to the assignment it stores. */
function asAssignment(row: TupleRow, role_id: string): AssignmentRow {
	const { id, environment_id, subject_id, tenant_id, object_id, tenant, object, created_at, expires_at } = row;
	const ids = { id, environment_id, user_id: subject_id, role_id, tenant_id, resource_instance_id: object_id };
	const plain = { condition_set: null, condition_values: null };
	const keys = { ...grantOf(row.subject, row.relation), tenant, resource_instance: object };
	return { ...ids, ...keys, created_at, expires_at, ...plain };
}

function missing(title: string, reference: string): never {
	throw notFound(title, reference);
}
