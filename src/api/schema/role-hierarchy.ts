import type { z } from 'zod';
import { findResourceRole, readResourceRoles } from '../../domain/schema/resource-role.js';
import { readRoles } from '../../domain/schema/role.js';
import { addParent, ancestorIds, descendantIds, removeParent } from '../../domain/schema/role-hierarchy.js';
import { methods, reply } from '../../http/endpoint.js';
import { onlyRow } from '../../store/query/only-row.js';
import { Role, rolesWithIds, tenantRolesOnly } from '../../store/table/role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { Reference } from '../../wire/common.js';
import { ResourceRoleHierarchyRead, ResourceRoleRead } from '../../wire/schema/resource-role.js';
import { RoleHierarchyQuery, RoleHierarchyRead, RoleRead } from '../../wire/schema/role.js';
import { endpoint } from '../access.js';
import { listAnswer } from '../list-answer.js';
import { ResourceRolePath } from './resource-roles.js';
import { RolePath } from './roles.js';

/** Endpoint names, lookup and rendering for a role kind. */
interface RoleKind<P, R> {
	/** For endpoint names. */
	readonly name: 'Role' | 'ResourceRole';
	/** For sentences. */
	readonly title: string;
	readonly tag: string;
	readonly member: string;
	readonly path: z.ZodType<P>;
	readonly withParent: z.ZodType<P & { readonly parent_role_id: string }>;
	readonly read: z.ZodType<unknown, R>;
	readonly hierarchy: z.ZodType<unknown, { readonly roles: ReturnType<typeof listAnswer<R>> }>;
	find(unit: ReadingUnit, path: P): Promise<Role>;
	show(unit: ReadingUnit, roles: readonly Role[]): Promise<readonly R[]>;
}

const parent = { parent_role_id: Reference };
const environment = '/v2/schema/:proj_id/:env_id';

/** Parents and children for tenant roles. */
export const roleHierarchy = hierarchyEndpoints({
	name: 'Role',
	title: 'a tenant role',
	tag: 'Roles',
	member: `${environment}/roles/:role_id`,
	path: RolePath,
	read: RoleRead,
	hierarchy: RoleHierarchyRead,
	show: readRoles,
	withParent: RolePath.extend(parent),
	find: (unit, { role_id }) => unit.find(Role, role_id, tenantRolesOnly),
});

/** Parents and children for resource roles. */
export const resourceRoleHierarchy = hierarchyEndpoints({
	name: 'ResourceRole',
	title: 'a resource role',
	tag: 'Resource roles',
	member: `${environment}/resources/:resource_id/roles/:role_id`,
	path: ResourceRolePath,
	read: ResourceRoleRead,
	hierarchy: ResourceRoleHierarchyRead,
	show: readResourceRoles,
	withParent: ResourceRolePath.extend(parent),
	find: findResourceRole,
});

function hierarchyEndpoints<P, R>(kind: RoleKind<P, R>) {
	const { name, title, tag, member, withParent } = kind;
	const noSuch = 'No such role';
	return [
		relativesEndpoint(kind, {
			name: `get${name}Ancestors`,
			summary: `List all ancestors of ${title}`,
			path: `${member}/ancestors`,
			findIds: ancestorIds,
		}),
		relativesEndpoint(kind, {
			name: `get${name}Descendants`,
			summary: `List all descendants of ${title}`,
			path: `${member}/descendants`,
			findIds: descendantIds,
		}),
		endpoint({
			...methods({ tag, path: `${member}/parents/:parent_role_id`, params: withParent }).put,
			name: `addParentTo${name}`,
			summary: `Add a parent to ${title}`,
			description: 'The role then extends the parent. An existing parent is skipped. A descendant is rejected.',
			access: 'environment.write',
			returns: { 200: kind.read },
			failures: { 404: noSuch },
			handle: async ({ params }, { unit }) => {
				const role = await addParent(unit, await kind.find(unit, params), params.parent_role_id);
				return reply(200, onlyRow(await kind.show(unit, [role])));
			},
		}),
		endpoint({
			...methods({ tag, path: `${member}/parents/:parent_role_id`, params: withParent }).delete,
			name: `removeParentFrom${name}`,
			summary: `Remove a parent from ${title}`,
			access: 'environment.write',
			returns: { 200: kind.read },
			failures: { 404: `${noSuch}, or the role does not extend the parent` },
			handle: async ({ params }, { unit }) => {
				const role = await removeParent(unit, await kind.find(unit, params), params.parent_role_id);
				return reply(200, onlyRow(await kind.show(unit, [role])));
			},
		}),
	];
}

interface Relatives {
	readonly name: string;
	readonly summary: string;
	readonly path: string;
	/** Finds the role ids to list. */
	readonly findIds: (unit: ReadingUnit, role: Role) => Promise<readonly string[]>;
}

function relativesEndpoint<P, R>(kind: RoleKind<P, R>, { name, summary, path, findIds }: Relatives) {
	return endpoint({
		...methods({ tag: kind.tag, path, params: kind.path }).get,
		name,
		summary,
		access: 'environment.read',
		description:
			'Returns all roles, each once, oldest first. With `include_total_count`, returns a page with the counts.',
		query: RoleHierarchyQuery,
		returns: { 200: kind.hierarchy },
		failures: { 404: 'No such role' },
		handle: async ({ params, query }, { unit }) => {
			const roles = rolesWithIds(unit, await findIds(unit, await kind.find(unit, params)));
			if (!query.include_total_count) return reply(200, { roles: [...(await kind.show(unit, await roles.all()))] });
			const page = await roles.page(query);
			return reply(200, { roles: listAnswer(page, await kind.show(unit, page.data)) });
		},
	});
}
