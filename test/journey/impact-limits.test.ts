// @alone @long @rest

import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { startApi } from '../../src/compose/api.js';
import { type Config, readConfig } from '../../src/config.js';
import { createLogger } from '../../src/log.js';
import { client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { askImpact, environmentPath, fillImpactWorld, impactLines } from '../support/impact-world.js';
import { fillLargeWorld, turnEditors } from '../support/long-impact.js';
import { newPlace, type Place } from '../support/management.js';
import { provideDatabase } from '../support/postgres.js';
import { neverSwept, settings } from '../support/stack.js';
import { removeFolder, temporaryFolder } from '../support/temporary.js';

/** Resource limits for impact processes. The server continues to work when a process exceeds a limit or exits. */

interface Site {
	readonly api: Awaited<ReturnType<typeof startApi>>;
	/** Creates an environment. */
	readonly place: () => Promise<Place>;
	readonly stop: () => Promise<void>;
}

async function startSite(
	more: Readonly<Record<string, string>> = {},
	changed: (config: Config) => Config = (config) => config,
): Promise<Site> {
	const folder = temporaryFolder();
	const database = await provideDatabase('server', folder);
	const given = { ...settings(folder, 'limits'), DATABASE_URL: database.url };
	const config = changed(readConfig({ ...given, ...more }));
	const api = await startApi(config, createLogger('silent'), { policyWait: 120_000, sweepPause: neverSwept });
	const url = api.listening.url;
	const organization = client(url, config.bootstrap.organization ?? '');
	return {
		api,
		place: () => newPlace({ url, store: api.store }, organization),
		async stop() {
			await api.stop();
			await database.drop();
			removeFolder(folder);
		},
	};
}

let site: Site;
test.before(async () => {
	site = await startSite();
});
test.after.always(() => site?.stop());

/** A change whose impact is computed quickly. */
const small = [
	{ kind: 'role', operation: 'update', key: 'editor', value: { name: 'Editor', permissions: ['document:read'] } },
];

test.serial('counts are exact within the limits, and lower bounds beyond them', async (t) => {
	const place = await site.place();
	await fillLargeWorld(place, 60, 40);
	const whole = await askImpact(place, turnEditors, { limits: { rows: 5 } });
	const all = 60 * 41;
	t.deepEqual(whole.body.counts, {
		gained: all,
		lost: all,
		asked: 2 * all,
		by_cause: [{ by: 'role_in_tenant', role: 'editor', gained: all, lost: all }],
	});
	t.deepEqual([whole.body.gains.length, whole.body.loses.length, whole.body.truncated], [5, 5, false]);
	const part = await askImpact(place, turnEditors, { limits: { checks: 1_000 } });
	t.is(part.body.counts.asked, 1_000);
	t.is(part.body.counts.gained + part.body.counts.lost, 1_000);
	t.true(part.body.truncated);
	// Rows about a whole resource type come first.
	t.true(part.body.gains.every(({ resource }) => resource.key === null || part.body.gains.length > 60));
	const none = await askImpact(place, turnEditors, { limits: { checks: 0, rows: 0 } });
	t.deepEqual([none.body.counts.asked, none.body.truncated], [0, true]);
});

test.serial(
	'during one computation, writes and bundle requests continue, further impact requests wait, and excess requests get a retry time',
	async (t) => {
		const place = await site.place();
		await fillLargeWorld(place, 2_000, 100);
		const revision = await place.revision();
		let done = 0;
		const ask = async (checks: number) => {
			const answer = await askImpact(place, turnEditors, { limits: { checks, rows: 1 }, base_revision: revision });
			if (answer.status === 200) done += 1;
			return answer;
		};
		const before = site.api.impactProcesses().length;
		const first = ask(100_000);
		await eventually(() => site.api.impactProcesses().length > before);
		const asked = [first, ...Array.from({ length: 5 }, () => ask(100))];
		// The environment is not locked: a write and a bundle request complete before the impact request.
		const write = await place.http.post(`${place.facts}/users`, { key: 'written-meanwhile' });
		t.is(write.status, 200);
		const bundle = await place.http.get(`/bundles/${place.id}`);
		t.is(bundle.status, 200);
		t.is(done, 0, 'the write and the bundle did not wait');
		const other = await site.place();
		await fillImpactWorld(other);
		t.is((await askImpact(other, small)).status, 200, 'a different environment has a separate process');
		const answers = await Promise.all(asked);
		t.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 200, 200, 200, 429]);
		const refused = answers.find(({ status }) => status === 429);
		t.is(refused?.headers.get('retry-after'), '5');
		for (const { status, body } of answers) if (status === 200) t.true(body.counts.gained + body.counts.lost > 0);
		t.is(await place.revision(), revision + 1);
	},
);

/** Returns true if the environment's lock is free. Does not wait for the lock. */
async function takesLock({ store, id }: Place): Promise<boolean> {
	return store.database.knex.transaction(async (transaction) => {
		const rows = await transaction('environments').where({ id }).forUpdate().skipLocked().select('id');
		return rows.length === 1;
	});
}

test.serial('killing the process gives a 503, and the next request gets a new process', async (t) => {
	const place = await site.place();
	await fillLargeWorld(place, 2_000, 100);
	const before = new Set(site.api.impactProcesses());
	const asking = askImpact(place, turnEditors, { limits: { checks: 400_000 } });
	let pid: number | undefined;
	while (pid === undefined) {
		await sleep(20);
		pid = site.api.impactProcesses().find((one) => !before.has(one));
	}
	await sleep(300);
	process.kill(pid, 'SIGKILL');
	const { status, body } = await asking;
	t.is(status, 503, JSON.stringify(body));
	t.like(body, { message: 'the impact process has ended: try again' });
	t.true(await takesLock(place));
	const again = await askImpact(place, turnEditors, { limits: { checks: 100 } });
	t.is(again.status, 200);
	t.false(site.api.impactProcesses().includes(pid));
});

test.serial('a client that disconnects frees the process for the next request', async (t) => {
	const place = await site.place();
	await fillLargeWorld(place, 2_000, 100);
	const others = new Set(site.api.impactProcesses());
	const draft = { base_revision: await place.revision(), changes: turnEditors };
	const leave = async (pause: number) => {
		const gone = new AbortController();
		const asking = fetch(`${place.url}${environmentPath(place)}/impact`, {
			method: 'POST',
			headers: { authorization: `Bearer ${place.secret}`, 'content-type': 'application/json' },
			body: JSON.stringify({ draft, limits: { checks: 100_000 } }),
			signal: gone.signal,
		});
		const ends = t.throwsAsync(asking, { any: true });
		await eventually(() => started().length === 1);
		await sleep(pause);
		gone.abort();
		await ends;
	};
	const started = () => site.api.impactProcesses().filter((pid) => !others.has(pid));
	// The client disconnects while the process receives its data, and while it compares.
	await leave(0);
	const [pid] = started();
	await leave(1_000);
	const { status, body } = await askImpact(place, turnEditors, { limits: { checks: 10 } });
	t.is(status, 200, JSON.stringify(body));
	t.deepEqual(started(), [pid]);
	t.true(await takesLock(place));
});

test.serial('a rejected draft leaves no data behind, and the process continues', async (t) => {
	const place = await site.place();
	await fillImpactWorld(place);
	const revision = await place.revision();
	t.is((await askImpact(place, small)).status, 200);
	const pids = site.api.impactProcesses();
	const refused = await askImpact(place, [...small, { kind: 'user', operation: 'delete', key: 'nobody' }]);
	t.is(refused.status, 404);
	t.deepEqual(site.api.impactProcesses(), pids);
	t.deepEqual(impactLines((await askImpact(place, small)).body), [
		'- ann write document in acme',
		'- ann write document:note in acme',
		'- ann write document:plan in acme',
	]);
	t.is(await place.revision(), revision);
	const { body } = await place.http.get<{ readonly data: readonly object[] }>(
		`${environmentPath(place)}/changes?per_page=1`,
	);
	t.is((body.data[0] as { readonly revision?: number })?.revision, revision);
});

test('a computation over its time limit ends with lower bounds', async (t) => {
	const slow = await startSite({ IMPACT_TIMEOUT: '2' });
	t.teardown(slow.stop);
	const place = await slow.place();
	await fillLargeWorld(place, 3_000, 200);
	await askImpact(place, small, { limits: { checks: 1 } });
	const { status, body } = await askImpact(place, turnEditors, { limits: { checks: 1_000_000, rows: 1 } });
	if (status === 200) {
		t.true(body.truncated);
		t.true(body.counts.asked < 1_000_000);
	} else {
		// On a busy machine, the time may end before the comparison begins.
		t.is(status, 503, JSON.stringify(body));
		t.regex(JSON.stringify(body), /IMPACT_TIMEOUT/);
	}
});

test('a request that does not reach the comparison in time names the limit', async (t) => {
	const hasty = await startSite({}, (config) => ({ ...config, impact: { ...config.impact, seconds: 0.001 } }));
	t.teardown(hasty.stop);
	const { status, body } = await askImpact(await hasty.place(), small);
	t.is(status, 503, JSON.stringify(body));
	t.regex(JSON.stringify(body), /IMPACT_TIMEOUT/);
});

test('a computation over its memory limit is rejected, and its process ends', async (t) => {
	const little = await startSite({ IMPACT_MEMORY: '128' });
	t.teardown(little.stop);
	const place = await little.place();
	await fillLargeWorld(place, 20_000, 20_000);
	const { status, body } = await askImpact(place, turnEditors);
	t.is(status, 503, JSON.stringify(body));
	t.regex(JSON.stringify(body), /more than 128 MiB|has ended/);
	t.deepEqual(little.api.impactProcesses(), []);
	t.is((await place.http.get(`${place.facts}/users?per_page=1`)).status, 200);
});
