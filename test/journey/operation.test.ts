// @rest

import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { pino } from 'pino';
import { startApi } from '../../src/compose/api.js';
import { startDecisionPoint } from '../../src/compose/decision-point.js';
import { readConfig } from '../../src/config.js';
import { createLogger, logOptions } from '../../src/log.js';
import { client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { fails } from '../support/failure.js';
import { createSecret } from '../support/management.js';
import { documentedFamilies, readScrape, type Scrape, undocumented } from '../support/metrics.js';
import { createDatabase } from '../support/postgres.js';
import { facts, neverSwept, type Stack, schema, settings, startStack } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/** Information for operators: metrics, readiness, versions and the log. */

let stack: Stack;

test.before('start', async () => {
	stack = await startStack('server', { PDP_DECISION_LOG: 'api' });
	const { environment: api } = stack;
	await api.post(`${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {} } });
	await api.post(`${schema}/roles`, { key: 'reader', name: 'Reader', permissions: ['document:read'] });
	const user = { key: 'ann', role_assignments: [{ role: 'reader', tenant: 'default' }] };
	await stack.reached((await api.post(`${facts}/users`, user)).revision);
});

test.after.always('stop', () => stack.stop());

async function scrape(http: Pick<Stack['pdp'], 'get'>): Promise<Scrape> {
	const { status, headers, body } = await http.get<string>('/metrics');
	if (status !== 200) throw new Error(`/metrics: ${status} ${JSON.stringify(body)}`);
	if (headers.get('content-type') !== 'text/plain; version=0.0.4; charset=utf-8') throw new Error('another type');
	return readScrape(body);
}

test.serial('a decision point reports the number and results of its checks', async (t) => {
	const { pdp } = stack;
	const before = await scrape(pdp);
	const check = { user: 'ann', action: 'read', resource: 'document' };
	for (const _ of Array.from({ length: 3 })) await pdp.post('/allowed', check);
	await pdp.post('/allowed', { ...check, user: 'nobody' });
	await pdp.post('/allowed', { ...check, context: { place: 'here' } });
	await pdp.post('/allowed/bulk', [check, check, { ...check, action: 'fly' }]);
	await pdp.post('/user-permissions', { user: 'ann' });
	const after = await scrape(pdp);
	const grown = (name: string, labels: Readonly<Record<string, string>>) =>
		(after.sum(name, labels) ?? 0) - (before.sum(name, labels) ?? 0);
	const decisions = (labels: Readonly<Record<string, string>>) => grown('regolith_pdp_decisions_total', labels);
	t.is(decisions({}), 8);
	t.is(decisions({ outcome: 'allow', code: 'allow', model: 'rbac' }), 5);
	t.is(decisions({ outcome: 'allow', code: 'allow', model: 'abac' }), 1);
	t.is(decisions({ outcome: 'deny', code: 'user_not_synced' }), 1);
	t.is(decisions({ outcome: 'deny', code: 'no_such_action' }), 1);
	const requests = { server: 'pdp', status: '200' };
	t.is(grown('regolith_http_requests_total', { ...requests, endpoint: 'check' }), 5);
	t.is(grown('regolith_http_requests_total', { ...requests, endpoint: 'checkMany' }), 1);
	t.is(grown('regolith_http_request_duration_seconds_count', { server: 'pdp', endpoint: 'check' }), 5);
});

test.serial('a decision point reports its state, and the API its activity', async (t) => {
	const { pdp, organization, environment } = stack;
	const written = await environment.post(`${facts}/users`, { key: 'ben' });
	await stack.reached(written.revision);
	const point = await scrape(pdp);
	t.is(point.sum('regolith_pdp_revision'), written.revision);
	t.is(point.sum('regolith_pdp_policy_revision'), written.revision);
	t.is(point.sum('regolith_pdp_revisions_behind'), 0);
	t.is(point.sum('regolith_pdp_ready'), 1);
	t.is(point.sum('regolith_pdp_state', { state: 'ready' }), 1);
	t.is(point.sum('regolith_pdp_state'), 1);
	t.true((point.sum('regolith_pdp_engine_memory_bytes') ?? 0) > (point.sum('regolith_pdp_data_bytes') ?? 0));
	t.true((point.sum('regolith_pdp_bundles_total', { result: 'delta' }) ?? 0) > 0);
	const api = await eventually(
		() => scrape(organization),
		(seen) => seen.sum('regolith_api_decision_points', { status: 'ok' }) === 1,
	);
	t.is(api.sum('regolith_api_database_up'), 1);
	t.true((api.sum('regolith_api_units_total', { result: 'committed' }) ?? 0) >= 4);
	t.true((api.sum('regolith_api_compilations_total') ?? 0) >= 1);
	t.is(api.sum('regolith_api_policies_failed'), 0);
	t.is(api.sum('regolith_api_environments'), 2, 'the first start’s environments');
	t.true((api.sum('regolith_api_disk_free_bytes') ?? 0) > 0);
	t.true((api.sum('regolith_http_requests_total', { server: 'api', endpoint: 'createUser' }) ?? 0) >= 2);
	t.true((api.sum('process_start_time_seconds') ?? 0) > 1e9);
});

test.serial('the metrics page lists exactly the existing metrics, with type and labels', async (t) => {
	const scrapes = [await scrape(stack.organization), await scrape(stack.pdp)];
	for (const one of scrapes) t.deepEqual(undocumented(one), []);
	const served = new Set(scrapes.flatMap(({ types }) => [...types.keys()]));
	const missing = [...documentedFamilies().keys()].filter((name) => !served.has(name));
	t.deepEqual(missing, ['regolith_pdp_workers', 'regolith_pdp_workers_replaced_total'], 'only worker metrics');
	for (const name of ['process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds']) t.true(served.has(name));
});

test.serial('no label contains a value from a request', async (t) => {
	const { pdp, organization, environment } = stack;
	const mark = 'hunter2';
	await environment.get(`/v2/facts/default/dev/users/${mark}`);
	await environment.get(`/${mark}/nothing`);
	await pdp.post('/allowed', { user: mark, action: mark, resource: { type: mark, key: mark, tenant: mark } });
	await pdp.get(`/${mark}`);
	for (const http of [organization, pdp]) {
		const { numbers } = await scrape(http);
		t.false(JSON.stringify(numbers).includes(mark));
		t.true(
			numbers.some(({ labels }) => labels['endpoint'] === 'none'),
			'they were counted',
		);
	}
});

test.serial('metrics require a key, unless the settings make them public', async (t) => {
	const { api, decisionPoint, keys, config } = stack;
	const { store, listening } = api;
	const reader = await createSecret(store, (await store.firstOrganization()) ?? '', { access_level: 'read' });
	t.is((await client(listening.url, reader).get('/metrics')).status, 200);
	fails(t, await client(listening.url).get('/metrics'), 401);
	fails(t, await client(listening.url, keys.project).get('/metrics'), 403);
	fails(t, await client(listening.url, keys.environment).get('/metrics'), 403);
	t.is((await client(decisionPoint.listening.url).get('/metrics')).status, 401);
	t.is((await client(decisionPoint.listening.url, keys.organization).get('/metrics')).status, 403);
	const open = { ...config, open_metrics: { api: true, pdp: true } };
	const another = await startDecisionPoint(open, createLogger('silent'), listening.url, keys.environment);
	t.teardown(another.stop);
	t.is((await client(another.listening.url).get('/metrics')).status, 200);
});

test.serial('an API is ready while its database responds and its compiler works', async (t) => {
	const folder = temporary(t);
	const database = await createDatabase();
	t.teardown(database.drop);
	const opa = join(folder, 'opa');
	const given = settings(folder, 'test');
	copyFileSync(given['OPA_PATH'] ?? '', opa);
	const config = readConfig({
		...given,
		DATABASE_URL: database.url,
		OPA_PATH: opa,
		API_ALLOW_METRICS_UNAUTHENTICATED: 'true',
	});
	const api = await startApi(config, createLogger('silent'), { sweepPause: neverSwept });
	t.teardown(() => api.stop().catch(() => undefined));
	const http = client(api.listening.url);
	const fine = { status: 'ok', database: 'ok', compiler: 'ok' };
	t.like(await http.get('/ready'), { status: 200, body: fine });
	t.deepEqual((await http.get('/version')).body, { version: '0.1.0', api_version: 'v2' });
	renameSync(opa, `${opa}.away`);
	t.like(await http.get('/ready'), { status: 503, body: { ...fine, status: 'unavailable', compiler: 'unavailable' } });
	renameSync(`${opa}.away`, opa);
	t.like(await http.get('/ready'), { status: 200, body: fine });
	t.is((await scrape(http)).sum('regolith_api_database_up'), 1);
	await api.store.database.knex.destroy();
	t.like(await http.get('/ready'), { status: 503, body: { ...fine, status: 'unavailable', database: 'unavailable' } });
	t.is((await http.get('/healthy')).status, 200);
	const down = await scrape(http);
	t.is(down.sum('regolith_api_database_up'), 0);
	t.is(down.sum('regolith_api_environments'), undefined);
});

test.serial('log lines contain a message, a time, and the id of their request', async (t) => {
	const lines: Record<string, unknown>[] = [];
	const log = pino(logOptions('debug'), { write: (line: string) => void lines.push(JSON.parse(line)) });
	const { config, api, keys } = stack;
	const point = await startDecisionPoint(config, log, api.listening.url, keys.environment);
	const pdp = client(point.listening.url, keys.environment);
	await point.replica.reached(1);
	const answer = await pdp.post('/allowed', { user: 'ann', action: 'read', resource: 'document' });
	await point.stop();
	const id = answer.headers.get('x-request-id');
	const joined = lines.filter(({ request_id }) => request_id === id);
	t.deepEqual(
		joined.map(({ msg, level }) => [msg, level]),
		[
			['decision', 'debug'],
			['answered', 'debug'],
		],
	);
	t.like(joined[1], { endpoint: 'check', status: 200, method: 'POST' });
	for (const { time } of lines) t.regex(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
	const said = lines.filter(({ level }) => level === 'info').map(({ msg }) => msg);
	t.is(said.at(0), 'the decision point is listening');
	t.is(said.at(-1), 'the decision point has stopped');
	t.true(lines.some(({ url, version }) => url === point.listening.url && version === '0.1.0'));
});
