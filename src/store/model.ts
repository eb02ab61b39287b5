import type {
	Json,
	Model,
	Resource as ModelResource,
	Role as ModelRole,
	Tenant as ModelTenant,
	Schema,
} from '../../compiler/model.js';
import { groupBy } from '../group-by.js';
import { Resource, ResourceAction } from './table/resource.js';
import { grantsOf, parentsOf, Role } from './table/role.js';
import { type AssignmentRow, assignmentsBy } from './table/role-assignment.js';
import { Tenant } from './table/tenant.js';
import { User } from './table/user.js';
import type { ReadingUnit } from './unit.js';

/** The one seam between rows and the compiler's input. Run inside a snapshot, so that all of it is one revision. */

/** An environment's resources and roles. A built-in resource that no one gave actions says nothing and is left out. */
export async function schemaOf(unit: ReadingUnit): Promise<Schema> {
	const resources = await unit.query(Resource).orderBy('resources.id');
	const actions = await unit.query(ResourceAction).orderBy('resource_actions.id');
	const actionsOf = groupBy(actions, (action) => action.resource_id);
	return {
		resources: resources
			.map(
				(resource): ModelResource => ({ ...named(resource), actions: (actionsOf.get(resource.id) ?? []).map(named) }),
			)
			.filter((resource, index) => resources[index]?.built_in !== true || resource.actions.length > 0),
		roles: await rolesOf(unit),
	};
}

async function rolesOf(unit: ReadingUnit): Promise<readonly ModelRole[]> {
	const roles = await unit.query(Role).where('roles.resource_id', null).orderBy('roles.id');
	const grants = groupBy(await grantsOf(unit), (grant) => grant.role_id);
	const parents = groupBy(await parentsOf(unit), (parent) => parent.role_id);
	return roles.map((role) => ({
		...named(role),
		permissions: (grants.get(role.id) ?? []).map(({ resource, action }) => ({ resource, action })),
		extends: (parents.get(role.id) ?? []).map(({ parent }) => parent),
	}));
}

/** An environment, whole. */
export async function modelOf(unit: ReadingUnit): Promise<Model> {
	const users = await unit.query(User).select('users.key').castTo<{ readonly key: string }[]>();
	const assignments = await assignmentsBy(unit, { on_instances: false })
		.clearSelect()
		.clearOrder()
		.select('users.key as user', 'roles.key as role', 'tenants.key as tenant')
		.castTo<Pick<AssignmentRow, 'user' | 'role' | 'tenant'>[]>();
	return {
		schema: await schemaOf(unit),
		facts: {
			users: users.map((user) => user.key),
			tenants: (await unit.query(Tenant)).map(asTenant),
			role_assignments: assignments,
		},
	};
}

/** A tenant as decisions see it: one that was never given attributes has none. */
export function asTenant(tenant: Tenant): ModelTenant {
	// The column holds JSON, so its members are JSON values.
	return { key: tenant.key, attributes: (tenant.attributes ?? {}) as Readonly<Record<string, Json>> };
}

function named(row: { readonly key: string; readonly name: string; readonly description: string | null }) {
	return { key: row.key, name: row.name, description: row.description };
}
