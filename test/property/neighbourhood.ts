/**
 * A store's report on a run of changes: the touched objects, and their state afterwards. It contains no more than the
 * contract promises.
 */

import { isDeepStrictEqual } from 'node:util';
import type { ClosureNeighbourhood, Neighbourhood, Touched } from '../../compiler/data/delta.js';
import { everyone } from '../../compiler/everyone.js';
import type { Facts, InstanceAssignment, Model, Relationship, Schema } from '../../compiler/model.js';
import { joinedKeys } from './joined-keys.js';
import { circularEdges, type DerivationInSchema, edgesIntoCycles, schemaDerivations } from './relationship-oracle.js';

/** Returns the objects that a step changed. No step deletes and recreates the same object. */
export function touchedBetween(before: Model, after: Model): Touched {
	const came = <T>(rows: (facts: Facts) => readonly T[]) => difference(rows(before.facts), rows(after.facts));
	const keys = (facts: Facts) => facts.tenants.map(({ key }) => key);
	const instanceNames = ({ instances }: Facts) => instances.map(({ type, key }) => ({ type, key }));
	return {
		user_attributes: [...came(({ users }) => users), ...came((facts) => facts.user_attributes).map(({ user }) => user)],
		instance_attributes: [
			...came(instanceNames),
			...came((facts) => facts.instance_attributes).map(({ type, key }) => ({ type, key })),
		],
		schema: !isDeepStrictEqual(before.schema, after.schema),
		pending: false,
		contextual_facts: (before.contextual_facts ?? false) !== (after.contextual_facts ?? false),
		derivations: difference(schemaDerivations(before.schema), schemaDerivations(after.schema)).length > 0,
		users: came(({ users }) => users),
		tenants: came(keys),
		tenant_attributes: came(({ tenants }) => tenants)
			.map(({ key }) => key)
			.filter((key) => !came(keys).includes(key)),
		memberships: came(({ role_assignments }) => role_assignments),
		instances: came(instanceNames),
		instance_assignments: came(({ instance_assignments }) => instance_assignments),
		relationships: came(({ relationships }) => relationships),
		mapping_rules: difference(before.mapping_rules ?? [], after.mapping_rules ?? []).map(({ config }) => config),
	};
}

/** Returns the rows in exactly one of the two lists. */
function difference<T>(left: readonly T[], right: readonly T[]): readonly T[] {
	const has = (rows: readonly T[], row: T) => rows.some((other) => isDeepStrictEqual(other, row));
	return [...left.filter((row) => !has(right, row)), ...right.filter((row) => !has(left, row))];
}

/** Merges the touched objects from several steps. */
export function together(run: readonly Touched[]): Touched {
	return {
		user_attributes: run.flatMap((touched) => touched.user_attributes),
		instance_attributes: run.flatMap((touched) => touched.instance_attributes),
		schema: run.some((touched) => touched.schema),
		pending: run.some((touched) => touched.pending),
		contextual_facts: run.some((touched) => touched.contextual_facts),
		derivations: run.some((touched) => touched.derivations),
		users: run.flatMap((touched) => touched.users),
		tenants: run.flatMap((touched) => touched.tenants),
		tenant_attributes: run.flatMap((touched) => touched.tenant_attributes),
		memberships: run.flatMap((touched) => touched.memberships),
		instances: run.flatMap((touched) => touched.instances),
		instance_assignments: run.flatMap((touched) => touched.instance_assignments),
		relationships: run.flatMap((touched) => touched.relationships),
		mapping_rules: run.flatMap((touched) => touched.mapping_rules),
	};
}

/** Returns the input for a delta: the part of a model that the contract promises, and nothing else. */
export function neighbourhood(
	{ schema, facts, in_force, contextual_facts = false, mapping_rules = [] }: Model,
	touched: Touched,
): Neighbourhood {
	const users = new Set([...touched.users, ...touched.memberships.map((membership) => membership.user)]);
	const tenants = new Set([
		...touched.tenants,
		...touched.tenant_attributes,
		...touched.memberships.map((membership) => membership.tenant),
	]);
	const related = touched.derivations || touched.relationships.length > 0;
	const existing = existingRows(facts);
	return {
		user_attributes: facts.user_attributes.filter(({ user }) => touched.user_attributes.includes(user)),
		instance_attributes: facts.instance_attributes.filter((row) =>
			touched.instance_attributes.some(({ type, key }) => type === row.type && key === row.key),
		),
		schema: touched.schema || touched.pending || touched.contextual_facts || related ? schema : null,
		contextual_facts: (touched.schema || touched.contextual_facts) && contextual_facts,
		in_force: in_force ?? null,
		users: facts.users.filter((key) => users.has(key)),
		tenants: facts.tenants.filter(({ key }) => tenants.has(key)),
		role_assignments: facts.role_assignments.filter(({ user, tenant }) =>
			touched.memberships.some((membership) => membership.user === user && membership.tenant === tenant),
		),
		instances: facts.instances.filter(({ type, key }) =>
			touched.instances.some((instance) => instance.type === type && instance.key === key),
		),
		...aroundAssignments(existing, touched.instance_assignments),
		...aroundRelationships(existing, touched.relationships),
		mapping_rules: mapping_rules.filter(({ config }) => touched.mapping_rules.includes(config)),
		closures: related ? aroundClosures(in_force ?? schema, facts, touched) : null,
	};
}

/** Returns the facts without rows about missing users, instances and tenants. A store has no such rows. */
function existingRows(facts: Facts): Facts {
	const tenants = new Set(facts.tenants.map(({ key }) => key));
	const placed = facts.instances.filter(({ tenant }) => tenants.has(tenant));
	const instances = new Set(placed.map(({ type, key }) => joinedKeys(type, key)));
	return {
		...facts,
		instance_assignments: facts.instance_assignments.filter(
			({ user, type, instance }) =>
				(user === everyone || facts.users.includes(user)) && instances.has(joinedKeys(type, instance)),
		),
		relationships: facts.relationships.filter(
			(row) =>
				instances.has(joinedKeys(row.type, row.instance)) && instances.has(joinedKeys(row.subject_type, row.subject)),
		),
	};
}

function aroundAssignments(facts: Facts, touched: readonly InstanceAssignment[]) {
	return {
		instance_assignments: facts.instance_assignments.filter((row) =>
			touched.some(({ user, type, instance }) => user === row.user && type === row.type && instance === row.instance),
		),
		holdings: distinct(
			facts.instance_assignments
				.filter((row) => touched.some(({ user }) => user === row.user))
				.map(({ user, type, role, condition }) => ({
					user,
					type,
					role,
					...(condition !== undefined && { conditional: true as const }),
				})),
		),
		conditional: facts.instance_assignments.some(({ condition }) => condition !== undefined),
	};
}

function aroundRelationships(facts: Facts, touched: readonly Relationship[]) {
	const conditional = touched.filter(({ condition }) => condition !== undefined);
	const ofTouched = facts.relationships.filter((row) =>
		touched.some(({ type, instance }) => type === row.type && instance === row.instance),
	);
	const path = ({ condition: _, expires_at: __, ...row }: Relationship) => row;
	return {
		relationships: facts.relationships.filter(
			(row) =>
				touched.some((other) => isDeepStrictEqual(other, row)) ||
				(row.condition !== undefined && conditional.some((other) => isDeepStrictEqual(path(other), path(row)))),
		),
		related: distinct(
			ofTouched
				.filter(({ condition }) => condition === undefined || conditional.length > 0)
				.map(({ type, instance, relation, condition }) => ({
					type,
					instance,
					relation,
					...(condition !== undefined && { conditional: true as const }),
				})),
		),
		conditional_relations: facts.relationships.some(({ condition }) => condition !== undefined),
	};
}

/**
 * Returns the objects of touched relationships, and all objects reachable from them along cycle relations, at any
 * distance. Includes all relationships into these objects within cycles, and relationships from outside that lead into
 * a cycle in a single step.
 */
function aroundClosures(schema: Schema, facts: Facts, touched: Touched): ClosureNeighbourhood {
	const inside = relationNames(circularEdges(schema));
	const any = new Set([...inside, ...relationNames(edgesIntoCycles(schema))]);
	const along = (names: ReadonlySet<string>) => (row: Relationship) => names.has(joinedKeys(row.type, row.relation));
	const plain = facts.relationships.filter(({ condition }) => condition === undefined);
	const relationships = plain.filter(along(any));
	if (touched.derivations) {
		return { of: 'all', relationships };
	}
	const around = plain.filter(along(inside));
	const of = distinct(touched.relationships.filter(along(any)).map(objectInstance));
	extend(of, (name) => around.filter((row) => isDeepStrictEqual(subjectInstance(row), name)).map(objectInstance));
	const upwards = [...of];
	extend(upwards, (name) => around.filter((row) => isDeepStrictEqual(objectInstance(row), name)).map(subjectInstance));
	return {
		of,
		relationships: relationships.filter((row) => upwards.some((name) => isDeepStrictEqual(objectInstance(row), name))),
	};
}

function relationNames(edges: readonly DerivationInSchema[]): ReadonlySet<string> {
	return new Set(edges.map(({ type, relation }) => joinedKeys(type, relation)));
}

/** Extends the list until it includes the results of `following` for all its items. */
function extend<T>(items: T[], following: (item: T) => readonly T[]): void {
	for (const item of items) {
		items.push(...following(item).filter((next) => !items.some((other) => isDeepStrictEqual(other, next))));
	}
}

function objectInstance({ type, instance }: Relationship) {
	return { type, key: instance };
}

function subjectInstance({ subject_type, subject }: Relationship) {
	return { type: subject_type, key: subject };
}

function distinct<T>(rows: readonly T[]): T[] {
	return [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()];
}
