import type { ConditionSet, Json, Resource, ResourceRole, Schema, SetRule } from '../../compiler/model.js';

/** Schemas of chosen sizes, with derived roles or with rules between condition sets. */

export const range = (length: number) => Array.from({ length }, (_, index) => index);
export const named = (key: string) => ({ key, name: key, description: null });

export const departments = ['sales', 'engineering', 'support', 'legal', 'finance'];

/**
 * Returns typical conditions on users, with two or three comparisons. Some include an alternative or a `not`.
 */
export function userConditions(index: number): Json {
	const department = { 'user.department': { equals: departments[index % departments.length] ?? '' } };
	const level = { 'user.level': { 'greater-than-equals': index % 10 } };
	const shapes: readonly Json[] = [
		{ allOf: [department, level] },
		{ anyOf: [{ allOf: [department, level] }, { 'user.regions': { array_contains: `region-${index % 20}` } }] },
		{ allOf: [{ not: department }, { 'user.email': { 'ends-with': `@team-${index % 50}.example.com` } }] },
		{ 'user.level': { and: [{ 'greater-than': index % 7 }, { 'less-than': 9 }] } },
	];
	return shapes[index % shapes.length] ?? {};
}

/** Returns typical conditions on documents, with one or two comparisons. Some compare with an attribute of the user. */
export function resourceConditions(index: number): Json {
	const shapes: readonly Json[] = [
		{ 'resource.owner': { equals: { ref: 'user.key' } } },
		{ allOf: [{ 'resource.private': { equals: false } }, { 'resource.level': { 'less-than': index % 10 } }] },
		{ 'resource.tags': { array_intersect: [`tag-${index % 30}`, `tag-${(index * 7) % 30}`] } },
	];
	return shapes[index % shapes.length] ?? {};
}

const roleKeys = ['viewer', 'editor', 'owner'] as const;
const actionKeys = ['read', 'update', 'share', 'delete'] as const;

/**
 * Resource types in chains of ten. Each type has three roles, and each role is derived from the same role on the
 * previous type in the chain.
 */
export function derivedTypes(count: number): Schema {
	const role = (type: number, key: string, rank: number): ResourceRole => ({
		...named(key),
		permissions: actionKeys.slice(0, rank + 2),
		extends: [],
		derivations: type % 10 === 0 ? [] : [{ relation: 'parent', role: key, no_direct_roles_on_object: false }],
		no_direct_roles_on_object: false,
	});
	const resources = range(count).map(
		(type): Resource => ({
			...named(`type-${type}`),
			actions: actionKeys.map(named),
			roles: roleKeys.map((key, rank) => role(type, key, rank)),
			relations: type % 10 === 0 ? [] : [{ ...named('parent'), subject: `type-${type - 1}` }],
		}),
	);
	return { resources, roles: [], condition_sets: [], set_rules: [] };
}

/**
 * Layout of rules: either every user set with every resource set on a single action, or rules spread over 40 actions.
 */
export type RuleLayout = 'on one action' | 'over 40 actions';

/** A schema with rules for a single type. Half of the sets are user sets, and half are resource sets. */
export function setRules(sets: number, rules: number, layout: RuleLayout): Schema {
	const half = sets / 2;
	const rule = (index: number): SetRule => {
		const [user, block] = [index % half, Math.floor(index / half)];
		const product = layout === 'on one action';
		return {
			user_set: `users-${user}`,
			resource_set: `documents-${product ? block : (user * 7 + block) % half}`,
			resource: 'document',
			action: product ? 'read' : `action-${(user + block) % 40}`,
		};
	};
	const actions = ['list', 'read', ...range(40).map((index) => `action-${index}`)].map(named);
	return {
		resources: [{ ...named('document'), actions, roles: [], relations: [] }],
		roles: [{ ...named('viewer'), permissions: [{ resource: 'document', action: 'list' }], extends: [] }],
		condition_sets: range(half).flatMap((index): readonly ConditionSet[] => [
			{
				...named(`users-${index}`),
				type: 'userset',
				resource: null,
				parent: null,
				selects: { conditions: userConditions(index) },
			},
			{
				...named(`documents-${index}`),
				type: 'resourceset',
				resource: 'document',
				parent: null,
				selects: { conditions: resourceConditions(index) },
			},
		]),
		set_rules: range(rules).map(rule),
	};
}

/** Converts the schema to an environment document. */
export function schemaDocument(schema: Schema): Json {
	const attributes = (types: Readonly<Record<string, string>>) =>
		Object.fromEntries(Object.entries(types).map(([key, type]) => [key, { type }]));
	const byKey = <T extends { readonly key: string }>(rows: readonly T[], entry: (row: T) => Json) =>
		Object.fromEntries(rows.map((row) => [row.key, entry(row)]));
	return {
		format: 'regolith-environment',
		version: 1,
		schema: {
			resources: byKey(schema.resources, ({ key, name, actions, relations, roles }) => ({
				name,
				actions: byKey(actions, () => ({})),
				attributes: attributes({ owner: 'string', private: 'bool', level: 'number', tags: 'array' }),
				relations: byKey(relations, (relation) => ({ name: relation.name, subject_resource: relation.subject })),
				roles: byKey(roles, (role) => ({
					name: role.name,
					permissions: role.permissions,
					granted_to: {
						users_with_role: role.derivations.map((derivation) => ({
							role: derivation.role,
							on_resource: relationSubject(schema, key, derivation.relation),
							linked_by_relation: derivation.relation,
						})),
					},
				})),
			})),
			user_attributes: attributes({ department: 'string', level: 'number', regions: 'array' }),
			roles: byKey(schema.roles, ({ name, permissions }) => ({
				name,
				permissions: permissions.map(({ resource, action }) => `${resource}:${action}`),
			})),
			condition_sets: byKey(schema.condition_sets, ({ name, type, resource, selects }) => ({
				name,
				type,
				resource,
				conditions: 'conditions' in selects ? selects.conditions : {},
			})),
			set_rules: schema.set_rules.map(({ user_set, resource_set, resource, action }) => ({
				user_set,
				resource_set,
				permission: `${resource}:${action}`,
			})),
		},
	};
}

function relationSubject({ resources }: Schema, type: string, relation: string): string {
	const found = resources.find(({ key }) => key === type)?.relations.find(({ key }) => key === relation);
	if (found === undefined) throw new Error(`${type} has no relation ${relation}`);
	return found.subject;
}
