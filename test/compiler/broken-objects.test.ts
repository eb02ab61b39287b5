import test from 'ava';
import { withoutBroken } from '../../compiler/broken-objects.js';
import type { ConditionSet, Resource, Schema } from '../../compiler/model.js';

/** Objects that are left out of a policy, and the objects that depend on them. */

const named = (key: string) => ({ key, name: key, description: null });

const folder: Resource = {
	...named('folder'),
	actions: [],
	relations: [],
	roles: [{ ...named('blocked'), permissions: [], extends: [], derivations: [], no_direct_roles_on_object: false }],
};

const derived = { relation: 'parent', role: 'blocked', no_direct_roles_on_object: false };

const document: Resource = {
	...named('document'),
	actions: [named('read')],
	relations: [{ ...named('parent'), subject: 'folder' }],
	roles: ['blocked', 'other'].map((key) => ({
		...named(key),
		permissions: [],
		extends: [],
		derivations: key === 'blocked' ? [derived] : [],
		no_direct_roles_on_object: false,
	})),
};

function userSet(key: string, role: string, parent: string | null = null): ConditionSet {
	const conditions = { not: { 'user.resource_roles': { array_contains: role } } };
	return { ...named(key), type: 'userset', resource: 'document', parent, selects: { conditions } };
}

const all: ConditionSet = {
	...named('all'),
	type: 'resourceset',
	resource: 'document',
	parent: null,
	selects: { resource: 'document' },
};

const schema: Schema = {
	resources: [document, folder],
	roles: [],
	condition_sets: [
		userSet('welcome', 'blocked'),
		userSet('guests', 'other', 'welcome'),
		userSet('others', 'other'),
		all,
	],
	set_rules: ['welcome', 'guests', 'others'].map((user_set) => {
		return { user_set, resource_set: 'all', resource: 'document', action: 'read' };
	}),
};

test('removing a role’s derivations also removes the sets that name the role, and their rules', (t) => {
	for (const broken of [
		{ kind: 'role_derivations', resource: 'document', role: 'blocked' },
		{ kind: 'resource', key: 'folder' },
	] as const) {
		const { condition_sets, set_rules } = withoutBroken(schema, [broken]);
		t.deepEqual(
			condition_sets.map(({ key }) => key),
			['others', 'all'],
		);
		t.deepEqual(
			set_rules.map(({ user_set }) => user_set),
			['others'],
		);
	}
});

test('removing a broken condition also removes its declarations, but no other declarations', (t) => {
	const grant_conditions = ['broken', 'kept'].map((key) => ({ ...named(key), conditions: {}, parameters: {} }));
	const [blocked, other] = document.roles;
	if (blocked === undefined || other === undefined) return t.fail();
	const roles = [
		{ ...blocked, grant_conditions: ['broken', 'kept'] },
		{ ...other, grant_conditions: ['broken'] },
	];
	const relations = document.relations.flatMap((relation) => [
		{ ...relation, grant_conditions: ['broken'] },
		{ ...relation, key: 'other', grant_conditions: ['broken', 'kept'] },
	]);
	const declaring = { ...schema, grant_conditions, resources: [{ ...document, roles, relations }, folder] };
	const left = withoutBroken(declaring, [{ kind: 'condition_set', type: 'grant', key: 'broken' }]);
	t.deepEqual(
		left.grant_conditions?.map(({ key }) => key),
		['kept'],
	);
	t.deepEqual(
		left.resources[0]?.roles.map((role) => role.grant_conditions),
		[['kept'], undefined],
	);
	t.deepEqual(
		left.resources[0]?.relations.map((relation) => relation.grant_conditions),
		[undefined, ['kept']],
	);
});

test('a set that names only other roles is kept', (t) => {
	const { condition_sets } = withoutBroken(schema, [{ kind: 'condition_set', type: 'userset', key: 'others' }]);
	t.deepEqual(
		condition_sets.map(({ key }) => key),
		['welcome', 'guests', 'all'],
	);
});
