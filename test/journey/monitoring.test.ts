// @rest

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { deploy, seedSchema } from '../support/deployment.js';
import { onAllStores } from '../support/each-store.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/ports.js';
import { root } from '../support/root.js';
import { facts } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/**
 * The dashboard, the alert rules and their documentation. With `npm run test:all`, a real Prometheus evaluates the
 * dashboard and the alert rules on a running API and decision point.
 */

const rules = join(root, 'deploy/alerts.yaml');

interface Panel {
	readonly id: number;
	readonly type: string;
	readonly title: string;
	readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
	readonly targets?: readonly { readonly expr: string }[];
}

const { panels } = JSON.parse(readFileSync(join(root, 'deploy/grafana-dashboard.json'), 'utf8')) as {
	readonly panels: readonly Panel[];
};
const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));

/** Replaces the variables in a query as Grafana would. */
function filled(expr: string): string {
	return expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '30s');
}

test('the dashboard’s panels do not overlap, and query only documented metrics', (t) => {
	const page = readFileSync(join(root, 'docs/operate/operation.md'), 'utf8');
	const alerts = readFileSync(rules, 'utf8');
	t.true(queries.length > 40);
	for (const text of [...queries.map(({ expr }) => expr), alerts]) {
		for (const [name] of text.matchAll(/\bregolith_\w+/g)) {
			t.true(page.includes(`\`${name.replace(/_bucket$/, '')}\``), `${name} is on the page`);
		}
	}
	t.is(new Set(panels.map(({ id }) => id)).size, panels.length);
	const places = panels.map(({ gridPos: { x, y } }) => `${x}/${y}`);
	t.is(new Set(places).size, places.length, 'no panel overlaps a different panel');
});

test('the metrics page explains exactly the existing alerts', (t) => {
	const page = readFileSync(join(root, 'docs/operate/operation.md'), 'utf8');
	const explained = [...page.matchAll(/^\| `(Regolith\w+)` \| [^|]+ \| [^|]+ \|$/gm)].map(([, name]) => name);
	const alerts = [...readFileSync(rules, 'utf8').matchAll(/^ +- alert: (\w+)$/gm)].map(([, name]) => name);
	t.true(alerts.length > 10);
	t.deepEqual(explained, alerts);
});

interface Answer<Data> {
	readonly status: string;
	readonly error?: string;
	readonly data: Data;
}

/** Prometheus targets and rules. */
interface Watched {
	/** Host and port of each target. */
	readonly targets: readonly string[];
	readonly key: string;
	/** Path of the alert rules file. */
	readonly alerts: string;
}

/** Starts a Prometheus that scrapes each second. Resolves to a query function. */
async function startPrometheus(t: ExecutionContext, program: string, { targets, key, alerts }: Watched) {
	const folder = temporary(t);
	const port = await freePort();
	const [config, token] = [join(folder, 'prometheus.yml'), join(folder, 'key')];
	writeFileSync(token, key);
	writeFileSync(
		config,
		JSON.stringify({
			global: { scrape_interval: '1s', evaluation_interval: '1s' },
			rule_files: [alerts],
			scrape_configs: [
				{ job_name: 'regolith', authorization: { credentials_file: token }, static_configs: [{ targets }] },
			],
		}),
	);
	const child: ChildProcess = spawn(
		program,
		[
			`--config.file=${config}`,
			`--storage.tsdb.path=${join(folder, 'data')}`,
			`--web.listen-address=127.0.0.1:${port}`,
		],
		{ cwd: folder, stdio: 'ignore' },
	);
	t.teardown(async () => {
		child.kill('SIGKILL');
		while (child.exitCode === null && child.signalCode === null) await sleep(10);
	});
	const url = `http://127.0.0.1:${port}`;
	const ask = async <Data>(path: string): Promise<Answer<Data>> =>
		(await (await fetch(`${url}${path}`)).json()) as Answer<Data>;
	await eventually(
		() => fetch(`${url}/-/ready`),
		({ status }) => status === 200,
	);
	return ask;
}

interface Vector {
	readonly result: readonly unknown[];
}

interface RuleGroups {
	readonly groups: readonly {
		readonly rules: readonly {
			readonly name: string;
			readonly health: string;
			readonly lastError?: string;
			readonly state: string;
		}[];
	}[];
}

function prometheus(): string {
	const program = process.env['PROMETHEUS_PATH'];
	if (program === undefined) throw new Error('there is no Prometheus: install it, or name it in PROMETHEUS_PATH');
	return program;
}

/** Returns metrics for the scrape with number `count`, in which every possible problem occurs. */
const worst = (count: number) => `
regolith_build_info{component="none",version="0"} 1
regolith_api_decision_points{status="ok"} 0
regolith_pdp_ready 0
regolith_pdp_seconds_behind 100
regolith_pdp_data_age_seconds 1000
regolith_pdp_state{state="refused"} 1
regolith_api_policies_failed 1
regolith_pdp_policy_degraded_seconds 1000
regolith_pdp_decisions_total{outcome="deny",code="evaluation_failed",model="rbac"} ${count * 10}
regolith_pdp_bundles_total{result="refused"} ${count * 10}
regolith_pdp_decision_log_events_total{receiver="api",result="lost"} ${count * 10}
regolith_api_decision_log_full 1
regolith_http_requests_total{server="api",endpoint="createUser",status="500"} ${count * 10}
regolith_api_database_up 0
regolith_api_units_waiting 1000
regolith_api_disk_free_bytes 1
regolith_api_disk_size_bytes 100
regolith_api_disk_reserve_bytes 0
regolith_api_webhooks_waiting 5000
regolith_pdp_workers_replaced_total ${count * 10}
nodejs_eventloop_lag_p99_seconds 2
`;

if (onAllStores) {
	test('every alert rule fires on its problem', async (t) => {
		let count = 0;
		const server = createServer((_, response) => {
			count += 1;
			response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(worst(count));
		});
		server.listen(0, '127.0.0.1');
		await once(server, 'listening');
		t.teardown(() => {
			server.close();
			server.closeAllConnections();
		});
		const alerts = join(temporary(t), 'alerts.yaml');
		writeFileSync(alerts, readFileSync(rules, 'utf8').replaceAll(/\bfor: \w+/g, 'for: 0s'));
		const { port } = server.address() as AddressInfo;
		const ask = await startPrometheus(t, prometheus(), { targets: [`127.0.0.1:${port}`], key: 'none', alerts });
		const states = async () => {
			const { data } = await ask<RuleGroups>('/api/v1/rules');
			return data.groups.flatMap((group) => group.rules.map(({ name, state }) => ({ name, state })));
		};
		const silent = (all: Awaited<ReturnType<typeof states>>) => all.filter(({ state }) => state !== 'firing');
		const last = await eventually(states, (all) => all.length > 0 && silent(all).length === 0, { deadline: 60_000 });
		t.true(last.length >= 15);
	});

	test('every dashboard query has data, and every alert rule can be evaluated', async (t) => {
		const program = prometheus();
		const promtool = spawnSync(join(dirname(program), 'promtool'), ['check', 'rules', rules], { encoding: 'utf8' });
		t.is(promtool.status, 0, `${promtool.stdout}${promtool.stderr}`);
		const log = join(temporary(t), 'decisions.log');
		const deployment = await deploy('server', 'together', {
			PDP_WORKERS: '2',
			PDP_DECISION_LOG: `file:${log}`,
			API_ALLOW_METRICS_UNAUTHENTICATED: 'true',
		});
		t.teardown(deployment.remove);
		await seedSchema(deployment);
		const { api, pdp, key, urls } = deployment;
		const targets = [urls.api, urls.pdp].map((url) => new URL(url).host);
		const ask = await startPrometheus(t, program, { targets, key, alerts: rules });
		const busy = new AbortController();
		t.teardown(() => busy.abort());
		const working = (async () => {
			for (let index = 0; !busy.signal.aborted; index += 1) {
				await api.post(`${facts}/users`, { key: `user-${index}` });
				await pdp.post('/allowed', { user: 'alice', action: index % 2 ? 'read' : 'write', resource: 'document' });
				await sleep(50);
			}
		})();
		for (const { title, expr } of queries) {
			const path = `/api/v1/query?query=${encodeURIComponent(filled(expr))}`;
			const asked = () => ask<Vector>(path);
			const answer = await eventually(asked, ({ status, data }) => status !== 'success' || data.result.length > 0);
			t.is(answer.status, 'success', `${title}: ${expr}: ${answer.error}`);
			t.true(answer.data.result.length > 0, `${title}: ${expr}`);
		}
		const { data } = await eventually(
			() => ask<RuleGroups>('/api/v1/rules'),
			(seen) => seen.data.groups.every((group) => group.rules.every(({ health }) => health !== 'unknown')),
		);
		const evaluated = data.groups.flatMap((group) => group.rules);
		t.true(evaluated.length >= 15);
		for (const { name, health, lastError, state } of evaluated) {
			t.is(health, 'ok', `${name}: ${lastError}`);
			t.not(state, 'firing', `${name} fires without a problem`);
		}
		busy.abort();
		await working;
	});
}
