/**
 * An environment's data document, under the single root `regolith`. An entry without further data has the value `null`,
 * because booleans point into the policy's memory and would tie the data to one compiled policy. A temporary fact has
 * its expiry instead of `null`, in milliseconds since 1970. Roles and relationships can be temporary, and so can the
 * entries in `users` and `closures` that follow from them.
 *
 * - `schema.actions[type][action]` the actions; `schema.grants[type][action][role]` the grants by tenant roles and
 *   `schema.resource_grants[type][action][role]` the grants by roles on instances, both with `extends` flattened;
 *   `schema.other_roles[type][action][role]` the roles on instances that do not grant the action
 * - `schema.resource_roles[type][role]` the derivations of every role on instances, as an array of `{relation,
 *   resource, role, no_direct_roles_on_object}`, ordered by relation and role
 * - `schema.computed_roles[type][role]` the expressions of computed roles, as written; absent if there are none.
 *   Policies read only their existence, but explanations and listings read the expressions
 * - `schema.public_roles[type][role]` the roles that can be assigned to everyone; absent if there are none
 * - `schema.set_rules[type][action][user_set][resource_set]` the condition set grants
 * - `schema.user_sets[set]` and `schema.resource_sets[type][set]` the sets: `null`, or, for an automatic set, the key
 *   of its role or resource type
 * - `schema.conditions[set_type][set]` the set's selection: `{conditions, parent}`, where both fields are optional.
 *   Policies never read the selection, but explanations of sufficient changes do
 * - `facts.users[user][tenant]` the users, and the tenants in which they hold a role, until the last role expires;
 *   `facts.tenants[tenant]` the attributes
 * - `facts.tenant_roles[tenant][user][role]` the tenant role assignments
 * - `facts.instances[instance]` the tenant's key; an instance is always `<type>:<key>`
 * - `facts.user_roles[user][type][role][instance]` the role assignments on instances
 * - `facts.public_roles[type][role][instance]` the role assignments to everyone; absent if there are none
 * - `facts.relations[instance][relation][subject]` the relationships, grouped by object
 * - `facts.closures[instance]["<role> from <type>#<role>"][instance]` for a role in a derivation cycle: every other
 *   instance whose role derives this role through the cycle, plus the first step of each path that enters the cycle. An
 *   entry is valid while all relationships on at least one path are valid
 * - `facts.user_attributes[user]` and `facts.instance_attributes[instance]` the attributes for conditions, keyed by
 *   name; users and instances without attributes are absent
 * - `mapping_rules[config]` a proxy config's mapping rules, as an ordered array; configs without rules are absent.
 *   Policies never read these rules
 * - `contextual_facts.relations[type][relation]` the resource type of the relation's subjects; present only if checks
 *   may contain contextual facts. Policies never read this
 * - `pending` the suspended parts of the policy, see `pending.ts`; present only while the active policy has an older
 *   schema
 * - `facts.conditional_roles[user][type][role][instance][condition]` the conditional assignments, each as `{until,
 *   values}`; absent if there are none. `schema.grant_conditions[type][role]` each role's declared conditions, and
 *   `schema.conditions.grant[condition]` the conditions, as `{conditions, context, parameters}`, where `context` lists
 *   the context names that a condition reads; both are absent if there are none. Policies read only the context names,
 *   for explanations
 * - `facts.conditional_relations[instance][relation][subject][condition]` the conditional relationships, grouped by
 *   object, each as `{until, values}`, and `schema.relation_conditions[type][relation]` each relation's declared
 *   conditions; both are absent if there are none. Closures ignore conditional relationships
 *
 * Every user is in `users`, and every tenant in `tenants` and `tenant_roles`, even if the entry is empty. All other
 * tables in `facts` contain no empty entries.
 */

import {
	computedRoles,
	type DeclaringRelation,
	declaringRelations,
	declaringRoles,
	derivationGraph,
	publicRoles,
} from '../cycle.js';
import { everyone } from '../everyone.js';
import { groupBy } from '../group-by.js';
import { bytesWriter, type JsonWriter, valueWriter } from '../json-writer.js';
import type {
	Attributes,
	ConditionSet,
	Facts,
	Json,
	MappingRule,
	MappingRules,
	Model,
	Relation,
	Relationship,
	RoleAssignment,
	Schema,
	SetRule,
} from '../model.js';
import { byCodeUnit, canonical, sortedBy } from '../order.js';
import { byDuration, factExpiry, latestExpiry } from '../policy/expiry.js';
import { type Grants, resourceRoleGrants, tenantRoleGrants } from '../policy/grant.js';
import { contextNames, parseGrantCondition } from '../policy/grant-conditions.js';
import { pendingTable } from '../policy/pending.js';
import { runToEnd, type Steps } from '../steps.js';
import { isSetRelation } from '../user-set.js';
import { type Closure, closureName, closureSteps, relatedObjects } from './closure.js';
import { addTo, type Tree, treeSteps, writeTree } from './tree.js';

/** Returns the whole document as a value. Use `documentBytes` for large environments. */
export function document(model: Model): Json {
	const writer = valueWriter();
	runToEnd(writeDocument(model, writer));
	return writer.result();
}

/**
 * Returns the whole document as UTF-8 JSON without white space: equal models give equal bytes, in any row order. Takes
 * time linear in the facts, except for sorting users and tenants by key.
 */
export function documentBytes(model: Model): Uint8Array {
	return runToEnd(documentSteps(model));
}

/** Like `documentBytes`, but interruptible. */
export function* documentSteps(model: Model): Steps<Uint8Array> {
	const writer = bytesWriter();
	yield* writeDocument(model, writer);
	const chunks = writer.bytes();
	const bytes = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
	let offset = 0;
	for (const chunk of chunks) {
		bytes.set(chunk, offset);
		offset += chunk.length;
	}
	return bytes;
}

/** Returns the facts, as stored at `regolith.facts`. */
export function factTables(model: Model): Json {
	const writer = valueWriter();
	runToEnd(writeFacts(model, writer));
	return writer.result();
}

/** Returns the schema tables, as stored at `regolith.schema`. */
export function schemaTables(schema: Schema): Json {
	const writer = valueWriter();
	writeSchema(schema, writer);
	return writer.result();
}

function* writeDocument(model: Model, writer: JsonWriter): Steps<void> {
	writer.open('regolith');
	if (model.contextual_facts) writer.value('contextual_facts', contextualTables(model.schema));
	writer.open('facts');
	yield* writeFacts(model, writer);
	writer.close();
	writeMappingRules(model.mapping_rules ?? [], writer);
	const pending = pendingTable(model.in_force ?? model.schema, model.schema);
	if (pending !== null) {
		writer.value('pending', pending);
	}
	writer.open('schema');
	writeSchema(model.schema, writer);
	writer.close();
	writer.close();
}

/** Returns the tables for the validation of contextual facts, as stored at `regolith.contextual_facts`. */
export function contextualTables({ resources }: Schema): Json {
	const shown = resources.map(({ key, relations }) => ({
		key,
		relations: relations.filter((relation) => !isSetRelation(relation.key)),
	}));
	const typed = sortedBy(
		shown.filter(({ relations }) => relations.length > 0),
		({ key }) => key,
	);
	const bySubject = (relations: readonly Relation[]) =>
		Object.fromEntries(sortedBy(relations, ({ key }) => key).map(({ key, subject }) => [key, subject]));
	return { relations: Object.fromEntries(typed.map(({ key, relations }) => [key, bySubject(relations)])) };
}

function writeMappingRules(configs: readonly MappingRules[], writer: JsonWriter): void {
	writer.open('mapping_rules');
	for (const { config, rules } of sortedBy(configs, (row) => row.config)) {
		if (rules.length > 0) {
			writer.value(config, mappingTable(rules));
		}
	}
	writer.close();
}

/** Returns a proxy config's rules, as stored at `regolith.mapping_rules[config]`. */
export function mappingTable(rules: readonly MappingRule[]): Json {
	return rules.map(({ url, url_type, http_method, resource, action, priority }) => ({
		action,
		http_method,
		priority,
		resource,
		url,
		url_type,
	}));
}

function writeSchema(schema: Schema, writer: JsonWriter): void {
	writer.open('actions');
	for (const resource of sortedBy(schema.resources, ({ key }) => key)) {
		writeSet(
			resource.key,
			resource.actions.map(({ key }) => key),
			writer,
		);
	}
	writer.close();
	writeComputedRoles(schema, writer);
	writeConditions(schema, writer);
	writeDeclared(
		'grant_conditions',
		declaringRoles(schema).map(([{ type, role }, sets]) => [type, role, sets]),
		writer,
	);
	writeGrants('grants', tenantRoleGrants(schema), writer);
	const resourceGrants = resourceRoleGrants(schema);
	writeOtherRoles(schema, resourceGrants, writer);
	writePublicRoles(schema, writer);
	writeDeclared('relation_conditions', declaringRelations(schema), writer);
	writeGrants('resource_grants', resourceGrants, writer);
	writeResourceRoles(schema, writer);
	writeResourceSets(schema, writer);
	writeTree('set_rules', ruleTree(schema.set_rules), writer);
	writeSets(
		'user_sets',
		schema.condition_sets.filter(({ type }) => type === 'userset'),
		writer,
	);
}

function writeComputedRoles(schema: Schema, writer: JsonWriter): void {
	const byType = groupBy(computedRoles(schema), ({ target }) => target.type);
	if (byType.size === 0) return;
	writer.open('computed_roles');
	for (const [type, roles] of sortedBy([...byType], ([key]) => key)) {
		writer.open(type);
		for (const { target, computed } of sortedBy(roles, (role) => role.target.role)) writer.value(target.role, computed);
		writer.close();
	}
	writer.close();
}

/** Writes the conditions declared by roles or relations. */
function writeDeclared(table: string, declared: readonly DeclaringRelation[], writer: JsonWriter): void {
	if (declared.length === 0) return;
	writer.open(table);
	for (const [type, rows] of sortedBy([...groupBy(declared, ([key]) => key)], ([key]) => key)) {
		writer.open(type);
		for (const [, key, sets] of sortedBy(rows, ([, name]) => name)) writer.value(key, sets);
		writer.close();
	}
	writer.close();
}

/** Writes the conditions as entered, and the parent sets. */
function writeConditions({ condition_sets: sets, grant_conditions = [] }: Schema, writer: JsonWriter): void {
	writer.open('conditions');
	if (grant_conditions.length > 0) {
		writer.open('grant');
		for (const set of sortedBy(grant_conditions, ({ key }) => key)) {
			const condition = parseGrantCondition(set);
			const context = condition === undefined ? [] : contextNames(condition);
			writer.value(set.key, { conditions: set.conditions, context, parameters: set.parameters });
		}
		writer.close();
	}
	for (const type of ['resourceset', 'userset'] as const) {
		writer.open(type);
		for (const { key, selects, parent } of sortedBy(
			sets.filter((set) => set.type === type),
			(set) => set.key,
		)) {
			writer.open(key);
			if ('conditions' in selects) writer.value('conditions', selects.conditions);
			if (parent !== null) writer.value('parent', parent);
			writer.close();
		}
		writer.close();
	}
	writer.close();
}

function writeResourceSets({ resources, condition_sets }: Schema, writer: JsonWriter): void {
	writer.open('resource_sets');
	const ofResources = condition_sets.filter(({ type }) => type === 'resourceset');
	const byResource = groupBy(ofResources, ({ resource }) => resource);
	for (const { key } of sortedBy(resources, (resource) => resource.key)) {
		const sets = byResource.get(key);
		if (sets !== undefined) {
			writeSets(key, sets, writer);
		}
	}
	writer.close();
}

function writeSets(table: string, sets: readonly ConditionSet[], writer: JsonWriter): void {
	writer.open(table);
	for (const { key, selects } of sortedBy(sets, (set) => set.key)) {
		writer.value(key, automaticTarget(selects));
	}
	writer.close();
}

/** Returns the key of an automatic set's role or resource type; null for any other set. */
export function automaticTarget(selects: ConditionSet['selects']): string | null {
	return 'role' in selects ? selects.role : 'resource' in selects ? selects.resource : null;
}

function ruleTree(rules: readonly SetRule[]): Tree {
	const tree: Tree = new Map();
	for (const { resource, action, user_set, resource_set } of rules) {
		addTo(tree, [resource, action, user_set, resource_set]);
	}
	return tree;
}

function writeGrants(table: string, grants: Grants, writer: JsonWriter): void {
	writer.open(table);
	for (const [type, actions] of sortedBy([...grants], ([key]) => key)) {
		writer.open(type);
		for (const [action, roles] of sortedBy([...actions], ([key]) => key)) {
			writeSet(action, roles, writer);
		}
		writer.close();
	}
	writer.close();
}

/** Writes, for each action, the roles on instances that do not grant the action. Writes nothing if there are none. */
function writeOtherRoles({ resources }: Schema, grants: Grants, writer: JsonWriter): void {
	const others: Tree = new Map();
	for (const { key: type, actions, roles } of resources) {
		for (const { key: action } of actions) {
			const granting = grants.get(type)?.get(action);
			for (const { key: role } of roles) {
				if (!granting?.has(role)) {
					addTo(others, [type, action, role]);
				}
			}
		}
	}
	writeTree('other_roles', others, writer);
}

function writePublicRoles(schema: Schema, writer: JsonWriter): void {
	const declared: Tree = new Map();
	for (const { type, role } of publicRoles(schema)) addTo(declared, [type, role]);
	if (declared.size > 0) writeTree('public_roles', declared, writer);
}

function writeResourceRoles(schema: Schema, writer: JsonWriter): void {
	const graph = derivationGraph(schema);
	writer.open('resource_roles');
	for (const { key: type, roles } of sortedBy(schema.resources, ({ key }) => key)) {
		writer.open(type);
		for (const { key: role } of sortedBy(roles, ({ key }) => key)) {
			writer.value(
				role,
				graph.into({ type, role }).map(({ relation, source, no_direct_roles_on_object }) => ({
					relation,
					resource: source.type,
					role: source.role,
					no_direct_roles_on_object,
				})),
			);
		}
		writer.close();
	}
	writer.close();
}

function writeSet(key: string, members: Iterable<string>, writer: JsonWriter): void {
	writer.open(key);
	for (const member of canonical(members)) {
		writer.value(member, null);
	}
	writer.close();
}

function* writeFacts({ schema, facts, in_force = schema }: Model, writer: JsonWriter): Steps<void> {
	const { byTenant, byUser } = yield* assignmentsInOrder(facts);
	const tables = yield* instanceTables(schema, in_force, facts);
	const { conditional_relations, conditional_roles, instances, public_roles, relations, user_roles } = tables;
	yield* treeSteps('closures', tables.closures, writer);
	if (conditional_relations.size > 0) yield* treeSteps('conditional_relations', conditional_relations, writer);
	if (conditional_roles.size > 0) yield* treeSteps('conditional_roles', conditional_roles, writer);
	const ofInstances = facts.instance_attributes.map(
		(row) => [instanceName(row.type, row.key), row.attributes] as const,
	);
	yield* writeAttributes('instance_attributes', ofInstances, instances, writer);
	writer.open('instances');
	for (const [instance, tenant] of sortedBy([...instances], ([name]) => name)) {
		writer.value(instance, tenant);
		yield;
	}
	writer.close();
	if (public_roles.size > 0) yield* treeSteps('public_roles', public_roles, writer);
	yield* treeSteps('relations', relations, writer);
	writer.open('tenant_roles');
	for (const [tenant, rows] of byTenant) {
		writer.open(tenant);
		yield* writeRolesByUser(rows, writer);
		writer.close();
	}
	writer.close();
	writer.open('tenants');
	for (const tenant of sortedBy(facts.tenants, ({ key }) => key)) {
		writer.value(tenant.key, tenant.attributes);
	}
	writer.close();
	const ofUsers = facts.user_attributes.map(({ user, attributes }) => [user, attributes] as const);
	yield* writeAttributes('user_attributes', ofUsers, byUser, writer);
	yield* treeSteps('user_roles', user_roles, writer);
	writer.open('users');
	for (const [user, rows] of byUser) {
		writer.open(user);
		// A user with roles in a tenant is listed there until the last of these roles expires.
		const byTenant = groupBy(rows, ({ tenant }) => tenant);
		for (const tenant of canonical(byTenant.keys())) writer.value(tenant, latestExpiry(byTenant.get(tenant) ?? []));
		writer.close();
		yield;
	}
	writer.close();
}

/** Writes the attributes of existing users or instances. Omits objects without attributes. */
function* writeAttributes(
	table: string,
	rows: readonly (readonly [name: string, attributes: Attributes])[],
	existing: ReadonlyMap<string, unknown>,
	writer: JsonWriter,
): Steps<void> {
	writer.open(table);
	const known = new Map(rows.filter(([name, attributes]) => existing.has(name) && hasAttributes(attributes)));
	for (const [name, attributes] of sortedBy([...known], ([key]) => key)) {
		writer.value(name, attributes);
		yield;
	}
	writer.close();
}

/** True if there are any attributes. Attribute tables have no empty entries. */
export function hasAttributes(attributes: Attributes): boolean {
	return Object.keys(attributes).length > 0;
}

/** Builds the tables about instances. Skips rows with a missing user, instance or tenant. */
function* instanceTables(schema: Schema, inForce: Schema, facts: Facts) {
	const users = new Set(facts.users);
	const tenants = new Set(facts.tenants.map(({ key }) => key));
	const instances = new Map(
		facts.instances
			.filter(({ tenant }) => tenants.has(tenant))
			.map((row) => [instanceName(row.type, row.key), row.tenant]),
	);
	const user_roles: Tree = new Map();
	const public_roles: Tree = new Map();
	const conditional_roles: Tree = new Map();
	for (const row of facts.instance_assignments) {
		const { user, role, type, instance, condition } = row;
		const name = instanceName(type, instance);
		if (user === everyone && condition === undefined && instances.has(name)) {
			addTo(public_roles, [type, role, name], factExpiry(row));
		} else if (users.has(user) && instances.has(name)) {
			const path = [user, type, role, name];
			const until = factExpiry(row);
			if (condition === undefined) addTo(user_roles, path, until);
			else addTo(conditional_roles, [...path, condition.set], { until, values: condition.values });
		}
		yield;
	}
	const relations: Tree = new Map();
	const conditional_relations: Tree = new Map();
	const related: Relationship[] = [];
	for (const row of facts.relationships) {
		const name = instanceName(row.type, row.instance);
		const subject = instanceName(row.subject_type, row.subject);
		if (instances.has(name) && instances.has(subject)) {
			const { relation, condition } = row;
			const path = [name, relation, subject];
			const until = factExpiry(row);
			if (condition === undefined) {
				addTo(relations, path, until);
				related.push(row);
			} else addTo(conditional_relations, [...path, condition.set], { until, values: condition.values });
		}
		yield;
	}
	const closures = closureTree(yield* closureSteps(schema, related, relatedObjects(related), inForce));
	return { closures, conditional_relations, conditional_roles, instances, public_roles, relations, user_roles };
}

/** Returns the instance's name in the document. The name is unambiguous because no type key contains a colon. */
export function instanceName(type: string, key: string): string {
	return `${type}:${key}`;
}

/** Returns closures as a table, as stored at `regolith.facts.closures`. */
export function closureTree(closures: readonly Closure[]): Tree {
	const tree: Tree = new Map();
	for (const { type, role, key, sources } of closures) {
		for (const source of sources) {
			for (const [found, until] of source.keys) {
				addTo(tree, [instanceName(type, key), closureName(role, source), instanceName(source.type, found)], until);
			}
		}
	}
	return tree;
}

/** Assignments grouped by user or by tenant, with keys in canonical order. */
type Assignments = ReadonlyMap<string, readonly RoleAssignment[]>;

/**
 * Groups the assignments without sorting all rows. It sorts only each user's few rows. Because it then visits the users
 * in order, each tenant's rows are also ordered by user and role. Skips assignments with a missing user or tenant.
 */
function* assignmentsInOrder(facts: Facts): Steps<{ readonly byTenant: Assignments; readonly byUser: Assignments }> {
	const byUser = new Map<string, RoleAssignment[]>(canonical(facts.users).map((user) => [user, []]));
	const byTenant = new Map<string, RoleAssignment[]>(
		canonical(facts.tenants.map(({ key }) => key)).map((tenant) => [tenant, []]),
	);
	for (const row of facts.role_assignments) {
		if (byTenant.has(row.tenant)) {
			byUser.get(row.user)?.push(row);
		}
		yield;
	}
	for (const rows of byUser.values()) {
		rows.sort((left, right) => byCodeUnit(left.role, right.role) || byDuration(factExpiry(left), factExpiry(right)));
		for (const row of rows) {
			byTenant.get(row.tenant)?.push(row);
		}
		yield;
	}
	return { byTenant, byUser };
}

/** Writes sorted rows: by user, then role, then expiry with the latest first. Writes repeated rows once. */
function* writeRolesByUser(rows: readonly RoleAssignment[], writer: JsonWriter): Steps<void> {
	let before: RoleAssignment | null = null;
	for (const row of rows) {
		if (row.user !== before?.user) {
			if (before !== null) {
				writer.close();
			}
			writer.open(row.user);
			writer.value(row.role, factExpiry(row));
		} else if (row.role !== before.role) {
			writer.value(row.role, factExpiry(row));
		}
		before = row;
		yield;
	}
	if (before !== null) {
		writer.close();
	}
}
