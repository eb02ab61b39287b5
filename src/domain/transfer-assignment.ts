import { instanceNameIn } from '../store/table/resource-instance.js';
import { Role } from '../store/table/role.js';
import { type AssignmentFilter, assignmentsBy } from '../store/table/role-assignment.js';
import { Tenant } from '../store/table/tenant.js';
import { tenantUsersBy } from '../store/table/tenant-user.js';
import { User } from '../store/table/user.js';
import type { ReadingUnit } from '../store/unit.js';
import { namesOf, rowsWithKeys } from '../store/whole.js';
import { instanceParts } from '../wire/common.js';
import type { RoleAssignmentEntry, TenantUserEntry } from '../wire/environment-document.js';
import { assignMany, unassignMany } from './assignment.js';
import { addTenantUsers, removeTenantUsers } from './tenant-user.js';
import { referencesToInstances, rowsNamed } from './transfer-instance.js';
import { type Entry, entriesOfList, type Part, portionsOf, sortedEntries, valuesOf, without } from './transfer-part.js';
import { referencesTo, referencesToParts } from './transfer-reference.js';

/** What users have: places in tenants, and roles. */

/** Which users were added to which tenants. */
export const tenantUserPart: Part<TenantUserEntry> = {
	title: 'tenant user',
	member: ['facts', 'tenant_users'],
	scope: null,
	list: true,
	entriesOf: ({ facts }) => entriesOfList(['facts', 'tenant_users'], facts?.tenant_users, nameOfPlace),
	async *portions(unit) {
		for (const users of portionsOf(await namesOf(unit, User))) {
			yield placesOf(
				unit,
				users.map(({ id }) => id),
			);
		}
	},
	async held(unit, entries) {
		return valuesOf(await placesOf(unit, await userIds(unit, entries)));
	},
	shown: (value) => value,
	async write(unit, entries) {
		await addTenantUsers(unit, await resolvePlaces(unit, entries));
	},
	async remove(unit, entries) {
		const places = await resolvePlaces(unit, entries);
		await removeTenantUsers(unit, {
			places: places.map(({ user, tenant }) => ({ user_id: user.id, tenant_id: tenant.id })),
		});
	},
};

async function placesOf(unit: ReadingUnit, user_ids: readonly string[]): Promise<readonly Entry<TenantUserEntry>[]> {
	const rows = await tenantUsersBy(unit, { user_ids });
	return sortedEntries(
		rows.map(({ user, tenant }) => ({ user, tenant })),
		nameOfPlace,
	);
}

async function resolvePlaces(unit: ReadingUnit, entries: readonly Entry<TenantUserEntry>[]) {
	const userAt = await referencesTo(
		unit,
		User,
		entries.map(({ value }) => value.user),
	);
	const tenantAt = await referencesTo(
		unit,
		Tenant,
		entries.map(({ value }) => value.tenant),
	);
	return entries.map(({ place, value }) => ({
		user: userAt(value.user, [...place, 'user']),
		tenant: tenantAt(value.tenant, [...place, 'tenant']),
	}));
}

function nameOfPlace({ user, tenant }: TenantUserEntry): string {
	return `${user} ${tenant}`;
}

/** Which users hold which roles in which tenants and on which instances. */
export const roleAssignmentPart: Part<RoleAssignmentEntry> = {
	title: 'role assignment',
	member: ['facts', 'role_assignments'],
	scope: null,
	list: true,
	entriesOf: ({ facts }) => entriesOfList(['facts', 'role_assignments'], facts?.role_assignments, nameOfAssignment),
	async *portions(unit) {
		for (const users of portionsOf(await namesOf(unit, User))) {
			yield assignmentsOf(unit, { user_ids: users.map(({ id }) => id) });
		}
	},
	async held(unit, entries) {
		const user_ids = await userIds(unit, entries);
		const tenants = await rowsWithKeys(
			unit,
			Tenant,
			entries.flatMap(({ value }) => value.tenant ?? []),
		);
		const tenant_ids = [...tenants.values()].map(({ id }) => id);
		const instances = await rowsNamed(unit, instancesIn(entries));
		const resource_instance_ids = instances.map(({ id }) => id);
		return valuesOf([
			...(await assignmentsOf(unit, { user_ids, tenant_ids, on_instances: false })),
			...(await assignmentsOf(unit, { user_ids, resource_instance_ids })),
		]);
	},
	shown: (value) => without(value, { tenant: null, resource_instance: null }),
	async write(unit, entries) {
		await assignMany(unit, await resolveAssignments(unit, entries));
	},
	async remove(unit, entries) {
		await unassignMany(unit, await resolveAssignments(unit, entries));
	},
};

async function assignmentsOf(
	unit: ReadingUnit,
	filter: AssignmentFilter,
): Promise<readonly Entry<RoleAssignmentEntry>[]> {
	// The keys alone, of which there may be many.
	const values = await assignmentsBy(unit, filter)
		.clearOrder()
		.clearSelect()
		.select('users.key as user', 'roles.key as role', 'tenants.key as tenant')
		.select(instanceNameIn('resources', 'resource_instances').as('resource_instance'))
		.castTo<(RoleAssignmentEntry & { readonly tenant: string })[]>();
	return sortedEntries(
		values.map(({ user, role, tenant, resource_instance }) => {
			// An instance knows its tenant.
			return { user, role, tenant: resource_instance === null ? tenant : null, resource_instance };
		}),
		nameOfAssignment,
	);
}

/** What the entries name, by ids. */
async function resolveAssignments(unit: ReadingUnit, entries: readonly Entry<RoleAssignmentEntry>[]) {
	const userAt = await referencesTo(
		unit,
		User,
		entries.map(({ value }) => value.user),
	);
	const tenantAt = await referencesTo(
		unit,
		Tenant,
		entries.flatMap(({ value }) => value.tenant ?? []),
	);
	const instanceAt = await referencesToInstances(unit, instancesIn(entries));
	const roleAt = await referencesToParts(
		unit,
		Role,
		entries.map(({ value }) => roleOf(value)),
	);
	return entries.map(({ place, value }) => {
		const { tenant, resource_instance } = value;
		return {
			user: userAt(value.user, [...place, 'user']).id,
			role: roleAt(roleOf(value), [...place, 'role']).id,
			...(tenant !== null && { tenant: tenantAt(tenant, [...place, 'tenant']).id }),
			...(resource_instance !== null && {
				resource_instance: instanceAt(resource_instance, [...place, 'resource_instance']).id,
			}),
		};
	});
}

function roleOf({ role, resource_instance }: RoleAssignmentEntry) {
	return { resource: instanceParts(resource_instance ?? '')?.resource ?? null, key: role };
}

function instancesIn(entries: readonly Entry<RoleAssignmentEntry>[]): readonly string[] {
	return [...new Set(entries.flatMap(({ value }) => value.resource_instance ?? []))];
}

/** In a name, an instance has a colon and a tenant has none. */
function nameOfAssignment({ user, role, tenant, resource_instance }: RoleAssignmentEntry): string {
	return `${user} ${role} ${resource_instance ?? tenant}`;
}

/** The ids of the users that entries name and that exist. */
async function userIds(unit: ReadingUnit, entries: readonly Entry<{ readonly user: string }>[]) {
	const keys = entries.map(({ value }) => value.user);
	return [...(await rowsWithKeys(unit, User, keys)).values()].map(({ id }) => id);
}
