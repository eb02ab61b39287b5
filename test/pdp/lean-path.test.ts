import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { declaredPath } from '../../src/http/endpoint.js';
import type { LeanRequest } from '../../src/http/lean-path.js';
import { createApplication, type Listening, listen } from '../../src/http/server.js';
import { createDecisionPoint } from '../../src/pdp/endpoints.js';
import { acme, quiet, snapshot } from './environment.js';
import { key, serve } from './served.js';

/** The lean check path gives the same responses as the usual path for any request. */

/** Number of requests to each path. `LEAN_REQUESTS` sets a different number. */
const requests = Number(process.env['LEAN_REQUESTS'] ?? 1_500);

interface Asked {
	readonly path: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: Buffer;
}

const keys = fc.constantFrom('ann', 'ben', 'idle', 'nobody', '', '__proto__', 'a\u0000b', 'ü', '\ud800');
const nullish = fc.constantFrom(null, undefined);
const anything = fc.oneof(fc.constantFrom(null, 7, true, '', [], {}), fc.jsonValue({ maxDepth: 2 }));
const attributes = fc.oneof(
	nullish,
	fc.constant({}),
	fc.dictionary(fc.constantFrom('level', 'email', '__proto__', 'key'), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }),
	anything,
);
const user = fc.oneof(
	keys,
	fc.record({ key: keys, first_name: fc.oneof(keys, nullish), email: fc.oneof(keys, anything), attributes }),
	anything,
);
const types = fc.constantFrom('document', 'folder', '', 'nothing');
const resource = fc.oneof(
	types,
	fc.constantFrom('document:plan', 'document:', ':plan'),
	fc.record({
		type: types,
		key: fc.oneof(fc.constantFrom('plan', ''), nullish),
		tenant: fc.oneof(fc.constantFrom('acme', 'default', 'none', ''), nullish),
		attributes,
	}),
	anything,
);
const action = fc.oneof({ weight: 5, arbitrary: fc.constantFrom('read', 'write', 'fly') }, anything);
const check = fc.record(
	{
		user,
		action,
		resource,
		context: attributes,
		use_debugger: fc.constantFrom(true, false, null, 'attempts', 'x'),
		extra: anything,
	},
	{ requiredKeys: [] },
);
const usualCheck = fc.record({
	user: fc.constantFrom('ann', 'ben', 'idle'),
	action: fc.constantFrom('read', 'write'),
	resource: fc.record({ type: fc.constant('document'), tenant: fc.constantFrom('acme', 'default') }),
});
const entity = fc.oneof(
	fc.record({ type: fc.constantFrom('user', 'document', 'robot'), id: fc.constantFrom('ann', 'plan', '') }),
	anything,
);
const evaluation = fc.record(
	{
		subject: entity,
		action: fc.oneof(fc.record({ name: fc.constantFrom('read', 'write') }), anything),
		resource: entity,
		context: attributes,
	},
	{ requiredKeys: [] },
);
const bulk = fc.oneof(
	fc.array(fc.oneof({ weight: 5, arbitrary: usualCheck }, check), { maxLength: 5 }),
	fc.record({ checks: fc.array(usualCheck, { maxLength: 3 }) }),
	check,
);
const evaluations = fc.record(
	{
		subject: entity,
		action: entity,
		resource: entity,
		evaluations: fc.oneof(fc.array(evaluation, { maxLength: 4 }), anything),
		options: fc.oneof(
			fc.record({ evaluations_semantic: fc.constantFrom('execute_all', 'deny_on_first_deny', 'first') }),
			anything,
		),
	},
	{ requiredKeys: [] },
);

const malformed = fc.constantFrom(
	'',
	'{',
	'nothing',
	'{"user":"ann","user":"ben","action":"read","resource":"document"}',
	'\ufeff{"user":"ann","action":"read","resource":"document"}',
	'{"user":"\\ud800","action":"read","resource":"document"}',
	'{"user":"ann","action":"read","resource":"document","context":{"a":1e999}}',
	`${'['.repeat(101)}${']'.repeat(101)}`,
	`{"user":"ann","action":"read","resource":"document","context":{"a":"${'x'.repeat(70_000)}"}}`,
);

const paths = ['/allowed', '/allowed/bulk', '/access/v1/evaluation', '/access/v1/evaluations'] as const;
const bodies = [fc.oneof(usualCheck, check), bulk, evaluation, evaluations] as const;

const asked: fc.Arbitrary<Asked> = fc
	.integer({ min: 0, max: paths.length - 1 })
	.chain((place) =>
		fc.record({
			path: fc.constantFrom(...Array<string>(8).fill(''), '?x=1', '/').map((end) => `${paths[place] ?? ''}${end}`),
			headers: fc
				.record(
					{
						authorization: fc.constantFrom(
							...Array<string>(12).fill(`Bearer ${key}`),
							`bearer ${key}`,
							'Bearer other',
							`Basic ${key}`,
						),
						'content-type': fc.constantFrom('application/json', 'text/plain', 'application/json; charset=utf-8'),
						'x-debug': fc.constantFrom('true', 'false', 'attempts'),
						'x-min-revision': fc.constantFrom('7', 'x'),
						'x-request-id': fc.constantFrom('mine', 'ü'.repeat(3), 'x'.repeat(300)),
						'content-encoding': fc.constantFrom('gzip', 'identity', 'odd'),
					},
					{ requiredKeys: [] },
				)
				// Half of the requests have only the key.
				.chain((odd) => fc.boolean().map((plain) => (plain ? { authorization: `Bearer ${key}` } : odd))),
			body: fc.oneof(
				{ weight: 9, arbitrary: (bodies[place] ?? check).map((value) => JSON.stringify(value) ?? '') },
				{ weight: 1, arbitrary: malformed },
			),
		}),
	)
	.map(({ path, headers, body }) => {
		const clean = Object.fromEntries(
			Object.entries(headers).filter(([, value]) => /^[\x20-\x7e]*$/.test(String(value))),
		);
		const bytes = clean['content-encoding'] === 'gzip' ? gzipSync(body) : Buffer.from(body);
		return { path, headers: clean as Record<string, string>, body: bytes };
	});

const agent = new Agent({ keepAlive: true });

/** Sends a request. Returns the response without its variable parts. */
async function answer(url: string, { path, headers, body }: Asked) {
	const response = await new Promise<IncomingMessage>((resolve, reject) => {
		const length = { 'content-length': String(body.length) };
		const sent = request(url + path, { method: 'POST', headers: { ...headers, ...length }, agent }, resolve);
		sent.on('error', reject).end(body);
	});
	const { date, 'x-request-id': id, 'x-data-age': age, ...others } = response.headers;
	const echoed = id === headers['x-request-id'];
	return {
		status: response.statusCode,
		headers: others,
		order: response.rawHeaders.filter((_, index) => index % 2 === 0),
		echoed,
		timed: [date, id, age].map((value) => typeof value),
		body: await text(response),
	};
}

async function bothPaths(t: ExecutionContext) {
	const { feed, replica } = await serve(t);
	feed.publish({ revision: 7, snapshot: await snapshot({ revision: 7, model: acme }) });
	await replica.reached(7);
	const taken: string[] = [];
	const way = async (lean: boolean): Promise<Listening> => {
		const { lean: access, ...point } = createDecisionPoint({ replica, apiKey: key, log: quiet });
		const counted = access && {
			...access,
			handle: (request: LeanRequest) => {
				const result = access.handle(request);
				if (result !== declaredPath) taken.push(request.endpoint.name);
				return result;
			},
		};
		const application = createApplication({
			...point,
			...(lean && counted ? { lean: counted } : {}),
			onUnexpected: (error) => t.fail(String(error)),
		});
		const listening = await listen(application, '127.0.0.1', 0);
		t.teardown(() => listening.close(0));
		return listening;
	};
	return { usual: (await way(false)).url, short: (await way(true)).url, taken };
}

test('both paths give the same responses', async (t) => {
	t.timeout(3_600_000);
	const { usual, short, taken } = await bothPaths(t);
	const statuses = new Map<number | undefined, number>();
	await fc.assert(
		fc.asyncProperty(asked, async (given) => {
			const [expected, actual] = await Promise.all([answer(usual, given), answer(short, given)]);
			t.deepEqual(
				actual,
				expected,
				`${given.path} ${JSON.stringify(given.headers)} ${given.body.toString().slice(0, 500)}`,
			);
			statuses.set(actual.status, (statuses.get(actual.status) ?? 0) + 1);
		}),
		{ numRuns: requests },
	);
	t.log(Object.fromEntries(statuses));
	t.true(taken.length > requests / 10, 'many requests are served on the lean path');
	t.deepEqual([...new Set(taken)].sort(), ['accessEvaluation', 'accessEvaluations', 'check', 'checkMany']);
	for (const status of [200, 400, 401, 403, 404, 422]) t.true(statuses.has(status), `none was ${status}`);
});

/** Sends pieces over a connection, with pauses, and waits for `count` responses. Returns all responses. */
async function exchange(url: string, pieces: readonly string[], count: number): Promise<readonly string[]> {
	const { hostname, port } = new URL(url);
	const socket = connect(Number(port), hostname);
	let received = '';
	const complete = new Promise<void>((resolve) => {
		socket.setEncoding('utf8').on('data', (piece: string) => {
			received += piece;
			if (received.split('HTTP/1.1').length > count && received.endsWith('}')) resolve();
		});
		socket.on('close', resolve);
	});
	for (const piece of pieces) {
		socket.write(piece);
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
	await complete;
	socket.destroy();
	return received.split(/(?=HTTP\/1\.1)/);
}

/** Returns a request as text. */
function requestText(path: string, body: unknown): string {
	const text = JSON.stringify(body);
	return `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
}

const annReads = { user: 'ann', action: 'read', resource: { type: 'document', tenant: 'acme' } };

test('pipelined and fragmented requests get responses in order, even if a connection uses both paths', async (t) => {
	const { short } = await bothPaths(t);
	const asked = Array.from({ length: 24 }, (_, index) => {
		if (index % 3 === 1) return requestText('/allowed/bulk', Array(index).fill(annReads));
		// Requests for reasons take the usual path.
		return requestText('/allowed', { ...annReads, user: `user-${index}`, use_debugger: index % 3 === 2 });
	});
	const whole = asked.join('');
	const cuts = [0, 7, 90, 200, 1_111, 1_112, whole.length];
	const pieces = cuts.slice(1).map((end, index) => whole.slice(cuts[index], end));
	for (const sent of [[whole], pieces, asked]) {
		const answers = await exchange(short, sent, asked.length);
		t.is(answers.length, asked.length);
		for (const [index, answer] of answers.entries()) {
			t.true(answer.startsWith('HTTP/1.1 200 OK'), answer);
			if (index % 3 === 1) t.is(answer.split('"allow":').length - 2, index);
			t.is(answer.includes(`"user-${index}"`), index % 3 === 2, answer);
		}
		const ids = answers.map((answer) => /^x-request-id: (.*)$/im.exec(answer)?.[1]);
		t.is(new Set(ids).size, asked.length);
	}
});

test('a client that disconnects within a body does not disturb the next client', async (t) => {
	const { short } = await bothPaths(t);
	const { hostname, port } = new URL(short);
	const text = requestText('/allowed', annReads);
	for (const length of [text.length - 30, text.length - 1]) {
		await new Promise<void>((resolve) => {
			const socket = connect(Number(port), hostname, () => socket.write(text.slice(0, length)));
			setTimeout(() => socket.destroy(), 10);
			socket.on('close', () => resolve());
		});
	}
	const closing = await exchange(short, [text.replace('host: x', 'host: x\r\nconnection: close')], 99);
	t.is(closing.length, 1);
	t.regex(closing[0] ?? '', /^connection: close$/im);
	t.is((await exchange(short, [text], 1)).length, 1);
});
