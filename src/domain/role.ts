import { Failure, notFound, unprocessable } from '../failure.js';
import { groupBy } from '../group-by.js';
import type { ChangedRecord } from '../store/change.js';
import {
	actionsNamed,
	deleteRole,
	type GrantRow,
	grantsOf,
	ofTenants,
	type ParentRow,
	parentsOf,
	Role,
	replaceGrants,
	replaceParents,
} from '../store/table/role.js';
import { type Columns, holds, type ReadingUnit, recordOf, type WritingUnit } from '../store/unit.js';
import { asId } from '../wire/common.js';
import type { RoleCreate, RoleRead, RoleUpdate } from '../wire/role.js';
import { removeAssignments } from './assignment.js';
import { defined } from './defined.js';
import { only } from './only.js';
import { removeUserInvites } from './user-invite.js';

/** Roles as the API shows them: with their own permissions, not those of the roles they extend. */
export async function readRoles(unit: ReadingUnit, rows: readonly Role[]): Promise<readonly RoleRead[]> {
	const ids = rows.map((row) => row.id);
	const grants = groupBy(await grantsOf(unit, ids), (grant) => grant.role_id);
	const parents = groupBy(await parentsOf(unit, ids), (parent) => parent.role_id);
	return rows.map((row) => ({ ...row, ...unit.scope, ...granted(grants.get(row.id), parents.get(row.id)) }));
}

/** One role as the API shows it. */
export async function readRole(unit: ReadingUnit, row: Role): Promise<RoleRead> {
	return only(await readRoles(unit, [row]));
}

/** Adds a role with its permissions and parents. Throws `duplicate`, or `not_found` for what it names. */
export async function createRole(unit: WritingUnit, body: RoleCreate): Promise<Role> {
	const { key, name, description, attributes } = body;
	const columns = { key, name, ...defined({ description, attributes }) };
	const role = only(await unit.insert(Role, [{ ...columns, ...unit.stamp() }], () => key));
	await setGrants(unit, role, body.permissions);
	await setParents(unit, role, body.extends);
	unit.record('role', 'create', key, null, await recordOfRole(unit, role));
	return role;
}

/** Changes what is given of a role; `permissions`, `extends` and `attributes` are overwritten as a whole. */
export async function changeRole(unit: WritingUnit, role: Role, body: Omit<RoleUpdate, 'granted_to'>): Promise<Role> {
	const { name, description, attributes } = body;
	return changing(unit, role, defined({ name, description, attributes }), async () => {
		if (body.permissions !== undefined) await setGrants(unit, role, body.permissions);
		if (body.extends !== undefined) await setParents(unit, role, body.extends);
	});
}

/** Gives permissions to a role; those it has are skipped. Throws `not_found` or `invalid_permission`. */
export async function grantPermissions(unit: WritingUnit, role: Role, permissions: readonly string[]): Promise<Role> {
	const held = (await grantsOf(unit, [role.id])).map((grant) => grant.action_id);
	const given = await actionIds(unit, permissions);
	return changing(unit, role, {}, () => replaceGrants(unit, role.id, [...new Set([...held, ...given])]));
}

/** Takes permissions from a role; those it does not have are skipped. Throws `not_found` or `invalid_permission`. */
export async function revokePermissions(unit: WritingUnit, role: Role, permissions: readonly string[]): Promise<Role> {
	const held = (await grantsOf(unit, [role.id])).map((grant) => grant.action_id);
	const taken = new Set(await actionIds(unit, permissions));
	return changing(unit, role, {}, () =>
		replaceGrants(
			unit,
			role.id,
			held.filter((id) => !taken.has(id)),
		),
	);
}

/** Deletes a role with its grants, its assignments and the invites to it. */
export async function removeRole(unit: WritingUnit, role: Role): Promise<void> {
	await removeAssignments(unit, { role_ids: [role.id] });
	await removeUserInvites(unit, { role_ids: [role.id] });
	unit.record('role', 'delete', role.key, await recordOfRole(unit, role), null);
	await deleteRole(unit, role.id);
}

/** Changes columns and links of a role and records it; when all is as it was, nothing is recorded. */
async function changing(
	unit: WritingUnit,
	role: Role,
	columns: Columns<Role>,
	relink: () => Promise<void>,
): Promise<Role> {
	const before = await recordOfRole(unit, role);
	await relink();
	if (holds(before, { ...(await recordOfRole(unit, role)), ...columns })) return role;
	const after = await unit.change(Role, role, columns);
	unit.record('role', 'update', role.key, before, await recordOfRole(unit, after));
	return after;
}

async function recordOfRole(unit: ReadingUnit, role: Role): Promise<ChangedRecord> {
	const grants = await grantsOf(unit, [role.id]);
	const parents = await parentsOf(unit, [role.id]);
	return { ...recordOf(role), ...granted(grants, parents) };
}

function granted(grants: readonly GrantRow[] = [], parents: readonly ParentRow[] = []) {
	return {
		permissions: grants.map((grant) => `${grant.resource}:${grant.action}`),
		extends: parents.map((parent) => parent.parent),
	};
}

async function setGrants(unit: WritingUnit, role: Role, permissions: readonly string[]): Promise<void> {
	await replaceGrants(unit, role.id, [...new Set(await actionIds(unit, permissions))]);
}

/** The ids of the actions that permissions name, each `resource:action` or the id of an action. */
async function actionIds(unit: ReadingUnit, permissions: readonly string[]): Promise<readonly string[]> {
	const pairs = permissions.map(pairOf);
	const named = pairs.filter((pair) => pair.id === null);
	const ids = pairs.flatMap((pair) => (pair.id === null ? [] : [pair.id]));
	const actions = await actionsNamed(unit, named, ids);
	const byName = new Map(actions.map((action) => [`${action.resource}:${action.key}`, action.id]));
	const known = new Set(actions.map((action) => action.id));
	return pairs.map(({ id, resource, action }) => {
		const found = id === null ? byName.get(`${resource}:${action}`) : known.has(id) ? id : undefined;
		if (found === undefined) throw notFound('ResourceAction', id ?? `${resource}:${action}`);
		return found;
	});
}

function pairOf(permission: string) {
	const id = asId(permission);
	const [resource = '', action = '', ...rest] = permission.split(':');
	if (id === null && (resource === '' || action === '' || rest.length > 0)) {
		throw new Failure('invalid_permission', `the permission \`${permission}\` is not of the form \`resource:action\``);
	}
	return { id, resource, action };
}

async function setParents(unit: WritingUnit, role: Role, references: readonly string[]): Promise<void> {
	const parents = await unit.findAll(Role, references, ofTenants);
	const ids = [...new Set(references.map((reference) => parents.get(reference)?.id ?? ''))];
	await replaceParents(unit, role.id, ids);
	const circle = circleFrom(role.id, await parentsOf(unit));
	if (circle) {
		const msg = `the role \`${role.key}\` would extend itself`;
		throw unprocessable([{ loc: ['body', 'extends'], msg, type: 'role_cycle' }]);
	}
}

/** Whether following parents from a role leads back to it. */
function circleFrom(roleId: string, parents: readonly ParentRow[]): boolean {
	const parentsOfRole = groupBy(parents, (parent) => parent.role_id);
	const seen = new Set<string>();
	const waiting = [roleId];
	for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
		for (const { parent_id } of parentsOfRole.get(id) ?? []) {
			if (parent_id === roleId) return true;
			if (!seen.has(parent_id)) waiting.push(parent_id);
			seen.add(parent_id);
		}
	}
	return false;
}
