/**
 * Turns changes into a few patches. The cost of a delta depends on the size of the change, not on the size of the
 * environment.
 */

import { everyone } from '../everyone.js';
import { groupBy } from '../group-by.js';
import type {
	AssignedCondition,
	Attributes,
	Instance,
	InstanceAssignment,
	InstanceAttributes,
	Json,
	MappingRules,
	Patch,
	Relationship,
	RoleAssignment,
	Schema,
	Tenant,
	UserAttributes,
} from '../model.js';
import { canonical, sortedBy } from '../order.js';
import { factExpiry, latestExpiry, type Until } from '../policy/expiry.js';
import { pendingTable } from '../policy/pending.js';
import { computeClosures, relatedObjects } from './closure.js';
import { closureTree, contextualTables, hasAttributes, instanceName, mappingTable, schemaTables } from './data.js';
import { addTo, type Tree, treeValue } from './tree.js';

/** A user and a tenant in which the user's role assignments may have changed. */
export interface Membership {
	readonly user: string;
	readonly tenant: string;
}

/** An instance, identified by its type key and its key. */
export interface InstanceName {
	readonly type: string;
	readonly key: string;
}

/**
 * Objects touched by a run of changes, identified by keys. Objects are listed even if a later change in the run undid
 * an earlier change.
 */
export interface Touched {
	/** True if any schema object changed. */
	readonly schema: boolean;
	/** True if the run may have changed the suspended parts of the policy. Then the table at `pending` is rewritten. */
	readonly pending: boolean;
	/** True if the run changed whether checks may contain contextual facts. */
	readonly contextual_facts: boolean;
	/** Users created or deleted in the run. Users with only updated fields are not included. */
	readonly users: readonly string[];
	/** Tenants created or deleted in the run. */
	readonly tenants: readonly string[];
	/** Tenants with updated attributes. */
	readonly tenant_attributes: readonly string[];
	/** Memberships with an added, changed or removed assignment, including removals by cascade. */
	readonly memberships: readonly Membership[];
	/**
	 * True if role derivations, their settings or the grant conditions of a relation changed, including derivations of a
	 * deleted role. Then all closures are recomputed.
	 */
	readonly derivations: boolean;
	/** Instances created or deleted in the run, including deletions by cascade. */
	readonly instances: readonly InstanceName[];
	/** Added, changed or removed assignments on instances, including removals by cascade. */
	readonly instance_assignments: readonly InstanceAssignment[];
	/** Added, changed or removed relationships, including removals by cascade. */
	readonly relationships: readonly Relationship[];
	/** Keys of the proxy configs whose mapping rules may have changed. */
	readonly mapping_rules: readonly string[];
	/** Users whose attributes, email or names may have changed, and users created or deleted in the run. */
	readonly user_attributes: readonly string[];
	/**
	 * Instances whose attributes may have changed, and instances created or deleted in the run, including deletions by
	 * cascade.
	 */
	readonly instance_attributes: readonly InstanceName[];
}

/**
 * A fact before a run of changes. For users, tenants and instances, `attributes` is `null` if the object did not exist.
 * A user's `attributes` include everything conditions can read. For other facts, `until` is the expiry, or `undefined`
 * if the fact did not exist. Instances are named `<type>:<key>`.
 */
export type PastFact =
	| { readonly kind: 'user'; readonly user: string; readonly attributes: Attributes | null }
	| { readonly kind: 'tenant'; readonly tenant: string; readonly attributes: Attributes | null }
	| {
			readonly kind: 'instance';
			readonly instance: string;
			readonly tenant: string;
			readonly attributes: Attributes | null;
	  }
	| ({ readonly kind: 'tenant_role'; readonly tenant: string } & PastRole)
	| ({
			readonly kind: 'instance_role';
			readonly instance: string;
			/** Absent for an unconditional assignment. */
			readonly condition?: AssignedCondition;
	  } & PastRole)
	| {
			readonly kind: 'relationship';
			readonly object: string;
			readonly relation: string;
			readonly subject: string;
			readonly until: Until | undefined;
			/** Absent for an unconditional relationship. */
			readonly condition?: AssignedCondition;
	  };

interface PastRole {
	readonly user: string;
	readonly role: string;
	readonly until: Until | undefined;
}

/** A user's role on an instance. `conditional` is set for a conditional assignment. */
export interface Holding extends Pick<InstanceAssignment, 'user' | 'type' | 'role'> {
	readonly conditional?: true;
}

/** A relation with at least one subject on an object. `conditional` is set for conditional relationships. */
export interface Related extends Pick<Relationship, 'type' | 'instance' | 'relation'> {
	readonly conditional?: true;
}

/** State of the touched objects after the run: the complete input for a delta. */
export interface Neighbourhood {
	/** Present if the schema, contextual facts, derivations or relationships were touched. */
	readonly schema: Schema | null;
	/** The active policy's schema, if it differs; present with `schema`. */
	readonly in_force: Schema | null;
	/**
	 * True if checks may contain contextual facts; false also if neither the schema nor contextual facts were touched.
	 */
	readonly contextual_facts: boolean;
	/** Existing users among the touched users and the users in touched memberships. */
	readonly users: readonly string[];
	/**
	 * Existing tenants among the touched tenants, the tenants with touched attributes and the tenants in touched
	 * memberships.
	 */
	readonly tenants: readonly Tenant[];
	/** Every assignment between the user and tenant of a touched membership. */
	readonly role_assignments: readonly RoleAssignment[];
	/** Existing instances among the touched instances. */
	readonly instances: readonly Instance[];
	/** Every assignment between a touched assignment's user and instance. */
	readonly instance_assignments: readonly InstanceAssignment[];
	/**
	 * Roles that users of touched assignments hold on any instance. Each combination of user, type and role is listed
	 * once for unconditional assignments, and once for conditional assignments.
	 */
	readonly holdings: readonly Holding[];
	/** True if the environment has conditional assignments; only relevant if a touched assignment is conditional. */
	readonly conditional: boolean;
	/**
	 * Existing relationships among the touched relationships, and for each touched conditional relationship every
	 * conditional relationship with the same object, relation and subject.
	 */
	readonly relationships: readonly Relationship[];
	/**
	 * Relations with at least one subject, for the objects in touched relationships. Each is listed once for
	 * unconditional relationships and, if a touched relationship is conditional, once for conditional relationships.
	 */
	readonly related: readonly Related[];
	/** True if the environment has conditional relationships; only relevant if a touched relationship is conditional. */
	readonly conditional_relations?: boolean;
	/** Input for recomputing closures; `null` if neither relationships nor derivations were touched. */
	readonly closures: ClosureNeighbourhood | null;
	/** Mapping rules for existing touched proxy configs. */
	readonly mapping_rules: readonly MappingRules[];
	/** Attributes of existing touched users, if they have any. */
	readonly user_attributes: readonly UserAttributes[];
	/** Attributes of existing touched instances, if they have any. */
	readonly instance_attributes: readonly InstanceAttributes[];
}

/** Input for computing closures. */
export interface ClosureNeighbourhood {
	/** Instances whose closures are computed, whether the instances exist or not; 'all' if derivations were touched. */
	readonly of: readonly InstanceName[] | 'all';
	/** Every unconditional relationship with a cycle relation (`circularRelations`) on a path to any of the instances. */
	readonly relationships: readonly Relationship[];
}

/**
 * Returns patches that update the document at any revision in a run of changes to the end of the run. The patches
 * depend only on the final state, so it is harmless to apply them twice or to a later revision in the run.
 *
 * INVARIANT: a patch never relies on a parent from a later patch: creations come first, then attributes, then
 * memberships and facts about instances, then attributes for conditions, and deletions last. An object created in the
 * run starts empty, so all its memberships, assignments, relationships and attributes were touched.
 */
export function delta(touched: Touched, now: Neighbourhood): readonly Patch[] {
	const users = new Set(now.users);
	const tenants = new Map(now.tenants.map((tenant) => [tenant.key, tenant]));
	const touchedUsers = canonical(touched.users);
	const touchedTenants = canonical(touched.tenants);
	return [
		...(touched.schema && now.schema !== null ? [upsert(['schema'], schemaTables(now.schema))] : []),
		...(touched.contextual_facts || (touched.schema && now.contextual_facts) ? [contextualPatch(now)] : []),
		...(touched.pending && now.schema !== null ? [pendingPatch(now.in_force ?? now.schema, now.schema)] : []),
		...touchedUsers.filter((user) => users.has(user)).map((user) => upsert(['facts', 'users', user], {})),
		...existingTenants(touchedTenants, tenants).flatMap(createTenant),
		...existingTenants(canonical(touched.tenant_attributes), tenants).map(setAttributes),
		...membershipPatches(touched.memberships, users, tenants, now.role_assignments),
		...instancePatches(touched.instances, now.instances),
		...assignmentPatches(touched.instance_assignments, now),
		...relationshipPatches(touched.relationships, now),
		...closurePatches(now),
		...mappingPatches(touched.mapping_rules, now.mapping_rules),
		...attributePatches('user_attributes', touched.user_attributes, attributesOfUsers(now)),
		...attributePatches(
			'instance_attributes',
			touched.instance_attributes.map(({ type, key }) => instanceName(type, key)),
			attributesOfInstances(now),
		),
		...touchedUsers.filter((user) => !users.has(user)).map((user) => remove(['facts', 'users', user])),
		...touchedTenants.filter((tenant) => !tenants.has(tenant)).flatMap(removeTenant),
	];
}

/**
 * Converts patches to `patch.json` for an OPA delta bundle. A stock OPA accepts the result under two conditions: it
 * must not be empty, because OPA reads an empty patch as an empty snapshot; and it must not remove anything, because
 * OPA rejects bundles with an absent path to remove.
 */
export function patchDocument(patches: readonly Patch[]): Json {
	return { data: patches.map(operation) };
}

function existingTenants(keys: readonly string[], tenants: ReadonlyMap<string, Tenant>): readonly Tenant[] {
	return keys.flatMap((key) => tenants.get(key) ?? []);
}

function createTenant(tenant: Tenant): readonly Patch[] {
	return [setAttributes(tenant), upsert(['facts', 'tenant_roles', tenant.key], {})];
}

function setAttributes(tenant: Tenant): Patch {
	return upsert(['facts', 'tenants', tenant.key], tenant.attributes);
}

function removeTenant(tenant: string): readonly Patch[] {
	return [remove(['facts', 'tenants', tenant]), remove(['facts', 'tenant_roles', tenant])];
}

/**
 * Returns the patches for memberships. Each membership is in two tables, one per tenant and one per user. A deleted
 * tenant or user has no table.
 */
function membershipPatches(
	memberships: readonly Membership[],
	users: ReadonlySet<string>,
	tenants: ReadonlyMap<string, Tenant>,
	assignments: readonly RoleAssignment[],
): readonly Patch[] {
	const byMembership = groupBy(assignments, membershipName);
	return sortedMemberships(memberships).flatMap(({ user, tenant }) => {
		const existing =
			users.has(user) && tenants.has(tenant) ? byMembership.get(membershipName({ user, tenant })) : undefined;
		const inTenant = ['facts', 'tenant_roles', tenant, user];
		const ofUser = ['facts', 'users', user, tenant];
		return [
			...(tenants.has(tenant)
				? [existing === undefined ? remove(inTenant) : upsert(inTenant, rolesHeld(existing))]
				: []),
			...(users.has(user) ? [existing === undefined ? remove(ofUser) : upsert(ofUser, latestExpiry(existing))] : []),
		];
	});
}

function instancePatches(touched: readonly InstanceName[], now: readonly Instance[]): readonly Patch[] {
	const tenants = new Map(now.map(({ type, key, tenant }) => [instanceName(type, key), tenant]));
	return canonical(touched.map(({ type, key }) => instanceName(type, key))).map((name) => {
		const tenant = tenants.get(name);
		return tenant === undefined ? remove(['facts', 'instances', name]) : upsert(['facts', 'instances', name], tenant);
	});
}

function assignmentPatches(touched: readonly InstanceAssignment[], now: Neighbourhood): readonly Patch[] {
	const existing = new Map(
		now.instance_assignments.map((row) => [pathText(assignmentPath(row)), conditionalEntry(row)]),
	);
	const tables = nonEmptyTables([
		['user_roles'],
		...(now.conditional ? [['conditional_roles']] : []),
		...now.holdings.map(holdingPath),
		...now.instance_assignments.filter((row) => !isPlain(row)).map((row) => assignmentPath(row).slice(0, -1)),
	]);
	return entryPatches(touched.map(assignmentPath), existing, tables);
}

function isPlain({ condition }: InstanceAssignment | Relationship): boolean {
	return condition === undefined;
}

/** Returns the table entry for an assignment or a relationship. */
function conditionalEntry(row: InstanceAssignment | Relationship): Json {
	const until = factExpiry(row);
	return row.condition === undefined ? until : { until, values: row.condition.values };
}

/** Returns an assignment's path below the facts. Conditional assignments have longer paths. */
function assignmentPath(row: InstanceAssignment): readonly string[] {
	const { type, instance, condition } = row;
	const holding = { ...row, ...(condition !== undefined && { conditional: true as const }) };
	const place = [...holdingPath(holding), instanceName(type, instance)];
	return condition === undefined ? place : [...place, condition.set];
}

/** Returns the path to the table of instances on which a user, or everyone, holds a role. */
function holdingPath({ user, type, role, conditional }: Holding): readonly string[] {
	if (conditional) return ['conditional_roles', user, type, role];
	return user === everyone ? ['public_roles', type, role] : ['user_roles', user, type, role];
}

function relationshipPatches(touched: readonly Relationship[], now: Neighbourhood): readonly Patch[] {
	const existing = new Map(now.relationships.map((row) => [pathText(relationshipPath(row)), conditionalEntry(row)]));
	const tables = nonEmptyTables([
		['relations'],
		...(now.conditional_relations ? [['conditional_relations']] : []),
		...now.related.map(relatedPath),
		...now.relationships.filter((row) => !isPlain(row)).map((row) => relationshipPath(row).slice(0, -1)),
	]);
	return entryPatches(touched.map(relationshipPath), existing, tables);
}

/** Sets or removes the entries at these paths below the facts, and removes tables once they are empty. */
function entryPatches(
	touched: readonly (readonly string[])[],
	existing: ReadonlyMap<string, Json>,
	tables: ReadonlySet<string>,
): readonly Patch[] {
	const each = new Map(touched.map((path) => [pathText(path), path]));
	return sortedBy([...each], ([name]) => name).map(([name, path]) => {
		const entry = existing.get(name);
		return entry === undefined ? remove(['facts', ...upToEmpty(path, tables)]) : upsert(['facts', ...path], entry);
	});
}

/** Returns a relationship's path below the facts. Conditional relationships have longer paths. */
function relationshipPath(row: Relationship): readonly string[] {
	const { condition } = row;
	const place = [
		...relatedPath({ ...row, ...(condition !== undefined && { conditional: true }) }),
		instanceName(row.subject_type, row.subject),
	];
	return condition === undefined ? place : [...place, condition.set];
}

/** Returns the path to the table of an object's subjects. */
function relatedPath({ type, instance, relation, conditional }: Related): readonly string[] {
	return [conditional ? 'conditional_relations' : 'relations', instanceName(type, instance), relation];
}

function contextualPatch({ schema, contextual_facts }: Neighbourhood): Patch {
	return contextual_facts && schema !== null
		? upsert(['contextual_facts'], contextualTables(schema))
		: remove(['contextual_facts']);
}

function pendingPatch(inForce: Schema, schema: Schema): Patch {
	const table = pendingTable(inForce, schema);
	return table === null ? remove(['pending']) : upsert(['pending'], table);
}

function closurePatches({ schema, in_force, closures }: Neighbourhood): readonly Patch[] {
	if (schema === null || closures === null) {
		return [];
	}
	const { of, relationships } = closures;
	const instances = of === 'all' ? relatedObjects(relationships) : of;
	const found = closureTree(computeClosures(schema, relationships, instances, in_force ?? schema));
	if (of === 'all') {
		return [upsert(['facts', 'closures'], treeValue(found))];
	}
	return canonical(of.map(({ type, key }) => instanceName(type, key))).map((name) => {
		const closure = found.get(name);
		return closure === undefined
			? remove(['facts', 'closures', name])
			: upsert(['facts', 'closures', name], treeValue(closure));
	});
}

function mappingPatches(touched: readonly string[], now: readonly MappingRules[]): readonly Patch[] {
	const existing = new Map(now.map(({ config, rules }) => [config, rules]));
	return canonical(touched).map((config) => {
		const rules = existing.get(config) ?? [];
		return rules.length === 0
			? remove(['mapping_rules', config])
			: upsert(['mapping_rules', config], mappingTable(rules));
	});
}

function attributesOfUsers({ user_attributes }: Neighbourhood): ReadonlyMap<string, Attributes> {
	return new Map(user_attributes.map(({ user, attributes }) => [user, attributes]));
}

function attributesOfInstances({ instance_attributes }: Neighbourhood): ReadonlyMap<string, Attributes> {
	return new Map(instance_attributes.map(({ type, key, attributes }) => [instanceName(type, key), attributes]));
}

function attributePatches(
	table: string,
	touched: readonly string[],
	now: ReadonlyMap<string, Attributes>,
): readonly Patch[] {
	return canonical(touched).map((name) => {
		const attributes = now.get(name);
		return attributes === undefined || !hasAttributes(attributes)
			? remove(['facts', table, name])
			: upsert(['facts', table, name], attributes);
	});
}

/** Returns the paths to all nonempty tables. `paths` lists the paths to the innermost tables. */
function nonEmptyTables(paths: readonly (readonly string[])[]): ReadonlySet<string> {
	return new Set(paths.flatMap((path) => path.map((_, depth) => pathText(path.slice(0, depth + 1)))));
}

/**
 * Returns the path to remove in order to delete an entry: the outermost table with no other entries, or else the entry
 * itself.
 */
function upToEmpty(path: readonly string[], tables: ReadonlySet<string>): readonly string[] {
	const empty = path.findIndex(
		(_, depth) => depth < path.length - 1 && !tables.has(pathText(path.slice(0, depth + 1))),
	);
	return empty === -1 ? path : path.slice(0, empty + 1);
}

/** Returns a unique string for a path, regardless of the characters in its keys. */
function pathText(path: readonly string[]): string {
	return JSON.stringify(path);
}

function sortedMemberships(memberships: readonly Membership[]): readonly Membership[] {
	const byName = new Map(memberships.map((membership) => [membershipName(membership), membership]));
	return sortedBy([...byName], ([name]) => name).map(([, membership]) => membership);
}

function membershipName({ user, tenant }: Membership): string {
	return pathText([tenant, user]);
}

/** Returns the roles of a membership, each with its expiry. */
function rolesHeld(assignments: readonly RoleAssignment[]): Json {
	const found: Tree = new Map();
	for (const row of assignments) addTo(found, [row.role], factExpiry(row));
	return treeValue(found);
}

function upsert(members: readonly string[], value: Json): Patch {
	return { op: 'upsert', path: ['regolith', ...members], value };
}

function remove(members: readonly string[]): Patch {
	return { op: 'remove', path: ['regolith', ...members] };
}

function operation(patch: Patch): Json {
	const path = pointer(patch.path);
	return patch.op === 'upsert' ? { op: 'upsert', path, value: patch.value } : { op: 'remove', path };
}

/** Returns a JSON Pointer for OPA, which decodes URL escapes before pointer escapes. */
function pointer(path: readonly string[]): string {
	const escaped = path.map((member) => member.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('%', '%25'));
	return `/${escaped.join('/')}`;
}
