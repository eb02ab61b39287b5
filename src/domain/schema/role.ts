import { groupBy } from '../../../compiler/group-by.js';
import type { RoleExpression } from '../../../compiler/role-expression.js';
import { onlyRow } from '../../store/query/only-row.js';
import { conditionSetsOfRoles } from '../../store/table/condition-set.js';
import type { Resource } from '../../store/table/resource.js';
import { childRoleIds, deleteRoles, Role, rolesKeyed, rolesWithIds } from '../../store/table/role.js';
import { derivedRoleIds } from '../../store/table/role-derivation.js';
import { hasValues } from '../../store/unit/change-record.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { Columns } from '../../store/unit/table-model.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { JsonObject } from '../../wire/common.js';
import type { DerivedRoleBlockEdit } from '../../wire/schema/derivation.js';
import type { GrantableTo } from '../../wire/schema/grantable-to.js';
import type { RoleRead } from '../../wire/schema/role.js';
import { refuseComputedOverLimit, refuseRolesOverLimit } from '../check-limit/cycle-limit.js';
import { removeLevelsOfRoles } from '../element/config-record.js';
import { removeUserInvites } from '../element/remove-user-invites.js';
import { removeRequests } from '../element/request-record.js';
import { removeAssignments, removePublicAssignments } from '../facts/assignment.js';
import { refuseUnsoundComputedRoles } from './computed-role.js';
import { removeConditionSets } from './condition-set.js';
import { definedFields } from './defined-fields.js';
import { derivationColumns, setDerivations } from './derivation.js';
import { refuseExcludedConditions, refuseWithdrawnSets, resolveDeclaredSets } from './grant-condition.js';
import { refuseRolesOfSets, removeSetRelationsOf, setGrantableTo } from './grantable-to.js';
import { refuseNamedRoles, refuseOperands } from './named-role.js';
import { setParents } from './role-hierarchy.js';
import { setPermissions } from './role-permission.js';
import { recordRoleChanges, recordRoleRemovals, withLinks } from './role-record.js';

/** Converts tenant roles to API objects. The permissions do not include permissions from extended roles. */
export async function readRoles(unit: ReadingUnit, rows: readonly Role[]): Promise<readonly RoleRead[]> {
	const linked = await withLinks(unit, rows);
	return linked.map(([row, links]) => ({ ...row, ...unit.scope, ...links, granted_to: null }));
}

export async function readRole(unit: ReadingUnit, row: Role): Promise<RoleRead> {
	return onlyRow(await readRoles(unit, [row]));
}

/**
 * The fields to change in a tenant or resource role. Empty `permissions` and `extends` and a null `granted_to` remove
 * all links of this kind.
 */
export interface RoleEdit {
	readonly name?: string | undefined;
	readonly description?: string | null | undefined;
	readonly attributes?: JsonObject | null | undefined;
	readonly permissions?: readonly string[] | undefined;
	readonly extends?: readonly string[] | undefined;
	readonly granted_to?: DerivedRoleBlockEdit | null | undefined;
	readonly public?: boolean | undefined;
	readonly grantable_to?: readonly GrantableTo[] | undefined;
	readonly computed?: Exclude<RoleExpression, string> | null | undefined;
	/** Condition sets under which the role may be assigned, by id or key. */
	readonly grant_conditions?: readonly string[] | undefined;
	/**
	 * Declared set keys, instead of `grant_conditions`. An import may create these sets later, and checks them at its
	 * end.
	 */
	readonly declared_sets?: readonly string[] | undefined;
}

/** A complete tenant or resource role. Missing fields are reset. */
export interface CompleteRole extends RoleEdit {
	readonly key: string;
	readonly name: string;
}

/**
 * Adds a tenant or resource role, with its links. Throws `duplicate`, and the same errors about links as
 * `setPermissions`, `setParents`, `setDerivations`, `setGrantableTo` and `refuseUnsoundComputedRoles`.
 */
export async function createRole(unit: WritingUnit, body: CompleteRole, resource?: Resource): Promise<Role> {
	const created = await recordRoleChanges(unit, [], async () => {
		const grant_conditions = await resolveDeclaredSets(unit, body.grant_conditions ?? [], ['body', 'grant_conditions']);
		const columns = { ...newRole(unit, body), grant_conditions, resource_id: resource?.id ?? null };
		const role = onlyRow(await unit.insert(Role, [columns], () => body.key));
		await relink(unit, [{ role, body, at: ['body'] }]);
		return [role];
	});
	await refuseExcludedConditions(unit, ['body']);
	return onlyRow(created);
}

/**
 * Changes the passed role fields. Replaces lists, `attributes` and `granted_to` as a whole. A role that is no longer
 * public loses its assignments to everyone. Throws like `createRole`, and `conflict` for a removed condition set in
 * use.
 */
export async function changeRole(unit: WritingUnit, role: Role, body: RoleEdit): Promise<Role> {
	const { name, description, attributes, granted_to, computed, public: isPublic } = body;
	const grant_conditions =
		body.grant_conditions && (await resolveDeclaredSets(unit, body.grant_conditions, ['body', 'grant_conditions']));
	const columns = {
		...definedFields({ name, description, attributes, computed, public: isPublic, grant_conditions }),
		...derivationColumns(unit, granted_to, role),
	};
	const changed = await recordRoleChanges(unit, [role], async () => {
		await rewrite(unit, role, columns);
		await relink(unit, [{ role, body, at: ['body'] }]);
		return undefined;
	});
	if (grant_conditions !== undefined) await refuseWithdrawnSets(unit, changed);
	await refuseExcludedConditions(unit, ['body']);
	return onlyRow(changed);
}

/** A tenant role or resource role to create or replace. `at` is its location in the request. */
export interface RoleSync {
	readonly resource_id: string | null;
	readonly body: CompleteRole;
	readonly at: readonly (string | number)[];
}

/** Synchronisation result. Both lists have the oldest roles first. */
export interface RolesSynced {
	readonly created: readonly Role[];
	readonly existing: readonly Role[];
}

/**
 * Creates or replaces roles. If a key is repeated, the last body applies. The roles may refer to each other. Throws the
 * errors about links from `createRole`.
 */
export async function syncRoles(unit: WritingUnit, wanted: readonly RoleSync[]): Promise<RolesSynced> {
	const syncs = new Map(wanted.map((sync) => [roleIdentity(sync.resource_id, sync.body.key), sync]));
	const existing: Role[] = [];
	for (const [resource_id, group] of groupBy([...syncs.values()], (sync) => sync.resource_id)) {
		const keys = group.map(({ body }) => body.key);
		existing.push(...(await rolesKeyed(unit, resource_id, keys).all()));
	}
	const known = new Set(existing.map((role) => roleIdentity(role.resource_id, role.key)));
	const missing = [...syncs].filter(([place]) => !known.has(place)).map(([, sync]) => sync);
	const synced = await recordRoleChanges(unit, existing, async () => {
		const sets = await declaredSets(unit, [...syncs.values()]);
		const columns = missing.map((sync) => ({
			...newRole(unit, sync.body),
			grant_conditions: sets.get(sync) ?? [],
			resource_id: sync.resource_id,
		}));
		const created = await unit.insert(Role, columns, ({ key }) => String(key));
		const edits = [...existing, ...created].flatMap((role) => {
			const sync = syncs.get(roleIdentity(role.resource_id, role.key));
			return sync === undefined ? [] : [{ role, sync, body: completeRole(sync.body), at: sync.at }];
		});
		for (const { role, sync, body } of edits) {
			await rewrite(unit, role, { ...roleColumns(unit, body, role), grant_conditions: sets.get(sync) ?? [] });
		}
		await relink(unit, edits);
		return created;
	});
	const old = new Set(existing.map((role) => role.id));
	return { created: synced.filter(({ id }) => !old.has(id)), existing: synced.filter(({ id }) => old.has(id)) };
}

/** Returns each role's declared set keys. */
async function declaredSets(unit: ReadingUnit, syncs: readonly RoleSync[]) {
	const found = new Map<RoleSync, readonly string[]>();
	for (const sync of syncs) {
		const { grant_conditions = [], declared_sets } = sync.body;
		const at = [...sync.at, 'grant_conditions'];
		found.set(sync, declared_sets ?? (await resolveDeclaredSets(unit, grant_conditions, at)));
	}
	return found;
}

/** Deletes a role like `removeRoles`. Throws `conflict` if a user set, a computed role or `grantable_to` names it. */
export async function removeRole(unit: WritingUnit, role: Role): Promise<void> {
	await refuseNamedRoles(unit, [role]);
	await refuseOperands(unit, [role]);
	await refuseRolesOfSets(unit, [role]);
	await removeRoles(unit, [role]);
}

/**
 * Deletes roles with their grants, assignments (also to sets of users), invites, requests, automatic condition sets and
 * element levels. Roles extending them or derived from them lose these links. The caller must ensure that no remaining
 * user set or computed role names them.
 */
export async function removeRoles(unit: WritingUnit, roles: readonly Role[]): Promise<void> {
	if (roles.length === 0) return;
	const ids = roles.map((role) => role.id);
	await removeAssignments(unit, { role_ids: ids });
	await removeUserInvites(unit, { role_ids: ids });
	await removeRequests(unit, { role_ids: ids });
	await removeConditionSets(unit, await conditionSetsOfRoles(unit, ids).all());
	await removeLevelsOfRoles(unit, ids);
	const losing = [...(await childRoleIds(unit, ids)), ...(await derivedRoleIds(unit, ids))];
	const others = losing.filter((id) => !ids.includes(id));
	const dependents = await rolesWithIds(unit, others).all();
	await recordRoleChanges(unit, dependents, async () => {
		await recordRoleRemovals(unit, roles);
		await removeSetRelationsOf(unit, roles);
		await deleteRoles(unit, ids);
		return undefined;
	});
}

interface Relinking {
	readonly role: Role;
	readonly body: RoleEdit;
	readonly at: readonly (string | number)[];
}

/**
 * Sets the links in `edits`. Roles in a request may refer to each other, so each kind of link is set for all roles
 * together.
 */
async function relink(unit: WritingUnit, edits: readonly Relinking[]): Promise<void> {
	await setPermissions(
		unit,
		edits.flatMap(({ role, body: { permissions } }) => (permissions === undefined ? [] : [{ role, permissions }])),
	);
	await setParents(
		unit,
		edits.flatMap(({ role, body, at }) =>
			body.extends === undefined ? [] : [{ role, parents: body.extends, at: [...at, 'extends'] }],
		),
	);
	const derived = await setDerivations(
		unit,
		edits.flatMap(({ role, body: { granted_to } }) => (granted_to === undefined ? [] : [{ role, granted_to }])),
	);
	const granted = await setGrantableTo(
		unit,
		edits.flatMap(({ role, body: { grantable_to } }) => (grantable_to === undefined ? [] : [{ role, grantable_to }])),
	);
	await refuseUnsoundComputedRoles(unit, edits);
	await refuseRolesOverLimit(unit, [...derived, ...granted]);
	if (edits.some(({ body }) => body.computed)) await refuseComputedOverLimit(unit);
}

async function rewrite(unit: WritingUnit, role: Role, columns: Columns<Role>): Promise<void> {
	if (role.public && columns.public === false) await removePublicAssignments(unit, role.id);
	if (!hasValues(role, columns)) await unit.change(Role, role, columns);
}

function newRole(unit: WritingUnit, body: CompleteRole) {
	return { key: body.key, ...roleColumns(unit, completeRole(body)), ...unit.stamp() };
}

function completeRole(body: CompleteRole) {
	const { key, name, description = null, attributes = null, permissions = [], granted_to = null } = body;
	const { grantable_to = [] } = body;
	const links = { permissions, extends: body.extends ?? [], granted_to, grantable_to, computed: body.computed ?? null };
	return { key, name, description, attributes, public: body.public ?? false, ...links };
}

function roleColumns(unit: WritingUnit, body: ReturnType<typeof completeRole>, role?: Role) {
	const { name, description, attributes, granted_to, computed } = body;
	const columns = derivationColumns(unit, granted_to, role);
	return { name, description, attributes, computed, public: body.public, ...columns };
}

function roleIdentity(resource_id: string | null, key: string): string {
	return `${resource_id ?? ''}/${key}`;
}
