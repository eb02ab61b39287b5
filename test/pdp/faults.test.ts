// @alone

import { once } from 'node:events';
import { mkdirSync, rmdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { Model } from '../../compiler/model.js';
import type { Logger } from '../../src/log.js';
import { createBundleVerifier } from '../../src/pdp/follow/bundle-verifier.js';
import { connectFeed } from '../../src/pdp/follow/feed-client.js';
import { OfflineCopier } from '../../src/pdp/follow/offline-copier.js';
import { OfflineCopy } from '../../src/pdp/follow/offline-copy.js';
import { eventually } from '../support/eventually.js';
import { seeded } from '../support/random.js';
import { makeKeys, signed, signingPacker } from '../support/signing-keys.js';
import { temporary } from '../support/temporary.js';
import { acme, assign, environment, quiet, snapshot, step } from './environment.js';
import { type Fault, openFaultyLine } from './faulty-line.js';
import { key, serve } from './served.js';

/** Faults around a decision point, and the decision point's reactions (docs: Inside a decision point, Faults). */

const benWrites = { user: 'ben', action: 'write', resource: { type: 'document', tenant: 'acme' } };
const annWrites = { user: 'ann', action: 'write', resource: { type: 'document', tenant: 'acme' } };
/** Maximum time without data from the control plane, in milliseconds. */
const silence = 5_000;
const days = 24 * 60 * 60 * 1_000;

test('a bundle can arrive slowly, and a stalled bundle is requested again', async (t) => {
	const bundle = await snapshot({ revision: 7, model: acme });
	let requests = 0;
	const server = createServer(async (_, response) => {
		requests += 1;
		const stops = requests === 1;
		response.writeHead(200, { etag: '"r7"', 'content-length': bundle.length });
		const pieces = 24;
		const size = Math.ceil(bundle.length / pieces);
		for (let at = 0; at < bundle.length; at += size) {
			if (stops && at > 0) return;
			response.write(bundle.subarray(at, at + size));
			await sleep(silence / 15);
		}
		response.end();
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});
	const feed = connectFeed(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, key, silence);
	const asked = { environment, etag: undefined, wait: 0 };
	const never = new AbortController().signal;
	await t.throwsAsync(feed.poll(asked, never), { message: /no data arrived for 5000 ms/ });
	const answer = await feed.poll(asked, never);
	t.is(answer.kind === 'bundle' && Buffer.compare(answer.bytes, bundle), 0, 'it took longer than the limit');
});

/** Starts a server whose response never ends. `sent` returns the number of bytes sent so far. */
async function endless(t: ExecutionContext, status: number) {
	let sent = 0;
	const server = createServer((_, response) => {
		response.writeHead(status, { etag: '"r7"' });
		const more = () => {
			do sent += 64 * 1024;
			while (response.write(Buffer.alloc(64 * 1024)));
		};
		response.on('drain', more);
		more();
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});
	return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent: () => sent };
}

test('a response without an end is aborted', async (t) => {
	const limit = 8 * 1024 ** 2;
	const never = new AbortController().signal;
	const asked = { environment, etag: undefined, wait: 0 };
	for (const [status, message] of [
		[200, /a bundle of more than 8388608 bytes/],
		[500, /^the control plane responded with 500: $/],
	] as const) {
		const { url, sent } = await endless(t, status);
		await t.throwsAsync(connectFeed(url, key, silence, limit).poll(asked, never), { message });
		// The connection buffers at both ends also contain some bytes.
		t.true(sent() < 4 * limit, `${status}: ${sent()} bytes`);
	}
});

const trouble: readonly Fault[] = ['cut', 'shortened', 'changed', 'delayed', 'replayed'];

for (const isSigned of [false, true]) {
	const title = `${isSigned ? 'signed' : 'unsigned'} bundles that are truncated, changed, delayed or replayed never cause a wrong or outdated decision`;
	test(title, async (t) => {
		t.timeout(300_000);
		await seeded(t, async (random) => {
			const keys = makeKeys(temporary(t), 'current');
			const packer = await signingPacker(keys.privatePath);
			const send = (bytes: Uint8Array) => (isSigned ? signed(packer, bytes) : bytes);
			const forge = async () => snapshot({ revision: 1_000, model: acme });
			const faults: readonly Fault[] = isSigned ? [...trouble, 'forged'] : trouble;
			const { feed, replica, http } = await serve(t, {
				...(isSigned && { verify: await createBundleVerifier([keys.publicKey]) }),
				line: (url) => openFaultyLine(t, url, { random, faults, forge }),
			});
			const last = 24;
			let newest = 0;
			let answers = 0;
			const asking = (async () => {
				while (newest < last) {
					const asked = newest;
					const { status, body, revision = 0 } = await http.post('/allowed', benWrites);
					if (status === 503) continue;
					t.is(status, 200);
					t.true(revision >= asked && revision <= last, `revision ${revision} after ${asked}`);
					t.is(body['allow'], mayWrite(revision), `at revision ${revision}`);
					newest = revision;
					answers += 1;
				}
			})();
			for (let revision = 1; revision <= last; revision += 1) {
				const roles = mayWrite(revision) ? ['editor'] : ['reader'];
				feed.publish({
					revision,
					snapshot: await send(await snapshot({ revision, model: acmeWithBen(roles) })),
					step: await send(await step({ base: revision - 1, revision, patches: assign('ben', 'acme', roles) })),
				});
				await replica.reached(revision);
			}
			await asking;
			t.true(answers > 0);
		});
	});
}

/** True if ben may write, which is the case at even revisions. */
const mayWrite = (revision: number) => revision % 2 === 0;

function acmeWithBen(roles: readonly string[]): Model {
	const others = acme.facts.role_assignments.filter(({ user, tenant }) => user !== 'ben' || tenant !== 'acme');
	const bens = roles.map((role) => ({ user: 'ben', role, tenant: 'acme' }));
	return { ...acme, facts: { ...acme.facts, role_assignments: [...others, ...bens] } };
}

test('a clock jump affects the expiry of grants, but not the age of the data or waits', async (t) => {
	let jump = 0;
	const clock = { now: () => new Date(Date.now() + jump) };
	const { feed, replica, http } = await serve(t, { clock, maxDataAge: 60_000 });
	feed.publish({ revision: 7, snapshot: await snapshot({ revision: 7, model: acme }) });
	await replica.reached(7);
	for (const by of [0, 400 * days, -400 * days]) {
		jump = by;
		const answer = await http.post('/allowed', annWrites, { headers: { 'x-min-revision': '7' } });
		t.deepEqual([answer.status, answer.body['allow']], [200, true], String(by));
		t.true(Number(answer.headers.get('x-data-age')) < 60, String(by));
	}
});

test('a failed copy keeps the previous copy, and is written when there is space again', async (t) => {
	const { feed, replica, http } = await serve(t);
	const path = join(temporary(t), 'environment.copy');
	const warnings: unknown[] = [];
	const log: Logger = Object.assign(Object.create(quiet), { warn: (given: unknown) => warnings.push(given) });
	const copy = new OfflineCopy(path, key, quiet);
	const copier = new OfflineCopier({ copy, feed: connectFeed(feed.url, key), replica, log, interval: 2 });
	t.teardown(() => copier.stop());
	feed.publish({ revision: 7, snapshot: await snapshot({ revision: 7, model: acme }) });
	copier.start();
	const read = () => new OfflineCopy(path, key, quiet).read();
	await eventually(read);
	// A folder at the copy's temporary path makes every new copy fail, like a full disk.
	mkdirSync(`${path}.new`);
	feed.publish({ revision: 8, snapshot: await snapshot({ revision: 8, model: acme }) });
	await replica.reached(8);
	await eventually(
		() => warnings.length,
		(count) => count > 0,
	);
	const seen = feed.seen.length;
	await eventually(
		() => feed.seen.length,
		(count) => count > seen + 20,
	);
	t.is(warnings.length, 1, 'logged once');
	t.true((await http.post('/allowed', annWrites)).body['allow'] as boolean);
	t.is((await read())?.bundles.length, 1, 'the previous copy is complete');
	rmdirSync(`${path}.new`);
	await eventually(read, (found) => found?.bundles[0]?.etag === '"r8-x"');
});

test('a client that does not read its responses does not block other clients, even as revisions arrive', async (t) => {
	const { feed, replica, http, url } = await serve(t);
	feed.publish({ revision: 7, snapshot: await snapshot({ revision: 7, model: acme }) });
	await replica.reached(7);
	const body = JSON.stringify(Array.from({ length: 10_000 }, () => annWrites));
	const head = `POST /allowed/bulk HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${body.length}\r\n\r\n`;
	const { port } = new URL(url);
	const readers = await Promise.all(
		Array.from({ length: 20 }, async () => {
			const socket = connect(Number(port), '127.0.0.1');
			socket.on('error', () => undefined);
			t.teardown(() => socket.destroy());
			// The socket is paused before the first byte, so the response fills the connection buffers and stays there.
			socket.pause();
			await new Promise<void>((resolve) => socket.once('connect', resolve));
			socket.write(head + body);
			return socket;
		}),
	);
	for (const revision of [8, 9, 10]) {
		const patches = assign(`new-${revision}`, 'acme', ['editor']);
		feed.publish({
			revision,
			snapshot: await snapshot({ revision, model: acme }),
			step: await step({ base: revision - 1, revision, patches }),
		});
		await replica.reached(revision);
		const asked = { ...annWrites, user: `new-${revision}` };
		t.true((await http.post('/allowed', asked)).body['allow'] as boolean);
	}
	t.true(readers.every((socket) => !socket.destroyed));
});
