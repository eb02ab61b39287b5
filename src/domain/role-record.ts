import { groupBy } from '../group-by.js';
import type { ChangedRecord } from '../store/change.js';
import { Resource } from '../store/table/resource.js';
import { grantsOf, parentsOf, Role, rolesWithIds } from '../store/table/role.js';
import { type DerivationRow, derivationsOf } from '../store/table/role-derivation.js';
import { holds, type ReadingUnit, recordOf, type WritingUnit } from '../store/unit.js';
import type { DerivedRoleBlockRead, DerivedRoleRuleRead } from '../wire/derivation.js';

/** What a role is linked to, by keys. */
export interface RoleLinks {
	/** The resource whose role it is; `null` for a tenant role. */
	readonly resource: string | null;
	/** `<resource>:<action>`; for a role of a resource, the keys of its actions. */
	readonly permissions: string[];
	readonly extends: string[];
	readonly granted_to: DerivedRoleBlockRead | null;
}

/** A role with its links. */
export type LinkedRole = readonly [role: Role, links: RoleLinks];

/** Roles of either kind with their own links, not those of the roles they extend; in the order given. */
export async function withLinks(unit: ReadingUnit, roles: readonly Role[]): Promise<readonly LinkedRole[]> {
	const ids = roles.map((role) => role.id);
	const grants = groupBy(await grantsOf(unit, ids), (grant) => grant.role_id);
	const parents = groupBy(await parentsOf(unit, ids), (parent) => parent.role_id);
	const derived = roles.filter((role) => role.granted_to_id !== null).map((role) => role.id);
	const rules = groupBy(derived.length === 0 ? [] : await derivationsOf(unit, derived), (rule) => rule.role_id);
	const resources = await ownersOf(unit, roles);
	return roles.map((role) => {
		const granted = (grants.get(role.id) ?? []).map(({ resource, action }) =>
			role.resource_id === null ? `${resource}:${action}` : action,
		);
		const links: RoleLinks = {
			resource: resources.get(role.resource_id ?? '')?.key ?? null,
			permissions: granted,
			extends: (parents.get(role.id) ?? []).map(({ parent }) => parent),
			granted_to: blockOf(role, rules.get(role.id) ?? []),
		};
		return [role, links] as const;
	});
}

/** The resources whose roles these are, by id. */
export function ownersOf(unit: ReadingUnit, roles: readonly Role[]): Promise<ReadonlyMap<string, Resource>> {
	return unit.findMany(
		Resource,
		roles.flatMap((role) => role.resource_id ?? []),
	);
}

function blockOf(role: Role, rules: readonly DerivationRow[]): DerivedRoleBlockRead | null {
	const { granted_to_id, no_direct_roles_on_object } = role;
	if (granted_to_id === null) return null;
	return { id: granted_to_id, users_with_role: rules.map(readRule), when: { no_direct_roles_on_object } };
}

/** A derivation as the API shows it. */
export function readRule(rule: DerivationRow): DerivedRoleRuleRead {
	const { role, on_resource, linked_by_relation, resource_id, relation_id, no_direct_roles_on_object } = rule;
	const keys = { role, on_resource, linked_by_relation };
	return { ...keys, role_id: rule.source_role_id, resource_id, relation_id, when: { no_direct_roles_on_object } };
}

/** What a role is called in the change log. */
function nameOf([role, { resource }]: LinkedRole): string {
	return resource === null ? role.key : `${resource}:${role.key}`;
}

function linkedRecordOf([role, links]: LinkedRole): ChangedRecord {
	return { ...recordOf(role), ...links };
}

/**
 * Does work on roles and records what came of it: those it created, and those of `existing` that are others than
 * before, by themselves or by what they are linked to; the rest leave no record and stay as they are. `work` returns
 * what it created, if anything. Returns all of them as they are now, oldest first.
 */
export async function recordingRoles(
	unit: WritingUnit,
	existing: readonly Role[],
	work: () => Promise<readonly Role[] | undefined>,
): Promise<readonly Role[]> {
	const before = new Map((await withLinks(unit, existing)).map((linked) => [linked[0].id, linkedRecordOf(linked)]));
	const created = (await work()) ?? [];
	const ids = [...existing, ...created].map((role) => role.id);
	const after: Role[] = [];
	for (const linked of await withLinks(unit, await rolesWithIds(unit, ids))) {
		const [role, links] = linked;
		const was = before.get(role.id);
		if (was === undefined) unit.record('role', 'create', nameOf(linked), null, linkedRecordOf(linked));
		if (was === undefined || holds(was, { ...linkedRecordOf(linked), updated_at: was['updated_at'] })) {
			after.push(role);
			continue;
		}
		const touched = role.updated_at.getTime() === unit.now.getTime() ? role : await unit.change(Role, role, {});
		unit.record('role', 'update', nameOf(linked), was, linkedRecordOf([touched, links]));
		after.push(touched);
	}
	return after;
}

/** Records that roles go; call it while they still have what they are linked to. */
export async function recordRemovals(unit: WritingUnit, roles: readonly Role[]): Promise<void> {
	for (const linked of await withLinks(unit, roles)) {
		unit.record('role', 'delete', nameOf(linked), linkedRecordOf(linked), null);
	}
}
