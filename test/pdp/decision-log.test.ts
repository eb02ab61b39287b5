import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import type { SamplingRule } from '../../src/config.js';
import { EventWriter } from '../../src/pdp/log/decision-event.js';
import { DecisionLog } from '../../src/pdp/log/decision-log.js';
import type { LoggedDecision } from '../../src/pdp/log/decision-ring.js';
import {
	DeferredEvents,
	type EventChunk,
	EventQueue,
	type EventReceiver,
	RefusedEvents,
} from '../../src/pdp/log/event-queue.js';
import { fileReceiver, httpReceiver } from '../../src/pdp/log/event-receivers.js';
import { samplingRate } from '../../src/pdp/log/sampling-rate.js';
import { eventually } from '../support/eventually.js';
import { temporary } from '../support/temporary.js';
import { acme, quiet, snapshot } from './environment.js';
import { serve } from './served.js';

/** The decision log of a decision point: the logged decisions, their form and their delivery. */

const input = {
	user: { key: 'ann', attributes: { email: 'ann@example.com', ssn: '1' } },
	action: 'read',
	resource: { type: 'document', key: 'plan', tenant: 'acme' },
	time: Date.UTC(2026, 0, 31),
};

const decision: LoggedDecision = {
	decisionId: 'd1',
	requestId: 'r1',
	sdk: 'node:2.7.5',
	kind: 'check',
	input,
	code: 'no_permission',
	duration: 0.0125,
	index: undefined,
	held: { lineage: 'd3b07384d113edec', token: '8843d7f92416211d', revision: 12, policyRevision: 11 },
};

const labels = { id: 'rack-7:7766', version: '0.9.0' };

test('an event has OPA’s format, with additional fields', (t) => {
	t.deepEqual(JSON.parse(new EventWriter(labels, []).line(decision)), {
		labels,
		decision_id: 'd1',
		path: 'regolith/check/code',
		input: { user: input.user, action: 'read', resource: input.resource },
		result: { allow: false, code: 'no_permission' },
		timestamp: '2026-01-31T00:00:00.000Z',
		bundles: { environment: { revision: '12' } },
		metrics: { timer_rego_query_eval_ns: 12_500 },
		custom: {
			request_id: 'r1',
			lineage: 'd3b07384d113edec',
			token: '8843d7f92416211d',
			policy_revision: 11,
			sdk: 'node:2.7.5',
		},
	});
});

test('an event contains contextual facts as sent, without the roles of the user', (t) => {
	const contextual_facts = { role_assignments: [{ user: 'ann', role: 'viewer', resource_instance: 'document:plan' }] };
	const holdings = { document: { viewer: { 'document:plan': null } } };
	const asked = { ...input, user: { key: 'ann', holdings }, contextual_facts };
	t.deepEqual(JSON.parse(new EventWriter(labels, []).line({ ...decision, input: asked })).input, {
		user: { key: 'ann' },
		action: 'read',
		resource: input.resource,
		contextual_facts,
	});
});

test('filter events have a separate path, and only a filter that matches no rows is a denial', (t) => {
	for (const [code, allow] of [
		['conditional', true],
		['always_allow', true],
		['always_deny', false],
	] as const) {
		const event = JSON.parse(new EventWriter(labels, []).line({ ...decision, kind: 'filter', code }));
		t.like(event, { path: 'regolith/filter', result: { allow, code } });
	}
});

test('masked fields are removed and listed, and all other fields stay', (t) => {
	const masks = [
		['user', 'attributes', 'ssn'],
		['context', 'token'],
		['user', 'key', 'ann'],
		['resource', 'attributes', 'a/b~c'],
	];
	const attributes = { 'a/b~c': 1, other: 2 };
	const event = JSON.parse(
		new EventWriter(labels, masks).line({
			...decision,
			input: { ...input, resource: { ...input.resource, attributes } },
		}),
	);
	t.deepEqual(event.input.user, { key: 'ann', attributes: { email: 'ann@example.com' } });
	t.deepEqual(event.input.resource.attributes, { other: 2 });
	t.deepEqual(event.erased, ['/input/user/attributes/ssn', '/input/resource/attributes/a~1b~0c']);
	t.is(input.user.attributes.ssn, '1', 'the input itself is unchanged');
});

for (const [title, changed, shown] of [
	['long attributes', { user: { key: 'ann', attributes: { text: 'x'.repeat(65_536) } } }, {}],
	['a long action', { action: `${'x'.repeat(1_023)}\u{1f600}${'x'.repeat(65_536)}` }, { action: 'x'.repeat(1_023) }],
	['a deep context', { context: nested(95) }, {}],
	[
		'a long type',
		{ resource: { type: 't'.repeat(70_000), tenant: 'acme' } },
		{ resource: { type: 't'.repeat(1_024), tenant: 'acme' } },
	],
] as const) {
	test(`an event too large for a receiver contains a shortened check: ${title}`, (t) => {
		const asked = { ...input, ...changed };
		const line = new EventWriter(labels, []).line({ ...decision, input: asked });
		t.true(line.length <= 65_536);
		const { resource } = input;
		const event = JSON.parse(line);
		t.deepEqual(event.input, { user: { key: 'ann' }, action: 'read', resource, ...shown });
		t.true(event.truncated);
		t.deepEqual(event.result, { allow: false, code: 'no_permission' });
		const masked = JSON.parse(new EventWriter(labels, [['user', 'key']]).line({ ...decision, input: asked }));
		t.deepEqual(masked.input.user, {});
		t.deepEqual(masked.erased, ['/input/user/key']);
	});
}

/** Returns an object with this nesting depth. */
function nested(levels: number): Readonly<Record<string, unknown>> {
	return levels === 1 ? {} : { a: nested(levels - 1) };
}

const rules: readonly SamplingRule[] = [
	{ user: 'probe', rate: 0 },
	{ allow: true, resource_type: 'document', action: 'read', rate: 0.25 },
	{ code: 'no_such_action', rate: 0.5 },
	{ allow: true, tenant: 'acme', rate: 0.75 },
];

for (const [title, code, changed, rate] of [
	['the first matching rule', 'allow', {}, 0.25],
	['a rule for a denial code', 'no_such_action', {}, 0.5],
	['a later rule if the first rule does not match', 'allow', { action: 'write' }, 0.75],
	['a rule for a user', 'no_permission', { user: { key: 'probe' } }, 0],
	['the rate 1 if no rule matches', 'no_permission', {}, 1],
] as const) {
	test(`decisions are sampled by ${title}`, (t) => {
		t.is(samplingRate(rules, { ...input, ...changed }, code), rate);
	});
}

/** Returns the lines in a chunk. */
function linesIn({ bytes, events }: EventChunk): readonly string[] {
	const lines = Buffer.from(bytes).toString().split('\n');
	if (lines.pop() !== '' || lines.length !== events) throw new Error(`${events} events in ${lines.length} lines`);
	return lines;
}

/** Returns a chunk with these lines. */
function chunkOf(...lines: readonly string[]): EventChunk {
	return { bytes: Buffer.from(`${lines.join('\n')}\n`), events: lines.length };
}

/** Returns a receiver that stores the received lines, and fails while `failure` is set. */
function keeping() {
	const lines: string[] = [];
	const receiver = {
		name: 'kept',
		maxEvents: 3,
		maxLength: 1_000,
		failure: undefined as Error | undefined,
		async send(chunk: EventChunk) {
			if (receiver.failure !== undefined) throw receiver.failure;
			const received = linesIn(chunk);
			if (received.length > receiver.maxEvents) throw new Error(`a chunk has ${received.length} events`);
			lines.push(...received);
			return undefined;
		},
	} satisfies EventReceiver & { failure: Error | undefined };
	return { lines, receiver };
}

const quick = { collect: 1, first: 1, longest: 2, deferred: 600_000, stop: 60_000 };

test('events arrive in order, in chunks, and a short receiver outage loses none', async (t) => {
	const { lines, receiver } = keeping();
	const queue = new EventQueue(receiver, quiet, 10_000, quick);
	receiver.failure = new Error('away');
	queue.start();
	const sent = Array.from({ length: 20 }, (_, index) => `"${index}"`);
	for (const line of sent.slice(0, 10)) queue.push(line);
	await new Promise((resolve) => setTimeout(resolve, 10));
	receiver.failure = undefined;
	for (const line of sent.slice(10)) queue.push(line);
	await queue.stop();
	t.deepEqual(lines, sent);
	t.deepEqual(queue.counts, { sent: 20, lost: 0 });
});

test('the queue reuses a buffer only after its events were sent', async (t) => {
	const { lines, receiver } = keeping();
	const memory = new Set<ArrayBufferLike>();
	const slow: EventReceiver = {
		...receiver,
		async send(chunk) {
			memory.add(chunk.bytes.buffer);
			await new Promise((resolve) => setTimeout(resolve, 1));
			return receiver.send(chunk);
		},
	};
	const queue = new EventQueue(slow, quiet, 10_000, quick);
	queue.start();
	const sent = Array.from({ length: 60 }, (_, index) => `"${index}"`);
	for (const [index, line] of sent.entries()) {
		queue.push(line);
		await eventually(
			async () => index + 1 - queue.counts.sent,
			(waiting) => waiting <= 6,
		);
	}
	await queue.stop();
	t.deepEqual(lines, sent);
	t.true(memory.size <= 5, `${memory.size} buffers`);
});

test('events that exceed the memory limit are dropped and counted', async (t) => {
	const { lines, receiver } = keeping();
	// Each event has five bytes and a newline.
	const queue = new EventQueue(receiver, quiet, 24, quick);
	for (let index = 0; index < 10; index++) queue.push('12345');
	t.is(queue.counts.lost, 6);
	queue.start();
	await queue.stop();
	t.is(lines.length, 4);
	t.deepEqual(queue.counts, { sent: 4, lost: 6 });
});

test('events of any length and script arrive unchanged, from this process and from a worker', async (t) => {
	const { lines, receiver } = keeping();
	receiver.maxLength = 100_000;
	const queue = new EventQueue(receiver, quiet, undefined, quick);
	const sent = Array.from({ length: 400 }, (_, index) => `"${['a', 'é', '漢', '😀'][index % 4]?.repeat(index * 7)}"`);
	for (const line of sent.slice(0, 200)) queue.push(line);
	for (let index = 200; index < 300; index += 2) queue.pushChunk(chunkOf(...sent.slice(index, index + 2)));
	for (const line of sent.slice(300)) queue.push(line);
	queue.push(`"${'漢'.repeat(65_536)}"`);
	queue.pushChunk(chunkOf('"last"'));
	queue.start();
	await queue.stop();
	t.deepEqual(lines, [...sent, `"${'漢'.repeat(65_536)}"`, '"last"']);
	t.deepEqual(queue.counts, { sent: 402, lost: 0 });
});

test('a worker’s events that exceed the memory limit are dropped and counted', async (t) => {
	const { lines, receiver } = keeping();
	const queue = new EventQueue(receiver, quiet, 24, quick);
	queue.pushChunk(chunkOf('12345', '12345'));
	queue.pushChunk(chunkOf('12345', '12345', '12345'));
	queue.push('67890');
	t.is(queue.counts.lost, 3);
	queue.start();
	await queue.stop();
	t.deepEqual(lines, ['12345', '12345', '67890']);
});

test('events that a receiver rejects are dropped and counted, and later events arrive', async (t) => {
	const { lines, receiver } = keeping();
	const queue = new EventQueue(receiver, quiet, 10_000, quick);
	receiver.failure = new RefusedEvents('too large');
	for (let index = 0; index < 3; index++) queue.push('"refused"');
	queue.start();
	await eventually(
		async () => queue.counts.lost,
		(lost) => lost === 3,
	);
	receiver.failure = undefined;
	queue.push('"taken"');
	await queue.stop();
	t.deepEqual(lines, ['"taken"']);
	t.deepEqual(queue.counts, { sent: 1, lost: 3 });
});

test('a receiver that stays down delays a stop only briefly, and the dropped events are counted', async (t) => {
	const { receiver } = keeping();
	receiver.failure = new Error('away');
	const queue = new EventQueue(receiver, quiet, 10_000, { ...quick, stop: 20 });
	queue.start();
	queue.push('"lost"');
	await queue.stop();
	t.deepEqual(queue.counts, { sent: 0, lost: 1 });
});

/** Starts a collector that records requests and responds with the next status. */
async function collector(t: ExecutionContext, statuses: readonly number[], headers = {}, body = '') {
	const got: { readonly headers: IncomingMessage['headers']; readonly events: unknown }[] = [];
	const left = [...statuses];
	const server = createServer(async (request, response) => {
		const bytes = await buffer(request);
		got.push({ headers: request.headers, events: JSON.parse(gunzipSync(bytes).toString()) });
		response.writeHead(left.shift() ?? 204, headers).end(body);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => server.close());
	return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/logs` };
}

test('a collector gets compressed arrays with its token, and retries after an error but not after a rejection', async (t) => {
	const { got, url } = await collector(t, [503, 204, 422]);
	const queue = new EventQueue(httpReceiver({ name: 'collector', url, token: 'secret' }), quiet, 10_000, quick);
	queue.start();
	queue.push('{"a":1}');
	await eventually(
		async () => queue.counts.sent,
		(sent) => sent === 1,
	);
	queue.push('{"a":2}');
	await queue.stop();
	t.deepEqual(
		got.map(({ events }) => events),
		[[{ a: 1 }], [{ a: 1 }], [{ a: 2 }]],
	);
	t.is(got[0]?.headers.authorization, 'Bearer secret');
	t.is(got[0]?.headers['content-encoding'], 'gzip');
	t.deepEqual(queue.counts, { sent: 1, lost: 1 });
});

test('a collector gets several chunks on a single connection, and a stop ends a request that hangs', async (t) => {
	let connections = 0;
	let hangs = false;
	const server = createServer((request, response) => {
		request.resume();
		if (!hangs) request.on('end', () => response.writeHead(204).end());
	}).on('connection', () => {
		connections += 1;
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => server.close().closeAllConnections());
	const { port } = server.address() as AddressInfo;
	const receiver = httpReceiver({ name: 'collector', url: `http://127.0.0.1:${port}/logs`, token: null });
	const stop = new AbortController();
	for (let sent = 0; sent < 3; sent += 1) await receiver.send(chunkOf('{}'), stop.signal);
	t.is(connections, 1);
	hangs = true;
	const hung = receiver.send(chunkOf('{}'), stop.signal);
	stop.abort();
	await t.throwsAsync(hung, { message: 'no caller is waiting' });
});

test('the response status of a collector counts, even if the response body is incomplete', async (t) => {
	const statuses = [200, 422];
	const server = createServer((request, response) => {
		request.resume().on('end', () => {
			response.writeHead(statuses.shift() ?? 500, { 'content-length': 10 });
			response.write('{', () => response.destroy());
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => server.close());
	const { port } = server.address() as AddressInfo;
	const receiver = httpReceiver({ name: 'collector', url: `http://127.0.0.1:${port}/logs`, token: null });
	t.is(await receiver.send(chunkOf('{}'), AbortSignal.timeout(100_000)), undefined);
	const refused = receiver.send(chunkOf('{}'), AbortSignal.timeout(100_000));
	await t.throwsAsync(refused, { instanceOf: RefusedEvents });
});

test('the API gets JSON lines, compressed unless it is on the same machine', async (t) => {
	const got: (readonly [type: unknown, encoding: unknown, text: string])[] = [];
	const server = createServer(async (request, response) => {
		const bytes = await buffer(request);
		const { 'content-type': type, 'content-encoding': encoding } = request.headers;
		got.push([type, encoding, (encoding === 'gzip' ? gunzipSync(bytes) : bytes).toString()]);
		response.writeHead(204).end();
	});
	await new Promise<void>((resolve) => server.listen(0, resolve));
	t.teardown(() => server.close());
	const { port } = server.address() as AddressInfo;
	for (const host of ['127.0.0.1', '127.1.1.1']) {
		const receiver = httpReceiver({ name: 'api', url: `http://${host}:${port}/logs`, token: null, format: 'lines' });
		t.is(await receiver.send(chunkOf('{"a":1}', '{"b":"é"}'), AbortSignal.timeout(100_000)), undefined);
	}
	const text = '{"a":1}\n{"b":"é"}\n';
	t.deepEqual(got, [
		['application/x-ndjson', undefined, text],
		['application/x-ndjson', 'gzip', text],
	]);
});

test('a collector’s retry delay is respected, and its message is logged', async (t) => {
	const { got, url } = await collector(t, [429], { 'retry-after': '60' }, '{"message":"the log is full"}');
	const receiver = httpReceiver({ name: 'api', url, token: null });
	const failure = await t.throwsAsync(receiver.send(chunkOf('{}'), AbortSignal.timeout(100_000)), {
		instanceOf: DeferredEvents,
	});
	t.is(failure.message, 'the receiver responded with 429: the log is full');
	t.is(failure.seconds, 60);
	t.is(got.length, 1);
	let asked = 0;
	const busy: EventReceiver = {
		...receiver,
		send: async () => {
			asked += 1;
			throw failure;
		},
	};
	const queue = new EventQueue(busy, quiet, 12, { ...quick, stop: 20 });
	queue.start();
	queue.push('12345');
	await eventually(
		async () => asked,
		(times) => times === 1,
	);
	// Waits much longer than the pause that usually follows a failure.
	await new Promise((resolve) => setTimeout(resolve, 50));
	t.is(asked, 1);
	for (const line of ['67890', '12345']) queue.push(line);
	await queue.stop();
	t.deepEqual(queue.counts, { sent: 0, lost: 3 }, 'decisions that do not fit in the meantime are counted');
});

test('events in a chunk that the API rejects are counted as lost, and all others as sent', async (t) => {
	const detail = [{ loc: ['body', 1, 'timestamp'], msg: 'must be earlier', type: 'value_error' }];
	const { url } = await collector(t, [200], {}, JSON.stringify({ accepted: 2, refused: 1, detail }));
	const queue = new EventQueue(httpReceiver({ name: 'api', url, token: null }), quiet, 10_000, quick);
	for (const line of ['{"a":1}', '{"a":2}', '{"a":3}']) queue.push(line);
	queue.start();
	await eventually(
		async () => queue.counts,
		({ sent, lost }) => sent === 2 && lost === 1,
	);
	await queue.stop();
	t.deepEqual(queue.counts, { sent: 2, lost: 1 });
});

test('a chunk that the API rejects is lost, and the API’s reason is logged', async (t) => {
	const detail = [{ loc: ['body', 0, 'timestamp'], msg: 'must be earlier', type: 'value_error' }];
	const { url } = await collector(t, [422], {}, JSON.stringify({ detail }));
	const receiver = httpReceiver({ name: 'api', url, token: null });
	await t.throwsAsync(receiver.send(chunkOf('{}'), AbortSignal.timeout(100_000)), {
		instanceOf: RefusedEvents,
		message: 'the receiver responded with 422: body.0.timestamp: must be earlier',
	});
});

test('more decisions than fit into the ring are logged completely, in order and unchanged', async (t) => {
	const { lines, receiver } = keeping();
	const masks = [['user', 'attributes', 'ssn']];
	const sampling = [{ user: 'probe', rate: 0 }];
	const decisions = new DecisionLog({ receivers: [receiver], sampling, masks, labels: () => labels, log: quiet });
	const { held } = decision;
	const expected: string[] = [];
	for (let number = 0; number < 5_000; number += 1) {
		const own = { ...input, user: { ...input.user, key: number % 10 === 3 ? 'probe' : `user-${number}` } };
		// The request's object belongs to the next request afterwards.
		const request = { decisionId: `d${number}`, requestId: `r${number}`, sdk: undefined, held };
		decisions.add(own, 'allow', 1, number % 2 === 0 ? undefined : number, request);
		Object.assign(request, { decisionId: 'other', requestId: 'other' });
		if (own.user.key === 'probe') continue;
		expected.push(`${own.user.key} ${number % 2 === 0 ? `d${number}` : `d${number}/${number}`} r${number}`);
	}
	decisions.start();
	await decisions.stop();
	const events = lines.map((line) => JSON.parse(line));
	t.deepEqual(
		events.map((event) => `${event.input.user.key} ${event.decision_id} ${event.custom.request_id}`),
		expected,
	);
	t.false(lines.some((line) => line.includes('"ssn":')));
	t.deepEqual(decisions.counts, { sampled_out: 500, receivers: { kept: { sent: 4_500, lost: 0 } } });
});

test('decisions are logged soon, even if few decisions follow', async (t) => {
	const { lines, receiver } = keeping();
	const decisions = new DecisionLog({
		receivers: [receiver],
		sampling: [],
		masks: [],
		labels: () => labels,
		log: quiet,
	});
	decisions.start();
	for (const count of [1, 2, 700]) {
		for (let number = 0; number < count; number += 1) decisions.add(input, 'allow', 1, undefined, decision);
		const before = lines.length;
		await eventually(
			async () => lines.length - before,
			(logged) => logged === count,
		);
	}
	await decisions.stop();
	t.deepEqual(decisions.counts, { sampled_out: 0, receivers: { kept: { sent: 703, lost: 0 } } });
});

test('each check in a request is logged once: single checks, and bulk checks with their positions', async (t) => {
	const file = join(temporary(t), 'decisions.log');
	const decisions = new DecisionLog({
		receivers: [fileReceiver(file)],
		sampling: [{ allow: true, user: 'ben', rate: 0.5 }],
		masks: [],
		labels: () => labels,
		log: quiet,
		random: () => 0.7,
	});
	decisions.start();
	const { http, feed, replica } = await serve(t, { decisions });
	feed.publish({ revision: 7, snapshot: await snapshot({ revision: 7, model: acme }) });
	await replica.reached(7);
	const annWrites = { user: 'ann', action: 'write', resource: { type: 'document', tenant: 'acme' } };
	const headers = { 'x-permit-sdk-version': `node:2.7.5 ${'x'.repeat(10_000)}` };
	const one = await http.post('/allowed', annWrites, { headers });
	const many = await http.post('/allowed/bulk', [
		annWrites,
		{ ...annWrites, user: 'ben' },
		{ ...annWrites, action: 'fly' },
	]);
	await http.post('/allowed', { ...annWrites, user: 'ben', resource: 'document' });
	const everywhere = (await http.post('/allowed/all-tenants', annWrites)).headers.get('x-decision-id');
	const request = { user: 'ann', http_method: 'GET', url: 'https://example.com/x', tenant: 'acme' };
	const url = (await http.post('/allowed_url', request)).headers.get('x-decision-id');
	await decisions.stop();
	const [first, bulk] = [one.headers.get('x-decision-id'), many.headers.get('x-decision-id')];
	t.truthy(first);
	const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
	const logged = lines.map((line) => JSON.parse(line));
	t.deepEqual(
		logged.map(({ decision_id, result, bundles }) => [decision_id, result.code, bundles.environment.revision]),
		[
			[first, 'allow', '7'],
			[`${bulk}/0`, 'allow', '7'],
			[`${bulk}/1`, 'no_permission', '7'],
			[`${bulk}/2`, 'no_such_action', '7'],
			[`${everywhere}/0`, 'allow', '7'],
			[`${url}/0`, 'no_matching_mapping_rule', '7'],
		],
	);
	t.like(logged[5].input, { action: 'GET', resource: { type: 'https://example.com/x', tenant: 'acme' } });
	t.deepEqual(logged[0].custom, {
		request_id: one.headers.get('x-request-id'),
		policy_revision: 7,
		sdk: `node:2.7.5 ${'x'.repeat(245)}`,
	});
	t.deepEqual(decisions.counts, { sampled_out: 1, receivers: { file: { sent: 6, lost: 0 } } });
});
