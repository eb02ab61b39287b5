import test from 'ava';
import type { z } from 'zod';
import {
	RoleAssignmentBulkCreate,
	RoleAssignmentCreate,
	RoleAssignmentQuery,
} from '../../src/wire/facts/role-assignment.js';
import { TenantCreate, TenantUpdate } from '../../src/wire/facts/tenant.js';
import { UserCreate, UserReplace, UserRoleRemove, UserUpdate } from '../../src/wire/facts/user.js';
import { EnvironmentCreate } from '../../src/wire/general/environment.js';
import { ProjectCreate, ProjectUpdate } from '../../src/wire/general/project.js';
import { TestedCheck } from '../../src/wire/schema/check-test.js';
import { ResourceCreate, ResourceReplace, ResourceUpdate } from '../../src/wire/schema/resource.js';
import { ResourceActionCreate } from '../../src/wire/schema/resource-action.js';
import { ResourceAttributeCreate, ResourceAttributeUpdate } from '../../src/wire/schema/resource-attribute.js';
import { ResourceRoleCreate, ResourceRoleUpdate } from '../../src/wire/schema/resource-role.js';
import { RoleBulkReplace, RoleCreate, RolePermissions, RoleUpdate } from '../../src/wire/schema/role.js';
import { json, parsed } from './parsed.js';

/** Request bodies from the SDK are accepted. Values that cannot be stored or are not supported are rejected. */

const id = '0190f4c8-0000-7000-8000-00000000abcd';
const project = { key: 'shop', name: 'Shop' };
const rule = { role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' };
const always = { no_direct_roles_on_object: false };
const bulkRole = { key: 'a', name: 'A' };
const unlinked = { permissions: [], extends: [], grant_conditions: [] };
const underived = 'must be omitted: only resource roles can be derived, because they are held on instances';
const instance = 'document:budget:2';

const accepted: readonly (readonly [string, z.ZodType, unknown, unknown])[] = [
	[
		'a project, with default environments',
		ProjectCreate,
		project,
		{
			...project,
			initial_environments: [
				{ key: 'dev', name: 'Development' },
				{ key: 'production', name: 'Production' },
			],
		},
	],
	[
		'a project without environments',
		ProjectCreate,
		{ ...project, initial_environments: [] },
		{ ...project, initial_environments: [] },
	],
	['an empty project update', ProjectUpdate, {}, {}],
	[
		'an environment with verification keys',
		EnvironmentCreate,
		{ key: 'dev', name: 'Dev', jwks: { url: 'https://id.acme.com/keys' } },
		{ key: 'dev', name: 'Dev', jwks: { ttl: 600, url: 'https://id.acme.com/keys', jwks: null } },
	],
	[
		'a resource as the Node SDK sends it',
		ResourceCreate,
		{
			key: 'document',
			name: 'document',
			actions: { read: {}, 'read-all': { name: 'Read all', junk: 1 } },
			v1compat_path: '/x',
		},
		{ key: 'document', name: 'document', actions: { read: {}, 'read-all': { name: 'Read all' } } },
	],
	[
		'a resource with empty or null parts',
		ResourceCreate,
		{ key: 'a', name: '', actions: {}, attributes: null, roles: {}, relations: null },
		{ key: 'a', name: '', actions: {}, attributes: undefined, roles: {}, relations: undefined },
	],
	[
		'a resource with every attribute type',
		ResourceUpdate,
		{ attributes: { a: { type: 'object_array' }, b: { type: 'bool', description: 'B' } } },
		{ attributes: { a: { type: 'object_array' }, b: { type: 'bool', description: 'B' } } },
	],
	[
		'a resource update with nulls',
		ResourceUpdate,
		{ name: null, description: null, actions: null },
		{ name: undefined, description: null, actions: undefined },
	],
	[
		'a role with its defaults',
		RoleCreate,
		{ key: 'admin', name: 'Admin' },
		{ key: 'admin', name: 'Admin', permissions: [], extends: [] },
	],
	[
		'a role with nulls',
		RoleCreate,
		{
			key: 'admin',
			name: 'Admin',
			description: null,
			permissions: null,
			extends: null,
			attributes: null,
			granted_to: null,
		},
		{
			key: 'admin',
			name: 'Admin',
			description: undefined,
			permissions: [],
			extends: [],
			attributes: undefined,
			granted_to: undefined,
		},
	],
	['a role update with a single field', RoleUpdate, { description: 'x' }, { description: 'x' }],
	[
		'a derived resource role',
		ResourceRoleCreate,
		{ key: 'a', name: 'A', granted_to: { users_with_role: [rule] } },
		{
			key: 'a',
			name: 'A',
			...unlinked,
			granted_to: { users_with_role: [{ ...rule, when: always }], when: always },
		},
	],
	[
		'a resource role update that removes the derivations',
		ResourceRoleUpdate,
		{ granted_to: null, permissions: null },
		{ granted_to: null, permissions: undefined },
	],
	[
		'tenant roles and resource roles in bulk',
		RoleBulkReplace,
		{
			operations: [
				{ ...bulkRole, granted_to: {} },
				{ ...bulkRole, resource: 'doc', granted_to: { when: null } },
			],
		},
		{
			operations: [
				{ ...bulkRole, ...unlinked, granted_to: { users_with_role: [], when: always } },
				{ ...bulkRole, ...unlinked, resource: 'doc', granted_to: { users_with_role: [], when: always } },
			],
		},
	],
	[
		'permissions by name and by id',
		RolePermissions,
		{ permissions: ['document:read', id] },
		{ permissions: ['document:read', id] },
	],
	['a user with only a key', UserCreate, { key: 'auth0|elon' }, { key: 'auth0|elon', attributes: {} }],
	['a user replacement without a key', UserReplace, { email: 'a@b.co' }, { email: 'a@b.co', attributes: {} }],
	[
		'a user with nulls',
		UserCreate,
		{ key: 'a', email: null, first_name: null, last_name: null, attributes: null, role_assignments: null },
		{
			key: 'a',
			email: undefined,
			first_name: undefined,
			last_name: undefined,
			attributes: {},
			role_assignments: undefined,
		},
	],
	[
		'a user with roles',
		UserCreate,
		{ key: 'a', role_assignments: [{ role: 'admin', tenant: 'acme', resource_instance: null }] },
		{ key: 'a', attributes: {}, role_assignments: [{ role: 'admin', tenant: 'acme', resource_instance: undefined }] },
	],
	['a user update with null', UserUpdate, { email: null, attributes: { a: 1 } }, { email: null, attributes: { a: 1 } }],
	['a tenant without attributes', TenantCreate, { key: 'acme', name: 'Acme' }, { key: 'acme', name: 'Acme' }],
	['a tenant update', TenantUpdate, { description: 'x' }, { description: 'x' }],
	[
		'an assignment as the Python SDK sends it',
		RoleAssignmentCreate,
		{ user: 'a@b.co', role: 'admin', tenant: 'acme', resource_instance: null },
		{ user: 'a@b.co', role: 'admin', tenant: 'acme', resource_instance: undefined },
	],
	[
		'an assignment on an instance, without a tenant',
		RoleAssignmentCreate,
		{ user: 'a@b.co', role: 'admin', tenant: null, resource_instance: 'document:budget' },
		{ user: 'a@b.co', role: 'admin', tenant: undefined, resource_instance: 'document:budget' },
	],
	['no assignments', RoleAssignmentBulkCreate, [], []],
	[
		'an assignment query as the Node SDK sends it',
		RoleAssignmentQuery,
		{ user: 'a', detailed: 'false', include_total_count: 'false', page: '1', per_page: '100' },
		{ user: ['a'], conditional: false, detailed: false, include_total_count: false, page: 1, per_page: 100 },
	],
];

for (const [title, schema, value, becomes] of accepted) {
	test(`accepts ${title}`, (t) => {
		t.deepEqual(parsed(schema, value), { data: becomes });
	});
}

const required = 'Invalid input: expected string, received undefined';
const key = 'must be one or more of a-z, A-Z, 0-9, `-`, `_`';
const storable = 'must not contain NUL characters or lone surrogates';
const types = 'expected one of "bool"|"number"|"string"|"time"|"array"|"json"|"object"|"object_array"';

const refused: readonly (readonly [string, z.ZodType, unknown, readonly string[]])[] = [
	['a project without fields', ProjectCreate, {}, [`key: ${required}`, `name: ${required}`]],
	[
		'an initial environment with an invalid key',
		ProjectCreate,
		{ ...project, initial_environments: [{ key: 'a b', name: 'x' }] },
		[`initial_environments.0.key: ${key}`],
	],
	[
		'an invalid namespace',
		ProjectCreate,
		{ ...project, urn_namespace: 'A' },
		['urn_namespace: must consist of two or more of a-z, 0-9, `-`'],
	],
	[
		'an invalid policy repository id',
		ProjectCreate,
		{ ...project, active_policy_repo_id: 'x' },
		['active_policy_repo_id: must be a UUID'],
	],
	[
		'a jwks URL without TLS',
		EnvironmentCreate,
		{ key: 'a', name: 'a', jwks: { url: 'http://a.io' } },
		['jwks.url: must be an https URL'],
	],
	[
		'settings that are not an object',
		EnvironmentCreate,
		{ key: 'a', name: 'a', settings: [] },
		['settings: must be an object'],
	],
	[
		'a resource without actions',
		ResourceCreate,
		{ key: 'a', name: 'a' },
		['actions: Invalid input: expected record, received undefined'],
	],
	['a replacement without a name', ResourceReplace, { actions: {} }, [`name: ${required}`]],
	['an invalid action key', ResourceCreate, { key: 'a', name: 'a', actions: { 'a:b': {} } }, [`actions.a:b: ${key}`]],
	[
		'the action key `__proto__`',
		ResourceCreate,
		json('{"key":"a","name":"a","actions":{"__proto__":{"name":"x"}}}'),
		['actions.__proto__: is a reserved name'],
	],
	[
		'an action that is not an object',
		ResourceCreate,
		{ key: 'a', name: 'a', actions: { a: null } },
		['actions.a: Invalid input: expected object, received null'],
	],
	[
		'an invalid attribute key',
		ResourceCreate,
		{ key: 'a', name: 'a', actions: {}, attributes: { 'b c': { type: 'int' } } },
		[`attributes.b c: ${key}`],
	],
	[
		'a new attribute with an invalid type',
		ResourceAttributeCreate,
		{ key: 'a', type: 'int' },
		[`type: Invalid option: ${types}`],
	],
	[
		'an attribute update with an invalid type',
		ResourceAttributeUpdate,
		{ type: 'int' },
		[`type: Invalid option: ${types}`],
	],
	['a resource role without a name', ResourceUpdate, { roles: { a: {} } }, [`roles.a.name: ${required}`]],
	[
		'a derivation without its relation',
		ResourceRoleCreate,
		{ key: 'a', name: 'a', granted_to: { users_with_role: [{ role: 'r', on_resource: 'f' }] } },
		[`granted_to.users_with_role.0.linked_by_relation: ${required}`],
	],
	[
		'a derived tenant role in bulk',
		RoleBulkReplace,
		{ operations: [{ key: 'a', name: 'a', granted_to: { when: { no_direct_roles_on_object: true } } }] },
		[`operations.0.granted_to: ${underived}`],
	],
	[
		'action attributes with NUL',
		ResourceActionCreate,
		json('{"key":"a","name":"a","attributes":{"x":{"y":"\\u0000"}}}'),
		[`attributes.x.y: ${storable}`],
	],
	[
		'a contextual fact with NUL in a check test',
		TestedCheck,
		{
			...{ user: 'a', action: 'b', resource: 'c' },
			contextual_facts: { relationship_tuples: [{ subject: 'd:1\u0000', relation: 'e', object: 'c:1' }] },
		},
		[`contextual_facts.relationship_tuples.0.subject: ${storable}`],
	],
	['a name with NUL', RoleCreate, { key: 'a', name: 'a\u0000' }, [`name: ${storable}`]],
	[
		'permissions that are not a list',
		RoleCreate,
		{ key: 'a', name: 'a', permissions: 'x:y' },
		['permissions: Invalid input: expected array, received string'],
	],
	[
		'permissions that are not strings',
		RolePermissions,
		{ permissions: [1] },
		['permissions.0: Invalid input: expected string, received number'],
	],
	[
		'a body without permissions',
		RolePermissions,
		{},
		['permissions: Invalid input: expected array, received undefined'],
	],
	[
		'a derived tenant role',
		RoleCreate,
		{ key: 'a', name: 'a', granted_to: { users_with_role: [] } },
		[`granted_to: ${underived}`],
	],
	['a user without a key', UserCreate, {}, [`key: ${required}`]],
	['an invalid e-mail address', UserCreate, { key: 'a', email: 'a@b' }, ['email: value is not a valid email address']],
	[
		'an e-mail address that is not a string',
		UserUpdate,
		{ email: 3 },
		['email: Invalid input: expected string, received number'],
	],
	['attributes that are a list', UserReplace, { attributes: [1] }, ['attributes: must be an object']],
	[
		'a role assignment on an invalid instance name',
		UserCreate,
		{ key: 'a', role_assignments: [{ role: 'r', tenant: 't', resource_instance: instance }] },
		['role_assignments.0.resource_instance: must be `<resource key>:<instance key>` or an id'],
	],
	['a role without a tenant', UserRoleRemove, { role: 'r' }, [`tenant: ${required}`]],
	['an invalid tenant key', TenantCreate, { key: 'a@b', name: 'x' }, [`key: ${key}`]],
	[
		'an assignment without fields',
		RoleAssignmentCreate,
		{},
		[`user: ${required}`, `role: ${required}`, `tenant: ${required}`],
	],
	[
		'an assignment on an invalid instance name',
		RoleAssignmentCreate,
		{ user: 'u', role: 'r', tenant: 't', resource_instance: instance },
		['resource_instance: must be `<resource key>:<instance key>` or an id'],
	],
	[
		'an invalid second assignment in bulk',
		RoleAssignmentBulkCreate,
		[
			{ user: 'u', role: 'r', tenant: 't' },
			{ user: 'u', role: 'r' },
		],
		[`1.tenant: ${required}`],
	],
	[
		'assignments that are not a list',
		RoleAssignmentBulkCreate,
		{ operations: [] },
		[': Invalid input: expected array, received object'],
	],
];

for (const [index, [title, schema, value, problems]] of refused.entries()) {
	test(`rejects ${title} (${index})`, (t) => {
		t.deepEqual(parsed(schema, value), { problems: [...problems] });
	});
}
