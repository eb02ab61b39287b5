// @rest

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { withDocument } from '../../src/console/model/draft/document-draft.js';
import type { ImpactRow } from '../../src/wire/general/impact.js';
import { client } from '../support/client.js';
import { chosenStores, stackOnEachStore } from '../support/each-store.js';
import {
	askImpact,
	environmentPath,
	fillImpactWorld,
	impactLines,
	type WrittenChange,
} from '../support/impact-world.js';
import { createSecret, newPlace, type Place } from '../support/management.js';
import { root } from '../support/root.js';
import type { Stack } from '../support/stack.js';

/** Users who gain or lose access through a draft, over HTTP. */

const runningStack = stackOnEachStore();

/** Declares a test only for the server store, because the behavior is the same on both stores. */
function onServer(title: string, run: (t: ExecutionContext) => Promise<void>): void {
	if (chosenStores().includes('server')) test.serial(title, run);
}

async function furnished(stack: Stack): Promise<Place> {
	const place = await newPlace({ url: stack.api.listening.url, store: stack.api.store }, stack.organization);
	await fillImpactWorld(place);
	return place;
}

interface Case {
	readonly title: string;
	readonly changes: readonly WrittenChange[];
	readonly lines: readonly string[];
	readonly causes: readonly object[];
}

const assignment = (operation: 'create' | 'delete', value: object) => ({ kind: 'role_assignment', operation, value });

const cases: readonly Case[] = [
	{
		title: 'a tenant role loses a permission',
		changes: [
			{ kind: 'role', operation: 'update', key: 'editor', value: { name: 'Editor', permissions: ['document:read'] } },
		],
		lines: ['- ann write document in acme', '- ann write document:note in acme', '- ann write document:plan in acme'],
		causes: [{ by: 'role_in_tenant', role: 'editor', gained: 0, lost: 3 }],
	},
	{
		title: 'a role is assigned in a tenant, and a role on a folder is removed',
		changes: [
			assignment('create', { user: 'dan', role: 'editor', tenant: 'other' }),
			assignment('delete', { user: 'ben', role: 'viewer', resource_instance: 'folder:outer' }),
		],
		lines: [
			'+ dan read document in other',
			'+ dan write document in other',
			'- ben list folder:inner in acme',
			'- ben list folder:outer in acme',
			'- ben read document:plan in acme',
		],
		causes: [
			{ by: 'role_in_tenant', role: 'editor', gained: 2, lost: 0 },
			{ by: 'role_on_instance', role: 'folder#viewer', gained: 0, lost: 2 },
			{ by: 'role_on_instance', role: 'document#reader', gained: 0, lost: 1 },
		],
	},
	{
		title: 'a document is added to a folder',
		changes: [
			{
				kind: 'relationship_tuple',
				operation: 'create',
				value: { subject: 'folder:inner', relation: 'parent', object: 'document:note' },
			},
		],
		lines: ['+ ben read document:note in acme'],
		causes: [{ by: 'role_on_instance', role: 'document#reader', gained: 1, lost: 0 }],
	},
	{
		title: 'a folder in a cycle is removed from its parent',
		changes: [
			{
				kind: 'relationship_tuple',
				operation: 'delete',
				value: { subject: 'folder:outer', relation: 'parent', object: 'folder:inner' },
			},
		],
		lines: ['- ben list folder:inner in acme', '- ben read document:plan in acme'],
		causes: [
			{ by: 'role_on_instance', role: 'document#reader', gained: 0, lost: 1 },
			{ by: 'role_on_instance', role: 'folder#viewer', gained: 0, lost: 1 },
		],
	},
	{
		title: 'a derivation is removed',
		changes: [
			{
				kind: 'resource_role',
				operation: 'update',
				key: 'document:reader',
				value: { name: 'Reader', permissions: ['read'], granted_to: null },
			},
		],
		lines: ['- ben read document:plan in acme'],
		causes: [{ by: 'role_on_instance', role: 'document#reader', gained: 0, lost: 1 }],
	},
	{
		title: 'conditions change',
		changes: [
			{
				kind: 'condition_set',
				operation: 'update',
				key: 'drafts',
				value: {
					name: 'Drafts',
					type: 'resourceset',
					resource: 'document',
					conditions: { 'resource.level': { equals: 2 } },
				},
			},
		],
		lines: ['+ cal write document:note in acme', '- cal write document:plan in acme'],
		causes: [{ by: 'set_rule', userset: 'staff', resourceset: 'drafts', gained: 1, lost: 1 }],
	},
	{
		title: 'a user attribute changes',
		changes: [{ kind: 'user', operation: 'update', key: 'dan', value: { attributes: { department: 'sales' } } }],
		lines: ['+ dan write document:plan in acme'],
		causes: [{ by: 'set_rule', userset: 'staff', resourceset: 'drafts', gained: 1, lost: 0 }],
	},
	{
		title: 'a user is deleted, and a new user gets a new role',
		changes: [
			{ kind: 'user', operation: 'delete', key: 'ann' },
			{ kind: 'user', operation: 'create', key: 'eve', value: {} },
			{ kind: 'role', operation: 'create', key: 'lister', value: { name: 'Lister', permissions: ['folder:list'] } },
			assignment('create', { user: 'eve', role: 'lister', tenant: 'other' }),
		],
		lines: [
			'+ eve list folder in other',
			'- ann read document in acme',
			'- ann read document:note in acme',
			'- ann read document:plan in acme',
			'- ann write document in acme',
			'- ann write document:note in acme',
			'- ann write document:plan in acme',
		],
		causes: [
			{ by: 'role_in_tenant', role: 'editor', gained: 0, lost: 6 },
			{ by: 'role_in_tenant', role: 'lister', gained: 1, lost: 0 },
		],
	},
	{ title: 'nothing changes', changes: [], lines: [], causes: [] },
	{
		title: 'only a name changes',
		changes: [
			{
				kind: 'role',
				operation: 'update',
				key: 'editor',
				value: { name: 'Author', permissions: ['document:read', 'document:write'] },
			},
		],
		lines: [],
		causes: [],
	},
];

for (const kind of chosenStores()) {
	test.serial(`a draft shows who gains and who loses access, and changes nothing [${kind}]`, async (t) => {
		const stack = runningStack(kind);
		const place = await furnished(stack);
		const revision = await place.revision();
		for (const { title, changes, lines, causes } of cases) {
			const { status, body, revision: shown } = await askImpact(place, changes);
			t.is(status, 200, `${title}: ${JSON.stringify(body)}`);
			t.deepEqual(impactLines(body), lines, title);
			t.deepEqual(body.counts.by_cause, causes as typeof body.counts.by_cause, title);
			t.deepEqual([body.counts.gained, body.counts.lost], [body.gains.length, body.loses.length], title);
			t.is(body.truncated, false, title);
			t.deepEqual(body.decisions, { replayed: 0, skipped: 0, gained: 0, lost: 0, rows: [], truncated: false }, title);
			t.deepEqual([body.base_revision, shown], [revision, revision], title);
		}
		t.is(await place.revision(), revision);

		// Applying the draft has the predicted effect.
		const { changes = [], lines = [] } = cases[1] ?? {};
		const applied = await place.http.post(`${environmentPath(place)}/drafts/apply`, {
			base_revision: revision,
			changes,
		});
		t.is(applied.status, 200, JSON.stringify(applied.body));
		const back = await askImpact(place, [
			assignment('delete', { user: 'dan', role: 'editor', tenant: 'other' }),
			assignment('create', { user: 'ben', role: 'viewer', resource_instance: 'folder:outer' }),
		]);
		const turned = lines.map((line) => (line.startsWith('+') ? `-${line.slice(1)}` : `+${line.slice(1)}`)).sort();
		t.deepEqual(impactLines(back.body), turned);
		t.is(back.body.base_revision, revision + 1);
	});
}

onServer('a row explains the decision before and after', async (t) => {
	const place = await furnished(runningStack('server'));
	const { status, body } = await askImpact(place, cases[3]?.changes ?? []);
	t.is(status, 200, JSON.stringify(body));
	const row = body.loses.find(({ action }) => action === 'read');
	t.deepEqual<unknown, ImpactRow | undefined>(
		row as never,
		{
			user: 'ben',
			action: 'read',
			resource: { type: 'document', key: 'plan' },
			tenant: 'acme',
			before: {
				allow: true,
				code: 'allow',
				reason: 'the roles of user `ben` on `document:plan` grant `document:read`',
				by: [{ by: 'role_on_instance', role: 'document#reader' }],
			},
			after: {
				allow: false,
				code: 'no_graph_roles',
				reason: 'user `ben` has no role on `document:plan`',
				by: [],
			},
		} as never,
	);
});

onServer('logged decisions are decided again', async (t) => {
	const stack = runningStack('server');
	const place = await furnished(stack);
	const event = (id: number, user: string, input: object) => ({
		decision_id: `decision-${id}`,
		timestamp: `2026-01-31T08:00:0${id}Z`,
		input: { user: { key: user }, action: 'write', ...input },
		result: { allow: true, code: 'allow' },
	});
	const plan = { resource: { type: 'document', key: 'plan', tenant: 'acme' } };
	const uploaded = await place.http.post('/v1/decision_logs/ingress', [
		event(1, 'ann', plan),
		event(2, 'dan', { resource: { type: 'document', tenant: 'acme', attributes: { level: 2 } } }),
		event(3, 'ann', { resource: 'document' }),
		event(4, 'ben', plan),
	]);
	t.is(uploaded.status, 204);
	const changes = [
		{ kind: 'role', operation: 'update', key: 'editor', value: { name: 'Editor', permissions: ['document:read'] } },
		{ kind: 'user', operation: 'update', key: 'dan', value: { attributes: { department: 'sales' } } },
		...(cases[5]?.changes ?? []),
	];
	const { body } = await askImpact(place, changes);
	const { rows, ...counts } = body.decisions;
	t.deepEqual(counts, { replayed: 3, skipped: 1, gained: 1, lost: 1, truncated: false });
	t.deepEqual(
		rows.map(({ timestamp, user, logged, before, after }) => [timestamp, user, logged, before.allow, after.allow]),
		[
			['2026-01-31T08:00:02.000Z', 'dan', 'allow', false, true],
			['2026-01-31T08:00:01.000Z', 'ann', 'allow', true, false],
		],
	);
	t.is((await askImpact(place, changes, { limits: { decisions: 0 } })).body.decisions.replayed, 0);
});

onServer('an inapplicable draft is rejected, and a caller without access learns nothing', async (t) => {
	const stack = runningStack('server');
	const place = await furnished(stack);
	const base_revision = await place.revision();
	await place.http.patch(`${place.facts}/users/dan`, { first_name: 'Dan' });
	const change = { kind: 'user', operation: 'delete', key: 'dan' };
	const stale = await askImpact(place, [change], { base_revision });
	t.is(stale.status, 409, JSON.stringify(stale.body));
	t.is((await askImpact(place, [{ kind: 'user', operation: 'delete', key: 'nobody' }])).status, 404);
	t.is((await askImpact(place, [{ kind: 'user', operation: 'delete' }])).status, 422);
	t.is((await askImpact(place, [change], { limits: { checks: -1 } })).status, 422);
	t.is((await askImpact(place, [change], { base_revision: base_revision + 100 })).status, 422);
	const url = stack.api.listening.url;
	const { organization_id, project_id, id } = place;
	const secret = await createSecret(stack.api.store, organization_id, {
		project_id,
		environment_id: id,
		access_level: 'read',
	});
	const reader = await askImpact(place, [change], { http: client(url, secret) });
	t.is(reader.status, 200, JSON.stringify(reader.body));
	t.is((await askImpact(place, [change], { http: stack.environment })).status, 403);
	t.is((await askImpact(place, [change], { http: client(url) })).status, 401);
});

onServer('past a limit, counts are lower bounds', async (t) => {
	const place = await furnished(runningStack('server'));
	const { body } = await askImpact(place, cases[0]?.changes ?? [], { limits: { rows: 1, checks: 2 } });
	t.deepEqual([body.loses.length, body.counts.asked, body.counts.lost, body.truncated], [1, 2, 2, true]);
});

interface TestRun {
	readonly passed: number;
	readonly failed: number;
	readonly tests: readonly {
		readonly key: string;
		readonly passed: boolean;
		readonly result: { readonly code: string };
	}[];
	readonly coverage: Readonly<
		Record<string, { readonly total: number; readonly uncovered: number; readonly first: unknown }>
	>;
}

onServer('check tests run without and with a draft, and show the grants that no test covers', async (t) => {
	const place = await furnished(runningStack('server'));
	const { http, schema } = place;
	const collection = `${schema}/check_tests`;
	const plan = { type: 'document', key: 'plan', tenant: 'acme' };
	const add = async (key: string, user: unknown, action: string, expected: string, resource: unknown = plan) => {
		const { status, body } = await http.post(collection, { key, check: { user, action, resource }, expected });
		t.is(status, 200, JSON.stringify(body));
	};
	await add('ann-writes', 'ann', 'write', 'allow');
	await add('ben-reads', 'ben', 'read', 'allow');
	await add('cal-writes', 'cal', 'write', 'allow');
	await add('dan-writes', { key: 'dan', attributes: { department: 'sales' } }, 'write', 'deny');
	t.is((await http.post(collection, { key: 'ann-writes', check: {}, expected: 'allow' })).status, 422);

	const run = async (draft?: object) => {
		const { status, body } = await http.post<TestRun>(`${environmentPath(place)}/check_tests/run`, { draft });
		t.is(status, 200, JSON.stringify(body));
		return body;
	};
	const now = await run();
	t.like(now, { passed: 3, failed: 1 });
	t.like(now.tests[0], { key: 'dan-writes', passed: false, result: { code: 'allow' } });
	t.deepEqual(now.coverage, {
		permissions: { total: 3, uncovered: 1, first: ['folder:list'] },
		derivations: { total: 2, uncovered: 0, first: [] },
		set_rules: { total: 1, uncovered: 0, first: [] },
	});

	const draft = {
		base_revision: await place.revision(),
		changes: [
			{
				kind: 'condition_set_rule',
				operation: 'delete',
				value: { user_set: 'staff', permission: 'document:write', resource_set: 'drafts' },
			},
			{ kind: 'check_test', operation: 'delete', key: 'ben-reads' },
		],
	};
	const drafted = await run(draft);
	t.deepEqual(
		drafted.tests.map(({ key, passed }) => [key, passed]),
		[
			['cal-writes', false],
			['ann-writes', true],
			['dan-writes', true],
		],
	);
	t.like(drafted.coverage, { derivations: { uncovered: 2 }, set_rules: { total: 0 } });
	t.like(await run(), { passed: 3, failed: 1 }, 'a run stores nothing');

	t.is((await http.patch(`${collection}/dan-writes`, { expected: 'allow' })).status, 200);
	t.like(await run(), { passed: 4, failed: 0 });
	const exported = await http.get<{ readonly schema: object }>(`${environmentPath(place)}/export?half=schema`);
	t.like(exported.body.schema, {
		check_tests: { 'ann-writes': { check: { user: { key: 'ann' } }, expected: 'allow' } },
	});
});

onServer('check tests carry contextual facts, and fail if the facts are refused', async (t) => {
	const place = await furnished(runningStack('server'));
	const { http, schema } = place;
	const add = async (key: string, resource_instance: string, expected: string) => {
		const contextual_facts = { role_assignments: [{ user: 'dan', role: 'viewer', resource_instance }] };
		const resource = { type: 'document', key: 'plan', tenant: 'acme' };
		const check = { user: 'dan', action: 'read', resource, contextual_facts };
		const { body } = await http.post<object>(`${schema}/check_tests`, { key, check, expected });
		t.like(body, { check: { contextual_facts } });
	};
	await add('reads', 'folder:outer', 'allow');
	await add('refused', 'folder:missing', 'deny');
	const wrong = { user: 'dan', action: 'read', resource: 'document', contextual_facts: { roles: [] } };
	t.is((await http.post(`${schema}/check_tests`, { key: 'wrong', check: wrong, expected: 'deny' })).status, 422);
	const run = async () => {
		const { body } = await http.post<TestRun>(`${environmentPath(place)}/check_tests/run`, {});
		return body.tests.map(({ key, passed, result: { code } }) => [key, passed, code]);
	};
	t.deepEqual(await run(), [
		['reads', false, 'invalid_query'],
		['refused', false, 'invalid_query'],
	]);
	const settings = { contextual_facts: true };
	t.is((await http.patch(environmentPath(place), { settings })).status, 200);
	t.deepEqual(await run(), [
		['refused', false, 'invalid_query'],
		['reads', true, 'allow'],
	]);
	const { body: document } = await http.get<object>(`${environmentPath(place)}/export`);
	const answer = await http.post(`${environmentPath(place)}/import?conflict_strategy=replace`, document);
	t.is(answer.status, 200, JSON.stringify(answer.body));
	t.deepEqual((await http.get<object>(`${environmentPath(place)}/export`)).body, document);
});

const names = [
	...['documents', 'code-hosting', 'code-review', 'expenses'],
	...['saas-plans', 'shared-documents', 'team-wiki'],
];

for (const name of names) {
	onServer(`the sample ${name} passes its check tests, which cover every permission and rule`, async (t) => {
		const stack = runningStack('server');
		const place = await newPlace({ url: stack.api.listening.url, store: stack.api.store }, stack.organization);
		const document: unknown = JSON.parse(readFileSync(join(root, `docs/samples/${name}.json`), 'utf8'));
		const imported = await place.http.post(`${environmentPath(place)}/import`, document);
		t.is(imported.status, 200, JSON.stringify(imported.body));
		const ran = await place.http.post<TestRun>(`${environmentPath(place)}/check_tests/run`, {});
		t.deepEqual(
			ran.body.tests.filter(({ passed }) => !passed),
			[],
		);
		const { permissions, set_rules } = ran.body.coverage;
		t.deepEqual([permissions?.first, set_rules?.first], [[], []]);

		// The console adds the sample to a draft, which must produce the same environment.
		const drafted = await newPlace({ url: stack.api.listening.url, store: stack.api.store }, stack.organization);
		const draft = withDocument(new Map(), { base_revision: 0, changes: [] }, document);
		const applied = await drafted.http.post(`${environmentPath(drafted)}/drafts/apply`, draft);
		t.is(applied.status, 200, JSON.stringify(applied.body));
		const contents = async (one: Place) => {
			const { body } = await one.http.get<object>(`${environmentPath(one)}/export`);
			return { ...body, environment: null };
		};
		t.deepEqual(await contents(drafted), await contents(place));
	});
}
