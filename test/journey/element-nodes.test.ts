// @alone @long @rest

import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { type Answer, type Client, client, type Loose } from '../support/client.js';
import { cookieOf, sending, signIn, spend } from '../support/element.js';
import { eventually } from '../support/eventually.js';
import { creating } from '../support/furnished.js';
import type { Paginated } from '../support/listed.js';
import { freePort } from '../support/ports.js';
import { createDatabase } from '../support/postgres.js';
import { type Random, seeded } from '../support/random.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { Service } from '../support/service.js';
import { secretFor, settings } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/**
 * Several API processes on the same database share element users, and never log the users' secrets. Each request is
 * decided only once, regardless of the process that receives the decision. A killed process leaves no partial changes
 * and loses no notifications. `KILLS=200` sets the number of kills.
 */

const me = '/v2/auth/me';
const logout = '/v2/auth/logout';

test('only one of two processes redeems a ticket, and no log contains a secret', async (t) => {
	const database = await createDatabase();
	t.teardown(database.drop);
	const nodes = await Promise.all([startNode(t, database.url), startNode(t, database.url)]);
	await Promise.all(nodes.map((node) => node.start()));
	const urls = nodes.map(({ url }) => url);
	const http = client(urls[0] ?? '', secretFor('test-environment'));
	t.is((await http.post('/v2/facts/default/dev/tenants/default/users', { key: 'ann' })).status, 200);
	const secrets: string[] = [];
	for (let round = 0; round < 3; round++) {
		const { token, element_bearer_token, redirect_url } = await signIn({ http }, 'ann', 'default');
		t.true(redirect_url.startsWith(urls[0] ?? 'no url'));
		const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => spend(urls[index % 2] ?? '', token)));
		const [won, ...others] = answers.filter(({ status }) => status === 200);
		t.is(others.length, 0);
		const cookie = cookieOf(won as Answer<unknown>);
		for (const url of urls) {
			t.is((await sending(url, { cookie }).get(me)).status, 200);
			t.is((await client(url, element_bearer_token).get(me)).status, 200);
		}
		secrets.push(token, element_bearer_token, cookie.replace('permit_session=', ''));
		t.is((await sending(urls[1] ?? '', { cookie }).get(logout)).status, 204);
		t.is((await sending(urls[0] ?? '', { cookie }).get(me)).status, 401);
	}
	for (const node of nodes) {
		const output = node.output();
		t.true(output.includes('loginElements'), 'requests are logged');
		for (const secret of secrets) t.false(output.includes(secret));
	}
});

/** Number of kills. */
const kills = Number(process.env['KILLS'] ?? 20);
const schema = '/v2/schema/default/dev';
const facts = '/v2/facts/default/dev';
const config = '/v2/elements/default/dev/config';
const reviewers = Array.from({ length: 50 }, (_, index) => `reviewer-${index}`);

/**
 * Starts two processes on the same database, with elements for access requests and operation approvals. `reviewers`
 * decide the access requests, and `receiver` gets the webhooks about them.
 */
async function twoNodes(t: ExecutionContext, receiver: Receiver) {
	const database = await createDatabase();
	t.teardown(database.drop);
	const nodes = [await startNode(t, database.url, 'warn'), await startNode(t, database.url, 'warn')] as const;
	await Promise.all(nodes.map((node) => node.start()));
	const [mortal, other] = nodes;
	const http = client(other.url, secretFor('test-environment'));
	const made = creating(http);
	for (const key of ['owner', 'editor']) await made(`${schema}/roles`, { key, name: key });
	const role_assignments = [{ role: 'owner', tenant: 'default' }];
	await made(`${facts}/bulk/users`, {
		operations: reviewers.map((key) => ({ key, role_assignments })),
	});
	await made(config, {
		key: 'members',
		name: 'Members',
		elements_type: 'user_management',
		settings: {},
		roles_to_levels: { LEVEL_1: ['owner'] },
	});
	await made(config, {
		key: 'requests',
		name: 'Requests',
		elements_type: 'approval_flow',
		settings: { user_management_element: 'members' },
		roles_to_levels: {},
		webhook: { url: receiver.url },
	});
	await made(`${schema}/resources`, { key: 'account', name: 'Account', actions: {} });
	await made(config, {
		key: 'payments',
		name: 'Payments',
		elements_type: 'operation_approval',
		settings: { resource: 'account', single_use: true },
		roles_to_levels: {},
	});
	for (const key of ['operator', 'checker']) await made(`${facts}/tenants/default/users`, { key });
	const connection = new pg.Client({ connectionString: database.url });
	await connection.connect();
	await connection.query('listen regolith_revision');
	t.teardown(() => connection.end());
	return {
		mortal,
		other,
		http,
		/** Resolves when the next write is committed, before its response is sent. */
		nextCommit: () => new Promise<void>((resolve) => connection.once('notification', () => resolve())),
	};
}

type Cluster = Awaited<ReturnType<typeof twoNodes>>;

/** Creates a new member who requests the role `editor`. Returns the request and member ids. */
async function ask({ http }: Cluster, user: string) {
	await http.post(`${facts}/tenants/default/users`, { key: user });
	const { body } = await http.post(`${facts}/access_requests/requests/user/${user}/tenant/default`, {
		access_request_details: { tenant: 'default', role: 'editor' },
	});
	return { user, id: String(body['id']), user_id: String(body['requesting_user_id']) };
}

type Asked = Awaited<ReturnType<typeof ask>>;

/** Returns a request's state, and the number of roles that its author got according to the log. */
async function stateOf({ http }: Cluster, { user, id }: Asked) {
	const one = await http.get(`${facts}/access_requests/requests/user/${user}/tenant/default/${id}`);
	const roles = await http.get<readonly Loose[]>(`${facts}/role_assignments?user=${user}`);
	const log = async (query: string) => {
		const { body } = await http.get<Paginated>(`/v2/projects/default/envs/dev/changes?per_page=100&${query}`);
		return body.data;
	};
	const moves = (await log('kind=element_request&operation=update')).filter(({ key }) => key === id);
	const assigned = (await log('kind=role_assignment')).filter(
		({ after }) => (after as Loose | null)?.['element_request_id'] === id,
	);
	return {
		status: String(one.body['status']),
		roles: roles.body.map(({ role }) => role),
		moves: moves.map(({ revision }) => revision),
		assigned: assigned.map(({ revision }) => revision),
	};
}

/** Single-use approvals, and their user's session at the surviving process. */
interface Usable {
	readonly operator: Client;
	readonly approvals: readonly { readonly id: string; readonly instance: string }[];
}

const payments = `${config}/payments/operation_approval`;

/** Requests and approves an operation on each account. */
async function approveOperations({ other, http }: Cluster, keys: readonly string[]): Promise<Usable> {
	const sessionOf = async (user: string) =>
		client(other.url, (await signIn({ http }, user, 'default')).element_bearer_token);
	const [operator, checker] = [await sessionOf('operator'), await sessionOf('checker')];
	const approvals: { id: string; instance: string }[] = [];
	for (const key of keys) {
		const instance = `account:${key}`;
		const access_request_details = { tenant: 'default', resource: 'account', resource_instance: instance };
		const id = String((await operator.post(payments, { access_request_details })).body['id']);
		const reviewing = { user: 'checker', role: '_Reviewer_', tenant: 'default', resource_instance: instance };
		await http.post(`${facts}/role_assignments`, reviewing);
		const { status } = await checker.put(`${payments}/${id}/approve`, {});
		if (status !== 200) throw new Error(`an operation was not approved: ${status}`);
		approvals.push({ id, instance });
	}
	return { operator, approvals };
}

function consume(url: string, id: string) {
	return client(url, secretFor('test-environment')).post(`${facts}/operation_approvals/${id}/consume`);
}

/**
 * Asserts that an approval was used at most once, that its role was removed in a single revision if and only if it was
 * used, and that the response agrees. Returns true if the approval was used.
 */
async function assertUsedOnce(
	t: ExecutionContext,
	{ other, http }: Cluster,
	{ operator }: Usable,
	{ id, instance }: Usable['approvals'][number],
	answered: boolean,
): Promise<boolean> {
	const used = async () => 'consumed_at' in (await operator.get(`${payments}/${id}`)).body;
	const revisions = async (query: string, isOf: (change: Loose) => boolean) => {
		const { body } = await http.get<Paginated>(`/v2/projects/default/envs/dev/changes?per_page=100&${query}`);
		return body.data.filter(isOf).map(({ revision }) => revision);
	};
	const uses = () =>
		revisions(
			'kind=element_request&operation=update',
			({ key, after }) => key === id && Boolean((after as Loose)['consumed_at']),
		);
	const taken = () =>
		revisions(
			'kind=role_assignment&operation=delete',
			({ before }) => (before as Loose | null)?.['element_request_id'] === id,
		);
	const held = async () =>
		(await http.get<readonly unknown[]>(`${facts}/role_assignments?user=operator&resource_instance=${instance}`)).body
			.length;
	const before = await used();
	if (answered) t.true(before, 'the response is authoritative');
	t.is(await held(), before ? 0 : 1, instance);
	t.is((await uses()).length, before ? 1 : 0);
	t.is((await consume(other.url, id)).status, before ? 409 : 200, 'at most once');
	t.is((await uses()).length, 1);
	t.deepEqual(await taken(), await uses(), 'in one revision');
	return before;
}

test('two processes decide a request once, and killing one leaves no partial change and loses no notification', async (t) => {
	t.timeout(180_000 + kills * 20_000);
	let holding = false;
	const receiver = await startReceiver((_, response) => {
		if (!holding) response.writeHead(204).end();
	});
	t.teardown(receiver.stop);
	const cluster = await twoNodes(t, receiver);
	await assertOneOutcome(t, cluster);
	await seeded(t, async (random) => {
		const hold = (held: boolean) => {
			holding = held;
		};
		const told = [...(await assertTakenOver(t, cluster, receiver, hold)), ...(await assertWhole(t, cluster, random))];
		await assertTold(t, cluster, receiver, told);
	});
});

/** Sends the decisions of all reviewers on a request concurrently, half to each process. */
async function assertOneOutcome(t: ExecutionContext, cluster: Cluster): Promise<void> {
	const { mortal, other, http } = cluster;
	const sessions: Client[] = [];
	for (const [index, reviewer] of reviewers.entries()) {
		const { element_bearer_token } = await signIn({ http }, reviewer, 'default');
		sessions.push(client([mortal.url, other.url][index % 2] ?? '', element_bearer_token));
	}
	const rounds: readonly (readonly ('approve' | 'deny')[])[] = [['approve', 'deny'], ['approve'], ['deny']];
	for (const [round, moves] of rounds.entries()) {
		const asked = await ask(cluster, `raced-${round}`);
		const answers = await Promise.all(
			sessions.map(async (session, index) => {
				const move = moves[Math.floor(index / 2) % moves.length] ?? 'approve';
				const answer = await session.put(`${config}/requests/access_requests/${asked.id}/${move}`, {});
				return { move, answer };
			}),
		);
		const won = answers.filter(({ answer }) => answer.status === 200);
		t.is(won.length, 1);
		t.is(answers.filter(({ answer }) => answer.status === 409).length, reviewers.length - 1);
		const approved = won[0]?.move === 'approve';
		const { status, roles, moves: logged, assigned } = await stateOf(cluster, asked);
		t.is(status, approved ? 'approved' : 'denied');
		t.deepEqual(roles, approved ? ['editor'] : []);
		t.is(logged.length, 1);
		t.deepEqual(assigned, approved ? logged : [], 'in the same revision');
	}
}

/** Requests and their final states. */
type Told = readonly (Asked & { readonly status: string })[];

/** Kills a process while it waits for the response to a webhook. Asserts that the same message is sent again. */
async function assertTakenOver(
	t: ExecutionContext,
	cluster: Cluster,
	receiver: Receiver,
	hold: (held: boolean) => void,
): Promise<Told> {
	const { mortal, http } = cluster;
	const asked = await ask(cluster, 'told-twice');
	await nothingWaits(http);
	hold(true);
	const before = receiver.received.length;
	t.is(await approve(mortal, 'reviewer-0', asked), 200, 'no request waits for the receiver');
	await eventually(() => receiver.received.length > before);
	await mortal.kill();
	hold(false);
	await mortal.start();
	await nothingWaits(http);
	const ids = receiver.received.slice(before).map(({ headers }) => headers['webhook-id']);
	t.is(ids.length, 2);
	t.is(ids[0], ids[1], 'the same message is sent again');
	return [{ ...asked, status: 'approved' }];
}

async function approve({ url }: Service, reviewer: string, { id }: Asked): Promise<number> {
	const path = `${facts}/access_requests/requests/user/${reviewer}/tenant/default/${id}/approve`;
	return (await client(url, secretFor('test-environment')).put(path, {})).status;
}

/**
 * Kills a process while it approves requests, and while approvals are used. Asserts that a request is approved if and
 * only if its role is assigned, and that both happen in the same revision.
 */
async function assertWhole(t: ExecutionContext, cluster: Cluster, random: Random): Promise<Told> {
	const { mortal } = cluster;
	const told: (Asked & { readonly status: string })[] = [];
	let unanswered = 0;
	let unheard = 0;
	const uses = { unanswered: 0, unheard: 0 };
	for (let kill = 0; kill < kills; kill += 1) {
		const asked = await Promise.all([0, 1, 2, 3].map((number) => ask(cluster, `killed-${kill}-${number}`)));
		const usable = await approveOperations(cluster, [`${kill}-a`, `${kill}-b`]);
		const [first, ...others] = asked;
		const began = performance.now();
		if (first !== undefined) t.is(await approve(mortal, 'reviewer-0', first), 200);
		// The requests are staggered, so that some of them are near their commit at any kill time.
		const pace = Math.ceil((performance.now() - began) / 3);
		const silent = new Set<string>();
		// The first commit alternates between a use and an approval.
		const [usesWait, approvalsWait] = kill % 4 < 2 ? [0, 2] : [3, 0];
		const sent = others.map(async (one, index) => {
			await sleep((approvalsWait + index) * pace);
			return approve(mortal, `reviewer-${index}`, one)
				.then((status) => t.is(status, 200))
				.catch(() => {
					unanswered += 1;
					silent.add(one.id);
				});
		});
		const answered = new Set<string>();
		const consuming = usable.approvals.map(async ({ id }, index) => {
			await sleep((usesWait + index) * pace);
			await consume(mortal.url, id)
				.then(({ status }) => {
					t.is(status, 200);
					answered.add(id);
				})
				.catch(() => {
					uses.unanswered += 1;
				});
		});
		// Every second kill happens immediately after a commit notification.
		await (kill % 2 === 0 ? cluster.nextCommit() : sleep(random.below(5 * pace)));
		await mortal.kill();
		await Promise.all([...sent, ...consuming]);
		for (const one of usable.approvals) {
			const used = await assertUsedOnce(t, cluster, usable, one, answered.has(one.id));
			if (used && !answered.has(one.id)) uses.unheard += 1;
		}
		for (const one of asked) {
			const { status, roles, moves, assigned } = await stateOf(cluster, one);
			t.true(['pending', 'approved'].includes(status), status);
			t.deepEqual(roles, status === 'approved' ? ['editor'] : [], one.user);
			t.is(moves.length, status === 'approved' ? 1 : 0);
			t.deepEqual(assigned, moves);
			told.push({ ...one, status });
			if (status === 'approved' && silent.has(one.id)) unheard += 1;
		}
		await mortal.start();
	}
	const approved = told.filter(({ status }) => status === 'approved').length;
	t.log(`${kills} kills: ${told.length} requests, ${unanswered} unanswered, ${approved} approved, ${unheard} of both`);
	t.log(`${2 * kills} uses of approvals: ${uses.unanswered} unanswered, ${uses.unheard} of them had counted`);
	t.true(unanswered > 0, 'no kill coincided with a request');
	t.true(uses.unanswered > 0, 'no kill coincided with a use');
	t.true(approved > kills, 'no request during a kill was approved');
	return told;
}

const deliveryLog = `${config}/requests/webhook_deliveries?per_page=1`;

/** Waits until every delivery has ended. A killed process holds its lease for half a minute. */
async function nothingWaits(http: Client): Promise<void> {
	await eventually(
		() => http.get(`${deliveryLog}&status=pending`),
		({ body }) => body['total_count'] === 0,
		{ deadline: 90_000, interval: 250 },
	);
}

/** Asserts that each request was delivered as pending, and as approved if and only if it was approved. */
async function assertTold(t: ExecutionContext, { http }: Cluster, receiver: Receiver, told: Told): Promise<void> {
	await nothingWaits(http);
	t.is((await http.get(`${deliveryLog}&status=failed`)).body['total_count'], 0);
	const heard = new Set(receiver.bodies().map((body) => `${body['requesting_user_id']} ${body['status']}`));
	for (const { user_id, status } of told) {
		t.true(heard.has(`${user_id} pending`));
		t.is(heard.has(`${user_id} approved`), status === 'approved');
	}
}

async function startNode(t: ExecutionContext, databaseUrl: string, level = 'debug'): Promise<Service> {
	const port = await freePort();
	const env = {
		...settings(temporary(t), 'test'),
		API_PORT: String(port),
		DATABASE_URL: databaseUrl,
		SECRET_KEY: 'the same passphrase on every node of the cluster',
		LOG_LEVEL: level,
	};
	const serve = new Service(`http://127.0.0.1:${port}`, { command: ['serve'], env });
	t.teardown(() => serve.kill().then(() => undefined));
	return serve;
}
