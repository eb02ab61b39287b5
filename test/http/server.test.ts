// @alone

import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import test from 'ava';
import { z } from 'zod';
import { maxBodyMembers, maxBodyToken } from '../../src/http/body.js';
import { maxHandled, maxWaiting } from '../../src/http/pipeline.js';
import { problemsIn } from '../../src/http/problem.js';
import {
	type Answered,
	createApplication,
	type Listening,
	listen,
	maxBodyBytes,
	maxBodyValues,
} from '../../src/http/server.js';
import { eventually } from '../support/eventually.js';
import { renderSampleFailure, sampleEndpoints, sampleSurround } from './sample.js';

/** The server's responses to valid and invalid requests, over real sockets. */

interface Case {
	readonly title: string;
	readonly method?: string;
	readonly path: string;
	readonly headers?: Readonly<Record<string, string>>;
	/** Raw body. */
	readonly body?: string;
	readonly status: number;
	/** The whole expected body, if relevant. */
	readonly answer?: unknown;
	/** Expected places of the problems in a 422. */
	readonly locs?: readonly (readonly (string | number)[])[];
	/** Matches the first problem or the failure's message. */
	readonly says?: RegExp;
}

const good = { authorization: 'Bearer good' };
const thing = JSON.stringify({ name: 'abc', size: 3 });

const noObjects = ['null', '[]', '"x"', '3', 'true'];
const malformedJson = ['{"a":', '{a:1}', "{'a':1}", '[1,]', 'NaN', '\u0000', ' '];
const prototypeNames = ['{"a":{"__proto__":{"b":1}}}', '{"\\u005f_proto__":{"toString":1}}'];
const encodedPaths = [
	['auth0%7Celon', 'auth0|elon'],
	['document%3Abudget', 'document:budget'],
	['a:b', 'a:b'],
	['%40me', '@me'],
	['a%2Bb', 'a+b'],
	['a+b@c', 'a+b@c'],
	['a%2Fb', 'a/b'],
	['a%20b', 'a b'],
	['%C3%A9', 'é'],
	['%2e%2e', '..'],
] as const;
const malformedEncodings = ['%ZZ', '%', '%2', '%FF', '%C3'];
const encodingsOutsideUtf8 = ['%ED%A0%80', '%FF', 'a%C3', '%C0%AE', 'b%ZZ%80'];
const loneSurrogates = [
	['"\\ud800"', ['body']],
	['{"a":{"b":["\\uDFFF\\uD83D"]}}', ['body', 'a', 'b', 0]],
	['{"unknown\\udead":1}', ['body', 'unknown\udead']],
] as const;
const misfits = ['status', 'body', 'crash'];

const date = z.iso.date({ error: ({ input }) => `must be a date, got \`${input}\`` });
const shownInputs = [
	['appended to a message', z.string().max(3), 'long', 'Too big: expected string to have <=3 characters, got `"long"`'],
	['in a message that already contains it', date, 'May', 'must be a date, got `May`'],
	['unless it is a list', z.string(), ['x'], 'Invalid input: expected string, received array'],
] as const;

for (const [how, schema, input, msg] of shownInputs) {
	test(`an invalid value is shown once: ${how}`, (t) => {
		const { error } = schema.safeParse(input, { reportInput: true });
		t.deepEqual(
			problemsIn('query', error?.issues ?? []).map((problem) => problem.msg),
			[msg],
		);
	});
}

const cases: readonly Case[] = [
	{
		title: 'a missing query parameter gets its default',
		path: '/things',
		status: 200,
		answer: [{ id: 'none', size: 1, note: null }],
	},
	{
		title: 'a number in the query is parsed',
		path: '/things?page=4&name=x',
		status: 200,
		answer: [{ id: 'x', size: 4, note: null }],
	},
	{ title: 'unknown query parameters are ignored', path: '/things?junk=1', status: 200 },
	...['names', 'mame', 'Name', 'na_me', 'nmae', 'name[]', 'pages', 'per', 'attr_name'].map((name) => {
		const isNear = !['per', 'attr_name'].includes(name);
		const says = new RegExp(`did you mean \`${name === 'pages' ? 'page' : 'name'}\``);
		const path = `/things?${encodeURIComponent(name)}=x`;
		const refused = { status: 422, locs: [['query', name]], says };
		return { title: `a query parameter named ${name}`, path, ...(isNear ? refused : { status: 200 }) };
	}),
	{ title: 'a query parameter out of range', path: '/things?page=0', status: 422, locs: [['query', 'page']] },
	{ title: 'a query parameter that is not a number', path: '/things?page=x', status: 422, locs: [['query', 'page']] },
	{ title: 'a repeated query parameter', path: '/things?name=a&name=b', status: 422, locs: [['query', 'name']] },
	{
		title: 'a path parameter that is too long',
		path: `/things/${'x'.repeat(41)}`,
		status: 422,
		locs: [['path', 'thing_id']],
	},

	{
		title: 'a request that creates an object',
		method: 'POST',
		path: '/things',
		headers: good,
		body: thing,
		status: 201,
		answer: { id: 'abc', size: 3, note: 'good' },
	},
	{ title: 'a missing key', method: 'POST', path: '/things', body: thing, status: 401 },
	{ title: 'a missing key is reported before a wrong body', method: 'POST', path: '/things', body: '{}', status: 401 },
	{
		title: 'a missing key is reported before the body is read',
		method: 'POST',
		path: '/things',
		body: '{"a":',
		status: 401,
	},
	{
		title: 'a wrong key',
		method: 'POST',
		path: '/things',
		headers: { authorization: 'Bearer x' },
		body: thing,
		status: 403,
	},
	{
		title: 'missing body fields',
		method: 'POST',
		path: '/things',
		headers: good,
		body: '{}',
		status: 422,
		locs: [
			['body', 'name'],
			['body', 'size'],
		],
		says: /^field required$/,
	},
	{
		title: 'a missing body',
		method: 'POST',
		path: '/things',
		headers: good,
		status: 422,
		locs: [['body']],
		says: /^field required$/,
	},
	{
		title: 'wrong types in nested fields',
		method: 'POST',
		path: '/things',
		headers: good,
		body: '{"name":"toolong","size":1.5,"parts":[{"count":1},{"count":"2"}]}',
		status: 422,
		locs: [
			['body', 'name'],
			['body', 'size'],
			['body', 'parts', 1, 'count'],
		],
		says: /got `"toolong"`/,
	},
	...noObjects.map((body) => ({
		title: `a body that is not an object: ${body}`,
		method: 'POST',
		path: '/things',
		headers: good,
		body,
		status: 422,
		locs: [['body']],
	})),
	{
		title: 'unknown fields are ignored',
		method: 'POST',
		path: '/things',
		headers: good,
		body: '{"name":"a","size":1,"x":1}',
		status: 201,
	},

	...malformedJson.map((body) => ({
		title: `malformed JSON ${JSON.stringify(body)}`,
		method: 'POST',
		path: '/echo',
		body,
		status: 400,
		says: /not valid JSON/,
	})),
	...prototypeNames.map((body) => ({
		title: `__proto__ is an ordinary field name: ${body}`,
		method: 'POST',
		path: '/echo',
		body,
		status: 200,
		answer: { body: JSON.parse(body) as unknown },
	})),
	{
		title: 'malformed JSON with a field named __proto__',
		method: 'POST',
		path: '/echo',
		body: '{"__proto__":{',
		status: 400,
	},
	{
		title: 'a field named __proto__ does not provide other fields',
		method: 'POST',
		path: '/things',
		headers: good,
		body: '{"__proto__":{"name":"abc","size":3}}',
		status: 422,
		locs: [
			['body', 'name'],
			['body', 'size'],
		],
	},
	{ title: 'a scalar body', method: 'POST', path: '/echo', body: 'false', status: 200, answer: { body: false } },
	{
		title: 'an empty body counts as absent',
		method: 'POST',
		path: '/echo',
		body: '',
		status: 200,
		answer: { body: 'nothing' },
	},
	{
		title: 'any content type is read as JSON',
		method: 'POST',
		path: '/echo',
		headers: { 'content-type': 'text/plain' },
		body: '{"a":1}',
		status: 200,
		answer: { body: { a: 1 } },
	},
	{
		title: 'an unknown content encoding',
		method: 'POST',
		path: '/echo',
		headers: { 'content-encoding': 'sdch' },
		body: '{}',
		status: 400,
	},
	{
		title: 'a body that does not match its content encoding',
		method: 'POST',
		path: '/echo',
		headers: { 'content-encoding': 'gzip' },
		body: '{}',
		status: 400,
	},
	{ title: 'lists nested to the limit', method: 'POST', path: '/echo', body: nested(100), status: 200 },
	{
		title: 'lists nested too deeply',
		method: 'POST',
		path: '/echo',
		body: nested(101),
		status: 400,
		says: /nests deeper than 100/,
	},
	{
		title: 'lists nested a million levels deep',
		method: 'POST',
		path: '/echo',
		body: nested(1_000_000),
		status: 400,
		says: /nests deeper/,
	},
	{
		title: 'objects nested too deeply',
		method: 'POST',
		path: '/echo',
		body: `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
		status: 400,
	},

	{
		title: 'a DELETE with a body',
		method: 'DELETE',
		path: '/things/a',
		body: '{"reason":"old"}',
		status: 200,
		answer: { reason: 'old' },
	},
	{ title: 'a DELETE without its required body', method: 'DELETE', path: '/things/a', status: 422, locs: [['body']] },
	{
		title: 'a response without a body',
		method: 'DELETE',
		path: '/things/quiet',
		body: '{"reason":"old"}',
		status: 204,
		answer: undefined,
	},

	...encodedPaths.map(([written, read]) => ({
		title: `the path parameter ${written} is read as ${read}`,
		path: `/things/${written}`,
		status: 200,
		answer: { id: read, size: 1, note: null },
	})),
	...malformedEncodings.map((written) => ({
		title: `malformed percent-encoding in a path: ${written}`,
		path: `/things/${written}`,
		status: 400,
		says: /percent-encoding/,
	})),
	{ title: 'malformed percent-encoding in a query is text', path: '/things?name=%ZZ', status: 200 },
	...encodingsOutsideUtf8.map((written) => ({
		title: `a query that is not UTF-8: ${written}`,
		path: `/things?page=1&name=${written}&other=%C3%A9`,
		status: 422,
		locs: [['query', 'name']],
		says: /UTF-8/,
	})),
	{ title: 'a query name that is not UTF-8', path: '/things?%FF=1', status: 422, locs: [['query', '\ufffd']] },

	...loneSurrogates.map(([body, loc]) => ({
		title: `a lone surrogate: ${body}`,
		method: 'POST',
		path: '/echo',
		body,
		status: 422,
		locs: [loc],
		says: /lone surrogate/,
	})),
	{
		title: 'a surrogate pair is one character',
		method: 'POST',
		path: '/echo',
		body: '"\\ud83d\\ude00"',
		status: 200,
		answer: { body: '😀' },
	},
	{
		title: 'a byte order mark is not part of the body',
		method: 'POST',
		path: '/echo',
		body: '\ufeff{"a":1}',
		status: 200,
		answer: { body: { a: 1 } },
	},

	{ title: 'an unknown path', path: '/nothing', status: 404, says: /`\/nothing`/ },
	{ title: 'paths are case sensitive', path: '/Things', status: 404 },
	{ title: 'a trailing slash makes a different path', path: '/things/', status: 404 },
	{ title: 'a method that is not served', method: 'PUT', path: '/things', body: '{}', status: 405, says: /`PUT`/ },
	{ title: 'an unusual method', method: 'PROPFIND', path: '/things', status: 405 },
	{
		title: 'repeated slashes in a path are ignored',
		path: '//things///a',
		status: 200,
		answer: { id: 'a', size: 1, note: null },
	},
	{
		title: 'a path with repeated slashes keeps its query',
		path: '//things?name=b',
		status: 200,
		answer: [{ id: 'b', size: 1, note: null }],
	},

	{ title: 'undeclared fields are dropped', path: '/leak', status: 200, answer: { id: 'a', size: 1, note: null } },
	{ title: 'an undeclared body is dropped', path: '/misfit/undeclared-body', status: 202, answer: undefined },
	{ title: 'a failure thrown by the handler', path: '/misfit/duplicate', status: 409, says: /already exists/ },
	...misfits.map((how) => ({
		title: `the error of a faulty handler has no details: ${how}`,
		path: `/misfit/${how}`,
		status: 500,
		says: /^(?!.*hunter2)/,
	})),
];

function nested(depth: number): string {
	return '['.repeat(depth) + ']'.repeat(depth);
}

const unexpected: unknown[] = [];
const answered: Answered[] = [];
const application = createApplication({
	endpoints: sampleEndpoints,
	surround: sampleSurround,
	renderFailure: renderSampleFailure,
	onUnexpected: (error) => unexpected.push(error),
	onAnswered: (one) => answered.push(one),
	// The limit is long, because client and server share a busy process.
	bodyMilliseconds: 600_000,
});
let server: Listening;

test.before(async () => {
	server = await listen(application, '127.0.0.1', 0);
});

test.after.always(() => server.close(0));

interface Received {
	readonly status: number;
	readonly headers: Readonly<Record<string, string | string[] | undefined>>;
	readonly text: string;
	/** The client's port, which is the same for all requests on a connection. */
	readonly port: number | undefined;
}

/** Sends a request with a raw path. Sends `chunks` without a content length. */
function send(
	method: string,
	path: string,
	headers: Readonly<Record<string, string>>,
	body: string | readonly string[],
	agent: Agent | false = false,
) {
	return new Promise<Received>((resolve, reject) => {
		const outgoing = request({ host: '127.0.0.1', port: server.port, method, path, headers, agent }, (response) => {
			const port = response.socket.localPort;
			const parts: Buffer[] = [];
			response.on('data', (part: Buffer) => parts.push(part));
			response.on('error', reject);
			response.on('end', () => {
				resolve({
					status: response.statusCode ?? 0,
					headers: response.headers,
					text: Buffer.concat(parts).toString(),
					port,
				});
			});
		});
		outgoing.on('error', reject);
		if (typeof body === 'string') outgoing.end(body);
		else {
			for (const chunk of body) outgoing.write(chunk);
			outgoing.end();
		}
	});
}

interface FailureBody {
	readonly message?: string;
	readonly detail?: readonly { readonly loc: readonly (string | number)[]; readonly msg: string }[];
}

for (const one of cases) {
	test(`returns ${one.status}: ${one.title}`, async (t) => {
		const length = one.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(one.body)) };
		const received = await send(one.method ?? 'GET', one.path, { ...length, ...one.headers }, one.body ?? '');
		t.is(received.status, one.status, received.text);
		t.truthy(received.headers['x-request-id']);
		if (received.text !== '') t.is(received.headers['content-type'], 'application/json');
		const body: unknown = received.text === '' ? undefined : JSON.parse(received.text);
		if ('answer' in one) t.deepEqual(body, one.answer);
		const failure = body as FailureBody;
		if (one.locs)
			t.deepEqual(
				failure.detail?.map((problem) => problem.loc),
				one.locs,
			);
		if (one.says) t.regex(failure.detail?.[0]?.msg ?? failure.message ?? '', one.says);
		t.notRegex(received.text, /hunter2/);
	});
}

test('headers set by a handler are sent to the caller', async (t) => {
	const received = await send('POST', '/things', { ...good, 'content-length': String(thing.length) }, thing);
	t.is(received.headers['x-revision'], '7');
});

test('405 responses list the allowed methods', async (t) => {
	const received = await send('PATCH', '/things', {}, '');
	t.deepEqual(String(received.headers['allow']).split(', ').sort(), ['GET', 'HEAD', 'POST']);
});

test('HEAD returns the same as GET, without a body', async (t) => {
	const received = await send('HEAD', '/things', {}, '');
	t.is(received.status, 200);
	t.is(received.text, '');
});

test('raw bytes keep their content type, even with status 304', async (t) => {
	const url = `${server.url}/feed`;
	const fresh = await fetch(`${url}/200`);
	t.is(fresh.headers.get('content-type'), 'application/vnd.sample');
	t.deepEqual([...new Uint8Array(await fresh.arrayBuffer())], [0, 255]);
	const same = await fetch(`${url}/304`);
	t.is(same.status, 304);
	t.is(same.headers.get('content-type'), 'application/vnd.sample');
	t.is(same.headers.get('etag'), '"1"');
	t.truthy(same.headers.get('x-request-id'));
});

const tooLarge: readonly (readonly [string, Readonly<Record<string, string>>, string | readonly string[]])[] = [
	['with a length', { 'content-length': String(2 * maxBodyBytes) }, ' '.repeat(2 * maxBodyBytes)],
	['in chunks', {}, ['[', ...Array.from({ length: 10 }, () => `"${'x'.repeat(1_000_000)}",`)]],
	['with a length of more than 32 bits', { 'content-length': String(2 ** 32), expect: '100-continue' }, []],
];

for (const [title, headers, body] of tooLarge) {
	test(`a body over the limit is rejected: ${title}`, async (t) => {
		const received = await send('POST', '/echo', headers, body);
		t.is(received.status, 413);
		t.is(received.headers['content-type'], 'application/json');
		t.regex((JSON.parse(received.text) as FailureBody).message ?? '', /at most 5242880 bytes/);
	});
}

const notUnicode: readonly (readonly [title: string, bytes: Buffer])[] = [
	['a Latin-1 byte', Buffer.from('"caf\xe9"', 'latin1')],
	['a surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
	['an overlong slash', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
	['a truncated character', Buffer.from([0x22, 0xc3])],
	[
		'a Latin-1 byte at the end of a long body',
		Buffer.concat([Buffer.from(`"${'é'.repeat(100_000)}`), Buffer.from([0xe9, 0x22])]),
	],
];

for (const [title, bytes] of notUnicode) {
	test(`a body that is not valid UTF-8 is rejected: ${title}`, async (t) => {
		const answer = await fetch(`${server.url}/echo`, { method: 'POST', body: bytes });
		t.is(answer.status, 422);
		const { detail } = (await answer.json()) as FailureBody;
		t.deepEqual(detail, [{ loc: ['body'], msg: 'must be UTF-8', type: 'ill_formed' }]);
	});
}

test('a body with too many values is rejected, and a body at the limit is accepted', async (t) => {
	const most = maxBodyValues;
	const list = (length: number) => JSON.stringify(Array.from({ length }, () => 0));
	const post = (body: string) => send('POST', '/echo', { 'content-length': String(body.length) }, body);
	t.is((await post(list(most))).status, 200);
	const refused = await post(list(most + 1));
	t.is(refused.status, 413);
	t.regex(refused.text, /at most 131072 values/);
});

test('an object with too many fields is rejected, and an object at the limit is accepted', async (t) => {
	const object = (size: number) => `{${Array.from({ length: size }, (_, index) => `"${index}":0`).join()}}`;
	const post = (body: string) => send('POST', '/echo', { 'content-length': String(body.length) }, body);
	t.is((await post(`[${object(maxBodyMembers)},${object(maxBodyMembers)}]`)).status, 200);
	const refused = await post(`[${object(maxBodyMembers + 1)}]`);
	t.is(refused.status, 413);
	t.regex(refused.text, /an object in a request body may have at most 16384 members/);
});

test('a body that is parsed in one step cannot exceed the limit for fields per object', async (t) => {
	const members = (count: number) => `{${Array.from({ length: count }, () => '"":0').join()}}`;
	const small = members(Math.floor((64 * 1024 - 1) / 5));
	t.true(small.length <= 64 * 1024);
	t.is((await send('POST', '/echo', { 'content-length': String(small.length) }, small)).status, 200);
	const text = members(maxBodyMembers + 1);
	t.is((await send('POST', '/echo', { 'content-length': String(text.length) }, text)).status, 413);
});

test('a large body is parsed without changes', async (t) => {
	const value = Array.from({ length: 20_000 }, (_, index) => ({ [`name ${index}`]: [index, 'é😀', { a: null }] }));
	const body = JSON.stringify(value);
	t.true(body.length > 500_000);
	const whole = await send('POST', '/echo', { 'content-length': String(Buffer.byteLength(body)) }, body);
	t.deepEqual(JSON.parse(whole.text), { body: value });
	const compressed = await fetch(`${server.url}/echo`, {
		method: 'POST',
		headers: { 'content-encoding': 'gzip' },
		body: gzipSync(body),
	});
	t.deepEqual(await compressed.json(), { body: value });
});

test('a small body that decompresses to a large body is rejected', async (t) => {
	for (const [encoding, bytes] of [
		['gzip', gzipSync(' '.repeat(20 * maxBodyBytes))],
		['deflate', deflateSync(' '.repeat(20 * maxBodyBytes))],
		['br', brotliCompressSync(' '.repeat(20 * maxBodyBytes))],
	] as const) {
		const headers = { 'content-encoding': encoding };
		const answer = await fetch(`${server.url}/echo`, { method: 'POST', headers, body: bytes });
		t.is(answer.status, 413, encoding);
	}
});

/** Returns the first response to bytes that do not complete a request. */
function firstAnswer(bytes: string): Promise<{ readonly text: string; readonly socket: Socket }> {
	return new Promise((resolve, reject) => {
		const socket = connect(server.port, '127.0.0.1', () => socket.write(bytes));
		socket.once('data', (data) => resolve({ text: data.toString(), socket }));
		socket.on('error', reject);
	});
}

/** Returns all responses to these bytes, until there are `count` or the connection is closed. */
function answersTo(bytes: string, count: number): Promise<readonly string[]> {
	return new Promise((resolve) => {
		let received = '';
		const socket = connect(server.port, '127.0.0.1', () => socket.write(bytes));
		const answers = () => received.split(/(?=HTTP\/1\.1 )/).filter(Boolean);
		socket.on('data', (data) => {
			received += data;
			if (answers().length === count && received.endsWith(']')) socket.destroy();
		});
		socket.on('error', () => {});
		socket.on('close', () => resolve(answers()));
	});
}

const pipelined = (count: number) =>
	Array.from({ length: count }, (_, index) => `GET /things?name=n${index} HTTP/1.1\r\nHost: x\r\n\r\n`).join('');

test('pipelined requests get their responses in order', async (t) => {
	const count = maxHandled + maxWaiting;
	const answers = await answersTo(pipelined(count), count);
	t.is(answers.length, count);
	for (const [index, answer] of answers.entries()) t.true(answer.includes(`"id":"n${index}"`), answer);
});

test('a connection with far too many pending requests is closed', async (t) => {
	const answers = await answersTo(pipelined(1_500), 1_500);
	t.true(answers.length < 1_500, `${answers.length} answers`);
	t.is((await send('GET', '/things', {}, '')).status, 200, 'other connections are served');
});

test('a caller without a key gets a response before the body arrives', async (t) => {
	const { text: answer, socket } = await firstAnswer(
		'POST /things HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n',
	);
	t.regex(answer, /^HTTP\/1.1 401 /);
	// The server discards the remaining body and serves the next request.
	const next = once(socket, 'data');
	socket.write(`${'['.repeat(3_000_000)}GET /things HTTP/1.1\r\nHost: x\r\n\r\n`);
	t.regex(String(await next), /^HTTP\/1.1 200 /);
	socket.destroy();
});

test('a client that closes the connection still gets an early response', async (t) => {
	const head = 'POST /things HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5000000\r\n\r\n';
	for (let turn = 0; turn < 10; turn++) {
		const socket = connect(server.port, '127.0.0.1');
		socket.write(head + '['.repeat(5_000_000));
		t.regex(await text(socket), /^HTTP\/1.1 401 .*an API key is needed/s);
	}
});

test('a stop does not wait for a connection without a request', async (t) => {
	const stopping = await listen(application, '127.0.0.1', 0);
	const spare = connect(stopping.port, '127.0.0.1').resume();
	await once(spare, 'connect');
	await Promise.all([stopping.close(2 ** 31 - 1), once(spare, 'close')]);
	t.pass();
});

test('a stop announces the end of a connection in its newest response', async (t) => {
	const stopping = await listen(application, '127.0.0.1', 0);
	const get = 'GET /things?name=n HTTP/1.1\r\nHost: x\r\n\r\n';
	const [kept, busy] = [connect(stopping.port, '127.0.0.1'), connect(stopping.port, '127.0.0.1')];
	kept.write(get);
	t.regex(String(await once(kept, 'data')), /connection: keep-alive/i);
	kept.write(get);
	const stopped = stopping.close(2 ** 31 - 1);
	busy.write(get + get);
	const [[last], two] = await Promise.all([once(kept, 'data'), text(busy), stopped]);
	t.regex(String(last), /^HTTP\/1.1 200 .*connection: close/is);
	t.deepEqual(two.match(/connection: [a-z-]+/gi), ['Connection: keep-alive', 'Connection: close']);
});

test('the connection is closed if an unread body does not end', async (t) => {
	const { text: answer, socket } = await firstAnswer(
		'POST /things HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n',
	);
	t.regex(answer, /^HTTP\/1.1 401 /);
	const chunk = `100000\r\n${' '.repeat(0x100000)}\r\n`;
	socket.removeAllListeners('error');
	const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()).on('error', () => {}));
	for (let sent = 0; sent < 200 && !socket.destroyed; sent++) {
		if (!socket.write(chunk)) await Promise.race([once(socket, 'drain').catch(() => {}), closed]);
	}
	await closed;
	t.pass();
});

test('a client that expects 100-continue receives it only if its body is needed', async (t) => {
	const head = (more: string) =>
		`POST /things HTTP/1.1\r\nHost: x\r\n${more}Expect: 100-continue\r\nContent-Length: ${thing.length}\r\n\r\n`;
	const refused = await firstAnswer(head(''));
	t.regex(refused.text, /^HTTP\/1.1 401 /);
	t.regex(refused.text, /\r\nconnection: close\r\n/i);
	const wanted = await firstAnswer(head('Authorization: Bearer good\r\n'));
	t.regex(wanted.text, /^HTTP\/1.1 100 /);
	const created = once(wanted.socket, 'data');
	wanted.socket.write(thing);
	t.regex(String(await created), /^HTTP\/1.1 201 /);
	refused.socket.destroy();
	wanted.socket.destroy();
});

test('the server does not wait for a compressed body after the client has disconnected', async (t) => {
	const bytes = gzipSync(JSON.stringify('x'.repeat(100_000)));
	const told = answered.length;
	const headers = `POST /echo HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: ${bytes.length}\r\n\r\n`;
	const socket = connect(server.port, '127.0.0.1');
	socket.write(headers);
	socket.write(bytes.subarray(0, 20), () => socket.destroy());
	t.true(await eventually(() => answered.slice(told).some(({ path, status }) => path === '/echo' && status === 400)));
});

test('a connection stays usable after an oversized body', async (t) => {
	const agent = new Agent({ keepAlive: true, maxSockets: 1 });
	t.teardown(() => agent.destroy());
	const chunks = Array.from({ length: 32 }, () => ' '.repeat(maxBodyBytes / 5));
	const refused = await send('POST', '/echo', {}, chunks, agent);
	t.is(refused.status, 413);
	const next = await send('GET', '/things', {}, '', agent);
	t.is(next.status, 200);
	t.is(next.port, refused.port);
});

test('a body at the limit is accepted', async (t) => {
	const texts = Array.from({ length: 5 }, () => 'x'.repeat(1_000_000));
	const left = maxBodyBytes - JSON.stringify([...texts, '']).length;
	const body = JSON.stringify([...texts, 'x'.repeat(left)]);
	const received = await send('POST', '/echo', { 'content-length': String(maxBodyBytes) }, body);
	t.is(received.status, 200);
});

test('an overlong string in a body is rejected', async (t) => {
	const post = (length: number) => send('POST', '/echo', {}, JSON.stringify(['x'.repeat(length)]));
	t.is((await post(maxBodyToken)).status, 200);
	const refused = await post(maxBodyToken + 1);
	t.is(refused.status, 413);
	t.regex(refused.text, /a string, a name or a number in a request body may have at most 1048576 characters/);
});

test('a client that disconnects while sending has no effect on other requests', async (t) => {
	await t.throwsAsync(
		new Promise((_, reject) => {
			const outgoing = request({ host: '127.0.0.1', port: server.port, method: 'POST', path: '/echo' });
			outgoing.on('error', reject);
			outgoing.write('{"a":', () => outgoing.destroy(new Error('gone')));
		}),
		{ message: 'gone' },
	);
	t.is((await fetch(`${server.url}/things`)).status, 200);
});

test.serial('only errors other than Failure are reported as unexpected, and every response is reported', async (t) => {
	const [before, told] = [unexpected.length, answered.length];
	await send('GET', '/misfit/crash', {}, '');
	await send('GET', '/misfit/duplicate', {}, '');
	await send('GET', '/nothing', {}, '');
	t.is(unexpected.length, before + 1);
	t.deepEqual(
		answered.slice(told).map(({ endpoint, method, path, status }) => ({ endpoint, method, path, status })),
		[
			{ endpoint: 'misfit', method: 'GET', path: '/misfit/crash', status: 500 },
			{ endpoint: 'misfit', method: 'GET', path: '/misfit/duplicate', status: 409 },
			{ endpoint: undefined, method: 'GET', path: '/nothing', status: 404 },
		],
	);
});

const noRequests: readonly (readonly [title: string, bytes: string, status: number])[] = [
	['headers that are too large', `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
	['bytes that are not HTTP', 'hello\r\n\r\n', 400],
	['a target that is not a URL', 'GET http://[::1/things HTTP/1.1\r\nHost: x\r\n\r\n', 400],
	['a content length that is not a number', 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n', 400],
];

for (const [title, bytes, status] of noRequests) {
	test(`a malformed request gets the usual error format: ${title}`, async (t) => {
		const socket = connect(server.port, '127.0.0.1');
		socket.end(bytes);
		const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
		t.regex(head, new RegExp(`^HTTP/1.1 ${status} `));
		t.regex(head, /\r\ncontent-type: application\/json\r\n/);
		t.like(JSON.parse(body), { error_code: 'INVALID_INPUT' });
	});
}

test('listening on a port in use fails', async (t) => {
	const application = createApplication({
		endpoints: [],
		surround: sampleSurround,
		renderFailure: renderSampleFailure,
		onUnexpected: () => undefined,
	});
	await t.throwsAsync(listen(application, '127.0.0.1', server.port), { code: 'EADDRINUSE' });
});
