import type { GrantCondition, Json, Model, ResourceRole } from '../compiler/model.js';
import { runToEnd, type Steps } from '../compiler/steps.js';
import { searchResources, searchSubjects } from '../src/pdp/authzen/search.js';
import { type DecisionContext, decide } from '../src/pdp/decide/decide.js';
import { Engine } from '../src/pdp/engine/engine.js';
import { FactsIndex } from '../src/pdp/facts/facts-index.js';
import { filterRows } from '../src/pdp/filter/filter.js';
import { filterKeys } from '../src/pdp/filter/filter-keys.js';
import { allowedTenants } from '../src/pdp/listing/all-tenants.js';
import { authorizedUsers } from '../src/pdp/listing/authorized-users.js';
import { localAssignments } from '../src/pdp/listing/local-assignments.js';
import { permissions } from '../src/pdp/listing/permissions.js';
import { userTenants } from '../src/pdp/listing/user-tenants.js';
import { modelData, policyWasm, quiet, resource } from '../test/pdp/environment.js';
import { noFacts } from '../test/support/no-facts.js';
import { quantile } from './support/quantile.js';

/**
 * Listings with many conditional role assignments. `ann` has 10,000 assignments on accounts in 20 tenants, and one
 * account has assignments to 10,000 users. Prints the longest uninterrupted step. Target: 250 ms. Then prints the time
 * of checks through unconditional and conditional relationships.
 */

const range = (length: number) => Array.from({ length }, (_, index) => index);
const count = Number(process.env['COUNT'] ?? 10_000);
const tenantCount = 20;

const role = (key: string, more: Partial<ResourceRole>): ResourceRole => ({
	...{ key, name: key, description: null, permissions: ['pay'], extends: [], derivations: [] },
	...{ no_direct_roles_on_object: false, ...more },
});

function condition(key: string, conditions: Json, parameters: GrantCondition['parameters']): GrantCondition {
	return { key, name: key, description: null, conditions, parameters };
}

const conditionsByTitle: Readonly<Record<string, GrantCondition>> = {
	comparison: condition(
		'limit',
		{ 'context.amount': { 'less-than-equals': { ref: 'grant.limit' } } },
		{ limit: 'number' },
	),
	'200 comparisons': condition(
		'limit',
		{
			anyOf: [
				...range(199).map((index) => ({ 'context.amount': { equals: -index - 1 } })),
				{ 'context.amount': { 'less-than-equals': { ref: 'grant.limit' } } },
			],
		},
		{ limit: 'number' },
	),
	'regular expression': condition(
		'limit',
		{
			allOf: [
				{ 'context.code': { matches: '^a+$' } },
				{ 'context.amount': { 'less-than-equals': { ref: 'grant.limit' } } },
			],
		},
		{ limit: 'number' },
	),
};

function accounts(set: GrantCondition): Model {
	const users = range(count).map((index) => `user-${index}`);
	const keys = range(count).map((index) => `a${index}`);
	const tenant = (index: number) => `tenant-${index % tenantCount}`;
	const grant = (user: string, instance: string, limit: number) => ({
		...{ user, role: 'payer', type: 'account', instance },
		condition: { set: 'limit', values: { limit } },
	});
	return {
		schema: {
			grant_conditions: [set],
			condition_sets: [],
			set_rules: [],
			roles: [],
			resources: [
				{
					...resource('account', ['pay']),
					roles: [role('payer', { grant_conditions: ['limit'] })],
				},
				{
					...resource('bill', ['pay']),
					relations: [{ key: 'account', name: 'account', description: null, subject: 'account' }],
					roles: [
						role('payer', { derivations: [{ relation: 'account', role: 'payer', no_direct_roles_on_object: false }] }),
					],
				},
			],
		},
		facts: {
			...noFacts,
			users: ['ann', ...users],
			tenants: range(tenantCount).map((index) => ({ key: tenant(index), attributes: {} })),
			instances: [
				...keys.map((key, index) => ({ type: 'account', key, tenant: tenant(index) })),
				...keys.map((key, index) => ({ type: 'bill', key, tenant: tenant(index) })),
			],
			instance_assignments: [
				...keys.map((key) => grant('ann', key, 5)),
				...users.map((user, index) => grant(user, 'a0', index % 20)),
			],
			relationships: keys.map((key) => ({
				...{ type: 'bill', instance: key, relation: 'account', subject_type: 'account', subject: key },
			})),
		},
	};
}

/** Runs steps. Returns the longest step and the whole time, in milliseconds. */
function timed(steps: Steps<unknown>): string {
	const begun = performance.now();
	let longest = 0;
	for (let from = begun; ; ) {
		let done: boolean | undefined;
		try {
			({ done } = steps.next());
		} catch (error) {
			return String(error);
		}
		const now = performance.now();
		longest = Math.max(longest, now - from);
		from = now;
		if (done) return `longest step ${longest.toFixed(1)} ms of ${(from - begun).toFixed(0)} ms`;
	}
}

const matches = () => false;
const settings = { mode: 'edge', subjectTypes: new Set(['user']) } as const;
const payBill = { action: { name: 'pay' }, resource: { type: 'bill' } };

for (const [title, set] of Object.entries(conditionsByTitle)) {
	const model = accounts(set);
	const data = modelData(model);
	const engine = await Engine.load(await WebAssembly.compile(await policyWasm(model)), data);
	const facts = FactsIndex.read(data);
	const context: DecisionContext = {
		...{ engine, facts, revision: 1, policyRevision: 1, time: Date.now(), log: quiet },
		countDifference: () => console.log('a listing differs from the policy'),
	};
	const states: readonly (readonly [title: string, context: DecisionContext])[] = [
		['', context],
		[', policy pending', { ...context, policyRevision: 0 }],
	];
	for (const [state, now] of states) {
		for (const amount of [5, 30]) {
			const sent = { amount, code: 'aaa' };
			const ann = { user: { key: 'ann' }, context: sent };
			const bill = { type: 'bill', key: 'a0', tenant: 'tenant-0' };
			const check = { ...ann, action: 'pay', resource: bill };
			const listings: Readonly<Record<string, () => Steps<unknown>>> = {
				'user tenants': () => userTenants(now, ann),
				'all tenants': () => allowedTenants(now, check as never, 'edge', false),
				'all tenants, with reasons': () => allowedTenants(now, check as never, 'edge', true),
				'user permissions': () => permissions(now, { ...ann, resource_types: ['bill', 'account'] }),
				'authorized users': () => authorizedUsers(now, { action: 'pay', resource: bill, context: sent }),
				'search for resources': () =>
					searchResources(now, { ...payBill, subject: { type: 'user', id: 'ann' }, context: sent } as never, settings),
				'search for subjects': () =>
					searchSubjects(
						now,
						{
							...payBill,
							resource: { type: 'bill', id: 'a0', properties: { tenant: 'tenant-0' } },
							subject: { type: 'user' },
							context: sent,
						} as never,
						settings,
					),
				filter: () =>
					filterRows(
						now,
						{ ...ann, action: 'pay', resource: { type: 'bill' } },
						{ maxKeys: 50_000, explain: true, matches },
					),
				'filter keys': () =>
					filterKeys(
						now,
						{ ...ann, action: 'pay', resource: { type: 'bill' } },
						{ limit: 50_000, cursor: undefined, matches },
					),
				'local assignments': () => localAssignments(now, { page: 900, per_page: 20 } as never),
				check: () => inOneStep(() => decide(now, { ...check, time: now.time }, false)),
				'check with reasons': () => inOneStep(() => decide(now, { ...check, time: now.time }, true)),
			};
			for (const [listing, steps] of Object.entries(listings)) {
				runToEnd(warmUp(steps));
				console.log(`${title}${state}, amount ${amount}: ${listing}: ${timed(steps())}`);
			}
		}
	}
}

/**
 * Three bills of an account: by a relation without conditions, and by a declaring relation with or without condition.
 * `ann` may pay them by an assigned role on the account, and view them as a member of the account's team.
 */
function bills(set: GrantCondition): Model {
	const relation = (key: string, subject: string) => ({ key, name: key, description: null, subject });
	const from = (source: string, along: string) => ({ relation: along, role: source, no_direct_roles_on_object: false });
	const related = (instance: string, along: string) => ({
		...{ type: 'bill', instance, relation: along, subject_type: 'account', subject: 'a' },
	});
	return {
		schema: {
			grant_conditions: [set],
			condition_sets: [],
			set_rules: [],
			roles: [],
			resources: [
				{ ...resource('team', []), roles: [role('member', { permissions: [] })] },
				{
					...resource('account', ['pay', 'view']),
					relations: [relation('team', 'team')],
					roles: [role('payer', {}), role('viewer', { permissions: ['view'], derivations: [from('member', 'team')] })],
				},
				{
					...resource('bill', ['pay', 'view']),
					relations: [
						relation('account', 'account'),
						{ ...relation('granted', 'account'), grant_conditions: [set.key] },
					],
					roles: [
						role('payer', { derivations: [from('payer', 'account')] }),
						role('granted_payer', { derivations: [from('payer', 'granted')] }),
						role('viewer', { permissions: ['view'], derivations: [from('viewer', 'account')] }),
						role('granted_viewer', { permissions: ['view'], derivations: [from('viewer', 'granted')] }),
					],
				},
			],
		},
		facts: {
			...noFacts,
			users: ['ann'],
			tenants: [{ key: 't', attributes: {} }],
			instances: ['team:t', 'account:a', 'bill:plain', 'bill:declared', 'bill:conditional'].map((name) => {
				const [type = '', key = ''] = name.split(':');
				return { type, key, tenant: 't' };
			}),
			instance_assignments: [
				{ user: 'ann', role: 'payer', type: 'account', instance: 'a' },
				{ user: 'ann', role: 'member', type: 'team', instance: 't' },
			],
			relationships: [
				related('plain', 'account'),
				related('declared', 'granted'),
				{ ...related('conditional', 'granted'), condition: { set: set.key, values: { limit: 5 } } },
				{ type: 'account', instance: 'a', relation: 'team', subject_type: 'team', subject: 't' },
			],
		},
	};
}

async function compareRelationships(set: GrantCondition): Promise<void> {
	const model = bills(set);
	const engine = await Engine.load(await WebAssembly.compile(await policyWasm(model)), modelData(model));
	const batch = 500;
	for (const action of ['pay', 'view']) {
		const times = new Map<string, number[]>();
		// Alternate, so other load on the machine affects all kinds.
		for (const round of range(60)) {
			for (const key of ['plain', 'declared', 'conditional']) {
				const on = { type: 'bill', key, tenant: 't' };
				const input = { user: { key: 'ann' }, action, resource: on, context: { amount: 5 }, time: Date.now() };
				const begun = performance.now();
				for (const _ of range(batch)) if (engine.code(input) !== 'allow') throw new Error(`${key} is denied`);
				if (round >= 10) times.set(key, [...(times.get(key) ?? []), ((performance.now() - begun) * 1000) / batch]);
			}
		}
		for (const [key, found] of times) {
			console.log(`${action}, ${key} relationship: ${quantile(found, 0.5).toFixed(2)} µs`);
		}
	}
}

await compareRelationships(conditionsByTitle['comparison'] ?? condition('limit', {}, {}));

function* inOneStep(run: () => unknown): Steps<void> {
	yield;
	run();
}

/** Runs a few steps, so the code is compiled. */
function* warmUp(steps: () => Steps<unknown>): Steps<void> {
	const work = steps();
	try {
		for (let step = 0; step < 500 && !work.next().done; step += 1) yield;
	} catch {
		// The measured run reports the error.
	}
	work.return(undefined);
}
