import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { entrypoints } from '../compiler/opa/build.js';
import { manifest, manifestFile } from '../src/bundle/bundle.js';
import { pack } from '../src/bundle/pack.js';
import { createApplication, listen } from '../src/http/server.js';
import { createLogger } from '../src/log.js';
import { createDecisionPoint } from '../src/pdp/endpoints.js';
import { Replica } from '../src/pdp/follow/replica.js';
import { casbin, cedar, type Decide, regolithEngine } from './rivals/deciders.js';
import { kinds, type Question, questions } from './rivals/world.js';
import { quantile } from './support/quantile.js';

/**
 * Compares checks with rival engines on the same world: 10,000 users, 50,000 roles, 20,000 instances, 50 user sets and
 * 50 resource sets. First runs the engines in this process in turns. Then runs each engine over HTTP, in a separate
 * process behind a `node:http` server, with the load in a third process. Casbin has an enforcer for each permission.
 * Cedar receives the entities with each check, as its package requires. Prints medians over several rounds.
 */

const key = 'permit_key_of_the_environment';
const environment = '0190c1b0-0000-7000-8000-000000000001';
const rounds = Number(process.env['ROUNDS'] ?? 3);
const seconds = Number(process.env['SECONDS'] ?? 3);
const connections = 16;
const names = ['a bare server', 'casbin', 'cedar', 'regolith'] as const;
type Name = (typeof names)[number];

const median = (values: readonly number[]) => quantile(values, 0.5);

/** Serves an engine and prints its address. */
async function serve(name: Name): Promise<void> {
	if (name === 'regolith') {
		console.log(await serveRegolith());
		return;
	}
	const decide: Decide = name === 'casbin' ? await casbin() : name === 'cedar' ? await cedar() : () => true;
	const server = createServer((request, response) => {
		const chunks: Buffer[] = [];
		request.on('data', (chunk: Buffer) => chunks.push(chunk));
		request.on('end', () => {
			const allow = name === 'a bare server' || decide(JSON.parse(Buffer.concat(chunks).toString()));
			const text = JSON.stringify({ allow });
			const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
			response.writeHead(200, headers).end(text);
		});
	});
	server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
}

/** Serves a regular decision point that follows a feed with a single snapshot. */
async function serveRegolith(): Promise<string> {
	const { module, data } = await regolithEngine();
	const about = { revision: 1, environment, policy: 'bench', entrypoints } as const;
	const bytes = await pack([
		manifestFile(manifest({ ...about, step: { kind: 'snapshot' } })),
		{ path: 'data.json', bytes: data },
		{ path: 'policy.wasm', bytes: module },
	]);
	const log = createLogger('silent');
	const replica = new Replica({
		controlPlane: '',
		apiKey: key,
		log,
		feed: {
			environment: async () => environment,
			poll: async ({ etag }, signal) => {
				if (etag === undefined) return { kind: 'bundle', bytes, etag: '1' };
				if (replica.state.kind === 'ready') await once(signal, 'abort');
				return { kind: 'unchanged', waits: true };
			},
		},
	});
	replica.start();
	await replica.reached(1);
	const point = createDecisionPoint({ replica, apiKey: key, log });
	const application = createApplication({ ...point, onUnexpected: (error) => console.error(error) });
	return (await listen(application, '127.0.0.1', 0)).url;
}

/** Generates load, and returns the number of requests per second. */
async function load(url: string, path: string, asked: readonly unknown[]): Promise<number> {
	const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], {
		env: { ...process.env, RIVAL_LOAD: JSON.stringify({ url, path, asked }) },
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	return Number(await firstLine(child));
}

async function loadNow(): Promise<void> {
	const { url, path, asked } = JSON.parse(process.env['RIVAL_LOAD'] ?? '{}') as {
		readonly url: string;
		readonly path: string;
		readonly asked: readonly unknown[];
	};
	const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
	const requests = asked.map((body) => ({ method: 'POST' as const, path, headers, body: JSON.stringify(body) }));
	const result = await autocannon({ url, connections, duration: seconds, requests });
	if (result.non2xx + result.errors > 0) throw new Error(`${url}: not every answer was 200`);
	console.log(result.requests.average);
}

async function firstLine(child: ChildProcess): Promise<string> {
	let text = '';
	child.stdout?.setEncoding('utf8');
	for await (const chunk of child.stdout ?? []) {
		text += chunk;
		if (text.includes('\n')) break;
	}
	return text.trim();
}

const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(0).padStart(3)} %`;

async function compareInProcess(): Promise<void> {
	const deciders = { casbin: await casbin(), cedar: await cedar(), regolith: (await regolithEngine()).decide };
	const asked = new Map<string, readonly Question[]>(kinds.map((kind) => [kind, questions(kind, 600)]));
	asked.set(
		'mixed',
		[...asked.values()].flat().toSorted((a, b) => a.body.user.localeCompare(b.body.user)),
	);
	for (const [name, decide] of Object.entries(deciders)) {
		for (const question of [...asked.values()].flat()) {
			if (decide(question.body) !== question.allow) throw new Error(`${name}: ${JSON.stringify(question)}`);
		}
	}
	console.log('one check in the process, microseconds, p50');
	for (const [kind, all] of asked) {
		const times = new Map<string, number[]>(Object.keys(deciders).map((name) => [name, []]));
		for (let round = 0; round < rounds * 3; round += 1) {
			for (const [name, decide] of Object.entries(deciders)) {
				for (const { body } of all) {
					const start = process.hrtime.bigint();
					decide(body);
					times.get(name)?.push(Number(process.hrtime.bigint() - start) / 1_000);
				}
			}
		}
		const of = (name: string) => median(times.get(name) ?? []);
		const shown = Object.keys(deciders).map((name) => `${name} ${of(name).toFixed(2)}`);
		const ratios = ['casbin', 'cedar'].map((name) => `${(of(name) / of('regolith')).toFixed(1)} x faster than ${name}`);
		console.log(`  ${kind.padEnd(6)} ${shown.join(', ')}: ${ratios.join(', ')}`);
	}
}

async function compareOverHttp(): Promise<void> {
	const children = new Map<Name, ChildProcess>();
	const urls = new Map<Name, string>();
	for (const name of names) {
		const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], {
			env: { ...process.env, RIVAL: name },
			stdio: ['ignore', 'pipe', 'inherit'],
		});
		children.set(name, child);
		urls.set(name, await firstLine(child));
	}
	const rates = new Map<string, number[]>();
	const ask = async (title: string, name: Name, path: string, asked: readonly unknown[]) => {
		const rate = await load(urls.get(name) ?? '', path, asked);
		rates.set(title, [...(rates.get(title) ?? []), rate]);
	};
	for (let round = 0; round < rounds; round += 1) {
		for (const kind of kinds) {
			const asked = questions(kind, 200).map(({ body }) => body);
			for (const name of names) await ask(`${kind}: ${name}`, name, '/allowed', asked);
		}
		const mixed = kinds.flatMap((kind) => questions(kind, 400).map(({ body }) => body));
		const bulk = (all: readonly unknown[]) =>
			Array.from({ length: 10 }, (_, index) => all.filter((__, place) => place % 10 === index).slice(0, 100));
		await ask(
			'100 checks at once, rbac',
			'regolith',
			'/allowed/bulk',
			bulk(questions('rbac', 1_000).map(({ body }) => body)),
		);
		await ask('100 checks at once, mixed', 'regolith', '/allowed/bulk', bulk(mixed));
	}
	console.log(`over HTTP, ${connections} connections, requests a second`);
	for (const [title, all] of rates) {
		const [kind] = title.split(':');
		const whole = median(rates.get(`${kind}: a bare server`) ?? []);
		const share = title.includes(':') ? `, ${percent(median(all), whole)} of bare` : '';
		console.log(`  ${title.padEnd(28)} ${median(all).toFixed(0).padStart(6)}${share}`);
	}
	for (const child of children.values()) child.kill();
}

const served = names.find((name) => name === process.env['RIVAL']);
if (process.env['RIVAL_LOAD'] !== undefined) await loadNow();
else if (served !== undefined) await serve(served);
else {
	await compareInProcess();
	await compareOverHttp();
}
