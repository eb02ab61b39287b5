/**
 * Describes a past state as input for a delta. Uses the past values of all facts changed since a revision, and an index
 * of later facts.
 */

import type { Neighbourhood, PastFact, Related, Touched } from '../../compiler/data/delta.js';
import type { Expiring, Relationship } from '../../compiler/model.js';
import type { ConditionalRelationship } from '../pdp/facts/conditional-facts.js';
import type { FactsIndex } from '../pdp/facts/facts-index.js';
import { instanceType, parseInstanceName } from '../pdp/facts/instance-name.js';
import { emptyNeighbourhood, nothingTouched, relationship } from './index-closures.js';

type PastFactLike<Kind extends PastFact['kind']> = Extract<PastFact, { readonly kind: Kind }>;

/** Input for computing a delta to a past state. */
export interface PastNeighbourhood {
	readonly touched: Touched;
	readonly now: Neighbourhood;
}

/**
 * Describes the past state around the changed facts `past`, using the index `facts` of a later state. Each fact must
 * occur once.
 */
export function pastNeighbourhood(facts: FactsIndex, past: readonly PastFact[]): PastNeighbourhood {
	const users = selectKind(past, 'user');
	const tenants = selectKind(past, 'tenant');
	const instances = selectKind(past, 'instance');
	const memberships = pastMemberships(facts, selectKind(past, 'tenant_role'));
	const assignments = selectKind(past, 'instance_role');
	const relationships = selectKind(past, 'relationship');
	const changedUsers = users.filter(({ user, attributes }) => facts.hasUser(user) === (attributes === null));
	const changedTenants = tenants.filter(
		({ tenant, attributes }) => facts.tenants.has(tenant) === (attributes === null),
	);
	const pastUsers = new Map(users.map(({ user, attributes }) => [user, attributes !== null]));
	const pastTenants = new Map(tenants.map(({ tenant, attributes }) => [tenant, attributes]));
	const memberUsers = memberships.touched.map(({ user }) => user);
	const memberTenants = memberships.touched.map(({ tenant }) => tenant);
	return {
		touched: {
			...nothingTouched,
			users: changedUsers.map(({ user }) => user),
			user_attributes: users.map(({ user }) => user),
			tenants: changedTenants.map(({ tenant }) => tenant),
			tenant_attributes: tenants.map(({ tenant }) => tenant),
			memberships: memberships.touched,
			instances: instances.map(({ instance }) => parseInstanceName(instance)),
			instance_attributes: instances.map(({ instance }) => parseInstanceName(instance)),
			instance_assignments: assignments.map(asAssignment),
			relationships: relationships.map(({ object, relation, subject, condition }) =>
				relationship(object, relation, subject, null, condition),
			),
		},
		now: {
			...emptyNeighbourhood,
			users: [...new Set([...memberUsers, ...users.map(({ user }) => user)])].filter(
				(user) => pastUsers.get(user) ?? facts.hasUser(user),
			),
			tenants: [...new Set([...memberTenants, ...tenants.map(({ tenant }) => tenant)])].flatMap((key) => {
				const known = pastTenants.get(key);
				// Unchanged attributes do not occur in patches.
				if (known === undefined) return facts.tenants.has(key) ? [{ key, attributes: {} }] : [];
				return known === null ? [] : [{ key, attributes: known }];
			}),
			role_assignments: memberships.held,
			instances: instances.flatMap(({ instance, tenant, attributes }) =>
				attributes === null ? [] : [{ ...parseInstanceName(instance), tenant }],
			),
			instance_assignments: [
				...assignments.filter(wasThere).map(asAssignment),
				...unchangedConditions(facts, assignments),
			],
			holdings: [...pastHoldings(facts, assignments.filter(isPlain)), ...pastConditionalHoldings(facts, assignments)],
			conditional: hasConditions(facts, assignments),
			relationships: [
				...relationships.filter(wasThere).map(asRelationship),
				...unchangedRelations(facts, relationships),
			],
			related: [
				...pastRelations(facts, relationships.filter(isPlain)),
				...pastConditionalRelations(facts, relationships),
			],
			conditional_relations: hasConditionalRelations(facts, relationships),
			user_attributes: users.flatMap(({ user, attributes }) => (attributes === null ? [] : [{ user, attributes }])),
			instance_attributes: instances.flatMap(({ instance, attributes }) =>
				attributes === null ? [] : [{ ...parseInstanceName(instance), attributes }],
			),
		},
	};
}

function selectKind<Kind extends PastFact['kind']>(
	past: readonly PastFact[],
	kind: Kind,
): readonly PastFactLike<Kind>[] {
	return past.filter((fact): fact is PastFactLike<Kind> => fact.kind === kind);
}

function wasThere({ until }: { readonly until: number | null | undefined }): boolean {
	return until !== undefined;
}

function expiring(until: number | null | undefined): Expiring {
	return typeof until === 'number' ? { expires_at: until } : {};
}

function asAssignment({ user, instance, role, until, condition }: PastFactLike<'instance_role'>) {
	const { type, key } = parseInstanceName(instance);
	return { user, role, type, instance: key, ...expiring(until), ...(condition !== undefined && { condition }) };
}

/** Returns a unique string for a fact, even if its keys contain special characters. */
function factName(...keys: readonly string[]): string {
	return JSON.stringify(keys);
}

/** Returns the touched memberships, and all roles held through these memberships. */
function pastMemberships({ tenantRoles }: FactsIndex, past: readonly PastFactLike<'tenant_role'>[]) {
	const touched = new Map(past.map(({ user, tenant }) => [factName(user, tenant), { user, tenant }]));
	const changed = new Set(past.map(({ user, tenant, role }) => factName(user, tenant, role)));
	const unchanged = [...new Set(past.map(({ user }) => user))].flatMap((user) =>
		[...tenantRoles.expiringFrom(user)]
			.filter(([tenant]) => touched.has(factName(user, tenant)))
			.filter(([tenant, role]) => !changed.has(factName(user, tenant, role)))
			.map(([tenant, role, until]) => ({ user, tenant, role, ...expiring(until) })),
	);
	const held = past
		.filter(wasThere)
		.map(({ user, tenant, role, until }) => ({ user, tenant, role, ...expiring(until) }));
	return { touched: [...touched.values()], held: [...unchanged, ...held] };
}

/** Returns the roles, without duplicates, that the users of the changed assignments held on any instance. */
function pastHoldings({ instanceRoles }: FactsIndex, past: readonly PastFactLike<'instance_role'>[]) {
	const changed = new Set(past.map(({ user, instance, role }) => factName(user, instance, role)));
	const found = new Map<string, Neighbourhood['holdings'][number]>();
	const add = (user: string, instance: string, role: string) => {
		const type = instanceType(instance);
		found.set(factName(user, type, role), { user, type, role });
	};
	for (const user of new Set(past.map((fact) => fact.user))) {
		for (const [instance, role] of instanceRoles.everFrom(user)) {
			if (!changed.has(factName(user, instance, role))) add(user, instance, role);
		}
	}
	for (const { user, instance, role } of past.filter(wasThere)) add(user, instance, role);
	return [...found.values()];
}

function isPlain({ condition }: PastFactLike<'instance_role' | 'relationship'>): boolean {
	return condition === undefined;
}

/** Returns unchanged conditional assignments with the same user and instance as a changed assignment. */
function unchangedConditions({ conditionalRoles }: FactsIndex, past: readonly PastFactLike<'instance_role'>[]) {
	const conditional = past.filter((fact) => !isPlain(fact));
	const name = (user: string, instance: string, role: string, set: string) => factName(user, instance, role, set);
	const changed = new Set(
		conditional.map((fact) => name(fact.user, fact.instance, fact.role, fact.condition?.set ?? '')),
	);
	const places = new Map(conditional.map((fact) => [factName(fact.user, fact.instance), fact]));
	return [...places.values()].flatMap(({ user, instance }) =>
		[...conditionalRoles.from(user, Number.NEGATIVE_INFINITY)]
			.filter((row) => row.instance === instance && !changed.has(name(user, instance, row.role, row.set)))
			.map(({ role, set, values, until }) => {
				const { type, key } = parseInstanceName(instance);
				return { user, role, type, instance: key, condition: { set, values }, ...expiring(until) };
			}),
	);
}

/** Returns the roles that the users of the changed assignments held conditionally on any instance. */
function pastConditionalHoldings({ conditionalRoles }: FactsIndex, past: readonly PastFactLike<'instance_role'>[]) {
	const conditional = past.filter((fact) => !isPlain(fact));
	const changed = new Set(
		conditional.map(({ user, instance, role, condition }) => factName(user, instance, role, condition?.set ?? '')),
	);
	const found = new Map<string, Neighbourhood['holdings'][number]>();
	const add = (user: string, instance: string, role: string) => {
		const type = instanceType(instance);
		found.set(factName(user, type, role), { user, type, role, conditional: true });
	};
	for (const user of new Set(conditional.map((fact) => fact.user))) {
		for (const { instance, role, set } of conditionalRoles.from(user, Number.NEGATIVE_INFINITY)) {
			if (!changed.has(factName(user, instance, role, set))) add(user, instance, role);
		}
	}
	for (const { user, instance, role } of conditional.filter(wasThere)) add(user, instance, role);
	return [...found.values()];
}

/** True if the past state had conditional assignments. */
function hasConditions({ conditionalRoles }: FactsIndex, past: readonly PastFactLike<'instance_role'>[]): boolean {
	const conditional = past.filter((fact) => !isPlain(fact));
	if (conditional.some(wasThere)) return true;
	const changed = new Set(
		conditional.map(({ user, instance, role, condition }) => factName(user, instance, role, condition?.set ?? '')),
	);
	for (const user of conditionalRoles.leftNames) {
		for (const { instance, role, set } of conditionalRoles.from(user, Number.NEGATIVE_INFINITY)) {
			if (!changed.has(factName(user, instance, role, set))) return true;
		}
	}
	return false;
}

function asRelationship({ object, relation, subject, until, condition }: PastFactLike<'relationship'>): Relationship {
	return relationship(object, relation, subject, until ?? null, condition);
}

/** Returns a unique string for a conditional relationship. */
function conditionalName({
	object,
	relation,
	subject,
	set,
}: Omit<ConditionalRelationship, 'values' | 'until'>): string {
	return factName(object, relation, subject, set);
}

/** Returns a test that is true for conditional relationships that are not among the changed relationships. */
function isUnchanged(past: readonly PastFactLike<'relationship'>[]): (row: ConditionalRelationship) => boolean {
	const changed = new Set(
		past.flatMap(({ condition, ...ends }) =>
			condition === undefined ? [] : [conditionalName({ ...ends, set: condition.set })],
		),
	);
	return (row) => !changed.has(conditionalName(row));
}

/** Returns unchanged conditional relationships with the same object, relation and subject as a changed relationship. */
function unchangedRelations(
	{ conditionalRelations }: FactsIndex,
	past: readonly PastFactLike<'relationship'>[],
): readonly Relationship[] {
	const conditional = past.filter((fact) => !isPlain(fact));
	const unchanged = isUnchanged(past);
	const places = new Map(conditional.map((fact) => [factName(fact.object, fact.relation, fact.subject), fact]));
	return [...places.values()].flatMap(({ object, relation, subject }) =>
		[...conditionalRelations.from(object, Number.NEGATIVE_INFINITY)]
			.filter((row) => row.relation === relation && row.subject === subject && unchanged(row))
			.map(({ set, values, until }) => relationship(object, relation, subject, until, { set, values })),
	);
}

/** Returns the relations with conditional relationships, in the past state, to the objects in `past`. */
function pastConditionalRelations(
	{ conditionalRelations }: FactsIndex,
	past: readonly PastFactLike<'relationship'>[],
): readonly Related[] {
	const conditional = past.filter((fact) => !isPlain(fact));
	const unchanged = isUnchanged(past);
	const found = new Map<string, Related>();
	const add = (object: string, relation: string) => {
		const { type, key } = parseInstanceName(object);
		found.set(factName(object, relation), { type, instance: key, relation, conditional: true });
	};
	for (const object of new Set(conditional.map((fact) => fact.object))) {
		for (const row of conditionalRelations.from(object, Number.NEGATIVE_INFINITY)) {
			if (unchanged(row)) add(object, row.relation);
		}
	}
	for (const { object, relation } of conditional.filter(wasThere)) add(object, relation);
	return [...found.values()];
}

/** True if the past state had conditional relationships. */
function hasConditionalRelations(
	{ conditionalRelations }: FactsIndex,
	past: readonly PastFactLike<'relationship'>[],
): boolean {
	if (past.some((fact) => !isPlain(fact) && wasThere(fact))) return true;
	const unchanged = isUnchanged(past);
	for (const object of conditionalRelations.leftNames) {
		for (const row of conditionalRelations.from(object, Number.NEGATIVE_INFINITY)) if (unchanged(row)) return true;
	}
	return false;
}

/** Returns the relations with relationships, in the past state, to the objects in `past`. */
function pastRelations({ relations }: FactsIndex, past: readonly PastFactLike<'relationship'>[]) {
	const changed = new Set(past.map(({ object, relation, subject }) => factName(object, relation, subject)));
	const found = new Map<string, Neighbourhood['related'][number]>();
	const add = (object: string, relation: string) => {
		const { type, key } = parseInstanceName(object);
		found.set(factName(object, relation), { type, instance: key, relation });
	};
	for (const object of new Set(past.map((fact) => fact.object))) {
		for (const [subject, relation] of relations.everFrom(object)) {
			if (!changed.has(factName(object, relation, subject))) add(object, relation);
		}
	}
	for (const { object, relation } of past.filter(wasThere)) add(object, relation);
	return [...found.values()];
}
