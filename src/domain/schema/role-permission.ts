import { Failure, notFound } from '../../failure.js';
import { onlyRow } from '../../store/query/only-row.js';
import type { Resource } from '../../store/table/resource.js';
import {
	type ActionRow,
	actionsNamed,
	grantRows,
	type LinkedIds,
	type Role,
	replaceGrants,
} from '../../store/table/role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { asId } from '../../wire/common.js';
import { findRoleResources, recordRoleChanges } from './role-record.js';

/** A role and its new permissions. */
export interface PermissionEdit {
	readonly role: Role;
	readonly permissions: readonly string[];
}

/**
 * Replaces role permissions, without recording the change. Throws `not_found`, `invalid_permission`, and `invalid` if a
 * resource role grants an action of a different resource.
 */
export async function setPermissions(unit: WritingUnit, edits: readonly PermissionEdit[]): Promise<void> {
	if (edits.length > 0) await replaceGrants(unit, await actionIds(unit, edits));
}

/** Adds permissions to a role, and skips existing permissions. Throws like `setPermissions`. */
export async function grantPermissions(unit: WritingUnit, role: Role, permissions: readonly string[]): Promise<Role> {
	return changeGrants(unit, role, permissions, (held, given) => [...new Set([...held, ...given])]);
}

/** Removes permissions from a role, and skips missing permissions. Throws like `setPermissions`. */
export async function revokePermissions(unit: WritingUnit, role: Role, permissions: readonly string[]): Promise<Role> {
	return changeGrants(unit, role, permissions, (held, taken) => held.filter((id) => !taken.includes(id)));
}

async function changeGrants(
	unit: WritingUnit,
	role: Role,
	permissions: readonly string[],
	change: (held: readonly string[], named: readonly string[]) => readonly string[],
): Promise<Role> {
	const named = (await actionIds(unit, [{ role, permissions }])).get(role.id) ?? [];
	const held = (await grantRows(unit, [role.id])).map((grant) => grant.action_id);
	const changed = await recordRoleChanges(unit, [role], async () => {
		await replaceGrants(unit, new Map([[role.id, change(held, named)]]));
		return undefined;
	});
	return onlyRow(changed);
}

/** Returns the action ids for each role's permissions, without duplicates. */
async function actionIds(unit: ReadingUnit, edits: readonly PermissionEdit[]): Promise<LinkedIds> {
	const roleNames = edits.map(({ role }) => role);
	const owners = await findRoleResources(unit, roleNames);
	const wanted = edits.map(({ role, permissions }) => {
		const owner = owners.get(role.resource_id ?? '');
		return { role, owner, names: permissions.map((permission) => parsePermission(permission, owner)) };
	});
	const names = wanted.flatMap((edit) => edit.names);
	const actions = await actionsNamed(
		unit,
		names.flatMap(({ pair }) => pair ?? []),
		names.flatMap(({ id }) => id ?? []),
	);
	const byName = new Map(actions.map((action) => [`${action.resource}:${action.key}`, action]));
	const byId = new Map(actions.map((action) => [action.id, action]));
	const find = ({ permission, id, pair }: ParsedPermission, owner: Resource | undefined) => {
		const action = byId.get(id ?? '') ?? (pair === null ? undefined : byName.get(`${pair.resource}:${pair.action}`));
		if (action === undefined) throw notFound('ResourceAction', permission);
		if (owner !== undefined) refuseForeign(permission, action, owner);
		return action.id;
	};
	return new Map(
		wanted.map(({ role, owner, names: own }) => [role.id, [...new Set(own.map((name) => find(name, owner)))]]),
	);
}

/** A parsed permission: an action id, or the keys of an action and its resource. */
export interface ParsedPermission {
	readonly permission: string;
	readonly id: string | null;
	readonly pair: { readonly resource: string; readonly action: string } | null;
}

/**
 * Parses a permission. It is `resource:action`, an action id or, for a role on the resource `owner`, an action key.
 * Throws `invalid_permission`.
 */
export function parsePermission(permission: string, owner?: Resource): ParsedPermission {
	const id = asId(permission);
	const [resource = '', action, ...rest] = permission.split(':');
	if (action === undefined && owner !== undefined) {
		return { permission, id, pair: { resource: owner.key, action: permission } };
	}
	if (id !== null) return { permission, id, pair: null };
	if (action === undefined || resource === '' || action === '' || rest.length > 0) {
		throw new Failure(
			'invalid_permission',
			`the permission \`${permission}\` does not have the form \`resource:action\``,
		);
	}
	return { permission, id: null, pair: { resource, action } };
}

function refuseForeign(permission: string, action: ActionRow, owner: Resource): void {
	if (action.resource === owner.key) return;
	const message = `the permission \`${permission}\` belongs to \`${action.resource}\`, but the role belongs to \`${owner.key}\``;
	throw new Failure('invalid', message);
}
