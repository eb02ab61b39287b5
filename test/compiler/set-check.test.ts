import test from 'ava';
import { compilePolicy, type Schema } from '../../compiler/index.js';
import type { ConditionSet, SetRule } from '../../compiler/model.js';

/** The compiler reports all problems with condition sets and rules together, each with its location. */

const named = (key: string) => ({ key, name: key, description: null });
const type = (key: string) => ({ ...named(key), actions: [named('read')], roles: [], relations: [] });

function set(key: string, parts: Partial<ConditionSet> = {}): ConditionSet {
	const usual = { type: 'userset', resource: null, parent: null, selects: { conditions: {} } } as const;
	return { ...named(key), ...usual, ...parts };
}

const documents = { type: 'resourceset', resource: 'document' } as const;
const rule = (parts: Partial<SetRule> = {}): SetRule => {
	return { user_set: 'users', resource_set: 'all', resource: 'document', action: 'read', ...parts };
};
const both = [set('users'), set('all', documents)];

type Case = readonly [
	title: string,
	parts: Partial<Pick<Schema, 'condition_sets' | 'set_rules'>>,
	found: readonly (readonly [code: string, ...at: readonly string[]])[],
];

const cases: readonly Case[] = [
	['accepts sets and rules without errors', { condition_sets: both, set_rules: [rule()] }, []],
	[
		'accepts automatic sets',
		{
			condition_sets: [
				set('a', { selects: { role: 'admin' } }),
				set('b', { ...documents, selects: { resource: 'document' } }),
			],
		},
		[],
	],
	[
		'rejects two sets with the same type and key',
		{ condition_sets: [set('all'), set('all')] },
		[['duplicate_key', 'condition_sets', 'all']],
	],
	[
		'accepts automatic sets of a role and a resource with the same key',
		{
			condition_sets: [
				set('__autogen_document', { selects: { role: 'admin' } }),
				set('__autogen_document', { ...documents, selects: { resource: 'document' } }),
			],
			set_rules: [
				{
					user_set: '__autogen_document',
					resource: 'document',
					action: 'read',
					resource_set: '__autogen_document',
				},
			],
		},
		[],
	],
	[
		'rejects a key with non-ASCII characters',
		{ condition_sets: [set('å')] },
		[['malformed_key', 'condition_sets', 'å']],
	],
	[
		'reports each problem in conditions at its location',
		{
			condition_sets: [
				set('users', {
					selects: { conditions: { allOf: [{ 'user.level': { like: 1 } }, { 'user.level': { 'greater-than': {} } }] } },
				}),
			],
		},
		[
			['malformed_conditions', 'condition_sets', 'users', 'conditions', 'allOf', '0', 'user.level', 'like'],
			['malformed_conditions', 'condition_sets', 'users', 'conditions', 'allOf', '1', 'user.level', 'greater-than'],
		],
	],
	[
		'rejects automatic sets for a missing role and a missing resource type',
		{
			condition_sets: [
				set('a', { selects: { role: 'nobody' } }),
				set('b', { ...documents, resource: 'none', selects: { resource: 'none' } }),
			],
		},
		[
			['unknown_role', 'condition_sets', 'a', 'role'],
			['unknown_resource', 'condition_sets', 'b', 'resource'],
		],
	],
	[
		'rejects a resource set without a resource type, and a user set with a missing resource type',
		{ condition_sets: [set('a', { resource: 'none' }), set('b', { type: 'resourceset' })] },
		[
			['unknown_resource', 'condition_sets', 'a', 'resource'],
			['misplaced_resource', 'condition_sets', 'b', 'resource'],
		],
	],
	[
		'rejects an automatic set for a resource type other than its own',
		{ condition_sets: [set('b', { ...documents, selects: { resource: 'folder' } })] },
		[['other_resource', 'condition_sets', 'b', 'resource']],
	],
	[
		'rejects parents that are missing, or have a different type or resource type',
		{
			condition_sets: [
				...both,
				set('a', { parent: 'nobody' }),
				set('b', { parent: 'all' }),
				set('c', { ...documents, resource: 'folder', parent: 'all' }),
			],
		},
		[
			['unknown_condition_set', 'condition_sets', 'a', 'parent'],
			['unknown_condition_set', 'condition_sets', 'b', 'parent'],
			['other_resource', 'condition_sets', 'c', 'parent'],
		],
	],
	[
		'rejects sets that are each other’s parents',
		{ condition_sets: [set('b', { parent: 'a' }), set('a', { parent: 'b' }), set('c', { parent: 'a' })] },
		[['condition_set_cycle', 'condition_sets', 'a', 'parent']],
	],
	[
		'rejects rules with a missing set, action or resource type',
		{
			condition_sets: both,
			set_rules: [
				rule({ user_set: 'all' }),
				rule({ resource_set: 'none' }),
				rule({ action: 'print' }),
				rule({ resource: 'folder' }),
				rule({ resource: 'none' }),
			],
		},
		[
			['unknown_condition_set', 'set_rules', 'all document:read all', 'all'],
			['unknown_action', 'set_rules', 'users document:print all'],
			['unknown_condition_set', 'set_rules', 'users document:read none', 'none'],
			['other_resource', 'set_rules', 'users folder:read all'],
			['other_resource', 'set_rules', 'users none:read all'],
			['unknown_resource', 'set_rules', 'users none:read all'],
		],
	],
	[
		'reports a duplicate rule as a warning',
		{ condition_sets: both, set_rules: [rule(), rule()] },
		[['repeated', 'set_rules', 'users document:read all']],
	],
];

for (const [title, parts, found] of cases) {
	test(title, (t) => {
		const roles = [{ ...named('admin'), permissions: [], extends: [] }];
		const whole = { resources: [type('document'), type('folder')], roles, condition_sets: [], set_rules: [], ...parts };
		const { diagnostics, policy } = compilePolicy(whole);
		t.deepEqual(diagnostics.map(({ code, at }) => [code, ...at]) as unknown, found);
		t.is(
			policy === null,
			diagnostics.some(({ severity }) => severity === 'error'),
		);
	});
}
