import { notFound } from '../failure.js';
import { type InstanceRow, ResourceInstance } from '../store/table/resource-instance.js';
import { Role } from '../store/table/role.js';
import {
	type AssignmentIds,
	type AssignmentReference,
	type Named,
	type Participants,
	resourceRolesIn,
} from '../store/table/role-assignment.js';
import { Tenant } from '../store/table/tenant.js';
import { User } from '../store/table/user.js';
import type { ReadingUnit, WritingUnit } from '../store/unit.js';
import { instanceName } from '../wire/common.js';
import { createMissing, findInstances, requireTenant } from './named-instance.js';

/** What references to assignments mean: a tenant role in a tenant, or a role of a resource on one of its instances. */

/** The instances that assignments are on, by reference, and the roles of their resources: by resource, by reference. */
export interface Places {
	readonly instances: ReadonlyMap<string, InstanceRow>;
	readonly roles: ReadonlyMap<string, ReadonlyMap<string, Named>>;
}

const nowhere: Places = { instances: new Map(), roles: new Map() };

/** The instances that references name, and their roles. References to tenant roles only ask the store nothing. */
export async function findPlaces(unit: ReadingUnit, references: readonly AssignmentReference[]): Promise<Places> {
	const placed = onInstances(references);
	if (placed.length === 0) return nowhere;
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
 * As `findPlaces`, after the instances that do not exist were created in the tenants named with them. Throws
 * `not_found` for those that cannot be.
 */
export async function ensurePlaces(
	unit: WritingUnit,
	references: readonly AssignmentReference[],
	tenants: Participants['tenants'],
): Promise<Places> {
	const placed = onInstances(references);
	if (placed.length === 0) return nowhere;
	const wanted = placed.map(({ resource_instance, tenant }) => ({
		reference: resource_instance,
		tenant: tenantNamed(tenant, tenants),
	}));
	const found = await findInstances(
		unit,
		wanted.map(({ reference }) => reference),
	);
	return withRoles(unit, placed, await createMissing(unit, found, wanted));
}

type Placed = AssignmentReference & { readonly resource_instance: string };

function onInstances(references: readonly AssignmentReference[]): readonly Placed[] {
	return references.filter((reference): reference is Placed => reference.resource_instance !== undefined);
}

async function withRoles(
	unit: ReadingUnit,
	placed: readonly Placed[],
	instances: Places['instances'],
): Promise<Places> {
	const resourceIds = [...new Set([...instances.values()].map(({ resource_id }) => resource_id))];
	const roles = await resourceRolesIn(
		unit,
		resourceIds,
		placed.map(({ role }) => role),
	);
	return { instances, roles };
}

/** An assignment that a reference means, by keys and by ids. */
export interface Resolved extends AssignmentIds {
	readonly user: string;
	readonly role: string;
	readonly tenant: string;
	/** `<resource key>:<instance key>`; `null` for a tenant role. */
	readonly resource_instance: string | null;
}

/**
 * The assignments that references mean. Throws `not_found` for the first that names nothing, `mismatched_tenants` for an
 * instance of another tenant than the one named with it.
 */
export function resolve(
	references: readonly AssignmentReference[],
	found: Participants,
	places: Places,
): readonly Resolved[] {
	return references.map((reference) => {
		const user = found.users.get(reference.user) ?? missing(User, reference.user);
		const { role, tenant, instance } = placeOf(reference, found, places);
		const resource_instance = instance === null ? null : instanceName(instance.resource, instance.key);
		const keys = { user: user.key, role: role.key, tenant: tenant.key, resource_instance };
		const ids = { user_id: user.id, role_id: role.id, tenant_id: tenant.id };
		return { ...keys, ...ids, resource_instance_id: instance?.id ?? null };
	});
}

function placeOf(reference: AssignmentReference, found: Participants, places: Places) {
	const { role: called, tenant: where, resource_instance: on } = reference;
	const tenant = tenantNamed(where, found.tenants);
	if (on === undefined) {
		if (tenant === undefined) throw new Error('an assignment names neither a tenant nor a resource instance');
		return { role: found.roles.get(called) ?? missing(Role, called), tenant, instance: null };
	}
	const instance = places.instances.get(on) ?? missing(ResourceInstance, on);
	requireTenant(instance, tenant);
	const role = places.roles.get(instance.resource_id)?.get(called) ?? missing(Role, called);
	return { role, tenant: { id: instance.tenant_id, key: instance.tenant }, instance };
}

function tenantNamed(reference: string | undefined, tenants: Participants['tenants']): Named | undefined {
	return reference === undefined ? undefined : (tenants.get(reference) ?? missing(Tenant, reference));
}

function missing({ title }: { readonly title: string }, reference: string): never {
	throw notFound(title, reference);
}
