import { appendFileSync, copyFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { SliceScheduler } from '../../src/limit/slice-scheduler.js';
import type { DecisionPointOptions } from '../../src/pdp/endpoints.js';
import { createBundleVerifier, type VerifyBundle } from '../../src/pdp/follow/bundle-verifier.js';
import { FallbackFeed } from '../../src/pdp/follow/fallback-feed.js';
import type { FeedResponse } from '../../src/pdp/follow/feed-client.js';
import { OfflineCopier } from '../../src/pdp/follow/offline-copier.js';
import { type CopiedEnvironment, OfflineCopy } from '../../src/pdp/follow/offline-copy.js';
import { Replica } from '../../src/pdp/follow/replica.js';
import { eventually } from '../support/eventually.js';
import { startOfflinePoint } from '../support/offline-point.js';
import { makeKeys, signed, signingPacker } from '../support/signing-keys.js';
import { temporary } from '../support/temporary.js';
import { acme, assign, environment, quiet, snapshot, step } from './environment.js';
import { FakeFeed } from './fake-feed.js';
import { key } from './served.js';

/** With an offline copy, a decision point starts and serves checks while its control plane is unreachable. */

const pace = { first: 5, longest: 40, refused: 20 };
const annWrites = { user: 'ann', action: 'write', resource: { type: 'document', tenant: 'acme' } };

type StartOptions = Partial<DecisionPointOptions> & { readonly verify?: VerifyBundle };

/** Starts a decision point that follows a feed and writes an offline copy. */
function start(t: ExecutionContext, { url }: FakeFeed, path: string, options: StartOptions = {}) {
	const onUnexpected = (error: unknown) => t.fail(String(error));
	return startOfflinePoint({ controlPlane: url, apiKey: key, path }, { ...options, onUnexpected });
}

async function served(t: ExecutionContext): Promise<FakeFeed> {
	const feed = new FakeFeed();
	await feed.start();
	t.teardown(() => feed.stop().catch(() => undefined));
	feed.publish({ revision: 7, snapshot: await snapshot({ revision: 7, model: acme }) });
	return feed;
}

/** Waits until a copy contains this number of bundles. */
async function copied(path: string, bundles: number): Promise<CopiedEnvironment> {
	const copy = new OfflineCopy(path, key, quiet);
	const found = await eventually(
		() => copy.read(),
		(read) => read?.bundles.length === bundles,
	);
	if (found === undefined) throw new Error('there is no copy');
	return found;
}

test('a decision point starts from its copy, serves checks, and continues when the control plane is back', async (t) => {
	const feed = await served(t);
	const path = join(temporary(t), 'offline', 'environment.copy');
	const first = await start(t, feed, path);
	await first.replica.reached(7);
	await copied(path, 1);
	const patches = assign('ben', 'acme', ['editor']);
	feed.publish({
		revision: 8,
		snapshot: await snapshot({ revision: 8, model: acme }),
		step: await step({ base: 7, revision: 8, patches }),
	});
	await copied(path, 2);
	await first.stop();
	await feed.stop();
	t.is(statSync(path).mode & 0o777, 0o600);
	t.false(readFileSync(path).includes('acme'), 'encrypted');

	const second = await start(t, feed, path);
	t.teardown(second.stop);
	await second.replica.reached(8);
	const allowed = await second.http.post('/allowed', { ...annWrites, user: 'ben' });
	t.deepEqual([allowed.body['allow'], allowed.revision], [true, 8], 'as after the last step');
	t.regex(allowed.headers.get('x-data-age') ?? '', /^\d+$/);
	await eventually(
		() => second.http.get('/healthy'),
		({ body }) => body['online'] === false,
	);
	t.is((await second.http.get('/ready')).status, 200);

	feed.publish({ revision: 9, snapshot: await snapshot({ revision: 9, model: acme }) });
	await feed.start();
	await second.replica.reached(9);
	t.is((await second.http.post('/allowed', { ...annWrites, user: 'ben' })).body['allow'], false);
});

test('a start from a copy serves no state older than the end of the copy', async (t) => {
	const feed = await served(t);
	const path = join(temporary(t), 'environment.copy');
	const copy = new OfflineCopy(path, key, quiet);
	await copy.replace({ environment, etag: '"r7-x"', bytes: await snapshot({ revision: 7, model: acme }) }, Date.now());
	for (const [revision, roles] of [
		[8, ['editor']],
		[9, ['reader']],
		[10, []],
	] as const) {
		const bytes = await step({ base: revision - 1, revision, patches: assign('ben', 'acme', roles) });
		t.true(await copy.append({ environment, etag: `"r${revision}-x"`, bytes }, Date.now()));
	}
	await feed.stop();
	const point = await start(t, feed, path);
	t.teardown(point.stop);
	const told: number[] = [];
	point.replica.revisions.add((revision) => told.push(revision));
	await point.replica.reached(10);
	t.deepEqual(told, [10]);
	t.is((await point.http.post('/allowed', { ...annWrites, user: 'ben' })).body['allow'], false);
});

test('without a copy, or with a copy for a different key, the start waits for the control plane', async (t) => {
	const feed = await served(t);
	const path = join(temporary(t), 'environment.copy');
	const other = new OfflineCopy(path, 'permit_key_of_another_environment', quiet);
	const bytes = await snapshot({ revision: 7, model: acme });
	await feed.stop();
	for (const write of [async () => undefined, () => other.replace({ environment, etag: '"r7"', bytes }, Date.now())]) {
		await write();
		const point = await start(t, feed, path);
		t.is((await point.http.post('/allowed', annWrites)).status, 503);
		await point.stop();
	}
	t.true(existsSync(path));
});

test('a key that the control plane rejects is rejected, with or without a copy', async (t) => {
	const feed = await served(t);
	const path = join(temporary(t), 'environment.copy');
	const first = await start(t, feed, path);
	await first.replica.reached(7);
	await copied(path, 1);
	await first.stop();
	feed.refuse(401);
	const second = await start(t, feed, path);
	t.teardown(second.stop);
	await eventually(
		async () => second.replica.state.kind,
		(kind) => kind === 'refused',
	);
	t.is((await second.http.post('/allowed', annWrites)).status, 503);
});

test('a truncated copy ends with its last complete bundle, and a damaged copy is ignored', async (t) => {
	const folder = temporary(t);
	const path = join(folder, 'environment.copy');
	const copy = new OfflineCopy(path, key, quiet);
	const bundle = (etag: string) => ({ environment, etag, bytes: Buffer.from(`bundle ${etag}`) });
	await copy.replace(bundle('a'), 1_000);
	const whole = statSync(path).size;
	t.true(await copy.append(bundle('b'), 2_000));
	t.true(await copy.append(null, 3_000));
	const read = async (changed: string) => {
		const found = await new OfflineCopy(changed, key, quiet).read();
		return found && [found.bundles.map(({ etag, bytes }) => [etag, Buffer.from(bytes).toString()]), found.asOf];
	};
	const [a, b] = [
		['a', 'bundle a'],
		['b', 'bundle b'],
	];
	t.deepEqual(await read(path), [[a, b], 3_000]);
	const size = statSync(path).size;
	for (let length = 0; length <= size; length += 7) {
		const cut = join(folder, 'cut');
		copyFileSync(path, cut);
		truncateSync(cut, length);
		const found = await read(cut);
		if (length < whole) t.is(found, undefined, `${length}`);
		else t.deepEqual(found?.[0]?.[0 as never], a, `${length}`);
	}
	const bytes = readFileSync(path);
	for (let at = 0; at < whole; at += 5) {
		const damaged = join(folder, 'damaged');
		const copyOfBytes = Buffer.from(bytes);
		copyOfBytes[at] = (copyOfBytes[at] ?? 0) ^ 1;
		writeFileSync(damaged, copyOfBytes);
		t.is(await read(damaged), undefined, `${at}`);
	}
	appendFileSync(path, 'x');
	t.false(await copy.append(bundle('c'), 4_000), 'a different process wrote');
	t.deepEqual(await read(path), [[a, b], 3_000]);
});

test('a bundle that cannot be applied does not reset the age of the data', async (t) => {
	const hour = 3_600_000;
	const bytes = await snapshot({ revision: 7, model: acme });
	const answers: readonly FeedResponse[] = [
		{ kind: 'bundle', etag: '"r7"', bytes, asOf: Date.now() - hour },
		{ kind: 'unchanged', waits: true, asOf: Date.now() - hour },
	];
	let asked = 0;
	const replica = new Replica({
		controlPlane: '',
		apiKey: key,
		log: quiet,
		pace,
		feed: {
			environment: async () => environment,
			poll: async () => answers[asked++] ?? { kind: 'bundle', etag: '"r8"', bytes: Buffer.from('no bundle') },
		},
	});
	replica.start();
	t.teardown(() => replica.stop());
	await replica.reached(7);
	await eventually(
		async () => replica.state.kind,
		(kind) => kind === 'stale',
	);
	t.true(replica.dataAge >= hour);
});

test('a start from the copy is not reported as up to date', async (t) => {
	const lines: string[] = [];
	const note = (_: unknown, line = '') => lines.push(line);
	const log = { debug: () => {}, info: note, warn: note, error: note, isLevelEnabled: () => false };
	const bytes = await snapshot({ revision: 7, model: acme });
	const copy = { read: async () => ({ bundles: [{ environment, etag: '"r7"', bytes }], asOf: Date.UTC(2026, 0, 31) }) };
	const away = async () => {
		throw new Error('the control plane cannot be reached');
	};
	const feed = new FallbackFeed({ environment: away, poll: away }, copy);
	const pace = { first: 5, longest: 40, refused: 20 };
	const replica = new Replica({ controlPlane: '', apiKey: key, log, pace, feed });
	replica.start();
	t.teardown(() => replica.stop());
	await eventually(
		async () => replica.state,
		({ detail }) => detail.includes('cannot be reached'),
	);
	t.is(replica.revision, 7);
	t.deepEqual(lines, ['the decision point serves checks from its offline copy', 'the control plane cannot be reached']);
});

test('no bundle from an ended lineage is copied', async (t) => {
	const path = join(temporary(t), 'environment.copy');
	const bundle = async (lineage: string): Promise<FeedResponse> => ({
		kind: 'bundle',
		etag: `"${lineage}"`,
		bytes: await snapshot({ lineage, revision: 7, model: acme }),
	});
	const answers = [bundle('ended'), bundle('ended'), bundle('present')];
	let asked = 0;
	const poll = async (): Promise<FeedResponse> => answers[asked++] ?? { kind: 'unchanged', waits: true };
	const replica = {
		state: { kind: 'ready', detail: '' },
		changes: { add: () => {}, remove: () => {} },
		hasEnded: (lineage: string) => lineage === 'ended',
		scheduler: new SliceScheduler(),
	} as const;
	const copy = new OfflineCopy(path, key, quiet);
	const feed = { environment: async () => environment, poll };
	const copier = new OfflineCopier({ copy, feed, replica, log: quiet, interval: 5 });
	copier.start();
	t.teardown(() => copier.stop());
	const { bundles } = await eventually(
		() => new OfflineCopy(path, key, quiet).read().then((read) => read ?? { bundles: [] }),
		(read) => read.bundles.length > 0,
	);
	t.deepEqual([bundles[0]?.etag, asked >= 3], ['"present"', true]);
});

test('if the data is older than the maximum age, checks are denied with a code, and listings return 503', async (t) => {
	const feed = await served(t);
	const path = join(temporary(t), 'environment.copy');
	const copy = new OfflineCopy(path, key, quiet);
	const old = Date.now() - 3_600_000;
	await copy.replace({ environment, etag: '"r7"', bytes: await snapshot({ revision: 7, model: acme }) }, old);
	await feed.stop();
	const tolerant = await start(t, feed, path);
	await tolerant.replica.reached(7);
	const answer = await tolerant.http.post('/allowed', annWrites);
	t.is(answer.body['allow'], true);
	t.true(Number(answer.headers.get('x-data-age')) >= 3_600);
	await tolerant.stop();
	const strict = await start(t, feed, path, { maxDataAge: 60_000 });
	t.teardown(strict.stop);
	await strict.replica.reached(7);
	const denied = await strict.http.post('/allowed', { ...annWrites, use_debugger: true });
	t.like(denied.body, { allow: false, debug: { code: 'data_outdated' } });
	t.is((await strict.http.post('/user-permissions', { user: 'ann' })).status, 503);
});

test('with verification keys, an unsigned copy is not used and an unsigned bundle is not copied', async (t) => {
	const feed = await served(t);
	const folder = temporary(t);
	const path = join(folder, 'environment.copy');
	const unsigned = await snapshot({ revision: 7, model: acme });
	await new OfflineCopy(path, key, quiet).replace({ environment, etag: '"r7-x"', bytes: unsigned }, Date.now());
	await feed.stop();
	const keys = makeKeys(folder, 'key');
	const verify = await createBundleVerifier([keys.publicKey]);
	const first = await start(t, feed, path, { verify });
	await eventually(
		() => first.http.post('/allowed', annWrites),
		({ body }) => String(body['detail']).includes('cannot be reached'),
	);
	t.is((await first.http.post('/allowed', annWrites)).status, 503, 'the copy was tried once, and is not used');
	t.like((await first.http.get('/healthy')).body, { status: 'unavailable', online: false });

	const packer = await signingPacker(keys.privatePath);
	feed.publish({ revision: 8, snapshot: await signed(packer, await snapshot({ revision: 8, model: acme })) });
	await feed.start();
	await first.replica.reached(8);
	await eventually(
		() => new OfflineCopy(path, key, quiet).read(),
		(read) => read?.bundles[0]?.etag === '"r8-x"',
	);
	const patches = assign('ben', 'acme', ['editor']);
	const unsignedStep = await step({ base: 8, revision: 9, patches });
	feed.publish({ revision: 9, snapshot: unsigned, step: unsignedStep });
	await eventually(
		() => first.http.get('/healthy'),
		({ body }) => body['state'] === 'stale',
	);
	await first.stop();
	t.deepEqual(
		(await copied(path, 1)).bundles.map(({ etag }) => etag),
		['"r8-x"'],
	);

	await feed.stop();
	const second = await start(t, feed, path, { verify });
	t.teardown(second.stop);
	await second.replica.reached(8);
	t.is((await second.http.post('/allowed', annWrites)).body['allow'], true, 'from the signed copy');
});

test('a copy that this version cannot use does not prevent a start from the control plane', async (t) => {
	const feed = await served(t);
	const path = join(temporary(t), 'environment.copy');
	const bytes = Buffer.from('of a version with another layout');
	await new OfflineCopy(path, key, quiet).replace({ environment, etag: '"r6-x"', bytes }, Date.now());
	await feed.stop();
	const point = await start(t, feed, path);
	t.teardown(point.stop);
	await eventually(
		async () => point.replica.state.detail,
		(detail) => detail.includes('cannot be reached'),
	);
	await feed.start();
	await point.replica.reached(7);
	t.is((await point.http.post('/allowed', annWrites)).body['allow'], true);
});

test('a copy is deleted when its key is rejected, while running or at a start, and a copy for a different key is kept', async (t) => {
	const feed = await served(t);
	const path = join(temporary(t), 'environment.copy');
	const gone = () =>
		eventually(
			() => existsSync(path),
			(exists) => !exists,
		);
	const first = await start(t, feed, path);
	await first.replica.reached(7);
	await copied(path, 1);
	feed.refuse(401);
	await gone();
	await first.stop();

	const copy = { environment, etag: '"r7-x"', bytes: await snapshot({ revision: 7, model: acme }) };
	await new OfflineCopy(path, key, quiet).replace(copy, Date.now());
	const second = await start(t, feed, path);
	await gone();
	await second.stop();
	await feed.stop();
	const third = await start(t, feed, path);
	await eventually(
		async () => third.replica.state.detail,
		(detail) => detail.includes('cannot be reached'),
	);
	t.is((await third.http.post('/allowed', annWrites)).status, 503, 'no check is decided with a refused key');
	await third.stop();

	await new OfflineCopy(path, 'permit_key_of_another', quiet).replace(copy, Date.now());
	await feed.start();
	const fourth = await start(t, feed, path);
	await eventually(
		async () => fourth.replica.state.kind,
		(kind) => kind === 'refused',
	);
	await fourth.stop();
	t.true(existsSync(path), 'a process started with a wrong key');
});

test('the copy of a deleted environment is deleted', async (t) => {
	const feed = await served(t);
	const path = join(temporary(t), 'environment.copy');
	const first = await start(t, feed, path);
	await first.replica.reached(7);
	await copied(path, 1);
	feed.deleteEnvironment();
	await eventually(
		() => existsSync(path),
		(exists) => !exists,
	);
	t.like((await first.http.post('/allowed', { ...annWrites, use_debugger: true })).body, {
		allow: false,
		debug: { code: 'environment_deleted' },
	});
	await first.stop();
	const bytes = await snapshot({ revision: 7, model: acme });
	await new OfflineCopy(path, key, quiet).replace({ environment, etag: '"r7-x"', bytes }, Date.now());
	const second = await start(t, feed, path);
	t.teardown(second.stop);
	await eventually(
		() => existsSync(path),
		(exists) => !exists,
	);
	t.is(second.replica.state.kind, 'deleted', 'a remaining copy is not used');
});
