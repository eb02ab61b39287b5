import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { documentBytes } from '../compiler/index.js';
import type { Model, Patch } from '../compiler/model.js';
import { assign, policyWasm, resource, snapshot, step } from '../test/pdp/environment.js';
import { FakeFeed } from '../test/pdp/fake-feed.js';
import { type Client, client } from '../test/support/client.js';
import { eventually } from '../test/support/eventually.js';
import type { Question, Told } from './support/decision-point.js';
import { documentKey, folderKey, graphModel, sizes, tenantKey, userKey } from './support/graph-model.js';

/**
 * Measures waiting times in a decision point with the graph from `graph-model`, which has about 1,000,000 facts: single
 * checks during a long listing, batches, a snapshot, a new policy and a large delta. Targets: requests never block the
 * event loop for 20 ms, and loading never blocks it for 50 ms.
 */

const apiKey = 'permit_key_of_the_environment';
const listener = 'listener@example.com';
/** Each folder has ten documents, so about 38,000 instances are listed. */
const foldersListed = 3_455;
const checkers = 4;

function model(): Model {
	const { schema, facts } = graphModel();
	const assigned = Array.from({ length: foldersListed }, (_, index) => ({
		user: listener,
		role: 'viewer',
		type: 'folder',
		instance: folderKey(index),
	}));
	return {
		schema,
		facts: {
			...facts,
			users: [...facts.users, listener],
			instance_assignments: [...facts.instance_assignments, ...assigned],
		},
	};
}

/** A duration, and the longest time that the decision point's event loop was blocked, in milliseconds. */
interface Measured {
	readonly took: number;
	/** By wall clock. */
	readonly longest: number;
	/** By CPU time. */
	readonly busiest: number;
}

/** A decision point in a separate process. */
class Point {
	readonly #child: ChildProcess;
	readonly http: Client;

	private constructor(child: ChildProcess, url: string) {
		this.#child = child;
		this.http = client(url, apiKey);
	}

	static async start(follow: string): Promise<Point> {
		const child = fork(fileURLToPath(new URL('./support/decision-point.js', import.meta.url)));
		const told = await ask(child, { follow, apiKey });
		if (!('url' in told)) throw new Error('the decision point does not listen');
		return new Point(child, told.url);
	}

	/** Calls `run`, and returns its duration and the longest time that the decision point's event loop was blocked. */
	async during<T>(run: () => Promise<T>): Promise<Measured & { readonly result: T }> {
		this.#child.send('reset');
		const start = performance.now();
		const result = await run();
		const took = performance.now() - start;
		const { longest, busiest } = await this.read();
		return { took, longest, busiest, result };
	}

	async read(): Promise<Exclude<Told, { readonly url: string }>> {
		const told = await ask(this.#child, 'read');
		if (!('longest' in told)) throw new Error('the decision point sent an unexpected message');
		return told;
	}

	async revision(): Promise<number> {
		return (await this.http.get('/ready')).revision ?? -1;
	}

	stop(): void {
		this.#child.kill();
	}
}

async function ask(child: ChildProcess, question: Question): Promise<Told> {
	child.send(question);
	const [told] = (await once(child, 'message')) as [Told];
	return told;
}

/** Sends checks in sequence over several connections until stopped. Returns their times in milliseconds. */
function checking(http: Client): () => Promise<readonly number[]> {
	const times: number[] = [];
	let going = true;
	const running = Array.from({ length: checkers }, async (_, checker) => {
		for (let turn = checker; going; turn += checkers) {
			const user = turn % sizes.users;
			const resource = { type: 'document', key: documentKey(user), tenant: tenantKey(user) };
			const start = performance.now();
			await http.post('/allowed', { user: userKey(user), action: 'read', resource });
			times.push(performance.now() - start);
		}
	});
	return async () => {
		going = false;
		await Promise.all(running);
		return times;
	};
}

/** Runs a writer, which writes the next revision as soon as the decision point uses the current revision. */
function writing(feed: FakeFeed, point: Point, from: number): () => Promise<number> {
	let revision = from;
	let going = true;
	const running = (async () => {
		while (going) {
			const patches = assign(userKey(revision % 100), tenantKey(revision % 100), revision % 2 === 0 ? ['any'] : []);
			await publish(feed, revision, patches);
			revision += 1;
			while ((await point.revision()) < revision) await new Promise(setImmediate);
		}
	})();
	return async () => {
		going = false;
		await running;
		return revision;
	};
}

const nothing = Buffer.from('');

async function publish(feed: FakeFeed, base: number, patches: readonly Patch[], wasm?: Uint8Array): Promise<void> {
	const parts = { base, revision: base + 1, patches };
	feed.publish({
		revision: base + 1,
		snapshot: nothing,
		step: await step(wasm === undefined ? parts : { ...parts, wasm }),
	});
}

function report(title: string, { took, longest, busiest }: Measured, times: readonly number[] = []): void {
	const sorted = times.toSorted((a, b) => a - b);
	const at = (share: number) =>
		(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
	const checks = times.length === 0 ? '' : `; ${times.length} checks: p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} ms`;
	console.log(
		`  ${title.padEnd(38)} ${took.toFixed(0).padStart(6)} ms, longest block ${busiest.toFixed(0)} ms CPU time, ${longest.toFixed(0)} ms wall time${checks}`,
	);
}

async function beside(
	title: string,
	feed: FakeFeed,
	point: Point,
	written: number | undefined,
	run: () => Promise<unknown>,
): Promise<number> {
	const stopWriting = written === undefined ? async () => 0 : writing(feed, point, written);
	const stopChecking = checking(point.http);
	const measured = await point.during(run);
	const times = await stopChecking();
	const revision = await stopWriting();
	report(written === undefined ? title : `${title}, one writer (${revision - written})`, measured, times);
	return revision;
}

/** Sends a request and prints the result. */
async function sent(http: Client, path: string, body: unknown): Promise<void> {
	const { status, body: answer } = await http.post(path, body);
	const size =
		status === 200
			? Object.keys(path === '/allowed/bulk' ? (answer['allow'] as object) : answer).length
			: answer['detail'];
	console.log(`    ${path} ${status}: ${size}`);
}

const large = model();
const facts = documentBytes(large).length / 1024 / 1024;
const feed = new FakeFeed();
await feed.start();
feed.publish({ revision: 1, snapshot: await snapshot({ revision: 1, model: large }) });
const point = await Point.start(feed.url);
console.log(`data ${facts.toFixed(0)} MiB`);
report(
	'loading a snapshot',
	await point.during(() =>
		eventually(
			() => point.revision(),
			(at) => at >= 1,
			{ interval: 5, deadline: 120_000 },
		),
	),
);
console.log(`  resident: ${(await point.read()).resident.toFixed(0)} MiB`);

const list = () => sent(point.http, '/user-permissions', { user: listener });
const bulk = (size: number) => () =>
	sent(
		point.http,
		'/allowed/bulk',
		Array.from({ length: size }, (_, turn) => ({
			user: userKey(turn),
			action: 'read',
			resource: { type: 'document', key: documentKey(turn), tenant: tenantKey(turn) },
		})),
	);
await beside('checks alone, 2 s', feed, point, undefined, () => new Promise((done) => setTimeout(done, 2_000)));
report('listing alone', await point.during(list));
await beside('listing', feed, point, undefined, list);
let revision = await beside('listing', feed, point, 1, list);
console.log(`  resident: ${(await point.read()).resident.toFixed(0)} MiB`);
for (const size of [1_000, 10_000]) {
	await beside(`bulk of ${size}`, feed, point, undefined, bulk(size));
	revision = await beside(`bulk of ${size}`, feed, point, revision, bulk(size));
}
const many = Array.from({ length: 10_000 }, (_, turn) => assign(userKey(turn), tenantKey(turn), ['any'])).flat();
await publish(feed, revision, many);
revision += 1;
await beside(`delta of ${many.length} changes`, feed, point, undefined, () =>
	eventually(
		() => point.revision(),
		(at) => at >= revision,
		{ interval: 5 },
	),
);
const wider = {
	...large,
	schema: { ...large.schema, resources: [...large.schema.resources, resource('more', ['see'])] },
};
await publish(feed, revision, [], await policyWasm(wider));
revision += 1;
await beside('a new policy', feed, point, undefined, () =>
	eventually(
		() => point.revision(),
		(at) => at >= revision,
		{ interval: 5 },
	),
);
point.stop();
await feed.stop();
