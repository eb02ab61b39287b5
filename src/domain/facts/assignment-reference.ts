import { everyone } from '../../../compiler/everyone.js';
import type { Attributes } from '../../../compiler/model.js';
import { notFound, unprocessable } from '../../failure.js';
import {
	type AssignmentReference,
	type Named,
	type Participants,
	resourceRolesIn,
} from '../../store/table/assignment-reference.js';
import { type InstanceRow, ResourceInstance } from '../../store/table/resource-instance.js';
import { Role } from '../../store/table/role.js';
import type { AssignmentColumns } from '../../store/table/role-assignment.js';
import { Tenant } from '../../store/table/tenant.js';
import { User } from '../../store/table/user.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { instanceName } from '../../wire/common.js';
import { asDate } from '../as-date.js';
import { refuseToAssign } from '../schema/computed-role.js';
import { grantSets } from '../schema/grant-condition.js';
import { createMissingInstances, findInstances, requireTenant } from './named-instance.js';

/**
 * Resolves assignment references. A reference identifies a tenant role in a tenant, or a resource role on an instance.
 */

/** Referenced instances, keyed by reference, and their resources' roles, keyed by resource id and reference. */
export interface AssignmentTargets {
	readonly instances: ReadonlyMap<string, InstanceRow>;
	readonly roles: ReadonlyMap<string, ReadonlyMap<string, Role>>;
	/** Condition sets, keyed by reference. */
	readonly sets: ReadonlyMap<string, Named>;
}

const noTargets: AssignmentTargets = { instances: new Map(), roles: new Map(), sets: new Map() };

/** Returns the referenced instances and their roles. If all references are to tenant roles, no query is needed. */
export async function findTargets(
	unit: ReadingUnit,
	references: readonly AssignmentReference[],
): Promise<AssignmentTargets> {
	const placed = onInstances(references);
	if (placed.length === 0) return noTargets;
	return withRoles(
		unit,
		placed,
		await findInstances(
			unit,
			placed.map(({ resource_instance }) => resource_instance),
		),
	);
}

/**
 * Like `findTargets`, but first creates missing instances in their tenants. Throws `not_found` if an instance cannot be
 * created, and `invalid` for a computed role.
 */
export async function ensureTargets(
	unit: WritingUnit,
	references: readonly AssignmentReference[],
	tenants: Participants['tenants'],
): Promise<AssignmentTargets> {
	const placed = onInstances(references);
	if (placed.length === 0) return noTargets;
	const wanted = placed.map(({ resource_instance, tenant }) => ({
		reference: resource_instance,
		tenant: tenantNamed(tenant, tenants),
	}));
	const names = wanted.map(({ reference }) => reference);
	const found = await findInstances(unit, names);
	const targets = await withRoles(unit, placed, await createMissingInstances(unit, found, wanted));
	refuseComputedRoles(references, targets);
	return targets;
}

/** Throws `invalid` for a reference to a computed role. */
export function refuseComputedRoles(
	references: readonly AssignmentReference[],
	{ instances, roles }: AssignmentTargets,
): void {
	for (const { resource_instance, role } of onInstances(references)) {
		const named = roles.get(instances.get(resource_instance)?.resource_id ?? '')?.get(role);
		if (named !== undefined) refuseToAssign(named);
	}
}

type Placed = AssignmentReference & { readonly resource_instance: string };

function onInstances(references: readonly AssignmentReference[]): readonly Placed[] {
	return references.filter((reference): reference is Placed => reference.resource_instance !== undefined);
}

async function withRoles(
	unit: ReadingUnit,
	placed: readonly Placed[],
	instances: AssignmentTargets['instances'],
): Promise<AssignmentTargets> {
	const resourceIds = [...new Set([...instances.values()].map(({ resource_id }) => resource_id))];
	const names = placed.map(({ role }) => role);
	const roles = await resourceRolesIn(unit, resourceIds, names);
	const conditions = placed.flatMap(({ condition }) => condition?.set ?? []);
	const sets = conditions.length === 0 ? noTargets.sets : await grantSets(unit, conditions);
	return { instances, roles, sets };
}

/** A resolved assignment, with keys and ids. */
export interface ResolvedAssignment extends AssignmentColumns {
	readonly user: string;
	readonly role: string;
	readonly tenant: string;
	/** `<resource key>:<instance key>`; `null` for a tenant role. */
	readonly resource_instance: string | null;
	/** Location in the request. */
	readonly place: readonly (string | number)[];
}

/**
 * Resolves assignment references. Throws `not_found` for the first missing object, and `mismatched_tenants` for an
 * instance outside the given tenant.
 */
export function resolveAssignments(
	references: readonly AssignmentReference[],
	found: Participants,
	targets: AssignmentTargets,
): readonly ResolvedAssignment[] {
	return references.map((reference) => {
		const user = found.users.get(reference.user) ?? missing(User, reference.user);
		const { role, tenant, instance } = resolveOne(reference, found, targets);
		const resource_instance = instance === null ? null : instanceName(instance.resource, instance.key);
		const keys = { user: user.key, role: role.key, tenant: tenant.key, resource_instance };
		const ids = { user_id: user.id, role_id: role.id, tenant_id: tenant.id };
		const expires_at = asDate(reference.expires_at);
		const { condition, place = ['body'] } = reference;
		return {
			...keys,
			...ids,
			resource_instance_id: instance?.id ?? null,
			expires_at,
			condition_set: condition === undefined ? null : (targets.sets.get(condition.set)?.key ?? condition.set),
			// The request and the document contain JSON.
			condition_values: condition === undefined ? null : ((condition.values ?? {}) as Attributes),
			place,
		};
	});
}

/** Returns the location of a reference in the request, by its index. */
export type PlaceOf = (index: number) => readonly (string | number)[];

/** Rejects assignments to everyone, unless the role is a public resource role. */
export function refuseClosedRoles(
	references: readonly AssignmentReference[],
	users: Participants['users'],
	{ instances, roles }: AssignmentTargets,
	placeOf: PlaceOf,
): void {
	const problems = references.flatMap(({ user, role: reference, resource_instance }, index) => {
		if (users.get(user)?.key !== everyone) return [];
		const loc = [...placeOf(index), 'user'];
		const type = 'value_error';
		if (resource_instance === undefined) {
			return [{ loc, type, msg: 'must name a user: only roles on instances can be assigned to everyone' }];
		}
		const instance = instances.get(resource_instance);
		const role = roles.get(instance?.resource_id ?? '')?.get(reference);
		if (instance === undefined || role === undefined || role.public) return [];
		const name = instanceName(instance.resource, role.key);
		return [
			{ loc, type, msg: `must name a user: the role \`${name}\` can be assigned to everyone only if it is \`public\`` },
		];
	});
	if (problems.length > 0) throw unprocessable(problems);
}

function resolveOne(reference: AssignmentReference, found: Participants, targets: AssignmentTargets) {
	const { role: roleReference, tenant: tenantReference, resource_instance: instanceReference } = reference;
	const tenant = tenantNamed(tenantReference, found.tenants);
	if (instanceReference === undefined) {
		if (tenant === undefined) throw new Error('an assignment needs a tenant or a resource instance');
		return { role: found.roles.get(roleReference) ?? missing(Role, roleReference), tenant, instance: null };
	}
	const instance = targets.instances.get(instanceReference) ?? missing(ResourceInstance, instanceReference);
	requireTenant(instance, tenant);
	const role = targets.roles.get(instance.resource_id)?.get(roleReference) ?? missing(Role, roleReference);
	return { role, tenant: { id: instance.tenant_id, key: instance.tenant }, instance };
}

/** Returns the tenant named by a reference, if any. Throws `not_found`. */
export function tenantNamed(reference: string | undefined, tenants: Participants['tenants']): Named | undefined {
	return reference === undefined ? undefined : (tenants.get(reference) ?? missing(Tenant, reference));
}

function missing({ title }: { readonly title: string }, reference: string): never {
	throw notFound(title, reference);
}
