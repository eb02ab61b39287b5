import type { ConditionSet, Json, Model, Resource, SetRule } from '../../compiler/model.js';

/**
 * An environment for listings, with about 139,000 facts: 50 tenants, 10,000 users with five roles each, 20,000
 * instances with attributes (2,000 are groups), and 50 user sets and 50 resource sets for each type.
 */

const range = (length: number) => Array.from({ length }, (_, index) => index);
const named = (key: string) => ({ key, name: key, description: null });
const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

const tenants = range(50).map((index) => `tenant-${index}`);
export const users = range(10_000).map((index) => `user-${index}@example.com`);
const groups = range(2_000).map((index) => `group-${index}`);
const folders = range(2_000).map((index) => `folder-${index}`);
export const documents = range(16_000).map((index) => `document-${index}`);
/** Returns the tenant for a group, folder or document. A document is in the same tenant as its folder and group. */
export const tenantOf = (index: number) => at(tenants, index);
const roles = ['reader', 'writer', 'guest', 'auditor'];
const actions = ['read', 'edit', 'share', 'delete'];

function type(
	key: string,
	relation?: { readonly key: string; readonly subject: string; readonly role: string },
): Resource {
	const derivations =
		relation === undefined ? [] : [{ relation: relation.key, role: relation.role, no_direct_roles_on_object: false }];
	const role = {
		...named('editor'),
		permissions: ['edit'],
		extends: [],
		derivations,
		no_direct_roles_on_object: false,
	};
	return {
		...named(key),
		actions: actions.map(named),
		relations: relation === undefined ? [] : [{ ...named(relation.key), subject: relation.subject }],
		roles: [relation === undefined ? { ...role, key: 'member', permissions: [] } : role],
	};
}

const sets = range(50);

const userConditions = (index: number): Json => ({
	allOf: [
		{ 'user.department': { equals: `department-${index % 25}` } },
		{ 'user.level': { 'greater-than-equals': index % 5 } },
	],
});

function resourceConditions(index: number): Json {
	const shapes: readonly Json[] = [
		{ 'resource.class': { equals: `class-${index}` } },
		{ allOf: [{ 'resource.private': { equals: false } }, { 'resource.level': { 'less-than': 1 + (index % 5) } }] },
		{
			anyOf: [
				{ 'resource.owner': { equals: { ref: 'user.key' } } },
				{ 'resource.tags': { array_contains: `tag-${index}` } },
			],
		},
		{ 'resource.class': { in: range(5).map((turn) => `class-${(index + turn) % 50}`) } },
	];
	return at(shapes, index);
}

const types = ['document', 'folder', 'group'];
const conditionSets: readonly ConditionSet[] = [
	...sets.map(
		(index): ConditionSet => ({
			...named(`users-${index}`),
			type: 'userset',
			resource: null,
			parent: null,
			selects: { conditions: userConditions(index) },
		}),
	),
	...types.flatMap((resource) =>
		sets.map(
			(index): ConditionSet => ({
				...named(`${resource}-${index}`),
				type: 'resourceset',
				resource,
				parent: null,
				selects: { conditions: resourceConditions(index) },
			}),
		),
	),
];
const setRules: readonly SetRule[] = types.flatMap((resource) =>
	sets.flatMap((index) =>
		['read', 'share'].map((action) => ({
			user_set: `users-${index}`,
			resource_set: `${resource}-${action === 'read' ? index : (index * 7) % 50}`,
			resource,
			action,
		})),
	),
);

const attributesOf = (index: number) => ({
	class: `class-${index % 50}`,
	level: index % 10,
	private: index % 3 === 0,
	owner: at(users, index * 7),
	tags: [`tag-${index % 50}`, `tag-${(index * 3) % 50}`],
});
const instances = [
	...groups.map((key, index) => ({ type: 'group', key, index })),
	...folders.map((key, index) => ({ type: 'folder', key, index })),
	...documents.map((key, index) => ({ type: 'document', key, index })),
];

export const listingModel: Model = {
	schema: {
		resources: [
			type('document', { key: 'parent', subject: 'folder', role: 'editor' }),
			type('folder', { key: 'owner', subject: 'group', role: 'member' }),
			type('group'),
		],
		roles: roles.map((key) => ({
			...named(key),
			permissions: key === 'guest' || key === 'auditor' ? [] : types.map((resource) => ({ resource, action: 'read' })),
			extends: [],
		})),
		condition_sets: conditionSets,
		set_rules: setRules,
	},
	facts: {
		users,
		tenants: tenants.map((key) => ({ key, attributes: { plan: 'paid' } })),
		role_assignments: users.flatMap((user, index) =>
			range(5).map((turn) => ({ user, role: at(roles, index + turn), tenant: at(tenants, index + turn * 11) })),
		),
		instances: instances.map(({ type: of, key, index }) => ({ type: of, key, tenant: tenantOf(index) })),
		instance_assignments: users.map((user, index) => ({
			user,
			role: 'member',
			type: 'group',
			instance: at(groups, index),
		})),
		relationships: [
			...folders.map((instance, index) => ({
				type: 'folder',
				instance,
				relation: 'owner',
				subject_type: 'group',
				subject: at(groups, index),
			})),
			...documents.map((instance, index) => ({
				type: 'document',
				instance,
				relation: 'parent',
				subject_type: 'folder',
				subject: at(folders, index),
			})),
		],
		user_attributes: users.map((user, index) => ({
			user,
			attributes: { department: `department-${index % 25}`, level: index % 10 },
		})),
		instance_attributes: instances.map(({ type: of, key, index }) => ({
			type: of,
			key,
			attributes: attributesOf(index),
		})),
	},
};
