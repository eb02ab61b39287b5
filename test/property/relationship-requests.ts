import type { Answer, Loose } from '../support/client.js';
import type { Place } from '../support/management.js';
import {
	type FactWrite,
	type GroupWrite,
	type Held,
	isFactWrite,
	isGroupWrite,
	type Rule,
	type SchemaWrite,
	type Tuple,
	type Write,
} from './relationship-writes.js';

/** Sends relationship and group writes as requests. */

type Request = readonly [method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object];

/** Sends a write to an environment. */
export function send({ http, schema, facts }: Place, entry: Write): Promise<Answer<Loose>> {
	const [method, path, body] = entryRequest(entry, { schema, facts });
	return http.send(method, path, body);
}

interface Roots {
	readonly schema: string;
	readonly facts: string;
}

function entryRequest(entry: Write, { schema, facts }: Roots): Request {
	if (isFactWrite(entry)) return factRequest(entry, facts);
	return isGroupWrite(entry) ? groupRequest(entry, `${schema}/groups`) : schemaRequest(entry, `${schema}/resources`);
}

function schemaRequest(entry: SchemaWrite, resources: string): Request {
	const resource = at(resources, entry.type);
	const roles = `${resource}/roles`;
	switch (entry.kind) {
		case 'create-resource': {
			const { type, actions, relations } = entry;
			const blocks = Object.entries(entry.roles).map(([key, { permissions, parents, rules }]) => {
				const granted_to = rules === null ? {} : { granted_to: { users_with_role: rules.map(ruleBody) } };
				return [key, { name: key, permissions, extends: parents, ...granted_to }];
			});
			const body = {
				key: type,
				name: type,
				actions: emptyBlocks(actions),
				relations,
				roles: Object.fromEntries(blocks),
			};
			return ['POST', resources, body];
		}
		case 'set-actions':
			return ['PATCH', resource, { actions: emptyBlocks(entry.actions) }];
		case 'delete-resource':
			return ['DELETE', resource];
		case 'create-role': {
			const { role, permissions, parents } = entry;
			return ['POST', roles, { key: role, name: role, permissions, extends: parents }];
		}
		case 'create-relation': {
			const { relation, subject } = entry;
			return ['POST', `${resource}/relations`, { key: relation, name: relation, subject_resource: subject }];
		}
		case 'delete-relation':
			return ['DELETE', at(`${resource}/relations`, entry.relation)];
		default:
			return roleRequest(entry, at(roles, entry.role));
	}
}

type RoleWrite = Exclude<Extract<SchemaWrite, { readonly role: string }>, { readonly kind: 'create-role' }>;

function roleRequest(entry: RoleWrite, role: string): Request {
	switch (entry.kind) {
		case 'delete-role':
			return ['DELETE', role];
		case 'grant':
		case 'revoke':
			return [entry.kind === 'grant' ? 'POST' : 'DELETE', `${role}/permissions`, { permissions: [entry.action] }];
		case 'extend':
		case 'unextend':
			return [entry.kind === 'extend' ? 'PUT' : 'DELETE', at(`${role}/parents`, entry.parent)];
		case 'derive':
		case 'underive':
			return [entry.kind === 'derive' ? 'POST' : 'DELETE', `${role}/implicit_grants`, ruleBody(entry.rule)];
		case 'derive-only': {
			const when = { no_direct_roles_on_object: entry.blocked };
			return ['PATCH', role, { granted_to: { users_with_role: entry.rules.map(ruleBody), when } }];
		}
		case 'block':
			return ['PUT', `${role}/implicit_grants/conditions`, { no_direct_roles_on_object: entry.blocked }];
	}
}

function factRequest(entry: FactWrite, facts: string): Request {
	const assignments = `${facts}/role_assignments`;
	const tuples = `${facts}/relationship_tuples`;
	switch (entry.kind) {
		case 'create-user':
			return ['POST', `${facts}/users`, { key: entry.user }];
		case 'delete-user':
			return ['DELETE', at(`${facts}/users`, entry.user)];
		case 'create-tenant':
			return ['POST', `${facts}/tenants`, { key: entry.tenant, name: entry.tenant }];
		case 'delete-tenant':
			return ['DELETE', at(`${facts}/tenants`, entry.tenant)];
		case 'create-instance': {
			const [resource, key] = entry.instance.split(':');
			return ['POST', `${facts}/resource_instances`, { resource, key, tenant: entry.tenant }];
		}
		case 'delete-instance':
			return ['DELETE', at(`${facts}/resource_instances`, entry.instance)];
		case 'assign':
			return ['POST', assignments, { ...heldBody(entry), tenant: entry.tenant }];
		case 'unassign':
			return ['DELETE', assignments, heldBody(entry)];
		case 'relate':
			return ['POST', tuples, { ...tupleBody(entry), tenant: entry.tenant }];
		case 'unrelate':
			return ['DELETE', tuples, tupleBody(entry)];
		case 'relate-many': {
			const { tenant } = entry;
			return ['POST', `${tuples}/bulk`, { operations: entry.tuples.map((tuple) => ({ ...tuple, tenant })) }];
		}
		case 'unrelate-many':
			return ['DELETE', `${tuples}/bulk`, { idents: entry.tuples }];
	}
}

function heldBody({ user, role, instance }: Held): object {
	return { user, role, resource_instance: instance };
}

function tupleBody({ subject, relation, object }: Tuple): object {
	return { subject, relation, object };
}

function groupRequest(entry: GroupWrite, groups: string): Request {
	const group = at(groups, entry.group);
	switch (entry.kind) {
		case 'create-group': {
			const [type, group_instance_key] = entry.group.split(':');
			// `group` is the default resource type, so it can be omitted.
			const named = type === 'group' ? {} : { group_resource_type_key: type };
			return ['POST', groups, { ...named, group_instance_key, group_tenant: entry.tenant }];
		}
		case 'delete-group':
			return ['DELETE', group];
		case 'add-member':
			return ['PUT', at(`${group}/users`, entry.user), { tenant: entry.tenant }];
		case 'remove-member':
			return ['DELETE', at(`${group}/users`, entry.user), { tenant: entry.tenant }];
		case 'nest':
		case 'release':
			return [entry.kind === 'nest' ? 'PUT' : 'DELETE', `${group}/assign_group`, { group_instance_key: entry.child }];
		case 'give':
		case 'take': {
			const { role, tenant, instance } = entry;
			const body = { resource: instance.split(':')[0], resource_instance: instance, role, tenant };
			return [entry.kind === 'give' ? 'POST' : 'DELETE', `${group}/roles`, body];
		}
	}
}

function at(path: string, name: string): string {
	return `${path}/${encodeURIComponent(name)}`;
}

function emptyBlocks(keys: readonly string[]): object {
	return Object.fromEntries(keys.map((key) => [key, {}]));
}

function ruleBody({ relation, type, role, blocked }: Rule): object {
	const when = { no_direct_roles_on_object: blocked };
	return { role, on_resource: type, linked_by_relation: relation, when };
}
