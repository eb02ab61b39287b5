/** Random models for filters, with grants of every kind, and questions. Most questions are about a grant. */

import fc from 'fast-check';
import type { Attributes, ConditionSet, Expiring, Json, Model } from '../../compiler/model.js';
import type { FilterInput } from '../../src/pdp/decide/normalise.js';
import { layeredModels } from '../compiler/layered-model.js';
import { modelsOfOneSchema, pick, roleConditions, userNames, withoutExcluded } from '../compiler/model.js';
import { type Aim, aimsOf } from './aimed-questions.js';
import { expiringModels } from './expiring-models.js';
import { lapses, withLapses } from './lapsing-grants.js';

/** Generates models with the same schema. */
export const baseModels = (count: number) =>
	fc.oneof(
		modelsOfOneSchema(count),
		layeredModels(count),
		expiringModels(modelsOfOneSchema(count)),
		expiringModels(layeredModels(count)),
	);

const many = { minLength: 6, maxLength: 6, size: 'max' } as const;

/** Generators of conditions for sets, and of attributes for users, instances and tenants. */
interface Ingredients {
	readonly ofUsers: fc.Arbitrary<Json>;
	readonly ofResources: fc.Arbitrary<Json>;
	readonly attributes: fc.Arbitrary<Attributes>;
}

/** Generates additions to a model. */
export const materialOf = ({ ofUsers, ofResources, attributes }: Ingredients) =>
	fc.record({
		ofUsers: fc.array(ofUsers, many),
		ofResources: fc.array(ofResources, many),
		attributes: fc.array(attributes, { minLength: 12, maxLength: 12, size: 'max' }),
		rules: fc.array(fc.nat({ max: 999 }), { minLength: 4, maxLength: 8 }),
		/** Users' tenant roles. Most expire. */
		assignments: fc.array(
			fc.record({
				user: fc.constantFrom(...userNames),
				tenant: fc.constantFrom('ta', 'ta', 'tb'),
				expiry: fc.constantFrom<Expiring>({}, { expires_at: 1 }, { expires_at: 2 }, { expires_at: 3 }),
			}),
			{ minLength: 2, maxLength: 4 },
		),
		permissions: fc.tuple(fc.nat({ max: 99 }), fc.nat({ max: 99 })),
		roleForms: fc.nat({ max: 59 }),
		lapsing: lapses,
	});

export type Material = ReturnType<typeof materialOf> extends fc.Arbitrary<infer M> ? M : never;

const named = (key: string) => ({ key, name: key, description: null });
/** A tenant role in every model. */
const extraRole = 'rextra';

/** Replaces a model's conditions and attributes, and adds a tenant role, sets and rules. */
export function withConditions(
	{ schema, facts, ...others }: Model,
	{ ofUsers, ofResources, attributes, rules, assignments, permissions, roleForms, lapsing }: Material,
): Model {
	const set = (type: 'userset' | 'resourceset', key: string, resource: string | null, conditions: Json) => {
		return { ...named(key), type, resource, parent: null, selects: { conditions } } as const;
	};
	const all = schema.resources.flatMap(({ key, actions }) =>
		actions.map((action) => ({ resource: key, action: action.key })),
	);
	const users = ofUsers.map((conditions, index) =>
		set('userset', `users-${index}`, null, index === 0 ? {} : conditions),
	);
	const byRole: readonly ConditionSet[] = [
		{ ...named('role'), type: 'userset', resource: null, parent: null, selects: { role: extraRole } },
		set('userset', 'roles', null, { 'user.roles': { array_contains: extraRole } }),
	];
	const holders = schema.resources.flatMap(({ key, roles }, index) => {
		const conditions = roleConditions(
			roles.map((role) => role.key),
			roleForms + index,
		);
		return roles.length === 0 ? [] : [set('userset', `holders-${key}`, key, conditions)];
	});
	const added = rules.flatMap((number) => {
		const about = pick(all, number);
		const ofType = holders.filter(({ resource }) => resource === about?.resource);
		const user_set = pick(pick([users, byRole, ofType, users], number) ?? [], Math.floor(number / 4))?.key;
		if (about === undefined || user_set === undefined) return [];
		return [{ ...about, user_set, resource_set: `${about.resource}-${pick([0, 0, 1, 2, 3, 4], number)}` }];
	});
	/** Rules that grant an action on every instance to users with a role on the instance. */
	const forHolders = holders.flatMap(({ key: user_set, resource }) => {
		const about = pick(
			all.filter((one) => one.resource === resource),
			roleForms,
		);
		return about === undefined ? [] : [{ ...about, user_set, resource_set: `${resource}-0` }];
	});
	const resources = schema.resources.flatMap(({ key }, type) =>
		[0, 1, 2, 3, 4].map((index) =>
			set('resourceset', `${key}-${index}`, key, (index > 0 && ofResources[(type + index) % ofResources.length]) || {}),
		),
	);
	const parents = [...users, ...resources].map((one, index) => {
		const before = index % 3 === 2 ? [...users, ...resources][index - 1] : undefined;
		return before?.resource === one.resource ? { ...one, parent: before.key } : one;
	});
	const random = (index: number) => attributes[index % attributes.length] ?? {};
	const whole = {
		...others,
		// Sets must not exclude roles that users may hold under a condition.
		schema: withoutExcluded({
			...schema,
			roles: [
				...schema.roles,
				{ ...named(extraRole), permissions: permissions.flatMap((one) => pick(all, one) ?? []), extends: [] },
			],
			condition_sets: [...schema.condition_sets, ...parents, ...byRole, ...holders],
			set_rules: [
				...new Map([...schema.set_rules, ...added, ...forHolders].map((rule) => [JSON.stringify(rule), rule])).values(),
			],
		}),
		facts: {
			...facts,
			role_assignments: [
				...facts.role_assignments,
				...new Map(
					assignments.map(({ user, tenant, expiry }) => [
						`${user} ${tenant}`,
						{ user, tenant, role: extraRole, ...expiry },
					]),
				).values(),
			],
			user_attributes: facts.users.map((user, index) => ({ user, attributes: random(index) })),
			instance_attributes: facts.instances.map(({ type, key }, index) => ({
				type,
				key,
				attributes: random(index + 4),
			})),
			tenants: facts.tenants.map((tenant, index) => ({ ...tenant, attributes: random(index + 8) })),
		},
	};
	return withLapses(whole, lapsing);
}

/** Returns the set of users with a role on an instance. The role is not computed. */
function setOfUsers({ schema, facts }: Model, which: number): FilterInput['user'] | undefined {
	const sets = facts.instances.flatMap(({ type, key }) =>
		(schema.resources.find((own) => own.key === type)?.roles ?? [])
			.filter(({ computed }) => computed === undefined)
			.map((role) => ({ type, instance: `${type}:${key}`, role: role.key })),
	);
	const set = pick(sets, which);
	if (set === undefined) return undefined;
	const { type, instance, role } = set;
	return { key: `${instance}#${role}`, holdings: { [type]: { [role]: { [instance]: null } } } };
}

/** Random values from which `questioner` builds a question about a model. */
interface Choices {
	readonly user: string;
	readonly set: number | undefined;
	readonly which: number;
	readonly isAimed: boolean;
	readonly tenant: string | undefined;
	readonly sentUser: Attributes | undefined;
	readonly sentResource: Attributes | undefined;
	readonly context: Attributes;
}

/** Returns the generators for choices. The arguments generate the attributes in requests. */
export const choicesOf = ({
	sentUser,
	sentResource,
	context,
}: Readonly<Record<'sentUser' | 'sentResource' | 'context', fc.Arbitrary<Attributes>>>) => ({
	user: fc.constantFrom(...userNames, 'unone'),
	/** Selects a set of users to replace the user; `undefined` for no set. */
	set: fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, fc.nat({ max: 9_999 })),
	which: fc.nat({ max: 9_999 }),
	isAimed: fc.nat({ max: 3 }).map((number) => number > 0),
	tenant: fc.constantFrom(undefined, undefined, 'ta', 'ta', 'tb', 'tnone'),
	time: fc.constantFrom(0, 1, 2, 1_500, Date.UTC(2026, 0, 1), Date.UTC(2030, 0, 1)),
	sentUser: fc.option(sentUser, { nil: undefined }),
	sentResource: fc.option(sentResource, { nil: undefined, freq: 3 }),
	context,
});

/** A question about a model, with the grant that may decide it, if any. */
export interface AimedQuestion {
	readonly input: FilterInput;
	readonly aim: Aim | undefined;
	readonly isOfSet: boolean;
}

/** Returns a function that builds questions about a model from random choices. */
export function questioner(model: Model): (choices: Choices) => AimedQuestion {
	const all = model.schema.resources.flatMap(({ key, actions }) => actions.map((action) => [key, action.key] as const));
	const aims = aimsOf(model);
	return ({ which, isAimed, tenant, sentUser, sentResource, context, ...chosen }) => {
		const aim = isAimed ? pick(pick(aims, which) ?? [], Math.floor(which / aims.length)) : undefined;
		const [type = '', action = ''] = aim === undefined ? (pick(all, which) ?? []) : [aim.type, aim.action];
		const set = chosen.set === undefined ? undefined : setOfUsers(model, chosen.set);
		const input: FilterInput = {
			user: set ?? { key: aim?.user ?? chosen.user, ...(sentUser && { attributes: sentUser }) },
			action,
			resource: {
				type,
				...(tenant && { tenant: aim?.tenant ?? tenant }),
				...(sentResource && { attributes: sentResource }),
			},
			context,
		};
		return { input, aim, isOfSet: set !== undefined };
	};
}
