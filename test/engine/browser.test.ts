// @rest

import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import test from 'ava';
import { everyCheck, readCaseModel, serving } from '../pdp/cases.js';
import { modelData, policyWasm, snapshot } from '../pdp/environment.js';
import { key, type Served } from '../pdp/served.js';
import { startChromium } from '../support/chromium.js';
import { makeKeys, signed, signingPacker } from '../support/signing-keys.js';
import { temporary } from '../support/temporary.js';
import { buildFile } from './built.js';

/**
 * The package in Chromium, in a page and in a worker, with only web APIs. The page forbids evaluating strings as code,
 * as edge runtimes do.
 */

/** Loads the engine from each of the three sources, and reports the results. */
const asking = `
import { loadEngine } from '/edge.js';

export async function ask(where) {
	const { checks, user, key, verificationKeys } = await (await fetch('/questions')).json();
	const found = { where, runtime: [typeof process, typeof Buffer, typeof require] };
	const bundle = await (await fetch('/bundle')).arrayBuffer();
	const sources = {
		bundle: { bundle, verificationKeys },
		module: {
			module: await WebAssembly.compileStreaming(fetch('/policy.wasm')),
			data: await (await fetch('/data.json')).json(),
		},
		controlPlane: { controlPlane: location.origin, apiKey: key },
	};
	for (const [name, source] of Object.entries(sources)) {
		const engine = await loadEngine(source);
		const answers = await engine.checkMany(checks);
		const permissions = await engine.userPermissions({ user });
		const explained = engine.check({ ...checks[0], use_debugger: true });
		await engine.close();
		found[name] = { answers, permissions, explained, after: engine.check(checks[0]) };
	}
	const broken = await loadEngine({ bundle: bundle.slice(0, -9) }).catch(({ code }) => code);
	const text = await fetch('/bundle').then(() => Function('return 1')()).catch(({ name }) => name);
	return { ...found, broken, text };
}

export const tell = (found) => fetch('/found', { method: 'POST', body: JSON.stringify(found) });
export const fail = (where) => (error) => tell({ where, error: String(error?.stack ?? error) });
`;

const page = `
import { ask, tell, fail } from '/asking.js';

const worker = new Worker('/worker.js', { type: 'module' });
worker.onerror = (event) => fail('worker')(event.message);
await ask('page').then(tell).catch(fail('page'));
`;

const worker = `
import { ask, tell, fail } from '/asking.js';

await ask('worker').then(tell).catch(fail('worker'));
`;

interface Found {
	readonly where: string;
	readonly error?: string;
	readonly [form: string]: unknown;
}

test('a page and a worker decide like a decision point', async (t) => {
	const model = await readCaseModel('007-folders-and-documents');
	const served = await serving(t, model);
	const checks = JSON.parse(JSON.stringify(everyCheck(model))).slice(0, 2_000);
	const [user = ''] = model.facts.users;
	const found: Found[] = [];
	let [arrived, failed]: [() => void, (error: unknown) => void] = [() => undefined, () => undefined];
	const both = new Promise<void>((resolve, reject) => {
		arrived = resolve;
		failed = reject;
	});
	const keys = makeKeys(temporary(t), 'key');
	const packer = await signingPacker(keys.privatePath);
	const script = { 'content-type': 'text/javascript' };
	const contents: Readonly<Record<string, readonly [type: Record<string, string>, body: string | Uint8Array]>> = {
		'/': [{ 'content-type': 'text/html' }, '<!doctype html><script type="module" src="/page.js"></script>'],
		'/page.js': [script, page],
		'/worker.js': [script, worker],
		'/asking.js': [script, asking],
		'/edge.js': [script, await readFile(buildFile('edge'))],
		'/questions': [{}, JSON.stringify({ checks, user, key, verificationKeys: [keys.publicKey] })],
		'/bundle': [{}, await signed(packer, await snapshot({ revision: 7, model }))],
		'/policy.wasm': [{ 'content-type': 'application/wasm' }, await policyWasm(model)],
		'/data.json': [{}, modelData(model)],
	};
	const policy = { 'content-security-policy': "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'" };
	const answer = async (request: IncomingMessage, response: ServerResponse) => {
		const [headers, body] = contents[request.url ?? ''] ?? [];
		if (request.url === '/found') {
			found.push((await json(request)) as Found);
			response.end();
			if (found.length === 2) arrived();
		} else if (headers !== undefined) response.writeHead(200, { ...policy, ...headers }).end(body);
		else await forward(served, request, response);
	};
	const server = createServer((request, response) => void answer(request, response).catch(failed));
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => server.close());
	const browser = await startChromium();
	t.teardown(() => browser.close());
	const tab = await browser.newPage();
	tab.on('pageerror', failed);
	await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
	await both;

	const { body } = await served.http.post<{ allow: unknown }>('/allowed/bulk', checks);
	const { body: permissions } = await served.http.post('/user-permissions', { user });
	const { body: explained } = await served.http.post('/allowed', { ...checks[0], use_debugger: true });
	const after = { allow: false, result: false, debug: { code: 'closed' } };
	for (const where of ['page', 'worker']) {
		const told = found.find((one) => one.where === where);
		t.is(told?.error, undefined);
		for (const form of ['bundle', 'module', 'controlPlane']) {
			t.deepEqual(told?.[form], { answers: body.allow, permissions, explained, after }, `${where}: ${form}`);
		}
		t.deepEqual(told?.['runtime'], ['undefined', 'undefined', 'undefined']);
		t.is(told?.['broken'], 'invalid_bundle');
		t.is(told?.['text'], 'EvalError', 'the page forbids evaluating strings as code');
	}
});

/** Forwards a request to the feed, because a page can reach only its own origin. */
async function forward({ feed }: Served, request: IncomingMessage, response: ServerResponse): Promise<void> {
	const headers = Object.fromEntries(
		['authorization', 'prefer', 'if-none-match'].flatMap((name) => {
			const value = request.headers[name];
			return typeof value === 'string' ? [[name, value]] : [];
		}),
	);
	const gone = new AbortController();
	response.on('close', () => gone.abort());
	try {
		const answer = await fetch(`${feed.url}${request.url}`, { headers, signal: gone.signal });
		const passed = ['content-type', 'etag'].flatMap((name) => {
			const value = answer.headers.get(name);
			return value === null ? [] : [[name, value]];
		});
		response.writeHead(answer.status, Object.fromEntries(passed)).end(Buffer.from(await answer.arrayBuffer()));
	} catch {
		response.destroy();
	}
}
