import { Validator } from '@seriousme/openapi-schema-validator';
import test from 'ava';
import { z } from 'zod';
import type { Endpoint } from '../../src/http/endpoint.js';
import { openapi } from '../../src/http/openapi.js';
import { ErrorBody, ValidationErrorBody } from '../../src/wire/error.js';
import * as tuple from '../../src/wire/facts/relationship-tuple.js';
import * as instance from '../../src/wire/facts/resource-instance.js';
import * as assignment from '../../src/wire/facts/role-assignment.js';
import * as tenant from '../../src/wire/facts/tenant.js';
import * as user from '../../src/wire/facts/user.js';
import * as apiKey from '../../src/wire/general/api-key.js';
import * as environment from '../../src/wire/general/environment.js';
import { PolicyRead } from '../../src/wire/general/policy.js';
import * as project from '../../src/wire/general/project.js';
import { arrayOrPaginated, paginated } from '../../src/wire/list.js';
import * as actionGroup from '../../src/wire/schema/action-group.js';
import * as derivation from '../../src/wire/schema/derivation.js';
import * as group from '../../src/wire/schema/group.js';
import * as relation from '../../src/wire/schema/relation.js';
import * as resource from '../../src/wire/schema/resource.js';
import * as action from '../../src/wire/schema/resource-action.js';
import * as attribute from '../../src/wire/schema/resource-attribute.js';
import * as resourceRole from '../../src/wire/schema/resource-role.js';
import * as role from '../../src/wire/schema/role.js';

/** Responses contain every documented field, including explicit nulls, and nothing else. */

const at = new Date('2026-01-02T03:04:05Z');
const written = '2026-01-02T03:04:05.000Z';
const id = '0190f4c8-0000-7000-8000-00000000abcd';
const scope = { id, organization_id: id, project_id: id, environment_id: id };
const created = { ...scope, created_at: at };
const changed = { ...created, updated_at: at };
const junk = { password: 'hunter2', row_version: 3 };

const environmentGiven = {
	id,
	key: 'dev',
	name: 'Dev',
	organization_id: id,
	project_id: id,
	created_at: at,
	updated_at: at,
	description: null,
	custom_branch_name: null,
	jwks: null,
	settings: null,
};
const environmentAdded = { avp_policy_store_id: null, email_configuration: null };
const environmentShown = { ...environmentGiven, created_at: written, updated_at: written, ...environmentAdded };
const actionGiven = { id, key: 'read', name: 'Read', description: null, attributes: null };
const relationBlock = { resource_id: id, resource: 'folder', relation_name: 'Parent', description: null };
const userBlock = { id, key: 'u', email: null, first_name: null, last_name: null, attributes: {} };
const instanceBlock = { id, key: 'b', resource: 'a', attributes: {} };
const groupGiven = { id, group_resource_type_key: 'group', group_instance_key: 'admins', group_tenant: 't' };
const groupRoleGiven = {
	key: 'r',
	role: 'r',
	role_id: id,
	resource: { id, key: 'a' },
	resource_id: id,
	resource_instance: { id, key: 'b' },
	resource_instance_id: id,
	tenant: 't',
	tenant_id: id,
};
const v1compat = { v1compat_path: null, v1compat_is_built_in: null, v1compat_name: null };
const linkGiven = { role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' };
const ruleShown = {
	...linkGiven,
	role_id: id,
	resource_id: id,
	relation_id: id,
	when: { no_direct_roles_on_object: false },
};
const resourceRoleGiven = {
	...changed,
	key: 'viewer',
	name: 'Viewer',
	resource_id: id,
	resource: 'doc',
	description: null,
	permissions: [],
	extends: [],
	attributes: null,
	granted_to: { id, users_with_role: [{ ...ruleShown, ...junk }], when: { no_direct_roles_on_object: true } },
	computed: null,
};
const resourceRoleShown = {
	...resourceRoleGiven,
	created_at: written,
	updated_at: written,
	granted_to: { id, users_with_role: [ruleShown], when: { no_direct_roles_on_object: true } },
};

interface Answer {
	readonly schema: z.ZodType;
	readonly given: object;
	readonly shown: object;
}

/** Returns a response that shows the fields in `given`, with times as strings. `added` adds or replaces fields. */
function answer(schema: z.ZodType, given: object, added: object = {}): Answer {
	const fields = Object.entries(given).map(([name, value]) => [name, value === at ? written : value]);
	return { schema, given, shown: { ...Object.fromEntries(fields), ...added } };
}

const answers: Readonly<Record<string, Answer>> = {
	APIKeyScopeRead: answer(apiKey.ApiKeyScopeRead, { organization_id: id, project_id: null, environment_id: null }),
	APIKeyRead: answer(
		apiKey.ApiKeyRead,
		{
			id,
			organization_id: id,
			project_id: id,
			environment_id: id,
			object_type: 'env',
			access_level: 'admin',
			owner_type: 'pdp_config',
			name: null,
			secret: 'permit_key_x',
			created_at: at,
			last_used_at: null,
			env: environmentGiven,
			project: null,
		},
		{ env: environmentShown, created_by_member: null },
	),
	ProjectRead: answer(project.ProjectRead, {
		id,
		key: 'shop',
		name: 'Shop',
		organization_id: id,
		created_at: at,
		updated_at: at,
		urn_namespace: null,
		description: null,
		settings: null,
		active_policy_repo_id: null,
	}),
	EnvironmentRead: answer(environment.EnvironmentRead, environmentGiven, environmentAdded),
	ResourceRead: answer(
		resource.ResourceRead,
		{
			...changed,
			key: 'doc',
			name: 'Doc',
			urn: null,
			description: null,
			attributes: null,
			type_attributes: null,
			actions: { read: { ...actionGiven, ...junk } },
			roles: { viewer: { ...resourceRoleGiven, ...junk } },
			relations: { parent: { ...relationBlock, ...junk } },
			action_groups: { reading: ['read'] },
		},
		{
			actions: { read: { ...actionGiven, ...v1compat } },
			roles: { viewer: resourceRoleShown },
			relations: { parent: relationBlock },
			v1compat_path: null,
			v1compat_type: null,
			v1compat_name: null,
		},
	),
	ResourceActionRead: answer(
		action.ResourceActionRead,
		{
			...changed,
			key: 'read',
			name: 'Read',
			permission_name: 'doc:read',
			resource_id: id,
			description: null,
			attributes: { a: 1 },
		},
		v1compat,
	),
	ResourceActionGroupRead: answer(actionGroup.ActionGroupRead, {
		...changed,
		key: 'reading',
		name: 'Reading',
		resource_id: id,
		description: null,
		attributes: null,
		actions: ['read'],
	}),
	RelationRead: answer(relation.RelationRead, {
		...changed,
		key: 'parent',
		name: 'Parent',
		description: null,
		object_resource_id: id,
		object_resource: 'doc',
		subject_resource_id: id,
		subject_resource: 'folder',
	}),
	ResourceAttributeRead: answer(attribute.ResourceAttributeRead, {
		...changed,
		key: 'age',
		type: 'number',
		resource_id: id,
		resource_key: '__user',
		built_in: false,
		description: null,
	}),
	RoleRead: answer(
		role.RoleRead,
		{
			...changed,
			key: 'admin',
			name: 'Admin',
			description: null,
			permissions: [],
			extends: [],
			attributes: null,
		},
		{ granted_to: null, v1compat_settings: null, v1compat_attributes: null },
	),
	ResourceRoleRead: { schema: resourceRole.ResourceRoleRead, given: resourceRoleGiven, shown: resourceRoleShown },
	RoleBulkReport: answer(role.RoleBulkRead, { created: ['a'], updated: [] }),
	UserRead: answer(
		user.UserRead,
		{
			...changed,
			key: 'a|b',
			email: null,
			first_name: null,
			last_name: null,
			attributes: {},
			roles: [{ role: 'admin', tenant: 'acme', ...junk }],
			associated_tenants: [{ tenant: 'acme', roles: ['admin'], status: 'active' }],
		},
		{
			roles: [{ role: 'admin', tenant: 'acme' }],
			associated_tenants: [{ tenant: 'acme', roles: ['admin'], status: 'active', resource_instance_roles: [] }],
		},
	),
	TenantRead: answer(tenant.TenantRead, {
		...changed,
		key: 'acme',
		name: 'Acme',
		last_action_at: at,
		description: null,
		attributes: null,
	}),
	RoleAssignmentRead: answer(assignment.RoleAssignmentRead, {
		...created,
		user: 'u',
		role: 'r',
		tenant: 't',
		user_id: id,
		role_id: id,
		tenant_id: id,
		resource_instance: 'a:b',
		resource_instance_id: id,
	}),
	RoleAssignmentDetailedRead: answer(
		assignment.RoleAssignmentDetailedRead,
		{
			...created,
			user: { ...userBlock, ...junk },
			role: { id, key: 'r', name: 'R', permissions: null },
			tenant: { id, key: 't', name: 'T', attributes: {} },
			resource_instance: { ...instanceBlock, ...junk },
		},
		{ user: userBlock, resource_instance: instanceBlock },
	),
	ResourceInstanceRead: answer(instance.ResourceInstanceRead, {
		...changed,
		key: 'b',
		resource: 'a',
		resource_id: id,
		tenant: 't',
		tenant_id: id,
		attributes: {},
	}),
	RelationshipTupleRead: answer(tuple.RelationshipTupleRead, {
		...changed,
		subject: 'a:b',
		relation: 'r',
		object: 'c:d',
		tenant: 't',
		subject_id: id,
		relation_id: id,
		object_id: id,
		tenant_id: id,
	}),
	GroupReadSchema: answer(group.GroupReadSchema, groupGiven),
	GroupRead: answer(group.GroupRead, groupGiven),
	GroupRoleRead: answer(group.GroupRoleRead, groupRoleGiven),
	PolicyRead: answer(
		PolicyRead,
		{
			revision: 3,
			schema_revision: 3,
			hash: null,
			compiled_revision: null,
			published_at: null,
			failure: { revision: 3, message: 'x' },
			degraded: null,
			files: [],
		},
		{ lineage: null },
	),
	ErrorBody: answer(
		ErrorBody,
		{ id, title: 'T', error_code: 'NOT_FOUND', message: 'M' },
		{ support_link: null, additional_info: null },
	),
};

for (const [name, { schema, given, shown }] of Object.entries(answers)) {
	test(`${name} shows all fields and nothing else`, (t) => {
		t.deepEqual(schema.parse({ ...given, ...junk }), shown);
	});

	test(`${name} has no accidentally optional field`, (t) => {
		for (const field of Object.keys(given)) {
			const { [field]: _, ...rest } = given as Readonly<Record<string, unknown>>;
			t.false(schema.safeParse(rest).success, field);
		}
	});
}

test('a list is an array, or a page with the same items', (t) => {
	const list = arrayOrPaginated(user.UserRole);
	const item = { role: 'r', tenant: 't' };
	t.deepEqual(list.parse([{ ...item, ...junk }]), [item]);
	const page = { data: [{ ...item, ...junk }], total_count: 1, page_count: 1, ...junk };
	t.deepEqual(list.parse(page), { data: [item], total_count: 1, page_count: 1 });
	t.deepEqual(paginated(user.UserRole).parse({ data: [], total_count: 0, page_count: 0 }), {
		data: [],
		total_count: 0,
		page_count: 0,
	});
	t.false(list.safeParse({ data: [item] }).success);
});

test('all models fit into a single OpenAPI document', async (t) => {
	const schema = [resource, action, actionGroup, attribute, relation, derivation, resourceRole, role];
	const rooms = [apiKey, environment, project, ...schema, assignment, tenant, user, instance, tuple, group];
	const members = rooms.flatMap((room) => Object.entries<unknown>(room));
	const exported = members.flatMap(([name, member]) => (member instanceof z.ZodType ? [[name, member] as const] : []));
	const endpoints = exported.map(([name, schema], index): Endpoint<string, never> => {
		const common = { name: `${name}${index}`, summary: name, tag: 'Models', path: `/${index}`, access: 'open' };
		const handle = () => ({ status: 200 });
		if (name.endsWith('Query')) return { ...common, method: 'get', query: schema, returns: { 200: null }, handle };
		if (/Create$|Update$|Replace$|Remove$|Edit$|Add$|Nesting$|Permissions?$|Jwks$/.test(name)) {
			return { ...common, method: 'post', body: schema, returns: { 200: null }, handle };
		}
		return { ...common, method: 'get', returns: { 200: arrayOrPaginated(schema) }, handle };
	});
	const document = openapi(endpoints, {
		title: 'Models',
		version: '1',
		description: '',
		tags: { Models: '' },
		headers: { every: z.object({ 'X-Request-ID': z.string() }) },
		key: '',
		failureBody: ErrorBody,
		validationBody: ValidationErrorBody,
		access: { open: { description: 'anyone.', secured: false } },
		samples: {},
		failureExample: () => ({}),
	});
	const plain = JSON.parse(JSON.stringify(document));
	const { valid, errors } = await new Validator().validate(plain);
	t.true(valid, JSON.stringify(errors));
	const models = Object.keys(plain.components.schemas);
	for (const name of Object.keys(answers)) if (name !== 'PolicyRead') t.true(models.includes(name), name);
	// A schema without content documents nothing. The only exceptions are maps that are always empty: their default is
	// `{}`, and they forbid fields.
	const described = JSON.stringify(document, (name, value) => (name === 'example' ? undefined : value));
	const blank = [...described.matchAll(/"(\w+)":\{\}/g)].map(([, field]) => field);
	t.deepEqual([...new Set(blank)].sort(), []);
});
