import test from 'ava';
import { check } from '../../compiler/check.js';
import type { ConditionSet, ResourceRole, Schema } from '../../compiler/model.js';

/** Schema errors about conditional relationships. */

const named = (key: string) => ({ key, name: key, description: null });

function role(key: string, more: Partial<ResourceRole> = {}): ResourceRole {
	return { ...named(key), permissions: [], extends: [], derivations: [], no_direct_roles_on_object: false, ...more };
}

const from = (relation: string, source: string) => ({ relation, role: source, no_direct_roles_on_object: false });

/** Documents are in folders, by a relation that declares the conditions `declared`. The role `guest` is not derived. */
function documents(roles: readonly ResourceRole[], declared: readonly string[] = ['limit']): Schema {
	return {
		grant_conditions: [{ ...named('limit'), conditions: {}, parameters: {} }],
		condition_sets: [],
		set_rules: [],
		roles: [],
		resources: [
			{ ...named('folder'), actions: [], roles: [role('reader')], relations: [] },
			{
				...named('document'),
				actions: [],
				roles: [role('reader', { derivations: [from('folder', 'reader')] }), role('guest'), ...roles],
				relations: [{ ...named('folder'), subject: 'folder', grant_conditions: declared }],
			},
			{
				...named('comment'),
				actions: [],
				roles: [role('reader', { derivations: [from('document', 'reader')] })],
				relations: [{ ...named('document'), subject: 'document' }],
			},
		],
	};
}

function excluding(resource: string, key: string): ConditionSet {
	const conditions = { not: { 'user.resource_roles': { array_contains: key } } };
	return { ...named('strangers'), type: 'userset', resource, parent: null, selects: { conditions } };
}

const inSet = ['condition_sets', 'strangers', 'conditions', 'not', 'user.resource_roles', 'array_contains'];
const findings: readonly (readonly [title: string, schema: Schema, found: readonly (readonly string[])[]])[] = [
	['accepts a declared condition', documents([]), []],
	[
		'rejects an unknown condition',
		documents([], ['limit', 'none']),
		[['unknown_condition_set', 'resources', 'document', 'relations', 'folder', 'grant_conditions', 'none']],
	],
	[
		'rejects a set that excludes a role derived by a declaring relation',
		{ ...documents([]), condition_sets: [excluding('document', 'reader')] },
		[['excluded_condition', ...inSet]],
	],
	[
		'rejects a set that excludes a role derived from a conditionally held role',
		{ ...documents([]), condition_sets: [excluding('comment', 'reader')] },
		[['excluded_condition', ...inSet]],
	],
	[
		'accepts a set that excludes a source of a conditionally held role',
		{ ...documents([]), condition_sets: [excluding('folder', 'reader')] },
		[],
	],
	[
		'accepts a set that excludes an unrelated role',
		{ ...documents([]), condition_sets: [excluding('document', 'guest')] },
		[],
	],
	[
		'accepts a set that excludes a role derived by a relation without conditions',
		{ ...documents([], []), condition_sets: [excluding('document', 'reader')] },
		[],
	],
	[
		'rejects a computed role that excludes a conditionally held role',
		documents([role('stranger', { computed: { allOf: ['guest', { not: 'reader' }] } })]),
		[['excluded_condition', 'resources', 'document', 'roles', 'stranger', 'computed', 'allOf', '1', 'not']],
	],
	[
		'accepts a computed role that requires a conditionally held role',
		documents([role('both', { computed: { allOf: ['guest', 'reader'] } })]),
		[],
	],
];

for (const [title, schema, found] of findings) {
	test(title, (t) => {
		t.deepEqual(
			check(schema).map(({ code, at }) => [code, ...at]),
			found,
		);
	});
}
