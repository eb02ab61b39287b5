import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import { declaring, reply } from '../../src/http/endpoint.js';
import { createApplication, listen, maxBodyBytes } from '../../src/http/server.js';
import { renderSampleFailure } from './sample.js';

/** Requests that are waiting when the client disconnects or the server stops. */

interface Waiting {
	readonly closed: AbortSignal;
	readonly finish: () => void;
}

/**
 * Starts a server with an endpoint that waits until the test completes the response. `next` returns the next incoming
 * request.
 */
async function waitingServer() {
	const arrivals: Waiting[] = [];
	let told: (() => void) | undefined;
	const endpoint = declaring<{ readonly open: null }>();
	const wait = endpoint({
		name: 'wait',
		summary: 'Wait.',
		tag: 'Waiting',
		method: 'get',
		path: '/wait',
		access: 'open',
		returns: { 204: null },
		handle: async ({ closed }) => {
			await new Promise<void>((finish) => {
				arrivals.push({ closed, finish });
				told?.();
			});
			return reply(204);
		},
	});
	const application = createApplication({
		endpoints: [wait],
		surround: (_endpoint, _request, run) => run(null),
		renderFailure: renderSampleFailure,
		onUnexpected: () => undefined,
	});
	const listening = await listen(application, '127.0.0.1', 0);
	return {
		listening,
		next: async (): Promise<Waiting> => {
			if (arrivals.length === 0) await new Promise<void>((resolve) => (told = resolve));
			const arrived = arrivals.shift();
			if (arrived === undefined) throw new Error('nothing arrived');
			return arrived;
		},
	};
}

/**
 * Starts a server with short time limits. A usual body must arrive within a fifth of a second, and a large body within
 * a minute.
 */
async function impatientServer(t: ExecutionContext) {
	const endpoint = declaring<{ readonly open: null }>();
	const take = { summary: 'Take a body.', tag: 'Bodies', method: 'post', access: 'open', body: z.unknown() } as const;
	const returns = { 204: null };
	const largeBody = { bytes: 300 * maxBodyBytes, mapLevel: 1 };
	const application = createApplication({
		endpoints: [
			endpoint({ ...take, name: 'take', path: '/take', returns, handle: () => reply(204) }),
			endpoint({ ...take, name: 'takeMore', path: '/more', returns, largeBody, handle: () => reply(204) }),
		],
		surround: (_endpoint, _request, run) => run(null),
		renderFailure: renderSampleFailure,
		onUnexpected: () => undefined,
		bodyMilliseconds: 200,
	});
	const listening = await listen(application, '127.0.0.1', 0);
	t.teardown(() => listening.close(0));
	const send = (bytes: string) => {
		const socket = connect(listening.port, '127.0.0.1');
		socket.write(bytes);
		return socket;
	};
	return { send };
}

test('a body that does not arrive in time gets 408 and a closed connection; large bodies have more time', async (t) => {
	const { send } = await impatientServer(t);
	const head = (path: string) => `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n[1,2,`;
	const large = send(head('/more'));
	const answer = await text(send(head('/take')));
	t.regex(answer, /^HTTP\/1\.1 408 .*connection: close.*must arrive within 0\.2 s/is);
	large.end('3,45]');
	t.regex(await text(large), /^HTTP\/1\.1 204 /);
});

test('a handler is notified when its client disconnects', async (t) => {
	const { listening, next } = await waitingServer();
	const socket = connect(listening.port, '127.0.0.1');
	socket.write('GET /wait HTTP/1.1\r\nHost: x\r\n\r\n');
	const { closed, finish } = await next();
	t.false(closed.aborted);
	const aborted = once(closed, 'abort');
	socket.destroy();
	await aborted;
	finish();
	await t.notThrowsAsync(listening.close(0));
});

test('stopping lets a running request finish and accepts no new request', async (t) => {
	const { listening, next } = await waitingServer();
	const answer = fetch(`${listening.url}/wait`);
	const { finish } = await next();
	const stopped = listening.close(60_000);
	await t.throwsAsync(fetch(`${listening.url}/wait`));
	finish();
	t.is((await answer).status, 204);
	await t.notThrowsAsync(stopped);
});

test('stopping aborts requests that do not finish in time', async (t) => {
	const { listening, next } = await waitingServer();
	const answer = t.throwsAsync(fetch(`${listening.url}/wait`));
	await next();
	await listening.close(1);
	await answer;
});

test('the URL of a server that listens on all addresses can be opened in a browser', async (t) => {
	const application = createApplication({
		endpoints: [],
		surround: (_endpoint, _request, run) => run(null),
		renderFailure: renderSampleFailure,
		onUnexpected: () => undefined,
	});
	const listening = await listen(application, '0.0.0.0', 0);
	t.is(listening.url, `http://localhost:${listening.port}`);
	await listening.close();
});
