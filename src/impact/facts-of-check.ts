import { everyone } from '../../compiler/everyone.js';
import type { AssignedCondition, Attributes, Facts, Json } from '../../compiler/model.js';
import { Pauses, type Steps } from '../../compiler/steps.js';
import { type CheckNames, checkNames } from '../pdp/attempt/role-facts.js';
import type { EngineInput } from '../pdp/engine/engine.js';
import type { ConditionalRole } from '../pdp/facts/conditional-facts.js';
import type { FactsIndex } from '../pdp/facts/facts-index.js';
import { instanceName, parseInstanceName } from '../pdp/facts/instance-name.js';
import { jsonMembers } from '../pdp/facts/json-members.js';
import type { Attempt } from '../wire/decision/attempt.js';
import { relationship } from './index-closures.js';
import { relatedTypes } from './schema-difference.js';

/** Maximum number of tenant roles and of relationships. */
export const maxFacts = 300;

/** The facts that a check depends on. */
export interface FactsOfCheck {
	readonly facts: Facts;
	/** True if the facts are limited to one passing attempt. */
	readonly minimal: boolean;
	/** True if other facts may be relevant. */
	readonly truncated: boolean;
}

/** Roles and relationships, by their names. */
interface Links {
	readonly tenantRoles: readonly (readonly [tenant: string, role: string])[];
	/** Roles held by the user or by `everyone`. */
	readonly instanceRoles: readonly (readonly [user: string, instance: string, role: string])[];
	readonly conditional: readonly ConditionalRole[];
	readonly relationships: readonly (readonly [
		object: string,
		relation: string,
		subject: string,
		condition?: AssignedCondition,
	])[];
	readonly truncated: boolean;
}

/**
 * Returns the facts that a check depends on. For a check that passes by a role, returns only the facts of the passing
 * attempt. For any other check, returns the user's roles, the paths to the instance and the related instances, because
 * conditions may read all of them.
 */
export function* factsOfCheck(
	index: FactsIndex,
	input: EngineInput,
	passing: Attempt | undefined,
): Steps<FactsOfCheck> {
	const check = checkNames(input);
	const minimal = passing !== undefined && passing.by !== 'set_rule';
	const links = minimal ? linksOfAttempt(passing, check) : yield* storedLinks(index, check, input.time);
	const related = minimal ? [] : relatedInstances(index, check, input);
	return { facts: factsWith(links, index, check, related), minimal, truncated: links.truncated };
}

function linksOfAttempt({ by, chain }: Attempt, { tenant, user }: CheckNames): Links {
	const assigned = chain.flatMap((step) => (step.type === 'role_assignment' ? [step] : []));
	return {
		tenantRoles: by === 'role_in_tenant' ? assigned.map(({ role }) => [tenant, role]) : [],
		instanceRoles:
			by === 'role_in_tenant'
				? []
				: assigned.map((step) => [step.user ?? user, step.resource, step.role.slice(`${step.resource}#`.length)]),
		relationships: chain.flatMap((step) =>
			step.type === 'role_derivation' ? [[step.resource, step.relation, step.subject] as const] : [],
		),
		conditional: [],
		truncated: false,
	};
}

function* storedLinks(index: FactsIndex, { user, instance, tenant }: CheckNames, time: number): Steps<Links> {
	const pauses = new Pauses();
	const tenantRoles: Links['tenantRoles'][number][] = [];
	let truncated = false;
	// List roles in other tenants last, because they matter only for `user.tenants`.
	for (const isHere of [true, false]) {
		for (const link of index.tenantRoles.from(user, time)) {
			if (pauses.step()) yield;
			if ((link[0] === tenant) !== isHere) continue;
			if (tenantRoles.length === maxFacts) {
				truncated = true;
				break;
			}
			tenantRoles.push(link);
		}
	}
	const relationships: Links['relationships'][number][] = [];
	const reached = new Set(instance === undefined ? [] : [instance]);
	// The loop also visits instances added during iteration.
	for (const object of reached) {
		yield;
		for (const [subject, relation] of index.relations.from(object, time)) {
			if (relationships.length === maxFacts) {
				truncated = true;
				break;
			}
			relationships.push([object, relation, subject]);
			reached.add(subject);
		}
		for (const { relation, subject, set, values } of index.conditionalRelations.from(object, time)) {
			if (relationships.length === maxFacts) {
				truncated = true;
				break;
			}
			relationships.push([object, relation, subject, { set, values }]);
			reached.add(subject);
		}
	}
	const instanceRoles: Links['instanceRoles'][number][] = [];
	for (const holder of new Set([user, everyone])) {
		for (const [name, role] of index.instanceRoles.from(holder, time)) {
			if (pauses.step()) yield;
			// Roles on other instances do not affect the checked instance, and conditions do not read them.
			if (reached.has(name)) instanceRoles.push([holder, name, role]);
		}
	}
	const conditional = [...index.conditionalRoles.from(user, time)].filter((row) => reached.has(row.instance));
	return { tenantRoles, instanceRoles, conditional, relationships, truncated };
}

/**
 * Returns the instances whose attributes conditions may read through a key: every string in the check's attributes that
 * is the key of a related instance in the check's tenant.
 */
function relatedInstances(index: FactsIndex, check: CheckNames, { user, resource, context }: EngineInput) {
	const types = relatedTypes(index.schema);
	if (types.size === 0) return [];
	const stored = [index.userAttributes.get(check.user), index.instanceAttributes.get(check.instance ?? '')];
	const texts = new Set([...stored, user.attributes, resource.attributes, context].flatMap(textsIn));
	return [...types].flatMap((type) =>
		[...texts].map((key) => instanceName({ type, key })).filter((name) => index.tenantKey(name) === check.tenant),
	);
}

/** Returns all strings in a value, at any depth. */
function textsIn(value: unknown): readonly string[] {
	if (typeof value === 'string') return [value];
	return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function factsWith(
	links: Links,
	index: FactsIndex,
	{ user, tenant, instance }: CheckNames,
	related: readonly string[],
): Facts {
	const { tenantRoles, instanceRoles, conditional, relationships } = links;
	const described = new Set([...(instance === undefined ? [] : [instance]), ...related]);
	const names = new Set([
		...described,
		...instanceRoles.map(([, name]) => name),
		...conditional.map((row) => row.instance),
		...relationships.flatMap(([object, , subject]) => [object, subject]),
	]);
	const instances = [...names].flatMap((name) => {
		const home = index.tenantKey(name);
		return home === undefined ? [] : [{ ...parseInstanceName(name), tenant: home }];
	});
	const tenants = new Set([tenant, ...tenantRoles.map(([key]) => key), ...instances.map((row) => row.tenant)]);
	return {
		users: index.hasUser(user) ? [user] : [],
		tenants: [...tenants]
			.filter((key) => index.tenants.has(key))
			// Conditions see only the attributes of the check's tenant.
			.map((key) => ({ key, attributes: key === tenant ? asAttributes(index.tenants.get(key)) : {} })),
		role_assignments: tenantRoles.map(([key, role]) => ({ user, tenant: key, role })),
		instances,
		instance_assignments: [
			...instanceRoles.map(([holder, name, role]) => {
				const { type, key } = parseInstanceName(name);
				return { user: holder, role, type, instance: key };
			}),
			...conditional.map(({ instance: name, role, set, values }) => {
				const { type, key } = parseInstanceName(name);
				return { user, role, type, instance: key, condition: { set, values } };
			}),
		],
		relationships: relationships.map(([object, relation, subject, condition]) =>
			relationship(object, relation, subject, null, condition),
		),
		user_attributes: [{ user, attributes: asAttributes(index.userAttributes.get(user)) }],
		instance_attributes: [...described].map((name) => ({
			...parseInstanceName(name),
			attributes: asAttributes(index.instanceAttributes.get(name)),
		})),
	};
}

function asAttributes(value: Json | undefined): Attributes {
	return Object.fromEntries(jsonMembers(value));
}
