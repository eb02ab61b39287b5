import test from 'ava';
import { everyone } from '../../compiler/everyone.js';
import type { Json, Model, Relation, Relationship, ResourceRole } from '../../compiler/model.js';
import { runToEnd, type Steps } from '../../compiler/steps.js';
import type { DecisionContext } from '../../src/pdp/decide/decide.js';
import { Engine } from '../../src/pdp/engine/engine.js';
import { FactsIndex } from '../../src/pdp/facts/facts-index.js';
import { filterRows } from '../../src/pdp/filter/filter.js';
import { authorizedUsers } from '../../src/pdp/listing/authorized-users.js';
import { permissions } from '../../src/pdp/listing/permissions.js';
import { stepsIn } from '../support/steps-in.js';
import { modelData, policyWasm, quiet, resource, snapshot } from './environment.js';
import { serve } from './served.js';

/** Conditional relationships in checks, listings and explanations (docs/policy/grant-conditions.md). */

function role(
	key: string,
	derivations: readonly (readonly [relation: string, role: string])[],
	no_direct_roles_on_object = false,
): ResourceRole {
	return {
		...{ key, name: key, description: null, permissions: ['read'], extends: [], no_direct_roles_on_object },
		derivations: derivations.map(([relation, source]) => ({
			relation,
			role: source,
			no_direct_roles_on_object: false,
		})),
	};
}

function relation(key: string, subject: string, grant_conditions: readonly string[]): Relation {
	return { key, name: key, description: null, subject, ...(grant_conditions.length > 0 && { grant_conditions }) };
}

function tuple(object: string, along: string, subject: string, condition?: Relationship['condition']): Relationship {
	const [type = '', instance = ''] = object.split(':');
	const [subject_type = '', key = ''] = subject.split(':');
	return { type, instance, relation: along, subject_type, subject: key, ...(condition && { condition }) };
}

const limit = (value: Json) => ({ set: 'limit', values: { limit: value } });
const trust = (value: number) => ({ set: 'trust', values: { trust: value } });
const condition = (key: string, conditions: Json, parameters: Readonly<Record<string, 'number'>>) => {
	return { key, name: key, description: null, conditions, parameters };
};

/**
 * The folder `top` contains `mid`, and `mid` contains `low`, which contains a document. `top` is shared with two teams:
 * `ann` and `ben` are in the first team, and `dan` is in the second team, whose condition has a regular expression.
 * `cat` has a role on `mid`. `ann` also has a role on a note in `top`, which blocks the derivation there. Everyone is a
 * guest of the club. The document `e` is shared with the club, under a condition that only `ann` satisfies.
 * Relationships under a condition that their relation does not declare have no effect.
 */
const folders: Model = {
	schema: {
		grant_conditions: [
			condition('limit', { 'context.amount': { 'less-than-equals': { ref: 'grant.limit' } } }, { limit: 'number' }),
			condition('trust', { 'user.trust': { 'greater-than-equals': { ref: 'grant.trust' } } }, { trust: 'number' }),
			condition('code', { 'context.code': { matches: '^a+$' } }, {}),
		],
		condition_sets: [],
		set_rules: [],
		roles: [],
		resources: [
			{ ...resource('team', ['read']), roles: [role('member', [])], relations: [] },
			{
				...resource('folder', ['read']),
				roles: [
					role('reader', [
						['parent', 'reader'],
						['team', 'member'],
					]),
				],
				relations: [relation('parent', 'folder', ['limit', 'trust']), relation('team', 'team', ['trust', 'code'])],
			},
			{
				...resource('document', ['read']),
				roles: [
					role('reader', [
						['folder', 'reader'],
						['club', 'guest'],
					]),
				],
				relations: [relation('folder', 'folder', ['limit']), relation('club', 'club', ['trust'])],
			},
			{
				...resource('club', ['read']),
				roles: [{ ...role('guest', []), permissions: [], public: true }],
				relations: [],
			},
			{
				...resource('note', ['read']),
				roles: [role('reader', [['folder', 'reader']], true), { ...role('author', []), permissions: [] }],
				relations: [relation('folder', 'folder', ['limit'])],
			},
		],
	},
	facts: {
		users: ['ann', 'ben', 'cat', 'dan'],
		user_attributes: [{ user: 'ann', attributes: { trust: 3 } }],
		tenants: [{ key: 'acme', attributes: {} }],
		role_assignments: [],
		instances: [
			'team:t',
			'team:r',
			'folder:top',
			'folder:mid',
			'folder:low',
			'document:d',
			'document:e',
			'note:n',
			'club:c',
		].map((name) => {
			const [type = '', key = ''] = name.split(':');
			return { type, key, tenant: 'acme' };
		}),
		instance_attributes: [],
		instance_assignments: [
			{ user: 'ann', role: 'member', type: 'team', instance: 't' },
			{ user: 'ben', role: 'member', type: 'team', instance: 't' },
			{ user: 'cat', role: 'reader', type: 'folder', instance: 'mid' },
			{ user: 'dan', role: 'member', type: 'team', instance: 'r' },
			{ user: 'ann', role: 'author', type: 'note', instance: 'n' },
			{ user: everyone, role: 'guest', type: 'club', instance: 'c' },
		],
		relationships: [
			tuple('note:n', 'folder', 'folder:top', limit(100)),
			tuple('folder:top', 'team', 'team:t', limit(1_000)),
			tuple('folder:top', 'team', 'team:t', trust(2)),
			tuple('folder:top', 'team', 'team:r', { set: 'code', values: {} }),
			tuple('folder:mid', 'parent', 'folder:top'),
			tuple('folder:mid', 'parent', 'folder:top', trust(9)),
			tuple('folder:low', 'parent', 'folder:mid', limit(10)),
			tuple('folder:low', 'parent', 'folder:mid', trust(4)),
			tuple('folder:top', 'parent', 'folder:low', limit(5)),
			tuple('document:d', 'folder', 'folder:low', limit(7)),
			tuple('document:e', 'folder', 'folder:low', limit('7')),
			tuple('document:e', 'club', 'club:c', trust(3)),
		],
	},
};

/** Contexts, and the readers of each instance in them. */
const contexts: readonly (readonly [context: object, readers: Readonly<Record<string, readonly string[]>>])[] = [
	[{}, { 'folder:top': ['ann'], 'folder:mid': ['ann', 'cat'] }],
	[{ amount: 10 }, { 'folder:top': ['ann'], 'folder:mid': ['ann', 'cat'], 'folder:low': ['ann', 'cat'] }],
	[
		{ amount: 7 },
		{
			...{ 'folder:top': ['ann'], 'folder:mid': ['ann', 'cat'], 'folder:low': ['ann', 'cat'] },
			'document:d': ['ann', 'cat'],
		},
	],
	[
		{ amount: 5, code: 'aa' },
		{
			...{ 'folder:top': ['ann', 'cat', 'dan'], 'folder:mid': ['ann', 'cat', 'dan'] },
			...{ 'folder:low': ['ann', 'cat', 'dan'], 'document:d': ['ann', 'cat', 'dan'], 'note:n': ['cat', 'dan'] },
		},
	],
	[
		{ amount: '5', code: 'b' },
		{ 'folder:top': ['ann'], 'folder:mid': ['ann', 'cat'] },
	],
];

test.before('build the policy', async () => {
	await policyWasm(folders);
});

test('a conditional relationship counts in checks and listings exactly while its condition holds', async (t) => {
	const { http, feed, replica } = await serve(t);
	feed.publish({ revision: 7, snapshot: await snapshot({ revision: 7, model: folders }) });
	await replica.reached(7);
	for (const [context, others] of contexts) {
		const readers: typeof others = { ...others, 'document:e': ['ann'] };
		const text = JSON.stringify(context);
		for (const { type, key, tenant } of folders.facts.instances.filter((row) => row.type !== 'team')) {
			const expected = readers[`${type}:${key}`] ?? [];
			const on = { type, key, tenant };
			const allowed: string[] = [];
			for (const user of folders.facts.users) {
				const { body } = await http.post('/allowed', { user, action: 'read', resource: on, context });
				if (body['allow'] === true) allowed.push(user);
			}
			t.deepEqual(allowed, expected, `${type}:${key} ${text}`);
			const listed = await http.post<{ users: object }>('/authorized_users', { action: 'read', resource: on, context });
			t.deepEqual(Object.keys(listed.body.users), expected, `${type}:${key} ${text}`);
			const searched = { type, id: key, properties: { tenant } };
			const search = { subject: { type: 'user' }, action: { name: 'read' }, resource: searched, context };
			const found = await http.post<{ results: readonly { id: string }[] }>('/access/v1/search/subject', search);
			t.deepEqual(found.body.results?.map(({ id }) => id).sort(), expected, `${type}:${key} ${text}`);
		}
		for (const user of folders.facts.users) {
			const own = Object.keys(readers).filter((name) => readers[name]?.includes(user));
			const listed = await http.post<Record<string, { permissions: readonly string[] }>>('/user-permissions', {
				user,
				context,
				resource_types: ['folder', 'document', 'note'],
			});
			const permitted = Object.entries(listed.body).filter(([, { permissions }]) => permissions.length > 0);
			t.deepEqual(
				permitted.map(([name]) => name),
				own.sort(),
				`${user} ${text}`,
			);
			const search = { subject: { type: 'user', id: user }, action: { name: 'read' }, resource: { type: 'folder' } };
			const found = await http.post<{ results: readonly { id: string }[] }>('/access/v1/search/resource', {
				...search,
				context,
			});
			const names = found.body.results.map(({ id }) => `folder:${id}`).sort();
			t.deepEqual(names, own.filter((name) => name.startsWith('folder:')).sort(), `${user} ${text}`);
			const filter = await http.post('/filter', { user, action: 'read', resource: { type: 'document' }, context });
			if (user === 'dan') t.is(filter.status, 422, 'a filter evaluates no regular expressions');
			else
				t.is(
					filter.body['type'],
					own.some((name) => name.startsWith('document:')) ? 'conditional' : 'always_deny',
					`${user} ${text}`,
				);
		}
	}
});

test('an explanation names the condition of a relationship, or the missing context attributes', async (t) => {
	const { http, feed, replica } = await serve(t);
	feed.publish({ revision: 7, snapshot: await snapshot({ revision: 7, model: folders }) });
	await replica.reached(7);
	const explained = async (user: string, key: string, context: object) => {
		const check = { user, action: 'read', resource: { type: 'document', key, tenant: 'acme' }, context };
		return (await http.post<{ debug: { rebac: object } }>('/allowed', { ...check, use_debugger: true })).body.debug
			.rebac;
	};
	t.like(await explained('ann', 'd', {}), { allow: false, missing_context: ['amount', 'code'] });
	const source = {
		...{ type: 'role_derivation', role: 'folder:low#reader', resource: 'folder:low', relation: 'folder' },
		condition: limit(7),
	};
	t.like(await explained('ann', 'd', { amount: 7 }), {
		allow: true,
		allowing_roles: [{ role: 'document:d#reader', sources: [source] }],
	});
});

test('a contextual relationship is rejected if users may hold its source role through a conditional relationship', async (t) => {
	const { http, feed, replica } = await serve(t);
	const model = { ...folders, contextual_facts: true };
	feed.publish({ revision: 7, snapshot: await snapshot({ revision: 7, model }) });
	await replica.reached(7);
	const check = { user: 'cat', action: 'read', resource: { type: 'document', key: 'e', tenant: 'acme' } };
	const given = (subject: string, along: string, object: string) => ({
		contextual_facts: { relationship_tuples: [{ subject, relation: along, object }] },
	});
	const refused = await http.post('/allowed', { ...check, ...given('folder:mid', 'folder', 'document:e') });
	t.is(refused.status, 422);
	t.regex(JSON.stringify(refused.body), /users may hold `folder#reader` under a condition/);
	const top = { ...check, user: 'ben', resource: { type: 'folder', key: 'top', tenant: 'acme' } };
	t.is((await http.post('/allowed', top)).body['allow'], false);
	t.is((await http.post('/allowed', { ...top, ...given('team:t', 'team', 'folder:top') })).body['allow'], true);
});

/**
 * A folder is shared with 400 teams, under a condition with different values. Each team has its own member, and `ann`
 * is a member of all teams.
 */
function manyTeams(): Model {
	const numbers = Array.from({ length: 400 }, (_, index) => index);
	const member = (user: string, index: number) => ({ user, role: 'member', type: 'team', instance: `t${index}` });
	return {
		schema: folders.schema,
		facts: {
			...folders.facts,
			users: ['ann', ...numbers.map((index) => `user-${index}`)],
			user_attributes: [{ user: 'ann', attributes: { trust: 100 } }],
			instances: [
				{ type: 'folder', key: 'top', tenant: 'acme' },
				...numbers.map((index) => ({ type: 'team', key: `t${index}`, tenant: 'acme' })),
			],
			instance_assignments: numbers.flatMap((index) => [member('ann', index), member(`user-${index}`, index)]),
			relationships: numbers.map((index) => tuple('folder:top', 'team', `team:t${index}`, trust(index))),
		},
	};
}

test('listings pause after each condition of a relationship', async (t) => {
	const data = modelData(manyTeams());
	const engine = await Engine.load(await WebAssembly.compile(await policyWasm(folders)), data);
	const facts = FactsIndex.read(data);
	const now = { engine, facts, revision: 1, policyRevision: 1, time: 0, log: quiet };
	const context: DecisionContext = { ...now, countDifference: () => t.fail('a listing differs') };
	const on = { type: 'folder', key: 'top', tenant: 'acme' };
	const ann = { user: { key: 'ann' }, context: {} };
	const filter = { ...ann, action: 'read', resource: { type: 'folder' } };
	const listings: readonly (() => Steps<unknown>)[] = [
		() => permissions(context, ann),
		() => authorizedUsers(context, { action: 'read', resource: on, context: {} }),
		() => filterRows(context, filter, { maxKeys: 1_000, explain: true, matches: () => false }),
	];
	for (const listing of listings) t.true(stepsIn(listing()) >= 400, String(listing));
	const listed = JSON.parse(runToEnd(authorizedUsers(context, { action: 'read', resource: on, context: {} })).join(''));
	t.deepEqual(Object.keys(listed.users), ['ann']);
	t.is(listed.users.ann.length, 101, 'only by teams with an effective relationship');
});

test('a conditional relationship ends at its expiry, and filters are valid until then', async (t) => {
	const relationships = [
		{ ...tuple('folder:top', 'team', 'team:t', trust(2)), expires_at: 1_000 },
		tuple('note:n', 'folder', 'folder:top'),
	];
	const data = modelData({ ...folders, facts: { ...folders.facts, relationships } });
	const engine = await Engine.load(await WebAssembly.compile(await policyWasm(folders)), data);
	const facts = FactsIndex.read(data);
	const on = { type: 'folder', key: 'top', tenant: 'acme' };
	const input = { user: { key: 'ann' }, action: 'read', context: {} };
	for (const [time, allowed] of [
		[999, true],
		[1_000, false],
	] as const) {
		const now = { engine, facts, revision: 1, policyRevision: 1, time, log: quiet };
		const context: DecisionContext = { ...now, countDifference: () => t.fail(`a listing differs at ${time}`) };
		t.is(engine.code({ ...input, resource: on, time }) === 'allow', allowed, `at ${time}`);
		t.is(
			runToEnd(authorizedUsers(context, { ...input, resource: on }))
				.join('')
				.includes('"ann"'),
			allowed,
		);
		t.is(runToEnd(permissions(context, input)).join('').includes('folder:top'), allowed);
		const onNote = { ...input, resource: { type: 'note', key: 'n', tenant: 'acme' } };
		t.false(runToEnd(authorizedUsers(context, onNote)).join('').includes('"ann"'), 'her role blocks the derivation');
		const options = { maxKeys: 10, explain: false, matches: () => false };
		const filter = runToEnd(filterRows(context, { ...input, resource: { type: 'folder' } }, options));
		t.is(filter.valid_until, allowed ? new Date(1_000).toISOString() : null);
	}
});

test('a filter is valid until a tenant role expires, because a condition of a relationship may compare it', async (t) => {
	const role_assignments = [{ user: 'ann', role: 'visitor', tenant: 'acme', expires_at: 500 }];
	const data = modelData({ ...folders, facts: { ...folders.facts, role_assignments } });
	const engine = await Engine.load(await WebAssembly.compile(await policyWasm(folders)), data);
	const now = { engine, facts: FactsIndex.read(data), revision: 1, policyRevision: 1, time: 0, log: quiet };
	const context: DecisionContext = { ...now, countDifference: () => t.fail('a filter differs') };
	const input = { user: { key: 'ann' }, action: 'read', context: {}, resource: { type: 'folder' } };
	const filter = runToEnd(filterRows(context, input, { maxKeys: 10, explain: false, matches: () => false }));
	t.is(filter.valid_until, new Date(500).toISOString());
});
