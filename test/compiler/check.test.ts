import test from 'ava';
import { compilePolicy, type Diagnostic, type Role, type Schema } from '../../compiler/index.js';

function role(key: string, parts: Partial<Role> = {}): Role {
	return { key, name: key, description: null, permissions: [], extends: [], ...parts };
}

const read = { key: 'read', name: 'Read', description: null };
const document = { key: 'document', name: 'Document', description: null, actions: [read], roles: [], relations: [] };

const cases: Readonly<Record<string, { readonly schema: Schema; readonly found: readonly Partial<Diagnostic>[] }>> = {
	'accepts a schema without errors': {
		schema: {
			condition_sets: [],
			set_rules: [],
			resources: [document],
			roles: [
				role('viewer', { permissions: [{ resource: 'document', action: 'read' }] }),
				role('a', { extends: ['viewer'] }),
			],
		},
		found: [],
	},
	'rejects a permission on a missing resource type': {
		schema: {
			condition_sets: [],
			set_rules: [],
			resources: [],
			roles: [role('viewer', { permissions: [{ resource: 'document', action: 'read' }] })],
		},
		found: [
			{
				code: 'unknown_resource',
				at: ['roles', 'viewer', 'permissions', 'document:read'],
				message: 'resource type `document` does not exist',
			},
		],
	},
	'rejects a permission for a missing action': {
		schema: {
			condition_sets: [],
			set_rules: [],
			resources: [document],
			roles: [role('viewer', { permissions: [{ resource: 'document', action: 'print' }] })],
		},
		found: [{ code: 'unknown_action', at: ['roles', 'viewer', 'permissions', 'document:print'] }],
	},
	'rejects a role that extends a missing role': {
		schema: { condition_sets: [], set_rules: [], resources: [], roles: [role('viewer', { extends: ['nobody'] })] },
		found: [{ code: 'unknown_role', at: ['roles', 'viewer', 'extends', 'nobody'] }],
	},
	'rejects a role that extends itself': {
		schema: { condition_sets: [], set_rules: [], resources: [], roles: [role('a', { extends: ['a'] })] },
		found: [{ code: 'role_cycle', message: 'roles extend each other in a cycle: `a` extends `a`' }],
	},
	'reports a cycle once, from its smallest key': {
		schema: {
			condition_sets: [],
			set_rules: [],
			resources: [],
			roles: [
				role('c', { extends: ['a'] }),
				role('b', { extends: ['c'] }),
				role('a', { extends: ['b'] }),
				role('d', { extends: ['a'] }),
			],
		},
		found: [
			{
				code: 'role_cycle',
				at: ['roles', 'a', 'extends'],
				message: 'roles extend each other in a cycle: `a` extends `b` extends `c` extends `a`',
			},
		],
	},
	'reports each of two cycles': {
		schema: {
			condition_sets: [],
			set_rules: [],
			resources: [],
			roles: [
				role('a', { extends: ['b'] }),
				role('b', { extends: ['a'] }),
				role('c', { extends: ['d'] }),
				role('d', { extends: ['c'] }),
			],
		},
		found: [
			{ code: 'role_cycle', at: ['roles', 'a', 'extends'] },
			{ code: 'role_cycle', at: ['roles', 'c', 'extends'] },
		],
	},
	'rejects duplicate keys of resources, actions and roles': {
		schema: {
			condition_sets: [],
			set_rules: [],
			resources: [document, { ...document, actions: [read, read] }],
			roles: [role('a'), role('a')],
		},
		found: [
			{ code: 'duplicate_key', at: ['resources', 'document', 'actions', 'read'] },
			{ code: 'duplicate_key', at: ['resources', 'document'] },
			{ code: 'duplicate_key', at: ['roles', 'a'] },
		],
	},
};

for (const [name, { schema, found }] of Object.entries(cases)) {
	test(name, (t) => {
		const { diagnostics, policy } = compilePolicy(schema);
		t.is(diagnostics.length, found.length);
		for (const [index, expected] of found.entries()) {
			t.like(diagnostics[index], { severity: 'error', ...expected });
		}
		t.is(policy === null, found.length > 0);
	});
}

test('reports a repeated permission or extended role as a warning, and compiles the schema', (t) => {
	const permission = { resource: 'document', action: 'read' };
	const roles = [role('a', { permissions: [permission, permission], extends: ['b', 'b'] }), role('b')];
	const { diagnostics, policy } = compilePolicy({ condition_sets: [], set_rules: [], resources: [document], roles });
	t.deepEqual(
		diagnostics.map(({ code, severity, at }) => ({ code, severity, at })),
		[
			{ code: 'repeated', severity: 'warning', at: ['roles', 'a', 'extends', 'b'] },
			{ code: 'repeated', severity: 'warning', at: ['roles', 'a', 'permissions', 'document:read'] },
		],
	);
	t.not(policy, null);
});

test('accepts a thousand roles that extend each other in a chain', (t) => {
	const roles = Array.from({ length: 1000 }, (_, index) =>
		role(`r${index}`, { extends: index === 0 ? [] : [`r${index - 1}`] }),
	);
	t.deepEqual(compilePolicy({ condition_sets: [], set_rules: [], resources: [], roles }).diagnostics, []);
});
