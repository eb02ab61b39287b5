// @alone

import test, { type ExecutionContext } from 'ava';
import type { EngineInput } from '../../src/pdp/engine/engine.js';
import { Replica } from '../../src/pdp/follow/replica.js';
import { eventually } from '../support/eventually.js';
import { acme, acmeWithInvoices, assign, policyWasm, quiet, snapshot, step } from './environment.js';
import { FakeFeed } from './fake-feed.js';

/** A replica that follows a feed over HTTP: its state, its requests to the feed, and its decisions. */

const key = 'permit_key_of_the_environment';
const pace = { first: 5, longest: 40, refused: 20 };

test.before('build the policies', async () => {
	await Promise.all([policyWasm(acme), policyWasm(acmeWithInvoices)]);
});

async function startFeed(t: ExecutionContext): Promise<FakeFeed> {
	const feed = new FakeFeed();
	await feed.start();
	t.teardown(() => feed.stop());
	return feed;
}

function follow(t: ExecutionContext, feed: FakeFeed): Replica {
	const replica = new Replica({ controlPlane: feed.url, apiKey: key, log: quiet, pace });
	replica.start();
	t.teardown(() => replica.stop());
	return replica;
}

async function ready(t: ExecutionContext, revision = 1): Promise<{ feed: FakeFeed; replica: Replica }> {
	const feed = await startFeed(t);
	feed.publish({ revision, snapshot: await snapshot({ revision, model: acme }) });
	const replica = follow(t, feed);
	await replica.reached(revision);
	return { feed, replica };
}

const idleReads: EngineInput = {
	user: { key: 'idle' },
	action: 'read',
	resource: { type: 'document', tenant: 'acme' },
	time: 0,
};
const annPays: EngineInput = {
	user: { key: 'ann' },
	action: 'pay',
	resource: { type: 'invoice', tenant: 'acme' },
	time: 0,
};

const answerCode = (replica: Replica, input: EngineInput) => replica.current()?.engine.code(input);

/** Returns a delta that lets `idle` read, and the snapshot after it. */
async function promotion(base: number, revision: number) {
	const role_assignments = [...acme.facts.role_assignments, { user: 'idle', role: 'reader', tenant: 'acme' }];
	const model = { ...acme, facts: { ...acme.facts, role_assignments } };
	const patches = assign('idle', 'acme', ['reader']);
	return { revision, snapshot: await snapshot({ revision, model }), step: await step({ base, revision, patches }) };
}

test('requests a snapshot, then polls once without waiting, then waits with its current revision', async (t) => {
	const { feed, replica } = await ready(t);
	t.deepEqual(replica.state, { kind: 'ready', detail: '' });
	await eventually(
		() => feed.seen.length,
		(count) => count >= 3,
	);
	t.deepEqual(feed.seen.slice(0, 3), [
		{ etag: undefined, prefer: 'modes=snapshot,delta,policy', authorization: `Bearer ${key}` },
		{ etag: '"r1-x"', prefer: 'modes=snapshot,delta,policy', authorization: `Bearer ${key}` },
		{ etag: '"r1-x"', prefer: 'modes=snapshot,delta,policy;wait=30', authorization: `Bearer ${key}` },
	]);
});

test('no check is allowed before the first revision', async (t) => {
	const feed = await startFeed(t);
	const replica = follow(t, feed);
	await eventually(
		() => feed.seen.length,
		(count) => count >= 2,
	);
	t.is(replica.current(), undefined);
	t.is(replica.state.kind, 'starting');
	feed.publish({ revision: 3, snapshot: await snapshot({ revision: 3, model: acme }) });
	await replica.reached(3);
	t.is(answerCode(replica, idleReads), 'no_user_roles');
});

test('a delta is applied in place', async (t) => {
	const { feed, replica } = await ready(t);
	const engine = replica.current()?.engine;
	feed.publish(await promotion(1, 2));
	await replica.reached(2);
	t.is(answerCode(replica, idleReads), 'allow');
	t.is(replica.current()?.engine, engine);
});

test('a delta from a base older than the current revision is also applied', async (t) => {
	const { feed, replica } = await ready(t, 5);
	feed.publish(await promotion(2, 7));
	await replica.reached(7);
	t.is(answerCode(replica, idleReads), 'allow');
});

test('a delta that does not continue the current revision triggers a snapshot request', async (t) => {
	const { feed, replica } = await ready(t);
	const engine = replica.current()?.engine;
	feed.publish(await promotion(8, 9));
	await replica.reached(9);
	t.is(answerCode(replica, idleReads), 'allow');
	t.not(replica.current()?.engine, engine);
});

test('after a delta fails half-way, checks are denied until a snapshot arrives', async (t) => {
	const { feed, replica } = await ready(t);
	const impossible = { op: 'upsert', path: ['regolith', 'facts', 'users', 'ann', 'acme', 'deeper'], value: 1 } as const;
	const broken = await step({ base: 1, revision: 2, patches: [...assign('idle', 'acme', ['editor']), impossible] });
	feed.publish({ revision: 2, snapshot: Buffer.from('not a bundle'), step: broken });
	await eventually(
		() => replica.current(),
		(held) => held === undefined,
	);
	feed.publish(await promotion(1, 2));
	await replica.reached(2);
	t.is(answerCode(replica, idleReads), 'allow');
	t.is(replica.state.kind, 'ready');
});

test('a snapshot older than the current revision is brought up to date before use', async (t) => {
	const { feed, replica } = await ready(t, 5);
	const old = await snapshot({ revision: 2, model: acme });
	const late = await step({ base: 2, revision: 6, patches: assign('idle', 'acme', ['reader']) });
	const seen = new Set<number | undefined>();
	replica.revisions.add(() => seen.add(replica.current()?.revision));
	feed.publish({
		revision: 6,
		snapshot: Buffer.from('never asked for'),
		step: await step({ base: 99, revision: 6, patches: [] }),
		older: { revision: 2, snapshot: old, step: late },
	});
	await replica.reached(6);
	t.is(answerCode(replica, idleReads), 'allow');
	t.deepEqual([...seen], [6]);
});

test('the first snapshot is brought up to date before any decision', async (t) => {
	const feed = await startFeed(t);
	const late = await step({ base: 2, revision: 6, patches: assign('idle', 'acme', ['reader']) });
	const old = await snapshot({ revision: 2, model: acme });
	feed.publish({ revision: 6, snapshot: old, older: { revision: 2, snapshot: old, step: late } });
	const replica = follow(t, feed);
	await replica.reached(1);
	t.is(replica.current()?.revision, 6);
	t.is(answerCode(replica, idleReads), 'allow');
});

for (const [title, bytes] of [
	['bytes that are not a bundle', Buffer.from('junk')],
	['a truncated bundle', undefined],
] as const) {
	test(`keeps the current revision after ${title}`, async (t) => {
		const { feed, replica } = await ready(t);
		const whole = await snapshot({ revision: 2, model: acme });
		feed.publish({ revision: 2, snapshot: bytes ?? whole.subarray(0, whole.length / 2) });
		await eventually(
			() => replica.state.kind,
			(kind) => kind === 'stale',
		);
		t.is(replica.current()?.revision, 1);
		t.is(replica.behind.revisions, 1);
		t.true(replica.behind.milliseconds > 0);
		feed.publish({ revision: 3, snapshot: await snapshot({ revision: 3, model: acme }) });
		await replica.reached(3);
		t.is(replica.state.kind, 'ready');
		t.deepEqual(replica.behind, { revisions: 0, milliseconds: 0 });
	});
}

test('the replica does not follow a control plane back to an earlier revision', async (t) => {
	const { feed, replica } = await ready(t, 9);
	feed.publish({ revision: 4, snapshot: await snapshot({ revision: 4, model: acmeWithInvoices }) });
	await eventually(
		() => replica.state,
		(state) => /went back to revision 4/.test(state.detail),
	);
	t.is(replica.current()?.revision, 9);
	t.is(answerCode(replica, annPays), 'no_such_resource');
	feed.publish({ revision: 10, snapshot: await snapshot({ revision: 10, model: acme }) });
	await replica.reached(10);
});

test('a repeated old step is rejected, even after a snapshot request', async (t) => {
	const { feed, replica } = await ready(t);
	const old = await promotion(1, 2);
	feed.publish(old);
	await replica.reached(2);
	feed.publish(await promotion(2, 3));
	await replica.reached(3);
	feed.publish({ revision: 4, snapshot: Buffer.from('no bundle') });
	await eventually(() => replica.state.kind === 'stale');
	feed.publish({ revision: 2, snapshot: old.step ?? Buffer.alloc(0) });
	await eventually(() => replica.state.detail.includes('the current data has revision 3'));
	t.is(replica.current()?.revision, 3);
});

test('a bundle for a different environment is rejected', async (t) => {
	const { feed, replica } = await ready(t);
	feed.publish({
		revision: 2,
		snapshot: await snapshot({ revision: 2, model: acmeWithInvoices, environment: 'other' }),
	});
	await eventually(
		() => replica.state,
		(state) => /environment other/.test(state.detail),
	);
	t.is(replica.current()?.revision, 1);
});

test('a key that has moved to a different environment starts a new history', async (t) => {
	const { feed, replica } = await ready(t, 9);
	feed.environment = 'other';
	feed.publish({
		revision: 2,
		snapshot: await snapshot({ revision: 2, model: acmeWithInvoices, environment: 'other' }),
	});
	await eventually(
		() => replica.current()?.revision,
		(revision) => revision === 2,
	);
	t.is(answerCode(replica, annPays), 'no_permission');
});

for (const status of [401, 403, 404]) {
	test(`a feed that returns ${status} stops all decisions until it recovers`, async (t) => {
		const { feed, replica } = await ready(t);
		feed.refuse(status);
		await eventually(
			() => replica.state.kind,
			(kind) => kind === 'refused',
		);
		t.is(replica.current(), undefined);
		feed.refuse(undefined);
		await eventually(
			() => replica.current()?.revision,
			(revision) => revision === 1,
		);
		t.is(replica.state.kind, 'ready');
	});
}

test('a project key is rejected with a message', async (t) => {
	const feed = await startFeed(t);
	feed.environment = null;
	const replica = follow(t, feed);
	await eventually(
		() => replica.state.kind,
		(kind) => kind === 'refused',
	);
	t.regex(replica.state.detail, /belongs to a project.*needs an environment's key/);
	t.is(feed.seen.length, 0);
});

test('decisions continue while the control plane is down, and the replica catches up afterwards', async (t) => {
	const { feed, replica } = await ready(t);
	await feed.stop();
	await eventually(
		() => replica.state.kind,
		(kind) => kind === 'stale',
	);
	t.is(replica.current()?.revision, 1);
	t.is(answerCode(replica, idleReads), 'no_user_roles');
	feed.publish(await promotion(1, 2));
	await feed.start();
	await replica.reached(2);
	t.is(answerCode(replica, idleReads), 'allow');
	await eventually(
		() => replica.state.kind,
		(kind) => kind === 'ready',
	);
});

test('reports that it is up to date again, even if the feed has nothing new', async (t) => {
	const { feed, replica } = await ready(t);
	const reported: string[] = [];
	replica.changes.add(({ kind }) => reported.push(kind));
	const isReported = (kind: string) =>
		eventually(
			() => reported.at(-1),
			(last) => last === kind,
		);
	feed.refuse(500);
	await isReported('stale');
	feed.refuse(undefined);
	await isReported('ready');
	t.deepEqual(reported, ['stale', 'ready']);
});

test('keeps the current revision and its ETag after a 500 response', async (t) => {
	const { feed, replica } = await ready(t);
	feed.refuse(500);
	await eventually(
		() => replica.state.kind,
		(kind) => kind === 'stale',
	);
	feed.refuse(undefined);
	const seen = feed.seen.length;
	feed.publish(await promotion(1, 2));
	await replica.reached(2);
	t.true(feed.seen.slice(seen).every(({ etag }) => etag !== undefined));
});

test('a new policy keeps the data, and no check fails during the change', async (t) => {
	const { feed, replica } = await ready(t);
	const wasm = await policyWasm(acmeWithInvoices);
	const patches = [
		{ op: 'upsert', path: ['regolith', 'schema', 'actions', 'invoice'], value: { pay: null } },
		{ op: 'upsert', path: ['regolith', 'schema', 'grants', 'invoice'], value: { pay: { editor: null } } },
	] as const;
	const annReads = { ...idleReads, user: { key: 'ann' } };
	const answers = new Set<string | undefined>();
	let checking = true;
	const checks = (async () => {
		while (checking) {
			answers.add(answerCode(replica, annReads));
			await new Promise(setImmediate);
		}
	})();
	feed.publish({
		revision: 2,
		snapshot: await snapshot({ revision: 2, model: acmeWithInvoices }),
		step: await step({ base: 1, revision: 2, patches, wasm }),
	});
	await replica.reached(2);
	checking = false;
	await checks;
	t.deepEqual([...answers], ['allow']);
	t.is(answerCode(replica, annPays), 'allow');
});

test('an invalid policy is not used', async (t) => {
	const { feed, replica } = await ready(t);
	const bad = await step({
		base: 1,
		revision: 2,
		patches: assign('idle', 'acme', ['reader']),
		wasm: Buffer.from('junk'),
	});
	feed.publish({ revision: 2, snapshot: bad, step: bad });
	await eventually(
		() => replica.state.kind,
		(kind) => kind === 'stale',
	);
	t.is(replica.current()?.revision, 1);
	t.is(answerCode(replica, idleReads), 'no_user_roles');
});

test('waiting for a revision ends if the caller disconnects', async (t) => {
	const { replica } = await ready(t);
	await t.throwsAsync(replica.reached(99, AbortSignal.timeout(20)), { name: 'AbortError' });
});

test('a stop ends all work', async (t) => {
	const { feed, replica } = await ready(t);
	await eventually(
		() => feed.seen.length,
		(count) => count >= 3,
	);
	await replica.stop();
	const seen = feed.seen.length;
	feed.publish(await promotion(1, 2));
	await new Promise((resolve) => setTimeout(resolve, 100));
	t.is(feed.seen.length, seen);
	t.is(replica.current()?.revision, 1);
});

test('a bundle truncated or changed in transit is rejected and requested again', async (t) => {
	const { feed, replica } = await ready(t);
	const whole = await snapshot({ revision: 2, model: acme });
	const changedAt = (at: number) => Buffer.from(whole).fill((whole[at] ?? 0) ^ 0x10, at, at + 1);
	// The first ten bytes are the gzip header. Its time and its operating system do not affect the content.
	const places = Array.from({ length: 12 }, (_, index) => 10 + Math.floor(((whole.length - 11) * index) / 11));
	const lengths = [0, 5, 10, Math.floor(whole.length / 2), whole.length - 8, whole.length - 1];
	const damaged = [...places.map(changedAt), ...lengths.map((length) => whole.subarray(0, length))];
	for (const bytes of damaged) {
		feed.publish({ revision: 2, snapshot: bytes });
		const asked = feed.seen.length;
		await eventually(
			() => feed.seen.length,
			(count) => count >= asked + 2,
		);
		t.deepEqual([replica.state.kind, replica.current()?.revision], ['stale', 1]);
		t.is(feed.seen.at(-1)?.etag, undefined, 'the replica requests a snapshot');
	}
	feed.publish({ revision: 2, snapshot: whole });
	await replica.reached(2);
	t.is(answerCode(replica, idleReads), 'no_user_roles');
});

/** The environment without ann's role, as if its history were different. */
const withoutAnn = {
	...acme,
	facts: { ...acme.facts, role_assignments: acme.facts.role_assignments.filter(({ user }) => user !== 'ann') },
};
const annWrites: EngineInput = { ...idleReads, user: { key: 'ann' }, action: 'write' };
const [first, second, third] = ['1'.repeat(16), '2'.repeat(16), '3'.repeat(16)];

async function inLineage(t: ExecutionContext, revision: number): Promise<{ feed: FakeFeed; replica: Replica }> {
	const feed = await startFeed(t);
	const bytes = await snapshot({ lineage: first, revision, model: acme });
	feed.publish({ lineage: first, revision, snapshot: bytes });
	const replica = follow(t, feed);
	await replica.reached({ lineage: first, revision });
	return { feed, replica };
}

test('goes back to an earlier revision for a snapshot of a new lineage, and reports this', async (t) => {
	const { feed, replica } = await inLineage(t, 5);
	t.is(answerCode(replica, annWrites), 'allow');
	const bytes = await snapshot({ lineage: second, revision: 3, model: withoutAnn });
	feed.publish({ lineage: second, revision: 3, snapshot: bytes });
	await replica.reached({ lineage: second, revision: 3 });
	t.deepEqual([replica.lineage, replica.revision, replica.lineageChanges], [second, 3, 1]);
	t.not(answerCode(replica, annWrites), 'allow');
	t.like(replica.left, { lineage: first, revision: 5 });
	t.is(replica.state.kind, 'ready');
	const error = await t.throwsAsync(replica.reached({ lineage: first, revision: 5 }), { name: 'LineageEnded' });
	t.regex(String(error?.message), /1{16} has ended/);
	t.deepEqual(replica.behind, { revisions: 0, milliseconds: 0 });
});

test('does not return to a lineage that it has left, or that a snapshot declares ended, at any revision', async (t) => {
	const { feed, replica } = await inLineage(t, 5);
	const bytes = await snapshot({ lineage: second, revision: 3, model: withoutAnn, formerLineages: [third, first] });
	feed.publish({ lineage: second, revision: 3, snapshot: bytes });
	await replica.reached({ lineage: second, revision: 3 });
	for (const lineage of [first, third]) {
		feed.publish({ lineage, revision: 9, snapshot: await snapshot({ lineage, revision: 9, model: acme }) });
		await eventually(
			async () => replica.state,
			({ detail }) => detail.includes(`went back to lineage ${lineage}`),
		);
		t.deepEqual([replica.lineage, replica.revision], [second, 3]);
		t.not(answerCode(replica, annWrites), 'allow');
	}
	feed.publish({
		lineage: second,
		revision: 4,
		snapshot: await snapshot({ lineage: second, revision: 4, model: acme }),
	});
	await replica.reached({ lineage: second, revision: 4 });
});

test('applies no steps from a different lineage, and never goes back within a lineage', async (t) => {
	const { feed, replica } = await inLineage(t, 5);
	const patches = assign('idle', 'acme', ['reader']);
	const foreign = await step({ lineage: second, base: 5, revision: 6, patches });
	const old = await snapshot({ lineage: first, revision: 4, model: withoutAnn });
	feed.publish({ lineage: first, revision: 4, snapshot: old, step: foreign });
	await eventually(
		async () => replica.state,
		({ detail }) => /went back to revision 4/.test(detail),
	);
	t.deepEqual([replica.lineage, replica.revision], [first, 5]);
	t.is(answerCode(replica, annWrites), 'allow');
	t.not(answerCode(replica, idleReads), 'allow');
});
