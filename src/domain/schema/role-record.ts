import { groupBy } from '../../../compiler/group-by.js';
import { isSetRelation } from '../../../compiler/user-set.js';
import { Resource } from '../../store/table/resource.js';
import { grantRows, parentRows, Role, rolesWithIds } from '../../store/table/role.js';
import { type DerivationRow, derivationRows } from '../../store/table/role-derivation.js';
import type { ChangedRecord } from '../../store/unit/change.js';
import { changeRecord, hasValues } from '../../store/unit/change-record.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { DerivedRoleBlockRead, DerivedRoleRuleRead } from '../../wire/schema/derivation.js';
import type { GrantableToRead } from '../../wire/schema/grantable-to.js';

/** A role's links, with keys. */
interface RoleLinks {
	/** The role's resource; `null` for a tenant role. */
	readonly resource: string | null;
	/** Permissions as `<resource>:<action>`. A resource role has action keys instead. */
	readonly permissions: string[];
	readonly extends: string[];
	readonly granted_to: DerivedRoleBlockRead | null;
	/** `undefined` if the role cannot be assigned to sets of users. */
	readonly grantable_to: GrantableToRead[] | undefined;
}

export type LinkedRole = readonly [role: Role, links: RoleLinks];

/**
 * Returns tenant or resource roles with their links, in the same order. The links do not include the links of extended
 * roles.
 */
export async function withLinks(unit: ReadingUnit, roles: readonly Role[]): Promise<readonly LinkedRole[]> {
	const ids = roles.map((role) => role.id);
	const grants = groupBy(await grantRows(unit, ids), (grant) => grant.role_id);
	const parents = groupBy(await parentRows(unit, ids), (parent) => parent.role_id);
	const derived = roles.filter((role) => role.resource_id !== null).map((role) => role.id);
	const rules = groupBy(derived.length === 0 ? [] : await derivationRows(unit, derived), (rule) => rule.role_id);
	const resources = await findRoleResources(unit, roles);
	return roles.map((role) => {
		const granted = (grants.get(role.id) ?? []).map(({ resource, action }) =>
			role.resource_id === null ? `${resource}:${action}` : action,
		);
		const [own, ofSets] = [[] as DerivationRow[], [] as GrantableToRead[]];
		for (const rule of rules.get(role.id) ?? []) {
			if (isSetRelation(rule.linked_by_relation)) ofSets.push({ role: rule.role, on_resource: rule.on_resource });
			else own.push(rule);
		}
		const links: RoleLinks = {
			resource: resources.get(role.resource_id ?? '')?.key ?? null,
			permissions: granted,
			extends: (parents.get(role.id) ?? []).map(({ parent }) => parent),
			granted_to: derivationBlock(role, own),
			grantable_to: ofSets.length === 0 ? undefined : ofSets,
		};
		return [role, links] as const;
	});
}

/** Returns these roles' resources, keyed by id. */
export function findRoleResources(unit: ReadingUnit, roles: readonly Role[]): Promise<ReadonlyMap<string, Resource>> {
	const resourceIds = roles.flatMap((role) => role.resource_id ?? []);
	return unit.findMany(Resource, resourceIds);
}

function derivationBlock(role: Role, rules: readonly DerivationRow[]): DerivedRoleBlockRead | null {
	const { granted_to_id, no_direct_roles_on_object } = role;
	if (granted_to_id === null) return null;
	return { id: granted_to_id, users_with_role: rules.map(readDerivationRule), when: { no_direct_roles_on_object } };
}

/** Converts a derivation to its API object. */
export function readDerivationRule(rule: DerivationRow): DerivedRoleRuleRead {
	const { role, on_resource, linked_by_relation, resource_id, relation_id, no_direct_roles_on_object } = rule;
	const keys = { role, on_resource, linked_by_relation };
	return { ...keys, role_id: rule.source_role_id, resource_id, relation_id, when: { no_direct_roles_on_object } };
}

/** Returns a role's name in the change log. */
function linkedRoleName([role, { resource }]: LinkedRole): string {
	return resource === null ? role.key : `${resource}:${role.key}`;
}

function linkedRoleRecord([role, links]: LinkedRole): ChangedRecord {
	return { ...changeRecord(role), ...links };
}

/**
 * Runs `work` and records its changes to roles. `work` returns the roles it created; these are recorded as created.
 * Roles in `existing` are recorded if their columns or links changed. Returns all current roles, oldest first.
 */
export async function recordRoleChanges(
	unit: WritingUnit,
	existing: readonly Role[],
	work: () => Promise<readonly Role[] | undefined>,
): Promise<readonly Role[]> {
	const before = new Map((await withLinks(unit, existing)).map((linked) => [linked[0].id, linkedRoleRecord(linked)]));
	const created = (await work()) ?? [];
	const ids = [...existing, ...created].map((role) => role.id);
	const after: Role[] = [];
	for (const linked of await withLinks(unit, await rolesWithIds(unit, ids).all())) {
		const [role, links] = linked;
		const was = before.get(role.id);
		if (was === undefined) unit.record('role', 'create', linkedRoleName(linked), null, linkedRoleRecord(linked));
		if (was === undefined || hasValues(was, { ...linkedRoleRecord(linked), updated_at: was['updated_at'] })) {
			after.push(role);
			continue;
		}
		const touched = role.updated_at.getTime() === unit.now.getTime() ? role : await unit.change(Role, role, {});
		unit.record('role', 'update', linkedRoleName(linked), was, linkedRoleRecord([touched, links]));
		after.push(touched);
	}
	return after;
}

/** Records deleted roles. Call it while their links still exist. */
export async function recordRoleRemovals(unit: WritingUnit, roles: readonly Role[]): Promise<void> {
	for (const linked of await withLinks(unit, roles)) {
		unit.record('role', 'delete', linkedRoleName(linked), linkedRoleRecord(linked), null);
	}
}
