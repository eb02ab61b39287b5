/**
 * A simple model of condition sets and rules. It supports only the few conditions in random sets, and shares only the
 * model types with the compiler and the policy.
 */
import type { Json, Model } from '../../compiler/index.js';
import type { ConditionSet } from '../../compiler/model.js';
import type { Query } from './query.js';
import { instanceTenant, rolesOn } from './relationship-oracle.js';

type Attributes = Readonly<Record<string, Json>>;

/** True if the action has a rule whose sets select the user and the resource. */
export function grantedBySets(model: Model, query: Query): boolean {
	const { condition_sets, set_rules } = model.schema;
	const matches = (key: string) => condition_sets.some((set) => set.key === key && selects(model, set, query));
	return set_rules.some(
		(rule) =>
			rule.resource === query.resource.type &&
			rule.action === query.action &&
			matches(rule.user_set) &&
			matches(rule.resource_set),
	);
}

/** Returns the sorted keys of the matching user sets, or the matching resource sets for the resource's type. */
export function matchingSets(model: Model, query: Query, type: ConditionSet['type']): readonly string[] {
	return model.schema.condition_sets
		.filter((set) => set.type === type && (type === 'userset' || set.resource === query.resource.type))
		.filter((set) => selects(model, set, query))
		.map(({ key }) => key)
		.sort();
}

/** True if a rule acts like a role: its sets compare only roles on the resource, and its user set requires a role. */
export function isLikeRole(
	{ schema }: Model,
	{ user_set, resource_set }: Model['schema']['set_rules'][number],
): boolean {
	const chain = (key: string | null): readonly ConditionSet[] => {
		const set = schema.condition_sets.find((one) => one.key === key);
		return set === undefined ? [] : [set, ...chain(set.parent)];
	};
	const conditions = (key: string) =>
		chain(key).map(({ selects }) => ('conditions' in selects ? selects.conditions : 'role' in selects ? null : {}));
	const [users, resources] = [conditions(user_set), conditions(resource_set)];
	if ([...users, ...resources].some((one) => one === null || !onlyRoles(one))) return false;
	return users.some((one) => needsRole(one, true));
}

/** True if all comparisons are about roles on the resource. */
function onlyRoles(conditions: Json): boolean {
	return Object.entries(conditions as Attributes).every(([name, below]) => {
		if (name === 'not') return onlyRoles(below);
		if (name === 'allOf' || name === 'anyOf') return (below as readonly Json[]).every(onlyRoles);
		return /^(?:user|subject)\.resource_roles$/.test(name);
	});
}

/** True if the conditions can have the result only for a user with a role. */
function needsRole(conditions: Json, result: boolean): boolean {
	const [[name, below] = ['allOf', []]] = Object.entries(conditions as Attributes);
	if (name === 'not') return needsRole(below, !result);
	if (name === 'allOf' || name === 'anyOf') {
		const parts = (below as readonly Json[]).map((one) => needsRole(one, result));
		return (name === 'allOf') === result ? parts.includes(true) : !parts.includes(false);
	}
	const [[operator, operand] = ['', null]] = Object.entries(below as Attributes);
	if (operator === 'not') return needsRole({ [name]: operand }, !result);
	return result;
}

function selects(model: Model, set: ConditionSet, query: Query): boolean {
	const { facts, schema } = model;
	const { user, resource } = query;
	const { tenant = null } = resource;
	const stored = resource.key === undefined ? undefined : instanceTenant(model, resource.type, resource.key);
	if (!facts.tenants.some(({ key }) => key === tenant)) return false;
	if (stored !== undefined && stored !== tenant) return false;
	const parent = schema.condition_sets.find(({ key }) => key === set.parent);
	if (parent !== undefined && !selects(model, parent, query)) return false;
	if (set.type === 'userset' && set.resource !== null && set.resource !== resource.type) return false;
	if ('resource' in set.selects) return set.resource === resource.type;
	if ('role' in set.selects) {
		const { role } = set.selects;
		return (
			facts.users.includes(user.key) &&
			facts.role_assignments.some((row) => row.user === user.key && row.tenant === tenant && row.role === role)
		);
	}
	const of = set.type === 'userset' ? ofUser(model, query) : ofResource(model, query);
	const known = new Map([...of].map(([name, value]) => [`${set.type}.${name}`, value]));
	const roles = stored === undefined ? new Set<string>() : rolesOn(model, query, resource.type, resource.key ?? '');
	known.set('userset.resource_roles', [...roles]);
	return holds(set.selects.conditions, known, (key, related) => {
		const isHere = instanceTenant(model, related, key) === tenant;
		const row = isHere ? facts.instance_attributes.find((one) => one.type === related && one.key === key) : undefined;
		return row?.attributes ?? {};
	});
}

function ofUser({ facts }: Model, { user }: Query): ReadonlyMap<string, Json> {
	const stored = facts.users.includes(user.key)
		? facts.user_attributes.find((row) => row.user === user.key)
		: undefined;
	return overlaid(stored?.attributes, user.attributes);
}

function ofResource(model: Model, { resource }: Query): ReadonlyMap<string, Json> {
	const exists = resource.key !== undefined && instanceTenant(model, resource.type, resource.key) !== undefined;
	if (!exists) return overlaid({}, resource.attributes);
	const stored = model.facts.instance_attributes.find(
		({ type, key }) => type === resource.type && key === resource.key,
	);
	return overlaid(stored?.attributes, resource.attributes);
}

function overlaid(stored: Attributes = {}, sent: Attributes = {}): ReadonlyMap<string, Json> {
	return new Map([...Object.entries(stored), ...Object.entries(sent)]);
}

type FindRelated = (key: string, type: string) => Attributes;

/** Evaluates logic and the comparisons of random sets on `user.<name>` or `resource.<name>`. */
function holds(conditions: Json, known: ReadonlyMap<string, Json>, find: FindRelated): boolean {
	return Object.entries(conditions as Attributes).every(([name, below]) => {
		if (name === 'allOf') return (below as readonly Json[]).every((one) => holds(one, known, find));
		if (name === 'anyOf') return (below as readonly Json[]).some((one) => holds(one, known, find));
		if (name === 'not') return !holds(below, known, find);
		const attribute = name.replace(/^(?:user|subject)\./, 'userset.').replace(/^resource\./, 'resourceset.');
		const value = known.get(attribute) ?? null;
		const [[operator, operand] = ['', null]] = Object.entries(below as Attributes);
		if (operator === 'not') return !holds({ [name]: operand }, known, find);
		if (operator === 'is-null') return (value === null) === operand;
		return value !== null && compares(operator, value, operand, find);
	});
}

/**
 * A day before the time of checks at `time: 1_000`. Also suits checks at the present time, because the times in random
 * facts are decades before or centuries after this limit.
 */
const limit = '1969-12-31T00:00:01.000Z';

function compares(operator: string, value: Json, operand: Json, find: FindRelated): boolean {
	switch (operator) {
		case 'equals':
			return value === operand;
		case 'array_contains':
			return (value as readonly Json[]).includes(operand);
		case 'array_superset':
			return (operand as readonly Json[]).every((one) => (value as readonly Json[]).includes(one));
		case 'array_intersect':
			return (operand as readonly Json[]).some((one) => (value as readonly Json[]).includes(one));
		case 'within-last':
			return String(value) >= limit;
		case 'older-than':
			return String(value) < limit;
		case 'object_match': {
			const { match = null, fk_resource_type: type } = operand as Attributes;
			const members = Object.entries(find(String(value), String(type)));
			return holds(match, new Map(members), find);
		}
		default:
			throw new Error(`the oracle does not implement ${operator}`);
	}
}
