// @alone @both @long

/**
 * Histories of schema changes with a slow or failing compiler. A decision at a revision never allows a check that the
 * revision denies. If the decision uses the revision's own policy, it is exactly the revision's decision. Unchanged
 * permissions stay available.
 */
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { withoutBroken } from '../../compiler/index.js';
import type { Model, Schema } from '../../compiler/model.js';
import type { LoadedRevision } from '../../src/pdp/follow/replica.js';
import { readModel } from '../../src/store/model/model.js';
import { readPublications, schemaInForce } from '../../src/store/policy/publications.js';
import type { Answer, Extra } from '../support/client.js';
import type { Place } from '../support/management.js';
import { draws, leastDrawn } from '../support/tier.js';
import { blamed, type Mood } from './moody-assembler.js';
import { decide } from './oracle.js';
import { MoodyApi, RestartablePdp } from './pending-place.js';
import type { Question } from './questions.js';
import { standing } from './standing.js';

const folders = ['fa', 'fb'] as const;
const documents = ['da', 'db'] as const;
const users = ['ua', 'ub', 'uc'] as const;
const levels = [0, 1, 2] as const;

const holds = (role: string) => ({ 'user.resource_roles': { array_contains: role } });
const lacks = (role: string) => ({ not: holds(role) });
/** Conditions of the user set `us3` on roles on documents. */
const roleConditions = [
	{ allOf: [holds('reader'), lacks('writer')] },
	lacks('reader'),
	{ anyOf: [holds('writer'), { 'user.level': { equals: 1 } }] },
	{ not: { anyOf: [{ allOf: [holds('reader'), lacks('writer')] }, { 'user.level': { equals: 0 } }] } },
] as const;

/** Possible derivations, each with its derived role. */
const derivations = [
	{ type: 'document', key: 'reader', role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' },
	{ type: 'document', key: 'writer', role: 'editor', on_resource: 'folder', linked_by_relation: 'parent' },
	{ type: 'document', key: 'reader', role: 'editor', on_resource: 'folder', linked_by_relation: 'parent' },
	{ type: 'folder', key: 'viewer', role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' },
	{ type: 'folder', key: 'viewer', role: 'editor', on_resource: 'folder', linked_by_relation: 'parent' },
	{ type: 'folder', key: 'editor', role: 'editor', on_resource: 'folder', linked_by_relation: 'parent' },
] as const;

type Step =
	| { readonly kind: 'derive'; readonly role: number; readonly rules: number; readonly blocked: number }
	| {
			readonly kind: 'rule';
			readonly add: boolean;
			readonly user: number;
			readonly resource: number;
			readonly action: number;
	  }
	| { readonly kind: 'set'; readonly which: number; readonly level: number }
	| { readonly kind: 'permission'; readonly add: boolean; readonly role: number; readonly action: number }
	| { readonly kind: 'tuple'; readonly add: boolean; readonly object: number; readonly subject: number }
	| {
			readonly kind: 'assign';
			readonly add: boolean;
			readonly user: number;
			readonly on: number;
			readonly role: number;
	  }
	| { readonly kind: 'level'; readonly user: number; readonly level: number }
	| { readonly kind: 'mood'; readonly mood: Mood }
	| { readonly kind: 'restart the decision point' }
	| { readonly kind: 'restart the API' };

const number = fc.nat({ max: 7 });
const add = fc.boolean();
const step: fc.Arbitrary<Step> = fc.oneof(
	{
		weight: 6,
		arbitrary: fc.record({
			kind: fc.constant('derive'),
			role: number,
			rules: fc.nat({ max: 15 }),
			blocked: fc.nat({ max: 63 }),
		}),
	},
	{
		weight: 6,
		arbitrary: fc.record({ kind: fc.constant('rule'), add, user: number, resource: number, action: number }),
	},
	{ weight: 3, arbitrary: fc.record({ kind: fc.constant('set'), which: number, level: number }) },
	{ weight: 2, arbitrary: fc.record({ kind: fc.constant('permission'), add, role: number, action: number }) },
	{ weight: 3, arbitrary: fc.record({ kind: fc.constant('tuple'), add, object: number, subject: number }) },
	{ weight: 4, arbitrary: fc.record({ kind: fc.constant('assign'), add, user: number, on: number, role: number }) },
	{ weight: 2, arbitrary: fc.record({ kind: fc.constant('level'), user: number, level: number }) },
	{
		weight: 5,
		arbitrary: fc.record({
			kind: fc.constant('mood'),
			mood: fc.constantFrom<Mood>('works', 'works', 'hangs', 'fails', 'blames'),
		}),
	},
	{ weight: 1, arbitrary: fc.constant({ kind: 'restart the decision point' } as const) },
	{ weight: 1, arbitrary: fc.constant({ kind: 'restart the API' } as const) },
);

/** The beginning of each history, so every run has policies with a left-out object. */
const beginning: readonly Step[] = [
	{ kind: 'mood', mood: 'blames' },
	{ kind: 'rule', add: true, user: 0, resource: 0, action: 0 },
	{ kind: 'rule', add: true, user: 1, resource: 0, action: 1 },
	{ kind: 'rule', add: true, user: 2, resource: 1, action: 2 },
	{ kind: 'rule', add: true, user: 0, resource: 1, action: 1 },
	{ kind: 'set', which: 0, level: 1 },
	{ kind: 'mood', mood: 'works' },
];

/** Steps per run, and number of runs. */
const length = 100;
const runs = draws(3, 'HISTORIES');
/** Time limit in milliseconds, including shrinking after failures. */
const longest = (runs + 1) * 240_000;

let api: MoodyApi;

test.before('start', async () => {
	api = await MoodyApi.start();
});

test.after.always('stop', () => api?.stop());

/** Event counters. The test fails if an event is too rare. */
const seen = { checks: 0, by_roles: 0, suspended: 0, kept: 0, exact: 0, refused: 0, left_out: 0, listed: 0 };

test('no decision allows access that its revision denies, whatever the compiler does', async (t) => {
	t.timeout(longest + 120_000);
	await fc.assert(
		fc.asyncProperty(fc.array(step, { minLength: length, maxLength: length, size: 'max' }), async (steps) => {
			api.assembler.set('works');
			const place = await api.place();
			await furnish(place);
			const pdp = new RestartablePdp(api.url, place.secret);
			await pdp.start();
			try {
				for (const one of [...beginning, ...steps]) await take(t, place, pdp, one);
			} finally {
				api.assembler.set('works');
				await pdp.stop();
			}
		}),
		{ numRuns: runs, interruptAfterTimeLimit: longest, markInterruptAsFailure: true },
	);
	t.log(JSON.stringify(seen));
	for (const [what, times] of Object.entries(seen)) t.true(times >= leastDrawn(11), `${times} times: ${what}`);
});

async function take(t: ExecutionContext, place: Place, pdp: RestartablePdp, one: Step): Promise<void> {
	if (one.kind === 'mood') api.assembler.set(one.mood);
	else if (one.kind === 'restart the decision point') {
		await pdp.stop();
		await pdp.start();
	} else if (one.kind === 'restart the API') {
		// A hanging compiler would prevent the process from exiting.
		if (api.assembler.mood === 'hangs') api.assembler.set('fails');
		await api.restart();
	} else await write(place, one);
	await look(t, place, pdp, JSON.stringify(one));
}

async function write({ http, schema, facts }: Place, one: Step): Promise<unknown> {
	switch (one.kind) {
		case 'derive': {
			const chosen = derivations[one.role % derivations.length];
			const own = derivations.filter(({ type, key }) => type === chosen?.type && key === chosen.key);
			const rules = own.flatMap(({ role, on_resource, linked_by_relation }, index) =>
				(one.rules >> index) & 1
					? [
							{
								role,
								on_resource,
								linked_by_relation,
								when: { no_direct_roles_on_object: ((one.blocked >> index) & 7) === 7 },
							},
						]
					: [],
			);
			const when = { no_direct_roles_on_object: one.blocked >= 60 };
			return http.patch(`${schema}/resources/${chosen?.type}/roles/${chosen?.key}`, {
				granted_to: { users_with_role: rules, when },
			});
		}
		case 'rule': {
			const rule = {
				user_set: `us${one.user % 4}`,
				permission: `document:${['read', 'write', 'sign'][one.action % 3]}`,
				resource_set: `rs${one.resource % 2}`,
			};
			return one.add ? http.post(`${facts}/set_rules`, rule) : http.delete(`${facts}/set_rules`, rule);
		}
		case 'set': {
			const key = ['us0', 'us1', 'us2', 'rs0', 'rs1', 'us3', 'us3'][one.which % 7] ?? '';
			if (key === 'us3') {
				return http.patch(`${schema}/condition_sets/us3`, {
					conditions: roleConditions[one.level % roleConditions.length],
				});
			}
			const path = key.startsWith('us') ? 'user.level' : 'resource.status';
			return http.patch(`${schema}/condition_sets/${key}`, { conditions: { [path]: { equals: one.level % 3 } } });
		}
		case 'permission': {
			const path = `${schema}/resources/document/roles/${['reader', 'writer'][one.role % 2]}/permissions`;
			const body = { permissions: [`document:${['read', 'write', 'sign'][one.action % 3]}`] };
			return one.add ? http.post(path, body) : http.delete(path, body);
		}
		case 'tuple': {
			const object = [...folders.map((key) => `folder:${key}`), ...documents.map((key) => `document:${key}`)][
				one.object % 4
			];
			const tuple = { object, relation: 'parent', subject: `folder:${folders[one.subject % 2]}` };
			return one.add
				? http.post(`${facts}/relationship_tuples`, tuple)
				: http.delete(`${facts}/relationship_tuples`, tuple);
		}
		case 'assign': {
			const [resource_instance, roles] = [
				[`folder:${folders[one.on % 2]}`, ['viewer', 'editor']],
				[`document:${documents[one.on % 2]}`, ['reader', 'writer']],
			][one.on % 2 === 0 ? 0 : 1] as [string, string[]];
			const assignment = { user: users[one.user % 3], role: roles[one.role % 2], resource_instance, tenant: 'default' };
			return one.add
				? http.post(`${facts}/role_assignments`, assignment)
				: http.delete(`${facts}/role_assignments`, assignment);
		}
		case 'level':
			return http.patch(`${facts}/users/${users[one.user % 3]}`, { attributes: { level: levels[one.level % 3] } });
		default:
			return undefined;
	}
}

/** Creates the schema, with all derivations, and facts with three rules. */
async function furnish({ http, schema, facts }: Place): Promise<void> {
	const made = async (method: 'post' | 'patch', path: string, body: object) => {
		const answer = await http[method](path, body);
		if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
	};
	const named = (roles: Readonly<Record<string, readonly string[]>>) =>
		Object.fromEntries(Object.entries(roles).map(([key, permissions]) => [key, { name: key, permissions }]));
	await made('post', `${schema}/resources`, {
		key: 'folder',
		name: 'Folder',
		actions: { open: {} },
		roles: named({ viewer: ['open'], editor: ['open'] }),
	});
	await made('post', `${schema}/resources`, {
		key: 'document',
		name: 'Document',
		actions: { read: {}, write: {}, sign: {} },
		attributes: { status: { type: 'number' } },
		roles: named({ reader: ['read'], writer: ['read', 'write'] }),
	});
	for (const object of ['folder', 'document']) {
		await made('post', `${schema}/resources/${object}/relations`, {
			key: 'parent',
			name: 'Parent',
			subject_resource: 'folder',
		});
	}
	await made('post', `${schema}/users/attributes`, { key: 'level', type: 'number' });
	for (const level of levels) {
		const conditions = { 'user.level': { equals: level } };
		await made('post', `${schema}/condition_sets`, { key: `us${level}`, name: 'Set', type: 'userset', conditions });
	}
	const byRoles = { key: 'us3', name: 'Set', type: 'userset', resource_id: 'document', conditions: roleConditions[0] };
	await made('post', `${schema}/condition_sets`, byRoles);
	for (const status of [0, 1]) {
		await made('post', `${schema}/condition_sets`, {
			key: `rs${status}`,
			name: 'Set',
			type: 'resourceset',
			resource_id: 'document',
			conditions: { 'resource.status': { equals: status } },
		});
	}
	for (const { type, key } of derivations) {
		const rules = derivations
			.filter((other) => other.type === type && other.key === key)
			.map(({ role, on_resource, linked_by_relation }) => ({ role, on_resource, linked_by_relation }));
		await made('patch', `${schema}/resources/${type}/roles/${key}`, { granted_to: { users_with_role: rules } });
	}
	for (const [index, key] of users.entries()) {
		await made('post', `${facts}/users`, { key, attributes: { level: index } });
	}
	for (const key of folders) {
		await made('post', `${facts}/resource_instances`, { resource: 'folder', key, tenant: 'default' });
	}
	for (const [status, key] of documents.entries()) {
		await made('post', `${facts}/resource_instances`, {
			resource: 'document',
			key,
			tenant: 'default',
			attributes: { status },
		});
		await made('post', `${facts}/relationship_tuples`, {
			object: `document:${key}`,
			relation: 'parent',
			subject: `folder:${folders[status]}`,
		});
	}
	for (const [user, role] of [
		['ua', 'viewer'],
		['ub', 'editor'],
	]) {
		await made('post', `${facts}/role_assignments`, { user, role, resource_instance: 'folder:fa', tenant: 'default' });
	}
	for (const [user_set, resource_set] of [
		['us0', 'rs1'],
		['us2', 'rs0'],
		['us3', 'rs0'],
	]) {
		await made('post', `${facts}/set_rules`, { user_set, permission: 'document:sign', resource_set });
	}
}

const questions: readonly Question[] = users.flatMap((user) => [
	...folders.map(
		(key): Question => ({
			user: { key: user },
			action: 'open',
			resource: { type: 'folder', key, tenant: 'default' },
		}),
	),
	...documents.flatMap((key) =>
		['read', 'write', 'sign'].map(
			(action): Question => ({
				user: { key: user },
				action,
				resource: { type: 'document', key, tenant: 'default' },
			}),
		),
	),
]);

/** Compares the current decisions with the newest revision's model and its suspended parts. */
async function look(t: ExecutionContext, place: Place, pdp: RestartablePdp, after: string): Promise<void> {
	const { revision, model } = await api.store.snapshot(place.id, async (unit, environment) => ({
		revision: environment.revision,
		model: await readModel(unit),
	}));
	await pdp.replica.reached(revision);
	const before = await inForce(place);
	// Decision points never receive a policy before the database does.
	const policyRevision = pdp.replica.current()?.policyRevision ?? 0;
	const answer = await ask(pdp.hasty, {});
	const still = await inForce(place);
	t.is(answer.status, 200, after);
	t.is(answer.revision, revision, after);
	const allowed = answer.body.allow.map(({ allow }) => allow);
	// The decision's policy is known only if no policy became active in the meantime, in the database or at the decision
	// point.
	const knows = policyRevision >= before.schema_revision && isInForceAt(pdp, before.left_out);
	const schema = before.text === still.text && knows ? before.schema : null;
	const stands = schema && { schema: standing(schema, model.schema), facts: model.facts };
	const set_rules = model.schema.set_rules.filter(({ user_set }) => user_set !== 'us3');
	const others = { ...model, schema: { ...model.schema, set_rules } };
	for (const [index, question] of questions.entries()) {
		const text = `${after}: ${JSON.stringify(question)} at ${revision}`;
		const wanted = decide(model, question).allow;
		seen.checks += 1;
		if (allowed[index]) t.true(wanted, `allowed, although the revision denies: ${text}`);
		if (stands && decide(stands, question).allow) {
			t.true(allowed[index], `denied, although the grant is unchanged: ${text}`);
			seen.kept += 1;
		}
		if (wanted && !allowed[index]) seen.suspended += 1;
		if (wanted && !decide(others, question).allow) seen.by_roles += 1;
	}
	if (schema !== null) await lookAtLists(t, pdp, revision, allowed, after);
	await lookByPolicy(t, pdp, { revision, model }, after);
}

/**
 * True if the decision point appears to have the active policy, because it leaves out an object if and only if that
 * policy does.
 */
function isInForceAt(pdp: RestartablePdp, leftOut: boolean): boolean {
	const degraded = pdp.replica.current()?.degraded;
	return degraded ? degraded.reason !== 'left_out' || leftOut : !leftOut;
}

/** INVARIANT: listings agree with checks, even while parts are suspended. */
async function lookAtLists(
	t: ExecutionContext,
	pdp: RestartablePdp,
	revision: number,
	allowed: readonly boolean[],
	after: string,
): Promise<void> {
	const context = { enable_abac_user_permissions: true, enable_abac_authorized_users: true };
	const { action, resource } = questions[revision % questions.length] ?? { action: '', resource: {} };
	const listed = await pdp.hasty.post<{ users: object }>('/authorized_users', { action, resource, context });
	const user = users[revision % users.length];
	const permitted = await pdp.hasty.post<Record<string, { permissions: readonly string[] }>>('/user-permissions', {
		user,
		// Conditions are evaluated only for instances whose type the request names.
		resource_types: ['document', 'folder'],
		context,
	});
	const again = await ask(pdp.hasty, {});
	// If a policy became active between the listing and the check, skip the comparison.
	if (JSON.stringify(again.body.allow.map(({ allow }) => allow)) !== JSON.stringify(allowed)) return;
	const expected = questions.filter(
		(question, index) =>
			allowed[index] && question.action === action && JSON.stringify(question.resource) === JSON.stringify(resource),
	);
	t.deepEqual(Object.keys(listed.body.users).sort(), expected.map((question) => question.user.key).sort(), after);
	const mine = questions.filter((question, index) => allowed[index] && question.user.key === user);
	const names = Object.entries(permitted.body).flatMap(([object, { permissions }]) =>
		object.startsWith('__tenant:') ? [] : permissions.map((permission) => `${object} ${permission}`),
	);
	const wanted = mine.map(({ resource: on, action: act }) => `${on.type}:${on.key} ${on.type}:${act}`);
	t.deepEqual(names.sort(), wanted.sort(), after);
	seen.listed += 1;
}

/**
 * Asserts that a request with `X-Min-Revision` gets a 503 or exactly the revision's decision, except for objects that
 * the policy leaves out.
 */
async function lookByPolicy(
	t: ExecutionContext,
	pdp: RestartablePdp,
	{ revision, model }: { readonly revision: number; readonly model: Model },
	after: string,
): Promise<void> {
	const { mood } = api.assembler;
	const extra = { headers: { 'x-min-revision': String(revision) } };
	const http = mood === 'works' || mood === 'blames' ? pdp.patient : pdp.hasty;
	// After a restart, the API compiles the same schema again. A new policy may become active during the request.
	let before: LoadedRevision | undefined;
	let answer: Awaited<ReturnType<typeof ask>>;
	do {
		before = pdp.replica.current();
		answer = await ask(http, extra);
	} while (answer.status === 200 && before !== pdp.replica.current());
	if (answer.status === 503) {
		t.true(mood === 'hangs' || mood === 'fails', `${after}: 503, although the compiler ${mood}`);
		seen.refused += 1;
		return;
	}
	t.is(answer.status, 200, `${after}: ${JSON.stringify(answer.body)}`);
	t.is(answer.headers.get('x-policy-revision'), String(revision), after);
	const isLeftOut = before?.degraded?.reason === 'left_out';
	const { schema } = model;
	const whole = isLeftOut ? { ...model, schema: withoutBroken(schema, blamed(schema)) } : model;
	seen[isLeftOut ? 'left_out' : 'exact'] += 1;
	for (const [index, question] of questions.entries()) {
		const text = `${after}: ${JSON.stringify(question)} by the policy of ${revision}`;
		t.is(answer.body.allow[index]?.allow, decide(whole, question).allow, text);
	}
}

function ask(http: RestartablePdp['hasty'], extra: Extra): Promise<Answer<{ allow: { allow: boolean }[] }>> {
	return http.post<{ allow: { allow: boolean }[] }>('/allowed/bulk', questions, extra);
}

/**
 * Returns the active policy's schema and revision. `left_out` is true if the policy leaves out an object, and `text`
 * identifies the policy.
 */
async function inForce({ id }: Place) {
	const { knex } = api.store.database;
	const schema: Schema | null = await schemaInForce(knex, id);
	const { live, failed } = await readPublications(knex, id);
	const text = JSON.stringify([live?.digest, live?.schema_revision, live?.left_out, failed?.failed_revision]);
	return {
		schema,
		schema_revision: live?.schema_revision ?? Number.POSITIVE_INFINITY,
		left_out: (live?.left_out.length ?? 0) > 0,
		text,
	};
}
