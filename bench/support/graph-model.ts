import type { Model, Relationship, Resource, ResourceRole } from '../../compiler/model.js';
import type { EngineInput } from '../../src/pdp/engine/engine.js';

/**
 * Documents in nested folders, and users in nested groups, in 20 tenants: 100,000 users with 3 groups each, 200,000
 * documents, 20,000 folders in chains of up to 6, 5,000 groups nested up to 5 deep, and 107,000 roles on instances in
 * addition to the memberships.
 */

export const sizes = { tenants: 20, users: 100_000, documents: 200_000, folders: 20_000, groups: 5_000 } as const;

export const userKey = (index: number) => `user-${index}@example.com`;
/** Users, documents, folders and groups whose indexes have the same remainder are in the same tenant. */
export const tenantKey = (index: number) => `tenant-${index % sizes.tenants}`;
export const documentKey = (index: number) => `document-${index}`;
export const folderKey = (index: number) => `folder-${index}`;
export const groupKey = (index: number) => `group-${index}`;
/** Folder that contains a document. */
const folderIndex = (document: number) => document % sizes.folders;

/** The user's three groups in the same tenant. */
export const groupKeys = (user: number) => range(3).map((turn) => groupKey(near(user, user * 3 + turn, sizes.groups)));

const named = (key: string) => ({ key, name: key, description: null });

function role(
	key: string,
	permissions: readonly string[],
	derivations: readonly (readonly [string, string])[],
): ResourceRole {
	return {
		...named(key),
		permissions,
		extends: [],
		derivations: derivations.map(([relation, of]) => ({ relation, role: of, no_direct_roles_on_object: false })),
		no_direct_roles_on_object: false,
	};
}

const relation = (key: string, subject: string) => ({ ...named(key), subject });

const resources: readonly Resource[] = [
	{
		...named('group'),
		actions: [],
		roles: [role('member', [], [['nested', 'member']])],
		relations: [relation('nested', 'group')],
	},
	{
		...named('folder'),
		actions: [named('list'), named('manage')],
		roles: [
			role(
				'viewer',
				['list'],
				[
					['parent', 'viewer'],
					['viewers', 'member'],
				],
			),
			role(
				'editor',
				['list', 'manage'],
				[
					['parent', 'editor'],
					['editors', 'member'],
				],
			),
		],
		relations: [relation('parent', 'folder'), relation('viewers', 'group'), relation('editors', 'group')],
	},
	{
		...named('document'),
		actions: [named('read'), named('write')],
		roles: [
			role('viewer', ['read'], [['parent', 'viewer']]),
			role('editor', ['read', 'write'], [['parent', 'editor']]),
		],
		relations: [relation('parent', 'folder')],
	},
];

/** Deterministic number between 0 and `below`. */
export const mixed = (seed: number, below: number) => ((Math.imul(seed + 1, 2654435761) >>> 0) % below) | 0;

/** Object in the same tenant as `index`, out of `count` objects. */
const near = (index: number, seed: number, count: number) =>
	mixed(seed, Math.floor(count / sizes.tenants)) * sizes.tenants + (index % sizes.tenants);

const range = (length: number) => Array.from({ length }, (_, index) => index);

/**
 * Returns relationships that form chains of length `depth` within a tenant. Each object is related to its predecessor,
 * except the first object in a chain.
 */
function chains(
	type: string,
	relationKey: string,
	instanceKey: (index: number) => string,
	count: number,
	depth: number,
) {
	return range(count)
		.filter((index) => Math.floor(index / sizes.tenants) % depth !== 0)
		.map((index): Relationship => {
			const [instance, subject] = [instanceKey(index), instanceKey(index - sizes.tenants)];
			return { type, instance, relation: relationKey, subject_type: type, subject };
		});
}

/** Returns the complete environment. */
export function graphModel(): Model {
	const { users, documents, folders, groups } = sizes;
	return {
		schema: { condition_sets: [], set_rules: [], resources, roles: [] },
		facts: {
			user_attributes: [],
			instance_attributes: [],
			users: range(users).map(userKey),
			tenants: range(sizes.tenants).map((index) => ({ key: tenantKey(index), attributes: {} })),
			role_assignments: [],
			instances: [
				...range(documents).map((index) => ({ type: 'document', key: documentKey(index), tenant: tenantKey(index) })),
				...range(folders).map((index) => ({ type: 'folder', key: folderKey(index), tenant: tenantKey(index) })),
				...range(groups).map((index) => ({ type: 'group', key: groupKey(index), tenant: tenantKey(index) })),
			],
			instance_assignments: [
				...range(users).flatMap((user) =>
					groupKeys(user).map((instance) => ({ user: userKey(user), role: 'member', type: 'group', instance })),
				),
				...range(100_000).map((turn) => ({
					user: userKey(turn),
					role: turn % 3 === 0 ? 'editor' : 'viewer',
					type: 'document',
					instance: documentKey(near(turn, turn, documents)),
				})),
				...range(7_000).map((turn) => ({
					user: userKey(turn),
					role: turn % 3 === 0 ? 'editor' : 'viewer',
					type: 'folder',
					instance: folderKey(near(turn, turn + 7, folders)),
				})),
			],
			relationships: [
				...chains('folder', 'parent', folderKey, folders, 6),
				...chains('group', 'nested', groupKey, groups, 5),
				...range(documents).map((index) => ({
					type: 'document',
					instance: documentKey(index),
					relation: 'parent',
					subject_type: 'folder',
					subject: folderKey(folderIndex(index)),
				})),
				...range(folders).map((index) => ({
					type: 'folder',
					instance: folderKey(index),
					relation: index % 4 === 0 ? 'editors' : 'viewers',
					subject_type: 'group',
					subject: groupKey(near(index, index, groups)),
				})),
			],
		},
	};
}

/**
 * Returns a check of any user and any document in the same tenant. Most of these checks are denied, after the engine
 * has tried every possible grant.
 */
export function anyCheck(turn: number): EngineInput {
	const user = mixed(turn * 7 + 3, sizes.users);
	const document = mixed(turn * 13 + 5, sizes.documents / sizes.tenants) * sizes.tenants + (user % sizes.tenants);
	return {
		user: { key: userKey(user) },
		action: turn % 2 === 0 ? 'read' : 'write',
		resource: { type: 'document', key: documentKey(document), tenant: tenantKey(user) },
		time: Date.now(),
	};
}
