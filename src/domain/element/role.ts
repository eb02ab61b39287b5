import { Failure, notFound, unprocessable } from '../../failure.js';
import type { ConfiguredLevel } from '../../store/table/element/elements-config.js';
import { Resource } from '../../store/table/resource.js';
import { Role } from '../../store/table/role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { PermissionLevel } from '../../wire/element/elements-config.js';

/** Separator between a resource key and a role key. No key contains it. */
export const roleSeparator = '#';

/** Returns the role name for lists with tenant and resource roles: `document#viewer` or `admin`. */
export function elementRoleName({ key, resource }: { readonly key: string; readonly resource: string | null }): string {
	return resource === null ? key : `${resource}${roleSeparator}${key}`;
}

/**
 * Returns the levels in a body, keyed by role id. Throws `unprocessable` for a role with two levels, `not_found` for a
 * missing role, and `invalid` for an ambiguous key.
 */
export async function resolveLevels(
	unit: ReadingUnit,
	rolesToLevels: Readonly<Record<string, readonly string[]>>,
): Promise<ReadonlyMap<string, ConfiguredLevel>> {
	const levels = new Map<string, PermissionLevel>();
	for (const [level, references] of Object.entries(rolesToLevels) as [PermissionLevel, readonly string[]][]) {
		const roles = await findElementRoles(unit, references);
		for (const [index, reference] of references.entries()) {
			const id = roles.get(reference) ?? '';
			const other = levels.get(id);
			if (other !== undefined && other !== level) {
				const msg = `the role \`${reference}\` already has the level ${other}`;
				throw unprocessable([{ loc: ['body', 'roles_to_levels', level, index], msg, type: 'two_levels' }]);
			}
			levels.set(id, level);
		}
	}
	return new Map([...levels].flatMap(([id, level]) => (level === 'UNCONFIGURED' ? [] : [[id, level] as const])));
}

/**
 * Returns the role ids for references. A reference is an id, a tenant role key, `<resource>#<role>`, or an unambiguous
 * role key. Throws `not_found`, or `invalid` for an ambiguous key.
 */
export async function findElementRoles(
	unit: ReadingUnit,
	references: readonly string[],
): Promise<ReadonlyMap<string, string>> {
	const ofResources = references.filter((reference) => reference.includes(roleSeparator));
	const found = new Map(await findResourceRoles(unit, ofResources));
	const plain = references.filter((reference) => !reference.includes(roleSeparator));
	const named = await unit.findNamed(Role, plain);
	for (const reference of plain) {
		const candidates = named.filter(({ id, key }) => id === reference.toLowerCase() || key === reference);
		const role = candidates.find(({ resource_id }) => resource_id === null) ?? candidates[0];
		if (role === undefined) throw notFound(Role.title, reference);
		if (candidates.length > 1 && role.resource_id !== null) {
			const message = `several resources have a role \`${reference}\`: use \`<resource>${roleSeparator}${reference}\``;
			throw new Failure('invalid', message);
		}
		found.set(reference, role.id);
	}
	return found;
}

async function findResourceRoles(
	unit: ReadingUnit,
	references: readonly string[],
): Promise<readonly (readonly [reference: string, id: string])[]> {
	const parts = references.map((reference) => {
		const [resource = '', role = ''] = reference.split(roleSeparator, 2);
		return { reference, resource, role };
	});
	const names = parts.map(({ resource }) => resource);
	const resources = await unit.findMany(Resource, names);
	const roleNames = parts.map(({ role }) => role);
	const roles = await unit.findNamed(Role, roleNames);
	return parts.map(({ reference, resource, role }) => {
		const resource_id = resources.get(resource)?.id;
		const found = roles.find((row) => row.key === role && row.resource_id === resource_id);
		if (resource_id === undefined || found === undefined) throw notFound(Role.title, reference);
		return [reference, found.id] as const;
	});
}
