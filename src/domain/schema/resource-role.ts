import { groupBy } from '../../../compiler/group-by.js';
import { onlyRow } from '../../store/query/only-row.js';
import { Resource } from '../../store/table/resource.js';
import { Role, rolesOfResources } from '../../store/table/role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { ResourceRoleRead, RoleBlockEdit } from '../../wire/schema/resource-role.js';
import type { RoleBulkRead, RoleReplace } from '../../wire/schema/role.js';
import { refuseExcludedConditions, refuseWithdrawnSets } from './grant-condition.js';
import { refuseRolesOfSets } from './grantable-to.js';
import { refuseNamedRoles } from './named-role.js';
import { removeRoles, syncRoles } from './role.js';
import { withLinks } from './role-record.js';

/** Converts resource roles to API objects. The permissions do not include permissions from extended roles. */
export async function readResourceRoles(
	unit: ReadingUnit,
	rows: readonly Role[],
): Promise<readonly ResourceRoleRead[]> {
	const linked = await withLinks(unit, rows);
	return linked.flatMap(([row, { resource, ...links }]) => {
		const { resource_id } = row;
		return resource_id === null || resource === null
			? []
			: [
					{
						...row,
						...unit.scope,
						...links,
						resource_id,
						resource,
						public: row.public || undefined,
						grant_conditions: declaredConditions(row),
					},
				];
	});
}

/** Returns a role's declared conditions; `undefined` if there are none. */
function declaredConditions({ grant_conditions }: Role): string[] | undefined {
	return grant_conditions.length === 0 ? undefined : [...grant_conditions];
}

export async function readResourceRole(unit: ReadingUnit, row: Role): Promise<ResourceRoleRead> {
	return onlyRow(await readResourceRoles(unit, [row]));
}

/** Returns the resource role in a path. Throws `not_found` for a missing resource or role. */
export async function findResourceRole(
	unit: ReadingUnit,
	path: { readonly resource_id: string; readonly role_id: string },
): Promise<Role> {
	const resource = await unit.find(Resource, path.resource_id);
	return unit.find(Role, path.role_id, { resource_id: resource.id });
}

/** Returns resource roles, keyed by resource id. */
export async function rolesByResource(
	unit: ReadingUnit,
	resourceIds: readonly string[],
): Promise<ReadonlyMap<string, readonly ResourceRoleRead[]>> {
	const roles = await readResourceRoles(unit, await rolesOfResources(unit, resourceIds).all());
	return groupBy(roles, (role) => role.resource_id);
}

/**
 * Replaces a resource's roles, which may refer to each other. Remaining roles keep their ids and assignments. Removed
 * roles are deleted with their assignments and derivations. Throws the errors about links from `createRole`, and
 * `conflict` if a user set or `grantable_to` names a removed role, or for a removed condition set in use.
 */
export async function setRoles(
	unit: WritingUnit,
	resource: Resource,
	blocks: Readonly<Record<string, RoleBlockEdit>>,
): Promise<void> {
	const existing = await rolesOfResources(unit, [resource.id]).all();
	const gone = existing.filter(({ key }) => !Object.hasOwn(blocks, key));
	await refuseNamedRoles(unit, gone);
	await refuseRolesOfSets(unit, gone);
	await removeRoles(unit, gone);
	const wanted = Object.entries(blocks).map(([key, block]) => {
		return { resource_id: resource.id, body: { ...block, key }, at: ['body', 'roles', key] };
	});
	const { existing: kept } = await syncRoles(unit, wanted);
	await refuseWithdrawnSets(unit, kept);
	await refuseExcludedConditions(unit, ['body', 'roles']);
}

/** Like `syncRoles`, for tenant and resource roles together. Also throws `not_found` for a missing resource. */
export async function syncRolesOfEitherKind(unit: WritingUnit, items: readonly RoleReplace[]): Promise<RoleBulkRead> {
	const names = items.flatMap(({ resource }) => resource ?? []);
	const resources = await unit.findAll(Resource, names);
	const wanted = items.map(({ resource, ...body }, index) => {
		// A tenant role is never derived, so its body cannot contain derivations.
		const granted_to = resource === undefined ? null : body.granted_to;
		const resource_id = resources.get(resource ?? '')?.id ?? null;
		return { resource_id, body: { ...body, granted_to }, at: ['body', 'operations', index] };
	});
	const { created, existing } = await syncRoles(unit, wanted);
	await refuseWithdrawnSets(unit, existing);
	await refuseExcludedConditions(unit, ['body', 'operations']);
	return { created: created.map(({ key }) => key), updated: existing.map(({ key }) => key) };
}
