import type {
	Facts,
	Json,
	Model,
	Relation as ModelRelation,
	Resource as ModelResource,
	Role as ModelRole,
	Tenant as ModelTenant,
	ResourceRole,
	Schema,
} from '../../compiler/model.js';
import { groupBy } from '../group-by.js';
import { Relation } from './table/relation.js';
import { Resource, ResourceAction } from './table/resource.js';
import { grantsOf, parentsOf, Role } from './table/role.js';
import { derivationsOf } from './table/role-derivation.js';
import { Tenant } from './table/tenant.js';
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
		resources: resources
			.map((resource): ModelResource & Pick<Resource, 'built_in'> => ({
				...named(resource),
				built_in: resource.built_in,
				actions: (actionsOf.get(resource.id) ?? []).map(named),
				roles: roles.ofResources.get(resource.id) ?? [],
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
		derivations: (derivations.get(role.id) ?? []).map(({ linked_by_relation, role: source, ...derivation }) => {
			const { no_direct_roles_on_object } = derivation;
			return { relation: linked_by_relation, role: source, no_direct_roles_on_object };
		}),
		no_direct_roles_on_object: role.no_direct_roles_on_object,
	});
	const ofResources = groupBy(
		roles.filter(({ resource_id }) => resource_id !== null),
		({ resource_id }) => resource_id ?? '',
	);
	return {
		ofTenants: roles.filter(({ resource_id }) => resource_id === null).map(ofTenant),
		ofResources: new Map([...ofResources].map(([id, own]) => [id, own.map(ofResource)])),
	};
}

/** An environment, whole. */
export async function modelOf(unit: ReadingUnit): Promise<Model> {
	return { schema: await schemaOf(unit), facts: await factsOf(unit) };
}

interface InstanceColumns {
	readonly id: string;
	readonly key: string;
	readonly resource_id: string;
	readonly tenant_id: string;
}

/**
 * Every table is read by itself, and what its rows join is put together here: that costs the same whatever the database
 * knows of its tables, and each key is one text in memory, however many rows name it.
 */
async function factsOf(unit: ReadingUnit): Promise<Facts> {
	const users = keysById(await rowsOf<Named>(unit, 'users', 'id, key'));
	const tenants = await unit.query(Tenant);
	const tenantKeys = keysById(tenants);
	const types = keysById(await rowsOf<Named>(unit, 'resources', 'id, key'));
	const rows = await rowsOf<InstanceColumns>(unit, 'resource_instances', 'id, key, resource_id, tenant_id');
	const instances = new Map(rows.map((row) => [row.id, { type: keyIn(types, row.resource_id), key: row.key }]));
	return {
		users: [...users.values()],
		tenants: tenants.map(asTenant),
		instances: rows.map(({ key, resource_id, tenant_id }) => ({
			type: keyIn(types, resource_id),
			key,
			tenant: keyIn(tenantKeys, tenant_id),
		})),
		...(await assignmentsIn(unit, users, tenantKeys, instances)),
		relationships: await relationshipsIn(unit, instances),
	};
}

/** Instances by id. */
type Instances = ReadonlyMap<string, { readonly type: string; readonly key: string }>;

interface AssignmentColumns {
	readonly user_id: string;
	readonly role_id: string;
	readonly tenant_id: string;
	readonly resource_instance_id: string | null;
}

async function assignmentsIn(
	unit: ReadingUnit,
	users: Keys,
	tenants: Keys,
	instances: Instances,
): Promise<Pick<Facts, 'role_assignments' | 'instance_assignments'>> {
	const roles = keysById(await rowsOf<Named>(unit, 'roles', 'id, key'));
	const columns = 'user_id, role_id, tenant_id, resource_instance_id';
	const found = { role_assignments: [], instance_assignments: [] } as {
		role_assignments: Facts['role_assignments'][number][];
		instance_assignments: Facts['instance_assignments'][number][];
	};
	for (const row of await rowsOf<AssignmentColumns>(unit, 'role_assignments', columns)) {
		const held = { user: keyIn(users, row.user_id), role: keyIn(roles, row.role_id) };
		const instance = instances.get(row.resource_instance_id ?? '');
		if (instance === undefined) found.role_assignments.push({ ...held, tenant: keyIn(tenants, row.tenant_id) });
		else found.instance_assignments.push({ ...held, type: instance.type, instance: instance.key });
	}
	return found;
}

interface TupleColumns {
	readonly subject_id: string;
	readonly relation_id: string;
	readonly object_id: string;
}

async function relationshipsIn(unit: ReadingUnit, instances: Instances): Promise<Facts['relationships']> {
	const relations = keysById(await rowsOf<Named>(unit, 'relations', 'id, key'));
	const tuples = await rowsOf<TupleColumns>(unit, 'relationship_tuples', 'subject_id, relation_id, object_id');
	return tuples.flatMap(({ subject_id, relation_id, object_id }) => {
		const [subject, object] = [instances.get(subject_id), instances.get(object_id)];
		if (subject === undefined || object === undefined) return [];
		const ends = { type: object.type, instance: object.key, subject_type: subject.type, subject: subject.key };
		return [{ ...ends, relation: keyIn(relations, relation_id) }];
	});
}

/** Rows as the driver gives them: of large tables, making objects of a class out of them would take longer than they. */
async function rowsOf<R>(unit: ReadingUnit, table: string, columns: string): Promise<readonly R[]> {
	return (await unit.raw<R>(`select ${columns} from ${table} where environment_id = :environment_id`, {})).rows;
}

interface Named {
	readonly id: string;
	readonly key: string;
}

/** Keys by id. */
type Keys = ReadonlyMap<string, string>;

function keysById(rows: readonly Named[]): Keys {
	return new Map(rows.map(({ id, key }) => [id, key]));
}

/** INVARIANT: what a row refers to exists, for the tables' foreign keys say so, and all of it is one revision. */
function keyIn(keys: Keys, id: string): string {
	return keys.get(id) ?? '';
}

/** A tenant as decisions see it: one that was never given attributes has none. */
export function asTenant(tenant: Tenant): ModelTenant {
	// The column holds JSON, so its members are JSON values.
	return { key: tenant.key, attributes: (tenant.attributes ?? {}) as Readonly<Record<string, Json>> };
}

function named(row: { readonly key: string; readonly name: string; readonly description: string | null }) {
	return { key: row.key, name: row.name, description: row.description };
}
