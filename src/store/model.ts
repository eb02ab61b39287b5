import type {
	Model,
	Relation as ModelRelation,
	Resource as ModelResource,
	Role as ModelRole,
	ResourceRole,
	Schema,
} from '../../compiler/model.js';
import { groupBy } from '../group-by.js';
import { factsOf, keyIn, keysById } from './facts.js';
import { Relation } from './table/relation.js';
import { Resource, ResourceAction } from './table/resource.js';
import { grantsOf, parentsOf, Role } from './table/role.js';
import { derivationsOf } from './table/role-derivation.js';
import type { ReadingUnit } from './unit.js';

/** The one seam between rows and the compiler's input. Run inside a snapshot, so that all of it is one revision. */

/**
 * An environment's resources and roles. A built-in resource that no one gave actions, roles or relations, not even as
 * their subject, says nothing and is left out.
 */
export async function schemaOf(unit: ReadingUnit): Promise<Schema> {
	const resources = await unit.query(Resource).orderBy('resources.id');
	const actions = await unit.query(ResourceAction).orderBy('resource_actions.id');
	const actionsOf = groupBy(actions, (action) => action.resource_id);
	const relationsOf = groupBy(await relationsIn(unit, resources), ([{ resource_id }]) => resource_id);
	const roles = await rolesOf(unit);
	const subjects = new Set([...relationsOf.values()].flat().map(([, { subject }]) => subject));
	return {
		condition_sets: [],
		set_rules: [],
		resources: resources
			.map((resource): ModelResource & Pick<Resource, 'built_in'> => ({
				...named(resource),
				built_in: resource.built_in,
				actions: (actionsOf.get(resource.id) ?? []).map(named),
				roles: roles.ofResource(resource),
				relations: (relationsOf.get(resource.id) ?? []).map(([, relation]) => relation),
			}))
			.filter((resource) => !resource.built_in || subjects.has(resource.key) || isUsed(resource))
			.map(({ built_in: _, ...resource }) => resource),
		roles: roles.ofTenants,
	};
}

function isUsed({ actions, roles, relations }: ModelResource): boolean {
	return actions.length + roles.length + relations.length > 0;
}

async function relationsIn(
	unit: ReadingUnit,
	resources: readonly Resource[],
): Promise<readonly (readonly [row: Relation, relation: ModelRelation])[]> {
	const keys = keysById(resources);
	const rows = await unit.query(Relation).orderBy('relations.id');
	return rows.map((row) => [row, { ...named(row), subject: keyIn(keys, row.subject_resource_id) }]);
}

async function rolesOf(unit: ReadingUnit) {
	const roles = await unit.query(Role).orderBy('roles.id');
	const grants = groupBy(await grantsOf(unit), (grant) => grant.role_id);
	const parents = groupBy(await parentsOf(unit), (parent) => parent.role_id);
	const derivations = groupBy(await derivationsOf(unit), (derivation) => derivation.role_id);
	const extendsOf = ({ id }: Role) => (parents.get(id) ?? []).map(({ parent }) => parent);
	const ofTenant = (role: Role): ModelRole => ({
		...named(role),
		permissions: (grants.get(role.id) ?? []).map(({ resource, action }) => ({ resource, action })),
		extends: extendsOf(role),
	});
	const ofResource = (role: Role): ResourceRole => ({
		...named(role),
		permissions: (grants.get(role.id) ?? []).map(({ action }) => action),
		extends: extendsOf(role),
		derivations: (derivations.get(role.id) ?? []).map((row) => ({
			relation: row.linked_by_relation,
			role: row.role,
			no_direct_roles_on_object: row.no_direct_roles_on_object,
		})),
		no_direct_roles_on_object: role.no_direct_roles_on_object,
	});
	const owned = groupBy(roles, ({ resource_id }) => resource_id);
	return {
		ofTenants: (owned.get(null) ?? []).map(ofTenant),
		ofResource: ({ id }: Resource) => (owned.get(id) ?? []).map(ofResource),
	};
}

/** An environment, whole. */
export async function modelOf(unit: ReadingUnit): Promise<Model> {
	return { schema: await schemaOf(unit), facts: await factsOf(unit) };
}

function named(row: { readonly key: string; readonly name: string; readonly description: string | null }) {
	return { key: row.key, name: row.name, description: row.description };
}
