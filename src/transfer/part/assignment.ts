import { everyone } from '../../../compiler/everyone.js';
import { isUserSet, userSetParts } from '../../../compiler/user-set.js';
import { assignExactly, unassignMany } from '../../domain/facts/assignment.js';
import { addTenantUsers, removeTenantUsers } from '../../domain/facts/tenant-user.js';
import { grantSets } from '../../domain/schema/grant-condition.js';
import type { Named } from '../../store/table/assignment-reference.js';
import type { InstanceRow } from '../../store/table/resource-instance.js';
import { Role } from '../../store/table/role.js';
import {
	type AssignmentFilter,
	type AssignmentKeys,
	assignmentKeys,
	RoleAssignment,
} from '../../store/table/role-assignment.js';
import { hasSetGrants, type SetGrantFilter, setGrantsBy } from '../../store/table/set-grant.js';
import { Tenant } from '../../store/table/tenant.js';
import { tenantUsersBy } from '../../store/table/tenant-user.js';
import { ensureEveryone, Holder } from '../../store/table/user.js';
import { rowsWithKeys, sortedRowKeys } from '../../store/unit/keyed-rows.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { instanceParts } from '../../wire/common.js';
import type { RoleAssignmentEntry, TenantUserEntry } from '../../wire/general/environment-document.js';
import { findNamedInstances, instanceNamesInChunks, instanceResolver } from './instance.js';
import {
	chunked,
	type DocumentPart,
	type DocumentPlace,
	type Entry,
	listEntries,
	sortedEntries,
	valuesByName,
	withoutDefaults,
} from './part.js';
import { keyResolver, partResolver } from './reference.js';

/** Users' tenant memberships and roles, as document parts. */

/** Users' tenant memberships. */
export const tenantUserPart: DocumentPart<TenantUserEntry> = {
	title: 'tenant user',
	member: ['facts', 'tenant_users'],
	scope: null,
	list: true,
	entriesIn: ({ facts }) => listEntries(['facts', 'tenant_users'], facts?.tenant_users, tenantUserName),
	async *chunks(unit) {
		for await (const user_ids of userIdsInChunks(unit)) yield tenantUserEntries(unit, user_ids);
	},
	async stored(unit, entries) {
		return valuesByName(await tenantUserEntries(unit, await userIds(unit, entries)));
	},
	toDocument: (value) => value,
	async write(unit, entries) {
		await addTenantUsers(unit, await resolveTenantUsers(unit, entries));
	},
	async remove(unit, entries) {
		const places = await resolveTenantUsers(unit, entries);
		await removeTenantUsers(unit, {
			places: places.map(({ user, tenant }) => ({ user_id: user.id, tenant_id: tenant.id })),
		});
	},
};

async function tenantUserEntries(
	unit: ReadingUnit,
	user_ids: readonly string[],
): Promise<readonly Entry<TenantUserEntry>[]> {
	const rows = await tenantUsersBy(unit, { user_ids });
	return sortedEntries(
		rows.map(({ user, tenant }) => ({ user, tenant })),
		tenantUserName,
	);
}

async function resolveTenantUsers(unit: ReadingUnit, entries: readonly Entry<TenantUserEntry>[]) {
	const { userAt, tenantAt } = await holderResolvers(unit, entries);
	return entries.map(({ place, value }) => ({
		user: userAt(value.user, [...place, 'user']),
		tenant: tenantAt(value.tenant, [...place, 'tenant']),
	}));
}

function tenantUserName({ user, tenant }: TenantUserEntry): string {
	return `${user} ${tenant}`;
}

/** Roles that users hold in tenants and on instances. */
export const roleAssignmentPart: DocumentPart<RoleAssignmentEntry> = {
	title: 'role assignment',
	member: ['facts', 'role_assignments'],
	scope: null,
	list: true,
	async isEmpty(unit) {
		return (await unit.isEmpty(RoleAssignment)) && !(await hasSetGrants(unit));
	},
	entriesIn: ({ facts }) => listEntries(['facts', 'role_assignments'], facts?.role_assignments, assignmentName),
	async *chunks(unit) {
		for await (const user_ids of userIdsInChunks(unit)) yield assignmentEntries(unit, { user_ids });
		if (!(await hasSetGrants(unit))) return;
		for await (const subjects of instanceNamesInChunks(unit)) {
			yield setGrantEntries(unit, { subject_ids: subjects.map(({ id }) => id) });
		}
	},
	async stored(unit, entries) {
		const sets = entries.flatMap(({ value }) => (isUserSet(value.user) ? [value.user] : []));
		const user_ids = await userIds(unit, entries);
		const tenants = await rowsWithKeys(
			unit,
			Tenant,
			entries.flatMap(({ value }) => value.tenant ?? []),
		);
		const tenant_ids = [...tenants.values()].map(({ id }) => id);
		const instances = await findNamedInstances(unit, instancesIn(entries));
		const resource_instance_ids = instances.map(({ id }) => id);
		return valuesByName([
			...(await assignmentEntries(unit, { user_ids, tenant_ids, on_instances: false })),
			...(await assignmentEntries(unit, { user_ids, resource_instance_ids })),
			...(sets.length === 0 ? [] : await setGrantEntries(unit, { sets, resource_instance_ids })),
		]);
	},
	toDocument: (value) =>
		withoutDefaults(value, { tenant: null, resource_instance: null, expires_at: null, condition: null }),
	async write(unit, entries) {
		if (entries.some(({ value }) => value.user === everyone)) await ensureEveryone(unit);
		const places = entries.map(({ place }) => ['body', ...place]);
		const { references, found, targets } = await resolveAssignments(unit, entries);
		await assignExactly(unit, references, found, targets, (index) => places[index] ?? ['body']);
	},
	async remove(unit, entries) {
		await unassignMany(unit, (await resolveAssignments(unit, entries)).references);
	},
};

async function assignmentEntries(
	unit: ReadingUnit,
	filter: AssignmentFilter,
): Promise<readonly Entry<RoleAssignmentEntry>[]> {
	return keyEntries(await assignmentKeys(unit, filter));
}

async function setGrantEntries(
	unit: ReadingUnit,
	filter: SetGrantFilter,
): Promise<readonly Entry<RoleAssignmentEntry>[]> {
	return keyEntries(await setGrantsBy(unit, filter).all());
}

function keyEntries(values: readonly AssignmentKeys[]): readonly Entry<RoleAssignmentEntry>[] {
	return sortedEntries(
		values.map(({ user, role, tenant, resource_instance, expires_at, condition_set, condition_values }) => {
			// An instance already has a tenant, so the entry does not name it.
			const place = { tenant: resource_instance === null ? tenant : null, resource_instance };
			const condition = condition_set === null ? null : { set: condition_set, values: condition_values ?? {} };
			return { user, role, ...place, expires_at: expires_at?.toISOString() ?? null, condition };
		}),
		assignmentName,
	);
}

/** Returns the assignments in entries as references by id, and the referenced objects, keyed by id. */
async function resolveAssignments(unit: ReadingUnit, entries: readonly Entry<RoleAssignmentEntry>[]) {
	const { userAt, tenantAt } = await holderResolvers(unit, entries);
	const ofSets = entries.flatMap(({ value }) => userSetParts(value.user)?.instance ?? []);
	const instanceAt = await instanceResolver(unit, [...instancesIn(entries), ...ofSets]);
	const setAt = (set: string, place: DocumentPlace) => {
		instanceAt(userSetParts(set)?.instance ?? '', place);
		return set;
	};
	const roleAt = await partResolver(
		unit,
		Role,
		entries.map(({ value }) => namedRole(value)),
	);
	const users = new Map<string, Named>();
	const roles = new Map<string, Role>();
	const tenants = new Map<string, Named>();
	const instances = new Map<string, InstanceRow>();
	const references = entries.map(({ place, value }) => {
		const { tenant, resource_instance, expires_at, condition } = value;
		return {
			user: isUserSet(value.user)
				? setAt(value.user, [...place, 'user'])
				: noteRow(users, userAt(value.user, [...place, 'user'])),
			role: noteRow(roles, roleAt(namedRole(value), [...place, 'role'])),
			expires_at: expires_at ?? undefined,
			condition: condition ?? undefined,
			place: ['body', ...place],
			...(tenant !== null && { tenant: noteRow(tenants, tenantAt(tenant, [...place, 'tenant'])) }),
			...(resource_instance !== null && {
				resource_instance: noteRow(instances, instanceAt(resource_instance, [...place, 'resource_instance'])),
			}),
		};
	});
	const ofResources = new Map([...instances.values()].map(({ resource_id }) => [resource_id, roles]));
	const conditions = entries.flatMap(({ value }) => value.condition?.set ?? []);
	const sets = conditions.length === 0 ? new Map<string, Named>() : await grantSets(unit, conditions);
	return { references, found: { users, roles, tenants }, targets: { instances, roles: ofResources, sets } };
}

/** Adds a row to a map keyed by id, and returns the id. */
function noteRow<R extends Named>(rows: Map<string, R>, row: R): string {
	rows.set(row.id, row);
	return row.id;
}

function namedRole({ role, resource_instance }: RoleAssignmentEntry) {
	return { resource: instanceParts(resource_instance ?? '')?.resource ?? null, key: role };
}

function instancesIn(entries: readonly Entry<RoleAssignmentEntry>[]): readonly string[] {
	return [...new Set(entries.flatMap(({ value }) => value.resource_instance ?? []))];
}

/** Returns a unique name. Instances and tenants cannot be confused, because only instance names contain a colon. */
function assignmentName({ user, role, tenant, resource_instance, condition }: RoleAssignmentEntry): string {
	const under = condition === null ? '' : ` under ${condition.set}`;
	return `${user} ${role} ${resource_instance ?? tenant}${under}`;
}

/** Yields the ids of all role holders in key order, in chunks. */
async function* userIdsInChunks(unit: ReadingUnit): AsyncGenerator<readonly string[]> {
	for (const users of chunked(await sortedRowKeys(unit, Holder))) yield users.map(({ id }) => id);
}

/** The user and the tenant of a membership or role. */
interface Held {
	readonly user: string;
	readonly tenant: string | null;
}

/** Loads the holders and tenants in entries. */
async function holderResolvers(unit: ReadingUnit, entries: readonly Entry<Held>[]) {
	const users = entries.map(({ value }) => value.user);
	const tenants = entries.flatMap(({ value }) => value.tenant ?? []);
	return { userAt: await keyResolver(unit, Holder, users), tenantAt: await keyResolver(unit, Tenant, tenants) };
}

/** Returns the ids of the existing holders in entries. */
async function userIds(unit: ReadingUnit, entries: readonly Entry<{ readonly user: string }>[]) {
	const keys = entries.map(({ value }) => value.user);
	return [...(await rowsWithKeys(unit, Holder, keys)).values()].map(({ id }) => id);
}
