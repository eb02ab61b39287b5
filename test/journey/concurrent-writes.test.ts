// @alone @long @rest

import test, { type ExecutionContext } from 'ava';
import { unpack } from '../../src/bundle/bundle.js';
import { Engine } from '../../src/pdp/engine/engine.js';
import type { Answer, Client } from '../support/client.js';
import { onAllStores, onEachStack, onEachStore } from '../support/each-store.js';
import { type Mixed, mixedWrite, questions } from '../support/mixed-writes.js';
import { seeded } from '../support/random.js';
import { facts, type Stack, schema } from '../support/stack.js';

/**
 * Many clients write concurrently to the same environment, often to the same objects. Each client gets a documented
 * response, no revision is lost or reported twice, and lists always agree with their totals. At the end, the decision
 * point has the state in a current snapshot.
 */

const clients = 16;
const writes = onAllStores ? 5_000 : 2_500;

onEachStack(
	`${writes} mixed writes by ${clients} clients finish in revision order`,
	(t, stack) =>
		seeded(t, async (random) => {
			// A fraction of this time is usually enough, but the test must not fail on a busy machine.
			t.timeout(600_000);
			const told: Told[] = [];
			let left = writes;
			const writer = async () => {
				const own = random.fork();
				while (left > 0) {
					left -= 1;
					const write = mixedWrite(own);
					told.push({ write, answer: await stack.environment.send(write.method, write.path, write.body) });
				}
			};
			const reading = new AbortController();
			const reader = readLists(t, stack.environment, reading.signal);
			await Promise.all(Array.from({ length: clients }, writer)).finally(() => reading.abort());
			t.true((await reader) > 0, 'no list was read during the writes');
			assertAnswers(t, told);
			const last = await assertLogged(t, stack, told);
			// The random writes may have left nothing to check.
			const resource = { key: 'resource-0', name: 'Resource', actions: { read: {}, write: {}, share: {} } };
			const { revision } = await stack.environment.post(`${schema}/resources`, resource);
			await stack.reached(revision ?? last);
			await assertDecisions(t, stack);
		}),
	{ declare: test.serial },
);

interface Told {
	readonly write: Mixed;
	readonly answer: Answer<unknown>;
}

function assertAnswers(t: ExecutionContext, told: readonly Told[]): void {
	const counts = new Map<number, number>();
	for (const { write, answer } of told) {
		counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
		if ([200, 201, 204, 404, 409].includes(answer.status)) continue;
		t.fail(
			`${write.method} ${write.path} ${JSON.stringify(write.body)}: ${answer.status} ${JSON.stringify(answer.body)}`,
		);
	}
	t.log([...counts].sort().map(([status, count]) => `${count} times ${status}`));
	for (const status of [200, 201, 204, 404, 409])
		t.true((counts.get(status) ?? 0) > writes / 500, `too few responses with ${status}`);
}

interface Logged {
	readonly revision: number;
	readonly position: number;
	readonly kind: string;
	readonly operation: string;
	readonly key: string;
}

/**
 * Asserts that the log contains every revision exactly once, and each client's change under the acknowledged revision.
 * Returns the newest revision.
 */
async function assertLogged(t: ExecutionContext, { api }: Stack, told: readonly Told[]): Promise<number> {
	const { knex } = api.store.database;
	const [environment] = await knex('environments').where({ key: 'dev' });
	const changes: Logged[] = await knex('changes')
		.where({ environment_id: environment.id })
		.orderBy(['revision', 'position']);
	const under = new Map<number, Logged[]>();
	for (const change of changes) under.set(change.revision, [...(under.get(change.revision) ?? []), change]);
	t.deepEqual(
		[...under.keys()],
		Array.from({ length: environment.revision }, (_, index) => index + 1),
	);
	for (const entries of under.values()) {
		t.deepEqual(
			entries.map(({ position }) => position),
			entries.map((_, index) => index),
		);
	}
	const owners = new Map<number, Mixed>();
	for (const { write, answer } of told) {
		if (answer.status > 299) {
			t.is(answer.revision, undefined);
			continue;
		}
		const { revision = 0 } = answer;
		const entries = (under.get(revision) ?? []).map(({ kind, operation, key }) => `${operation} ${kind} ${key}`);
		if (write.leaves === undefined) continue;
		t.true(entries.includes(write.leaves), `revision ${revision} has no \`${write.leaves}\` but ${entries.join(', ')}`);
		const other = owners.get(revision);
		t.is(other, undefined, `revision ${revision} has two writes: ${other?.leaves} and ${write.leaves}`);
		owners.set(revision, write);
	}
	return environment.revision;
}

/** Repeatedly reads lists that fit on a page, until stopped. Returns the number of reads. */
async function readLists(t: ExecutionContext, api: Client, signal: AbortSignal): Promise<number> {
	let read = 0;
	while (!signal.aborted) {
		for (const list of ['users', 'tenants', 'role_assignments']) {
			const path = `${facts}/${list}?per_page=100&include_total_count=true`;
			const { status, body } = await api.get<{ data: unknown[]; total_count: number; page_count: number }>(path);
			t.is(status, 200);
			if (body.total_count > 100) t.is(body.data.length, 100);
			else t.is(body.data.length, body.total_count, `${list} and their total come from different states`);
			t.is(body.page_count, Math.ceil(body.total_count / 100));
			read += 1;
		}
	}
	return read;
}

/**
 * Asserts that the decision point has the same state, and makes the same decisions, as a new engine with a current
 * snapshot.
 */
async function assertDecisions(t: ExecutionContext, stack: Stack): Promise<void> {
	const [environment] = await stack.api.store.database.knex('environments').where({ key: 'dev' });
	const { url } = stack.api.listening;
	const answer = await fetch(`${url}/bundles/${environment.id}`, {
		headers: { authorization: `Bearer ${stack.keys.environment}`, prefer: 'modes=snapshot' },
	});
	t.is(answer.status, 200);
	const files = await unpack(new Uint8Array(await answer.arrayBuffer()));
	const wasm = await WebAssembly.compile(files.get('policy.wasm') as Uint8Array<ArrayBuffer>);
	const fresh = await Engine.load(wasm, files.get('data.json') as Uint8Array);
	const followed = stack.decisionPoint.replica.current();
	t.is(followed?.revision, environment.revision);
	t.deepEqual((followed?.engine as Engine | undefined)?.dump(), fresh.dump());
	const asked = questions();
	const codes = asked.map((question) => fresh.code(question));
	t.deepEqual(
		asked.map((question) => followed?.engine.code(question)),
		codes,
	);
	t.true(new Set(codes).size > 1, 'both decision points give the same results');
}

const journey = onEachStore();

journey('a failed write undoes only itself, whatever other writes share its transaction', async (t, place) => {
	const { http, schema: types, facts: here } = place;
	await http.post(`${types}/roles`, { key: 'viewer', name: 'Viewer' });
	await http.post(`${here}/users`, { key: 'taken' });
	const first = await place.revision();
	const answers = await Promise.all(
		Array.from({ length: 48 }, (_, index) => {
			const key = `u${index}`;
			// The first request succeeds, the second fails immediately, and the third fails after its user is inserted.
			if (index % 3 === 0) return http.post(`${here}/users`, { key });
			if (index % 3 === 1) return http.post(`${here}/users`, { key: 'taken' });
			return http.post(`${here}/users`, { key, role_assignments: [{ role: 'nothing', tenant: 'default' }] });
		}),
	);
	t.deepEqual(
		answers.map(({ status }) => status),
		answers.map((_, index) => [200, 409, 404][index % 3]),
	);
	const told = answers.flatMap(({ revision }) => revision ?? []).sort((a, b) => a - b);
	t.deepEqual(
		told,
		Array.from({ length: 16 }, (_, index) => first + index + 1),
	);
	t.is(await place.revision(), first + 16);
	const { body } = await http.get<{ data: { key: string }[] }>(`${here}/users?per_page=100`);
	const wanted = Array.from({ length: 16 }, (_, index) => `u${index * 3}`);
	t.deepEqual(body.data.map(({ key }) => key).sort(), ['taken', ...wanted].sort());
});
