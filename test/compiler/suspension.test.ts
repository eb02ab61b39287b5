/**
 * An older policy with a newer schema's data: pairs of schemas with excluded roles. Without the suspension, the older
 * policy would allow a check that the newer schema denies.
 */
import test from 'ava';
import { documentBytes } from '../../compiler/index.js';
import type { ConditionSet, Facts, Json, Resource, ResourceRole, Schema } from '../../compiler/model.js';
import type { RoleExpression } from '../../compiler/role-expression.js';
import { decide } from '../property/oracle.js';
import { rego } from '../property/questions.js';
import { noFacts } from '../support/no-facts.js';
import { wasmEngine } from './engine.js';

const named = (key: string) => ({ key, name: key, description: null });

function role(key: string, more: Partial<ResourceRole> = {}): ResourceRole {
	const none = { permissions: [], extends: [], derivations: [], no_direct_roles_on_object: false };
	return { ...named(key), ...none, ...more };
}

const relation = (key: string, subject: string) => ({ ...named(key), subject });
const from = (relation: string, role: string) => ({ relation, role, no_direct_roles_on_object: false });

/** Returns conditions that exclude the holders of a role. */
const lacks = (role: string): Json => ({ not: { 'user.resource_roles': { array_contains: role } } });

interface Roles {
	/** Roles on the team, on the team's folder, and on the document in the folder. */
	readonly team?: readonly ResourceRole[];
	readonly folder?: readonly ResourceRole[];
	readonly document: readonly ResourceRole[];
	/** Conditions for the user set `welcome`, which may read. Without conditions, no set grants the action. */
	readonly welcome?: Json;
	/** Conditions for the parent of `welcome`. */
	readonly above?: Json;
}

function schemaOf({ team = [role('member')], folder = [], document, welcome, above }: Roles): Schema {
	const actions = [named('read')];
	const resources: readonly Resource[] = [
		{ ...named('team'), actions: [], roles: team, relations: [] },
		{ ...named('folder'), actions: [], roles: folder, relations: [relation('owner', 'team')] },
		{ ...named('document'), actions, roles: document, relations: [relation('parent', 'folder')] },
	];
	const set = (key: string, conditions: Json, parent: string | null = null): ConditionSet => {
		return { ...named(key), type: 'userset', resource: 'document', parent, selects: { conditions } };
	};
	const all: ConditionSet = {
		...named('all'),
		type: 'resourceset',
		resource: 'document',
		parent: null,
		selects: { resource: 'document' },
	};
	const rule = { user_set: 'welcome', resource_set: 'all', resource: 'document', action: 'read' };
	return {
		resources,
		roles: [],
		condition_sets: [
			...(above === undefined ? [] : [set('above', above)]),
			...(welcome === undefined ? [] : [set('welcome', welcome, above === undefined ? null : 'above')]),
			all,
		],
		set_rules: welcome === undefined ? [] : [rule],
	};
}

interface Pair {
	readonly title: string;
	readonly before: Roles;
	readonly after: Roles;
	/** Roles assigned to ann or to everyone, as `<user> <role> <type>`. */
	readonly holds: readonly string[];
}

const viewer = role('viewer');
const member = [role('member')];
const blocked = (more: Partial<ResourceRole> = {}) => role('blocked', more);
const derived = { derivations: [from('parent', 'blocked')] };
const reader = (computed: RoleExpression) => role('reader', { permissions: ['read'], computed });
const withoutBlocked = reader({ allOf: ['viewer', { not: 'blocked' }] });
const open = { public: true };

const pairs: readonly Pair[] = [
	{
		title: 'an excluded role gets a derivation',
		before: { folder: [blocked()], document: [blocked()], welcome: lacks('blocked') },
		after: { folder: [blocked()], document: [blocked(derived)], welcome: lacks('blocked') },
		holds: ['ann blocked folder'],
	},
	{
		title: 'the source of an excluded role gets a derivation',
		before: { folder: [blocked()], document: [blocked(derived)], welcome: lacks('blocked') },
		after: {
			folder: [blocked({ derivations: [from('owner', 'member')] })],
			document: [blocked(derived)],
			welcome: lacks('blocked'),
		},
		holds: ['ann member team'],
	},
	{
		title: 'a role excluded by a parent set gets a derivation',
		before: { folder: [blocked()], document: [blocked()], welcome: {}, above: lacks('blocked') },
		after: { folder: [blocked()], document: [blocked(derived)], welcome: {}, above: lacks('blocked') },
		holds: ['ann blocked folder'],
	},
	{
		title: 'the source of an excluded role becomes public',
		before: { folder: [blocked()], document: [blocked(derived)], welcome: lacks('blocked') },
		after: { folder: [blocked(open)], document: [blocked(derived)], welcome: lacks('blocked') },
		holds: ['* blocked folder'],
	},
	{
		title: 'the source of a role that a computed role excludes gets a derivation',
		before: { folder: [blocked()], document: [withoutBlocked, viewer, blocked(derived)] },
		after: {
			folder: [blocked({ derivations: [from('owner', 'member')] })],
			document: [withoutBlocked, viewer, blocked(derived)],
		},
		holds: ['ann member team', 'ann viewer document'],
	},
	{
		title: 'a computed role excludes a different role',
		before: { document: [reader({ allOf: ['viewer', { not: 'blocked' }] }), viewer, blocked(), role('banned')] },
		after: { document: [reader({ allOf: ['viewer', { not: 'banned' }] }), viewer, blocked(), role('banned')] },
		holds: ['ann viewer document', 'ann banned document'],
	},
	{
		title: 'an excluded computed role gets a different expression',
		before: {
			document: [role('out', { computed: { allOf: ['blocked', 'banned'] } }), blocked(), role('banned')],
			welcome: lacks('out'),
		},
		after: {
			document: [role('out', { computed: { anyOf: ['blocked', 'banned'] } }), blocked(), role('banned')],
			welcome: lacks('out'),
		},
		holds: ['ann banned document'],
	},
	{
		title: 'an operand of an excluded computed role gets a derivation',
		before: {
			folder: [blocked()],
			document: [
				reader({ allOf: ['viewer', { not: 'out' }] }),
				role('out', { computed: { anyOf: ['blocked', 'banned'] } }),
				viewer,
				blocked(),
				role('banned'),
			],
		},
		after: {
			folder: [blocked()],
			document: [
				reader({ allOf: ['viewer', { not: 'out' }] }),
				role('out', { computed: { anyOf: ['blocked', 'banned'] } }),
				viewer,
				blocked(derived),
				role('banned'),
			],
		},
		holds: ['ann blocked folder', 'ann viewer document'],
	},
	{
		title: 'a required role is no longer derived',
		before: {
			folder: member,
			document: [
				reader({ allOf: ['viewer', 'checked'] }),
				role('viewer', { derivations: [from('parent', 'member')] }),
				role('checked'),
			],
		},
		after: { folder: member, document: [reader({ allOf: ['viewer', 'checked'] }), viewer, role('checked')] },
		holds: ['ann member folder', 'ann checked document'],
	},
];

const question = {
	user: { key: 'ann' },
	action: 'read',
	resource: { type: 'document', key: 'one', tenant: 'acme' },
};

function factsOf({ holds }: Pick<Pair, 'holds'>): Facts {
	const types = ['team', 'folder', 'document'];
	const related = (type: string, by: string, subject_type: string) => {
		return { type, instance: 'one', relation: by, subject_type, subject: 'one' };
	};
	return {
		...noFacts,
		users: ['ann'],
		tenants: [{ key: 'acme', attributes: {} }],
		instances: types.map((type) => ({ type, key: 'one', tenant: 'acme' })),
		instance_assignments: holds.map((text) => {
			const [user = '', held = '', type = ''] = text.split(' ');
			return { user, role: held, type, instance: 'one' };
		}),
		relationships: [related('folder', 'owner', 'team'), related('document', 'parent', 'folder')],
	};
}

for (const pair of pairs) {
	test(`an older policy denies with policy_pending after a schema change: ${pair.title}`, async (t) => {
		const [before, after] = [schemaOf(pair.before), schemaOf(pair.after)];
		const facts = factsOf(pair);
		t.is(decide({ schema: before, facts }, question).code, 'allow');
		t.not(decide({ schema: after, facts }, question).code, 'allow');
		const engine = await wasmEngine(rego({ schema: before, facts: noFacts }));
		engine.setData(documentBytes({ schema: after, facts }));
		t.is(engine.ask('regolith/check/code', question), 'allow', 'nothing is suspended');
		engine.setData(documentBytes({ schema: after, facts, in_force: before }));
		t.is(engine.ask('regolith/check/code', question), 'policy_pending');
	});
}

/** Returns a schema in which the role `reader`, the relation `parent`, both or neither declare the same condition. */
function conditionalSchema(ofRole: boolean, ofRelation: boolean, conditions: Json = {}): Schema {
	const declared = { grant_conditions: ['always'] };
	return {
		grant_conditions: [{ ...named('always'), conditions, parameters: {} }],
		condition_sets: [],
		set_rules: [],
		roles: [],
		resources: [
			{ ...named('folder'), actions: [], roles: [role('keeper')], relations: [] },
			{
				...named('document'),
				actions: [named('read')],
				roles: [
					role('reader', { permissions: ['read'], ...(ofRole && declared) }),
					role('viewer', { permissions: ['read'], derivations: [from('parent', 'keeper')] }),
				],
				relations: [{ ...relation('parent', 'folder'), ...(ofRelation && declared) }],
			},
		],
	};
}

const always = { set: 'always', values: {} };
const conditionalAssignment = {
	instance_assignments: [{ user: 'ann', role: 'reader', type: 'document', instance: 'one', condition: always }],
};
const conditionalRelationship = {
	instance_assignments: [{ user: 'ann', role: 'keeper', type: 'folder', instance: 'one' }],
	relationships: [
		{
			...{ type: 'document', instance: 'one', relation: 'parent', subject_type: 'folder', subject: 'one' },
			condition: always,
		},
	],
};

for (const [title, before, rows] of [
	['assignment', conditionalSchema(true, false), conditionalAssignment],
	['relationship', conditionalSchema(false, true), conditionalRelationship],
] as const) {
	test(`under the older policy, a conditional ${title} has no effect once its condition is no longer declared`, async (t) => {
		const facts: Facts = { ...factsOf({ holds: [] }), relationships: [], ...rows };
		const after = conditionalSchema(false, false);
		t.is(decide({ schema: before, facts }, question).code, 'allow');
		t.not(decide({ schema: after, facts }, question).code, 'allow');
		const engine = await wasmEngine(rego({ schema: before, facts: noFacts }));
		engine.setData(documentBytes({ schema: after, facts, in_force: before }));
		t.not(engine.ask('regolith/check/code', question), 'allow');
	});
}

for (const [title, after, rows] of [
	['a relation no longer declares the condition of a role', conditionalSchema(true, false), conditionalAssignment],
	['a role no longer declares the condition of a relation', conditionalSchema(false, true), conditionalRelationship],
] as const) {
	test(`a conditional grant is suspended if its condition has changed, or if ${title}`, async (t) => {
		const before = conditionalSchema(true, true);
		const facts: Facts = { ...factsOf({ holds: [] }), relationships: [], ...rows };
		t.is(decide({ schema: after, facts }, question).code, 'allow');
		const engine = await wasmEngine(rego({ schema: before, facts: noFacts }));
		engine.setData(documentBytes({ schema: before, facts }));
		t.is(engine.ask('regolith/check/code', question), 'allow');
		for (const newest of [after, conditionalSchema(true, true, { 'context.amount': { equals: 1 } })]) {
			engine.setData(documentBytes({ schema: newest, facts, in_force: before }));
			t.is(engine.ask('regolith/check/code', question), 'policy_pending');
		}
	});
}
