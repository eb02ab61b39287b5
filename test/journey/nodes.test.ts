// @alone @rest

import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { type Client, client } from '../support/client.js';
import { reached, seedSchema } from '../support/deployment.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/ports.js';
import { createDatabase } from '../support/postgres.js';
import { type Random, seeded } from '../support/random.js';
import { Service } from '../support/service.js';
import { facts, secretFor, settings } from '../support/stack.js';
import { startStorm } from '../support/storm.js';
import { temporary } from '../support/temporary.js';
import { readWorld, union, worldQuestions, worldWords, writerKeys } from '../support/world.js';

/**
 * Several API processes on the same PostgreSQL, each with a decision point. Nodes are stateless, so any node may stop
 * and start.
 */

interface Node {
	readonly serve: Service;
	readonly api: Client;
	/** Client of this node's decision point. */
	readonly pdp: Client;
}

interface Cluster {
	readonly nodes: readonly [Node, Node];
	/** Queries the shared database. */
	query(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** Starts two nodes concurrently on an empty database. They must agree on the node that creates the tables. */
async function cluster(t: ExecutionContext): Promise<Cluster> {
	const database = await createDatabase();
	t.teardown(database.drop);
	const nodes = [await startNode(t, database.url), await startNode(t, database.url)] as const;
	await Promise.all(nodes.map(({ serve }) => serve.start()));
	await Promise.all(nodes.map(({ follow }) => follow.start()));
	await seedSchema(nodes[0]);
	return {
		nodes: [nodes[0], nodes[1]],
		async query(sql) {
			const connection = new pg.Client({ connectionString: database.url });
			await connection.connect();
			try {
				return (await connection.query(sql)).rows;
			} finally {
				await connection.end();
			}
		},
	};
}

async function startNode(t: ExecutionContext, databaseUrl: string): Promise<Node & { readonly follow: Service }> {
	const key = secretFor('test-environment');
	const [apiPort, pdpPort] = [await freePort(), await freePort()];
	const [api, pdp] = [`http://127.0.0.1:${apiPort}`, `http://127.0.0.1:${pdpPort}`];
	const env = {
		...settings(temporary(t), 'test'),
		API_PORT: String(apiPort),
		PDP_PORT: String(pdpPort),
		DATABASE_URL: databaseUrl,
		SECRET_KEY: 'the same passphrase on every node of the cluster',
		PDP_API_KEY: key,
		PDP_CONTROL_PLANE: api,
		LOG_LEVEL: 'warn',
	};
	const serve = new Service(api, { command: ['serve'], env });
	const follow = new Service(pdp, { command: ['pdp'], env });
	t.teardown(() => Promise.all([serve.kill(), follow.kill()]).then(() => undefined));
	return { serve, follow, api: client(api, key), pdp: client(pdp, key) };
}

test('two nodes form one service: they see each other’s writes, accept concurrent writers, and survive the death of one', async (t) => {
	const running = await cluster(t);
	await assertShared(t, running);
	await seeded(t, (random) => assertGapless(t, running, random));
	await assertOutlives(t, running);
});

/**
 * Asserts that a write through one node affects the decisions of the other node's decision point, and that a key read
 * from one node works at the other node.
 */
async function assertShared(t: ExecutionContext, { nodes: [a, b] }: Cluster): Promise<void> {
	const given = await a.api.post(`${facts}/users`, viewer('ann'));
	t.is(given.status, 200);
	t.true(await mayRead(b.pdp, 'ann', given.revision));
	const taken = await b.api.delete(`${facts}/users/ann`);
	t.is(taken.revision, Number(given.revision) + 1);
	t.false(await mayRead(a.pdp, 'ann', taken.revision));

	const ofProject = secretFor('test-project');
	const shown = await client(b.serve.url, ofProject).get('/v2/api-key/default/production');
	const secret = String(shown.body['secret']);
	t.is((await client(a.serve.url, ofProject).get('/v2/api-key/default/production')).body['secret'], secret);
	t.is((await client(a.serve.url, secret).get('/v2/api-key/scope')).status, 200);
}

/**
 * Asserts that writers alternating between the nodes lose nothing, and that revisions have neither duplicates nor gaps.
 */
async function assertGapless(t: ExecutionContext, { nodes, query }: Cluster, random: Random): Promise<void> {
	const [a, b] = nodes;
	const before = await readWorld(a.api, facts);
	const storm = startStorm({ apis: [a.api, b.api], facts }, [a.pdp, b.pdp], 4, random);
	await storm.more(150);
	const { worlds, settled, revision, unanswered, verified } = await storm.stop();
	t.is(unanswered, 0);
	t.true(verified > 0);
	t.is(settled, revision, 'the newest acknowledged revision is the newest revision');
	const logged = await query(`select distinct revision from changes
		where environment_id = (select id from environments where key = 'dev') order by revision`);
	t.deepEqual(
		logged.map((row) => Number(row['revision'])),
		Array.from({ length: settled }, (_, index) => index + 1),
	);
	const stored = worldWords(await readWorld(b.api, facts)).filter((word) => !word.startsWith('user settle-'));
	t.deepEqual(stored, [...worldWords(union([before, ...worlds]))]);
	for (const { pdp } of nodes) {
		await reached(pdp, settled);
		for (const [writer, world] of worlds.entries()) {
			const questions = worldQuestions(writerKeys(writer), world);
			const answer = await pdp.post<Bulk>(
				'/allowed/bulk',
				questions.map(({ asked }) => asked),
			);
			t.deepEqual(
				answer.body.allow.map(({ allow }) => allow),
				questions.map(({ allow }) => allow),
			);
		}
	}
}

/**
 * Asserts that the death of a node does not affect the other node. The dead node's decision point continues to decide,
 * and catches up after the restart.
 */
async function assertOutlives(t: ExecutionContext, { nodes: [a, b] }: Cluster): Promise<void> {
	await a.serve.kill();
	const alone = await b.api.post(`${facts}/users`, viewer('bob'));
	t.is(alone.status, 200);
	t.true(await mayRead(b.pdp, 'bob', alone.revision));
	t.true(await mayRead(a.pdp, 'alice', 0));
	await a.serve.start();
	t.true(await mayRead(a.pdp, 'bob', alone.revision));
}

function viewer(key: string) {
	return { key, role_assignments: [{ role: 'viewer', tenant: 'default' }] };
}

async function mayRead(pdp: Client, user: string, revision: number | undefined): Promise<unknown> {
	await reached(pdp, revision);
	return (await pdp.post('/allowed', { user, action: 'read', resource: 'document' })).body['allow'];
}

test('broken database connections are replaced', async (t) => {
	const { nodes, query } = await cluster(t);
	const [a, b] = nodes;
	const listeners = async () =>
		(
			await query(`select pid from pg_stat_activity
			where datname = current_database() and application_name = 'regolith listener' order by pid`)
		).map((row) => row['pid']);
	const before = await eventually(listeners, (pids) => pids.length === 2);

	await query(`select pg_terminate_backend(pid) from pg_stat_activity
		where datname = current_database() and application_name = 'regolith listener'`);
	const after = await eventually(listeners, (pids) => pids.length === 2 && !pids.some((pid) => before.includes(pid)));
	t.is(after.length, 2);
	for (const [writing, reading] of [
		[a, b],
		[b, a],
	] as const) {
		const name = `user-${writing.serve.url.split(':').at(-1)}`;
		const written = await writing.api.post(`${facts}/users`, {
			key: name,
			role_assignments: [{ role: 'editor', tenant: 'default' }],
		});
		await reached(reading.pdp, written.revision);
		const answer = await reading.pdp.post('/allowed', { user: name, action: 'write', resource: 'document' });
		t.is(answer.body['allow'], true);
	}

	// Also closes the idle connections in the pools. The next request gets a new connection and does not fail.
	await query(`select pg_terminate_backend(pid) from pg_stat_activity
		where datname = current_database() and pid <> pg_backend_pid()`);
	const answers = await Promise.all(
		nodes.map(({ api }) =>
			eventually(
				() => api.get(`${facts}/users`),
				({ status }) => status === 200,
			),
		),
	);
	t.deepEqual(
		answers.map(({ status }) => status),
		[200, 200],
	);
	const written = await a.api.post(`${facts}/users`, { key: 'last' });
	t.is(written.status, 200);
	await Promise.all(nodes.map(({ pdp }) => reached(pdp, written.revision)));
});

interface Bulk {
	readonly allow: readonly { readonly allow: boolean }[];
}
