import test from 'ava';
import { z } from 'zod';
import * as invite from '../../src/wire/element/user-invite.js';
import * as tuple from '../../src/wire/facts/relationship-tuple.js';
import * as assignment from '../../src/wire/facts/role-assignment.js';
import * as user from '../../src/wire/facts/user.js';
import { EnvironmentDocument } from '../../src/wire/general/environment-document.js';
import * as derivation from '../../src/wire/schema/derivation.js';
import * as group from '../../src/wire/schema/group.js';
import { ResourceCreate, ResourceReplace, ResourceUpdate } from '../../src/wire/schema/resource.js';
import * as resourceRole from '../../src/wire/schema/resource-role.js';
import * as role from '../../src/wire/schema/role.js';
import * as setRule from '../../src/wire/schema/set-rule.js';
import { json, parsed } from './parsed.js';

/** Bodies that grant access, with unknown fields. */

const id = '0190f4c8-0000-7000-8000-00000000abcd';
const rule = { role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' };
const when = { no_direct_roles_on_object: true };
const held = { role: 'viewer', tenant: 'acme' };
const related = { subject: 'folder:a', relation: 'parent', object: 'document:b' };
const setRuleBody = { user_set: 'a', permission: 'document:read', resource_set: 'b' };
const groupRole = { resource: 'document', resource_instance: 'document:a', role: 'viewer', tenant: 'acme' };
const permissions = { permissions: ['document:read'] };
const invited = { key: 'ann', email: 'ann@example.com', role_id: id, tenant_id: id };
const approved = { key: 'ann', email: 'ann@example.com' };

/** A body that grants access, and the schemas in which endpoints show the created objects. */
interface Grant {
	readonly body: z.ZodType;
	readonly base: object;
	readonly shown: readonly z.ZodObject[];
}

const grants: Readonly<Record<string, Grant>> = {
	'a role assignment': {
		body: assignment.RoleAssignmentCreate,
		base: { user: 'ann', ...held },
		shown: [assignment.RoleAssignmentRead],
	},
	'a user role': { body: user.UserRoleCreate, base: held, shown: [assignment.RoleAssignmentRead] },
	'a relationship': {
		body: tuple.RelationshipTupleCreate,
		base: related,
		shown: [tuple.RelationshipTupleRead],
	},
	'a set rule': { body: setRule.SetRuleCreate, base: setRuleBody, shown: [setRule.SetRuleRead] },
	'an implicit grant': {
		body: derivation.DerivedRoleRuleCreate,
		base: { ...rule, when },
		shown: [derivation.DerivedRoleRuleRead],
	},
	'all derivations for a role': {
		body: derivation.DerivedRoleBlockEdit,
		base: { users_with_role: [rule], when },
		shown: [derivation.DerivedRoleBlockRead],
	},
	'derivation settings': {
		body: derivation.DerivationSettingsEdit,
		base: when,
		shown: [derivation.DerivationSettingsRead],
	},
	'a group role': {
		body: group.GroupRoleCreate,
		base: groupRole,
		shown: [group.GroupRoleRead],
	},
	'a group member': {
		body: group.GroupUserAdd,
		base: { tenant: 'acme' },
		shown: [group.GroupRead, user.UserRead],
	},
	'a nested group': {
		body: group.GroupNesting,
		base: { group_instance_key: 'group:a' },
		shown: [group.GroupRead, group.GroupReadSchema],
	},
	'permissions of a role': { body: role.RolePermissions, base: permissions, shown: [role.RoleRead] },
	'permissions of a resource role': {
		body: resourceRole.ResourceRolePermissions,
		base: { permissions: ['read'] },
		shown: [resourceRole.ResourceRoleRead],
	},
	'an invite': { body: invite.UserInviteCreate, base: invited, shown: [invite.UserInviteRead] },
	'an invite update': {
		body: invite.UserInviteUpdate,
		base: { first_name: 'Ann' },
		shown: [invite.UserInviteRead],
	},
	'an invite approval': { body: invite.UserInviteApprove, base: approved, shown: [invite.UserInviteRead] },
};

const strangers = ['expires_at', 'condition', 'conditions', 'valid_until', 'constructor', 'hasOwnProperty'];

for (const [title, { body, base, shown }] of Object.entries(grants)) {
	test(`${title}: unknown fields are rejected`, (t) => {
		const known = described(body).properties ?? {};
		for (const name of strangers.filter((name) => !Object.hasOwn(known, name))) {
			const problem = refused(body, { ...base, [name]: '2030-01-01T00:00:00Z' });
			t.deepEqual(problem, [[name]], name);
		}
		t.deepEqual(refused(body, { ...base, a: 1, b: {} }), [['a', 'b']]);
		const inherited = JSON.stringify({ ...base, proto: 1 }).replace('"proto"', '"__proto__"');
		t.deepEqual(refused(body, json(inherited)), [['__proto__']]);
	});

	test(`${title}: response fields are ignored, and null means absent`, (t) => {
		const plain = parsed(body, base);
		t.true('data' in plain);
		const known = new Set(Object.keys(described(body).properties ?? {}));
		for (const model of shown) {
			const others = Object.keys(model.shape).filter((name) => !known.has(name));
			const echo = Object.fromEntries(others.map((name) => [name, { any: 'thing' }]));
			t.deepEqual(parsed(body, { ...echo, ...base }), plain);
		}
		const echo = { expires_at: null, id: 5, created_at: null, updated_at: {} };
		t.like(parsed(body, { ...base, ...echo }), { ...plain });
	});
}

test('the documentation forbids additional fields', (t) => {
	for (const { body } of Object.values(grants)) t.is(described(body).additionalProperties, false);
});

/** Returns the JSON schema of a body with an id. */
function described(body: z.ZodType) {
	const { $defs = {} } = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' });
	return $defs[String(body.meta()?.id)] ?? {};
}

/** Returns the unknown fields that the schema rejects, with a list for each object. */
function refused(schema: z.ZodType, value: unknown): readonly (readonly string[])[] {
	const issues = schema.safeParse(value).error?.issues ?? [];
	return issues.map((issue) => (issue.code === 'unrecognized_keys' ? issue.keys : [issue.message]));
}

const lost = { valid_until: '2030-01-01T00:00:00Z' };
const resourceBodies = [ResourceCreate, ResourceReplace, ResourceUpdate];

const nested: readonly (readonly [string, z.ZodType, unknown, string])[] = [
	['a new user', user.UserCreate, { key: 'a', role_assignments: [held, { ...held, ...lost }] }, 'role_assignments.1'],
	['a replaced user', user.UserReplace, { role_assignments: [{ ...held, ...lost }] }, 'role_assignments.0'],
	[
		'users in bulk',
		user.UserBulkCreate,
		{ operations: [{ key: 'a' }, { key: 'b', role_assignments: [{ ...held, ...lost }] }] },
		'operations.1.role_assignments.0',
	],
	[
		'assignments in bulk',
		assignment.RoleAssignmentBulkCreate,
		[
			{ user: 'a', ...held },
			{ user: 'b', ...held, ...lost },
		],
		'1',
	],
	[
		'relationships in bulk',
		tuple.RelationshipTupleBulkCreate,
		{ operations: [{ ...related, ...lost }] },
		'operations.0',
	],
	['a rule in an implicit grant', derivation.DerivedRoleRuleCreate, { ...rule, when: { ...when, ...lost } }, 'when'],
	[
		'a new resource role',
		resourceRole.ResourceRoleCreate,
		{ key: 'a', name: 'A', granted_to: { users_with_role: [{ ...rule, ...lost }] } },
		'granted_to.users_with_role.0',
	],
	[
		'a resource role update',
		resourceRole.ResourceRoleUpdate,
		{ granted_to: { users_with_role: [], when: { ...when, ...lost } } },
		'granted_to.when',
	],
	[
		'roles in bulk',
		role.RoleBulkReplace,
		{ operations: [{ key: 'a', name: 'A', resource: 'document', granted_to: { ...lost } }] },
		'operations.0.granted_to',
	],
	...resourceBodies.map(
		(schema) =>
			[
				'a resource role in a resource body',
				schema,
				{ key: 'a', name: 'A', actions: {}, roles: { r: { name: 'R', granted_to: { when: lost } } } },
				'roles.r.granted_to.when',
			] as const,
	),
];

for (const [index, [title, schema, value, place]] of nested.entries()) {
	test(`${title} (${index}): unknown fields in a nested grant are rejected with their location`, (t) => {
		const issues = schema.safeParse(value).error?.issues ?? [];
		t.deepEqual(
			issues.map((issue) => [issue.code, issue.path.join('.')]),
			[['unrecognized_keys', place]],
		);
	});
}

test('an imported document with unknown fields in its grants is rejected', (t) => {
	const tenant = 'acme';
	const facts = {
		role_assignments: [{ user: 'a', role: 'viewer', tenant, ...lost }],
		relationship_tuples: [{ ...related, ...lost }],
		tenant_users: [{ user: 'a', tenant, ...lost }],
	};
	const granted_to = { users_with_role: [{ ...rule, when: lost }] };
	const schema = {
		resources: { document: { name: 'D', roles: { viewer: { name: 'V', granted_to } } } },
		set_rules: [{ ...setRuleBody, ...lost }],
	};
	const document = { format: 'regolith-environment', version: 1, schema, facts };
	const issues = EnvironmentDocument.safeParse(document).error?.issues ?? [];
	t.deepEqual(issues.map(({ path }) => path.join('.')).sort(), [
		'facts.relationship_tuples.0',
		'facts.role_assignments.0',
		'facts.tenant_users.0',
		'schema.resources.document.roles.viewer.granted_to.users_with_role.0.when',
		'schema.set_rules.0',
	]);
	t.true(issues.every(({ code }) => code === 'unrecognized_keys'));
});

const expiring = Object.entries(grants).filter(([, { body }]) => {
	return Object.hasOwn(described(body).properties ?? {}, 'expires_at');
});

test('only grants of roles, memberships and relationships can expire', (t) => {
	t.deepEqual(
		expiring.map(([title]) => title),
		['a role assignment', 'a user role', 'a relationship', 'a group role', 'a group member', 'a nested group'],
	);
});

for (const [title, { body, base }] of expiring) {
	test(`${title} requires a future expiry with a time zone`, (t) => {
		for (const instant of ['2999-01-01T00:00:00Z', '2999-01-01T02:00:00.000+02:00', '2998-12-31T18:30:00-05:30']) {
			t.like(body.parse({ ...base, expires_at: instant }), { expires_at: '2999-01-01T00:00:00.000Z' }, instant);
		}
		const past = new Date(Date.now() - 1_000).toISOString();
		const late = '9999-12-31T23:59:59-12:00';
		for (const wrong of [past, late, '2999-01-01', '2999-01-01T00:00:00', 'tomorrow', '', 32503680000, true, {}, []]) {
			const [issue, ...more] = body.safeParse({ ...base, expires_at: wrong }).error?.issues ?? [];
			t.deepEqual(issue?.path, ['expires_at'], JSON.stringify(wrong));
			t.deepEqual(more, []);
			const shown = typeof wrong === 'object' || typeof wrong === 'boolean' ? typeof wrong : String(wrong);
			t.true(issue?.message.endsWith(`got \`${shown}\``), issue?.message);
		}
	});
}

const removals: Readonly<Record<string, readonly [z.ZodType, object]>> = {
	'a role assignment': [assignment.RoleAssignmentRemove, { user: 'ann', ...held }],
	'a user role': [user.UserRoleRemove, held],
	'a relationship': [tuple.RelationshipTupleRemove, related],
	'a set rule': [setRule.SetRuleRemove, setRuleBody],
	'an implicit grant': [derivation.DerivedRoleRuleRemove, { ...rule, when: { condition: 1 } }],
	'a group role': [group.GroupRoleRemove, groupRole],
	'a nested group': [group.GroupNestingRemove, { group_instance_key: 'group:a' }],
	'permissions of a role': [role.RolePermissionsRemove, permissions],
};

for (const [title, [schema, base]] of Object.entries(removals)) {
	test(`a request to remove ${title} may contain unknown fields`, (t) => {
		t.deepEqual(parsed(schema, { ...base, ...lost }), parsed(schema, base));
		t.true('data' in parsed(schema, base));
	});
}
