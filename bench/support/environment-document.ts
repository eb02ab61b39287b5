import type { Json } from '../../compiler/model.js';
import { schemaDocument, setRules } from './schema-shapes.js';

/**
 * Returns an environment document. At `scale` 1, it contains 10,000 users, 20,000 instances (2,000 are groups), 18,000
 * relationships, 50,000 assignments (20,000 on instances), in 100 tenants. At any scale, there are 2,500 rules between
 * 50 user sets and 50 resource sets.
 */
export function environmentDocument(scale: number): { readonly [member: string]: Json } {
	const users = 10_000 * scale;
	const groups = 2_000 * scale;
	const documents = 18_000 * scale;
	const tenants = 100;
	const document = schemaDocument(setRules(100, 2_500, 'on one action')) as { readonly schema: Record<string, Json> };
	const resources = document.schema['resources'] as Record<string, Record<string, Json>>;
	const member = { name: 'Member' };
	const viewer = {
		name: 'Viewer',
		permissions: ['read'],
		granted_to: { users_with_role: [{ role: 'member', on_resource: 'team', linked_by_relation: 'viewers' }] },
	};
	const schema = {
		...document.schema,
		resources: {
			team: { name: 'Team', roles: { member } },
			document: {
				...resources['document'],
				relations: { viewers: { name: 'Viewers', subject_resource: 'team' } },
				roles: { viewer },
			},
		},
		roles: {
			...(document.schema['roles'] as object),
			...Object.fromEntries(
				range(9).map((index) => [`role-${index}`, { name: 'Role', permissions: ['document:list'] }]),
			),
		},
	};
	const named = (count: number, entry: (index: number) => readonly [name: string, value: Json]) =>
		Object.fromEntries(range(count).map(entry));
	const team = (index: number) => `team:team-${index % groups}`;
	const facts = {
		tenants: named(tenants, (index) => [tenantKey(index), { name: 'Tenant' }]),
		users: named(users, (index) => [
			userKey(index),
			{ email: userKey(index), attributes: { department: 'sales', level: index % 10 } },
		]),
		resource_instances: {
			...named(groups, (index) => [team(index), { tenant: tenantKey(index) }]),
			...named(documents, (index) => [
				`document:document-${index}`,
				{ tenant: tenantKey(index), attributes: { level: 1 } },
			]),
		},
		groups: named(groups, (index) => [team(index), {}]),
		relationship_tuples: range(documents).map((index) => ({
			subject: team(index),
			relation: 'viewers',
			object: `document:document-${index}`,
		})),
		role_assignments: range(users).flatMap((index) => [
			...range(3).map((turn) => ({
				user: userKey(index),
				role: `role-${(index + turn) % 9}`,
				tenant: tenantKey(index * 7 + turn),
			})),
			{ user: userKey(index), role: 'member', resource_instance: team(index) },
			{ user: userKey(index), role: 'viewer', resource_instance: `document:document-${(index * 7) % documents}` },
		]),
	};
	return { ...document, schema, facts };
}

const range = (length: number) => Array.from({ length }, (_, index) => index);
const userKey = (index: number) => `user-${index}@example.com`;
/** Groups and documents whose indexes have the same remainder are in the same tenant. */
const tenantKey = (index: number) => `tenant-${index % 100}`;
