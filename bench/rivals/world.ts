import type { Json, Model } from '../../compiler/model.js';
import { schemaDocument } from '../support/schema-shapes.js';

/** World shared by all engines, and the checks on it. */

const range = (length: number) => Array.from({ length }, (_, index) => index);
const named = (key: string) => ({ key, name: key, description: null });

export const users = range(10_000).map((index) => `user-${index}@example.com`);
export const tenants = range(100).map((index) => `tenant-${index}`);
export const roles = ['reader', 'writer', 'owner', 'guest', 'auditor', 'visitor'] as const;
/** Roles that grant reading documents. */
export const readers = roles.slice(0, 3);
export const folders = range(2_000).map((index) => `folder-${index}`);
export const documents = range(18_000).map((index) => `document-${index}`);
/** There are as many departments as report classes. Users can open the reports in the class of their department. */
export const departments = range(50);

/** Four tenant roles per user. */
export const assignments = users.flatMap((user, index) =>
	range(4).map((turn) => ({
		user,
		role: roles[(index + turn) % roles.length] ?? 'reader',
		tenant: tenants[(index + turn * 7) % tenants.length] ?? '',
	})),
);
/** Each folder has five editors, and each user edits a single folder. */
export const editors = users.map((user, index) => ({ user, folder: folders[index % folders.length] ?? '' }));
export const folderIndex = (document: number) => document % folders.length;
export const departmentIndex = (user: number) => user % departments.length;

export const kinds = ['rbac', 'rebac', 'abac'] as const;
export type Kind = (typeof kinds)[number];

/** A check as a client sends it to a decision point, with the expected decision. */
export interface Question {
	readonly kind: Kind;
	readonly body: {
		readonly user: string;
		readonly action: string;
		readonly resource: {
			readonly type: string;
			readonly key?: string;
			readonly tenant: string;
			readonly attributes?: Readonly<Record<string, string>>;
		};
	};
	readonly allow: boolean;
}

/** Returns `count` checks, half of which are allowed. */
export function questions(kind: Kind, count: number): readonly Question[] {
	return range(count).map((turn) => {
		const index = (turn * 7919) % users.length;
		const user = users[index] ?? '';
		const allow = turn % 2 === 0;
		if (kind === 'rbac') {
			// Among the user's four roles, at least one may read and at least one may not.
			const own = assignments.slice(index * 4, index * 4 + 4);
			const found = own.find(({ role }) => readers.includes(role) === allow) ?? own[0];
			const tenant = found?.tenant ?? '';
			return { kind, body: { user, action: 'read', resource: { type: 'document', tenant } }, allow };
		}
		if (kind === 'rebac') {
			const folder = index % folders.length;
			const document = documents[(allow ? folder : (folder + 1) % folders.length) + folders.length] ?? '';
			return {
				kind,
				body: { user, action: 'edit', resource: { type: 'document', key: document, tenant: tenants[0] ?? '' } },
				allow,
			};
		}
		const department = departmentIndex(index);
		const cls = `class-${allow ? department : (department + 1) % departments.length}`;
		return {
			kind,
			body: {
				user,
				action: 'open',
				resource: { type: 'report', tenant: tenants[0] ?? '', attributes: { class: cls } },
			},
			allow,
		};
	});
}

/** Regolith model for the world. */
export const model: Model = {
	schema: {
		resources: [
			{
				...named('document'),
				actions: [named('read'), named('edit')],
				relations: [{ ...named('parent'), subject: 'folder' }],
				roles: [
					{
						...named('editor'),
						permissions: ['edit'],
						extends: [],
						derivations: [{ relation: 'parent', role: 'editor', no_direct_roles_on_object: false }],
						no_direct_roles_on_object: false,
					},
				],
			},
			{
				...named('folder'),
				actions: [],
				relations: [],
				roles: [
					{ ...named('editor'), permissions: [], extends: [], derivations: [], no_direct_roles_on_object: false },
				],
			},
			{ ...named('report'), actions: [named('open')], relations: [], roles: [] },
		],
		roles: roles.map((key) => ({
			...named(key),
			permissions: readers.includes(key) ? [{ resource: 'document', action: 'read' }] : [],
			extends: [],
		})),
		condition_sets: departments.flatMap((index) => [
			{
				...named(`department-${index}`),
				type: 'userset' as const,
				resource: null,
				parent: null,
				selects: { conditions: { 'user.department': { equals: `department-${index}` } } },
			},
			{
				...named(`class-${index}`),
				type: 'resourceset' as const,
				resource: 'report',
				parent: null,
				selects: { conditions: { 'resource.class': { equals: `class-${index}` } } },
			},
		]),
		set_rules: departments.map((index) => ({
			user_set: `department-${index}`,
			resource_set: `class-${index}`,
			resource: 'report',
			action: 'open',
		})),
	},
	facts: {
		users,
		tenants: tenants.map((key) => ({ key, attributes: {} })),
		role_assignments: assignments,
		instances: [
			...folders.map((key) => ({ type: 'folder', key, tenant: tenants[0] ?? '' })),
			...documents.map((key) => ({ type: 'document', key, tenant: tenants[0] ?? '' })),
		],
		instance_assignments: editors.map(({ user, folder }) => ({
			user,
			role: 'editor',
			type: 'folder',
			instance: folder,
		})),
		relationships: documents.map((key, index) => ({
			type: 'document',
			instance: key,
			relation: 'parent',
			subject_type: 'folder',
			subject: folders[folderIndex(index)] ?? '',
		})),
		user_attributes: users.map((user, index) => ({
			user,
			attributes: { department: `department-${departmentIndex(index)}` },
		})),
		instance_attributes: [],
	},
};

/** Returns the world as an environment document. */
export function worldDocument(): Json {
	const { schema, facts } = model;
	const document = schemaDocument(schema) as { readonly schema: { readonly resources: Record<string, object> } };
	const report = { ...document.schema.resources['report'], attributes: { class: { type: 'string' } } };
	const tenant = tenants[0] ?? '';
	return {
		...document,
		schema: { ...document.schema, resources: { ...document.schema.resources, report } },
		facts: {
			tenants: Object.fromEntries(facts.tenants.map(({ key }) => [key, { name: key }])),
			users: Object.fromEntries(facts.user_attributes.map(({ user, attributes }) => [user, { attributes }])),
			resource_instances: Object.fromEntries(facts.instances.map(({ type, key }) => [`${type}:${key}`, { tenant }])),
			relationship_tuples: documents.map((document, index) => ({
				subject: `folder:${folders[folderIndex(index)]}`,
				relation: 'parent',
				object: `document:${document}`,
			})),
			role_assignments: [
				...assignments,
				...editors.map(({ user, folder }) => ({ user, role: 'editor', resource_instance: `folder:${folder}` })),
			],
		},
	} as Json;
}
