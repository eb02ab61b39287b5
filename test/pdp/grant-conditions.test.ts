import test, { type ExecutionContext } from 'ava';
import type { Model, ResourceRole } from '../../compiler/model.js';
import { runToEnd, type Steps } from '../../compiler/steps.js';
import type { DecisionContext } from '../../src/pdp/decide/decide.js';
import { Engine } from '../../src/pdp/engine/engine.js';
import { FactsIndex } from '../../src/pdp/facts/facts-index.js';
import { filterRows } from '../../src/pdp/filter/filter.js';
import { authorizedUsers } from '../../src/pdp/listing/authorized-users.js';
import { permissions } from '../../src/pdp/listing/permissions.js';
import { tenantsWithRoles } from '../../src/pdp/listing/user-tenants.js';
import { stepsIn } from '../support/steps-in.js';
import { modelData, policyWasm, quiet, resource, snapshot } from './environment.js';
import { type Served, serve } from './served.js';

/** Conditional assignments in checks, listings and explanations (docs/policy/grant-conditions.md). */

function role(key: string, more: Partial<ResourceRole> = {}): ResourceRole {
	const own = { key, name: key, description: null, permissions: [], extends: [], derivations: [] };
	return { ...own, no_direct_roles_on_object: false, ...more };
}

const relation = (key: string, subject: string) => ({ key, name: key, description: null, subject });
const condition = (key: string, conditions: GrantCondition['conditions'], parameters: GrantCondition['parameters']) => {
	return { key, name: key, description: null, conditions, parameters };
};
type GrantCondition = NonNullable<Model['schema']['grant_conditions']>[number];

const fromAccount = { relation: 'account', role: 'payer', no_direct_roles_on_object: false };

/** An account's payers pay its bills: ann up to a limit, ben with enough trust, dan with a code, and cat always. */
const accounts: Model = {
	contextual_facts: true,
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
			{
				...resource('account', ['pay']),
				roles: [role('payer', { permissions: ['pay'], grant_conditions: ['code', 'limit', 'trust'] })],
				relations: [],
			},
			{
				...resource('bill', ['pay']),
				roles: [role('payer', { permissions: ['pay'], derivations: [fromAccount] })],
				relations: [relation('account', 'account')],
			},
		],
	},
	facts: {
		users: ['ann', 'ben', 'cat', 'dan'],
		user_attributes: [{ user: 'ben', attributes: { trust: 3 } }],
		tenants: [{ key: 'acme', attributes: {} }],
		role_assignments: [],
		instances: [
			{ type: 'account', key: 'a', tenant: 'acme' },
			{ type: 'bill', key: 'b', tenant: 'acme' },
			{ type: 'bill', key: 'c', tenant: 'acme' },
		],
		instance_attributes: [],
		instance_assignments: [
			['ann', 'limit', { limit: 500 }] as const,
			['ben', 'trust', { trust: 3 }] as const,
			['cat', undefined, {}] as const,
			['dan', 'code', {}] as const,
		].map(([user, set, values]) => ({
			...{ user, role: 'payer', type: 'account', instance: 'a' },
			...(set !== undefined && { condition: { set, values } }),
		})),
		relationships: [{ type: 'bill', instance: 'b', relation: 'account', subject_type: 'account', subject: 'a' }],
	},
};

const account = { type: 'account', key: 'a', tenant: 'acme' };
const bill = { type: 'bill', key: 'b', tenant: 'acme' };

/** Contexts, and the users who may pay in each. */
const contexts: readonly (readonly [context: object, payers: readonly string[]])[] = [
	[{}, ['ben', 'cat']],
	[{ amount: 500 }, ['ann', 'ben', 'cat']],
	[{ amount: 501 }, ['ben', 'cat']],
	[{ amount: '500' }, ['ben', 'cat']],
	[{ amount: 1, code: 'aa' }, ['ann', 'ben', 'cat', 'dan']],
	[{ code: 'ab' }, ['ben', 'cat']],
];

test.before('build the policy', async () => {
	await policyWasm(accounts);
});

async function serveAccounts(t: ExecutionContext, model = accounts): Promise<Served> {
	const served = await serve(t);
	served.feed.publish({ revision: 7, snapshot: await snapshot({ revision: 7, model }) });
	await served.replica.reached(7);
	return served;
}

test('a conditional assignment counts in checks and listings exactly while its condition holds', async (t) => {
	const { http } = await serveAccounts(t);
	for (const [context, payers] of contexts) {
		const text = JSON.stringify(context);
		for (const on of [account, bill]) {
			const allowed: string[] = [];
			for (const user of accounts.facts.users) {
				const { body } = await http.post('/allowed', { user, action: 'pay', resource: on, context });
				if (body['allow'] === true) allowed.push(user);
			}
			t.deepEqual(allowed, payers, text);
			const { body } = await http.post<{ users: object }>('/authorized_users', {
				action: 'pay',
				resource: on,
				context,
			});
			t.deepEqual(Object.keys(body.users), payers, text);
			const searched = { type: on.type, id: on.key, properties: { tenant: on.tenant } };
			const search = { subject: { type: 'user' }, action: { name: 'pay' }, resource: searched, context };
			const found = await http.post<{ results: readonly { id: string }[] }>('/access/v1/search/subject', search);
			t.deepEqual(found.body.results?.map(({ id }) => id).sort(), payers, JSON.stringify([search, found.body]));
		}
		for (const user of accounts.facts.users) {
			const pays = payers.includes(user);
			const listed = await http.post('/user-permissions', { user, context });
			t.deepEqual(Object.keys(listed.body), pays ? ['account:a', 'bill:b'] : [], `${user} ${text}`);
			const tenants = await http.post<readonly { key: string }[]>('/user-tenants', { user, context });
			t.deepEqual(
				tenants.body.map(({ key }) => key),
				pays ? ['acme'] : [],
				`${user} ${text}`,
			);
			const question = { user, action: 'pay', resource: { type: 'bill', key: 'b' }, context };
			const all = await http.post<{ allowed_tenants: readonly object[] }>('/allowed/all-tenants', question);
			t.is(all.body.allowed_tenants?.length, pays ? 1 : 0, JSON.stringify(all.body));
		}
	}
});

/** `ann` has a conditional assignment on each of 400 accounts in 20 tenants, and 400 users have one on account `a0`. */
function manyAccounts(set: string): Model {
	const numbers = Array.from({ length: 400 }, (_, index) => index);
	const grant = (user: string, instance: string, limit: number) => ({
		...{ user, role: 'payer', type: 'account', instance },
		condition: { set, values: set === 'limit' ? { limit } : {} },
	});
	return {
		schema: accounts.schema,
		facts: {
			...accounts.facts,
			users: ['ann', ...numbers.map((index) => `user-${index}`)],
			tenants: numbers.slice(0, 20).map((index) => ({ key: `t${index}`, attributes: {} })),
			instances: numbers.map((index) => ({ type: 'account', key: `a${index}`, tenant: `t${index % 20}` })),
			instance_assignments: [
				...numbers.map((index) => grant('ann', `a${index}`, (index % 20) * 10)),
				...numbers.map((index) => grant(`user-${index}`, 'a0', 0)),
			],
			relationships: [],
		},
	};
}

for (const [set, sent, tenants] of [
	['limit', { amount: 100 }, 10],
	['limit', { amount: 200 }, 0],
	['code', { code: 'aa' }, 20],
	['code', { code: 'b' }, 0],
] as const) {
	test(`listings pause after each condition: ${set} ${JSON.stringify(sent)}`, async (t) => {
		const data = modelData(manyAccounts(set));
		const engine = await Engine.load(await WebAssembly.compile(await policyWasm(accounts)), data);
		const facts = FactsIndex.read(data);
		const now = { engine, facts, revision: 1, policyRevision: 1, time: 0, log: quiet };
		const differences: string[] = [];
		const current: DecisionContext = { ...now, countDifference: () => differences.push(set) };
		const ann = { user: { key: 'ann' }, context: sent };
		for (const context of [current, { ...current, policyRevision: 0 }]) {
			const found = runToEnd(tenantsWithRoles(context, ann));
			t.is(found.size, tenants);
			const listings: readonly (() => Steps<unknown>)[] = [
				() => tenantsWithRoles(context, ann),
				() => permissions(context, ann),
				() => {
					const on = { type: 'account', key: 'a0', tenant: 't0' };
					return authorizedUsers(context, { action: 'pay', resource: on, context: sent });
				},
			];
			const filter = { ...ann, action: 'pay', resource: { type: 'account' } };
			const rows = () => filterRows(context, filter, { maxKeys: 1_000, explain: true, matches: () => false });
			for (const listing of set === 'limit' ? [...listings, rows] : listings) {
				t.true(stepsIn(listing()) >= 400, String(listing));
			}
		}
		t.deepEqual(differences, []);
	});
}

test('a conditional assignment ends at its expiry, in checks and listings', async (t) => {
	const [first] = accounts.facts.instance_assignments;
	if (first === undefined) return t.fail();
	const model = { ...accounts, facts: { ...accounts.facts, instance_assignments: [{ ...first, expires_at: 1_000 }] } };
	const data = modelData(model);
	const engine = await Engine.load(await WebAssembly.compile(await policyWasm(accounts)), data);
	const facts = FactsIndex.read(data);
	const input = { user: { key: 'ann' }, action: 'pay', context: { amount: 1 } };
	for (const [time, allowed] of [
		[999, true],
		[1_000, false],
		[1_001, false],
	] as const) {
		const now = { engine, facts, revision: 1, policyRevision: 1, time, log: quiet };
		const context: DecisionContext = { ...now, countDifference: () => t.fail(`a listing differs at ${time}`) };
		for (const on of [account, bill]) {
			t.is(engine.code({ ...input, resource: on, time }) === 'allow', allowed, `${on.type} at ${time}`);
			const listed = runToEnd(authorizedUsers(context, { ...input, resource: on })).join('');
			t.is(listed.includes('"ann"'), allowed, `${on.type} at ${time}`);
		}
		for (const each of [context, { ...context, policyRevision: 0 }]) {
			t.is(runToEnd(tenantsWithRoles(each, input)).size, allowed ? 1 : 0, `tenants at ${time}`);
		}
		t.is(runToEnd(permissions(context, input)).join('').includes('bill:b'), allowed, `permissions at ${time}`);
	}
});

test('attributes sent with a check replace stored attributes in conditions', async (t) => {
	const { http } = await serveAccounts(t);
	for (const [trust, allow] of [
		[2, false],
		[3, true],
		['3', false],
	] as const) {
		const check = { user: { key: 'ben', attributes: { trust } }, action: 'pay', resource: bill };
		t.is((await http.post('/allowed', check)).body['allow'], allow, String(trust));
	}
});

test('an explanation names the condition, or the missing context attributes', async (t) => {
	const { http } = await serveAccounts(t);
	const explained = async (user: string, context: object, contextual_facts?: object) => {
		const check = { user, action: 'pay', resource: account, context, contextual_facts, use_debugger: true };
		return (await http.post<{ debug: { rebac: object } }>('/allowed', check)).body.debug.rebac;
	};
	t.like(await explained('ann', {}), {
		allow: false,
		code: 'no_graph_roles',
		reason: 'user `ann` has no role on `account:a`; conditions read `amount`, which the context lacks',
		missing_context: ['amount'],
	});
	t.false('missing_context' in (await explained('ann', { amount: 501 })));
	const source = {
		...{ type: 'role_assignment', role: 'account:a#payer', resource: 'account:a' },
		condition: { set: 'limit', values: { limit: 500 } },
	};
	const allowed = { allow: true, allowing_roles: [{ role: 'account:a#payer', sources: [source] }] };
	t.like(await explained('ann', { amount: 1 }), allowed);
	const role_assignments = [{ user: 'ann', role: 'payer', resource_instance: 'bill:c' }];
	t.like(await explained('ann', { amount: 1 }, { role_assignments }), allowed, 'also with contextual facts');
	const { body } = await http.get<readonly object[]>('/local/role_assignments?user=ann');
	t.deepEqual(body, [
		{
			...{ user: 'ann', role: 'payer', tenant: 'acme', resource_instance: 'account:a' },
			condition: { set: 'limit', values: { limit: 500 } },
		},
	]);
});

test('a contextual relationship is rejected if users may hold its source role through a conditional assignment', async (t) => {
	const { http } = await serveAccounts(t);
	const relationship_tuples = [{ subject: 'account:a', relation: 'account', object: 'bill:c' }];
	const check = { user: 'cat', action: 'pay', resource: { ...bill, key: 'c' } };
	const refused = await http.post('/allowed', { ...check, contextual_facts: { relationship_tuples } });
	t.is(refused.status, 422);
	t.regex(JSON.stringify(refused.body), /users may hold `account#payer` under a condition/);
	const role_assignments = [{ user: 'dan', role: 'payer', resource_instance: 'bill:c' }];
	const given = { ...check, user: 'dan', contextual_facts: { role_assignments } };
	t.is((await http.post('/allowed', given)).body['allow'], true);
});

test('a filter is valid only while the user holds the tenant roles that a condition compares', async (t) => {
	const expires_at = Date.now() + 3_600_000;
	const managers = condition('managers', { 'user.roles': { array_contains: 'manager' } }, {});
	const { schema, facts } = accounts;
	const { http } = await serveAccounts(t, {
		schema: {
			...schema,
			grant_conditions: [managers],
			roles: [{ key: 'manager', name: 'Manager', description: null, permissions: [], extends: [] }],
			resources: [
				{
					...resource('account', ['pay']),
					roles: [role('payer', { permissions: ['pay'], grant_conditions: ['managers'] })],
					relations: [],
				},
			],
		},
		facts: {
			...facts,
			instances: facts.instances.slice(0, 1),
			relationships: [],
			role_assignments: [{ user: 'ann', role: 'manager', tenant: 'acme', expires_at }],
			instance_assignments: [
				{ user: 'ann', role: 'payer', type: 'account', instance: 'a', condition: { set: 'managers', values: {} } },
			],
		},
	});
	const { body } = await http.post('/filter', { user: 'ann', action: 'pay', resource: { type: 'account' } });
	t.like(body, { type: 'conditional', valid_until: new Date(expires_at).toISOString() });
});
