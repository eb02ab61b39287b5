// @alone

import { setImmediate as immediate } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import type { Json, Model, Patch } from '../../compiler/model.js';
import { runToEnd, type Steps } from '../../compiler/steps.js';
import { Failure } from '../../src/failure.js';
import { SliceScheduler, type WorkOptions } from '../../src/limit/slice-scheduler.js';
import type { DecisionContext } from '../../src/pdp/decide/decide.js';
import { createRevisionReader, type ReadResult } from '../../src/pdp/decide/revision-reader.js';
import { forEachChunk } from '../../src/pdp/engine/chunks.js';
import { Engine } from '../../src/pdp/engine/engine.js';
import { FactsIndex } from '../../src/pdp/facts/facts-index.js';
import { replaceAt } from '../../src/pdp/facts/json-members.js';
import type { FeedClient, FeedRequest, FeedResponse } from '../../src/pdp/follow/feed-client.js';
import { type Lease, Leases, type Manner, type ReaderKind } from '../../src/pdp/follow/leases.js';
import { Replica } from '../../src/pdp/follow/replica.js';
import { authorizedUsers } from '../../src/pdp/listing/authorized-users.js';
import { localAssignments } from '../../src/pdp/listing/local-assignments.js';
import { permissions } from '../../src/pdp/listing/permissions.js';
import { environment, modelData, policyWasm, quiet, resource, snapshot, step } from './environment.js';
import { ManualLoop } from './manual-loop.js';

/**
 * Requests over many turns, with changes between any two turns. Each response belongs to the revision that it names.
 * The test controls the event loop, the clock, and the timeout of waiting changes.
 */

/** Every clock read advances the clock by a slice, so that every step becomes a slice. */
class SteppingLoop extends ManualLoop {
	override now(): number {
		this.pass(5);
		return super.now();
	}
}

class SeenTurns extends SliceScheduler {
	runs = 0;

	override run<T>(steps: Steps<T>, doing?: WorkOptions): Promise<T> {
		this.runs += 1;
		return super.run(steps, doing);
	}
}

class SeenLeases extends Leases {
	settled = 0;
	kept = 0;

	override async settle(copying: number): Promise<Manner> {
		this.settled += 1;
		const manner = await super.settle(copying);
		if (manner === 'in a copy') this.kept += 1;
		return manner;
	}

	override take(kind: ReaderKind, again?: boolean): Promise<Lease> {
		return super.take(kind, again);
	}
}

/** A control plane in memory. */
class MemoryFeed implements FeedClient {
	#next: { readonly revision: number; readonly bytes: Uint8Array } | undefined;
	#wake: () => void = () => undefined;

	async environment(): Promise<string> {
		return environment;
	}

	async poll({ etag, wait }: FeedRequest, signal: AbortSignal): Promise<FeedResponse> {
		while (this.#next === undefined || etag === `${this.#next.revision}`) {
			if (wait === 0 && etag !== undefined) return { kind: 'unchanged', waits: true };
			signal.throwIfAborted();
			const ended = () => this.#wake();
			signal.addEventListener('abort', ended);
			await new Promise<void>((resolve) => {
				this.#wake = resolve;
			});
			signal.removeEventListener('abort', ended);
		}
		return { kind: 'bundle', bytes: this.#next.bytes, etag: `${this.#next.revision}` };
	}

	publish(revision: number, bytes: Uint8Array): void {
		this.#next = { revision, bytes };
		this.#wake();
	}
}

const derivedRole = (
	key: string,
	actions: readonly string[],
	derivations: readonly (readonly [string, string])[] = [],
) => ({
	key,
	name: key,
	description: null,
	permissions: actions,
	extends: [],
	no_direct_roles_on_object: false,
	derivations: derivations.map(([relation, role]) => ({ relation, role, no_direct_roles_on_object: false })),
});
const relation = (key: string, subject: string) => ({ key, name: key, description: null, subject });
const documents = Array.from({ length: 40 }, (_, index) => `d${index}`);
const folders = ['f0', 'f1', 'f2', 'f3'];
const users = ['ann', 'ben', 'cleo'];

/** Documents in nested folders. */
const model: Model = {
	schema: {
		condition_sets: [],
		set_rules: [],
		resources: [
			{
				...resource('folder', ['list']),
				roles: [derivedRole('viewer', ['list'], [['parent', 'viewer']])],
				relations: [relation('parent', 'folder')],
			},
			{
				...resource('document', ['read', 'write']),
				roles: [derivedRole('viewer', ['read'], [['parent', 'viewer']]), derivedRole('editor', ['read', 'write'])],
				relations: [relation('parent', 'folder')],
			},
		],
		roles: [
			{
				key: 'reader',
				name: 'reader',
				description: null,
				extends: [],
				permissions: [{ resource: 'document', action: 'read' }],
			},
		],
	},
	facts: {
		users,
		user_attributes: [],
		instance_attributes: [],
		tenants: ['acme', 'beta'].map((key) => ({ key, attributes: {} })),
		role_assignments: [{ user: 'ann', role: 'reader', tenant: 'acme' }],
		instances: [
			...folders.map((key) => ({ type: 'folder', key, tenant: 'acme' })),
			...documents.map((key) => ({ type: 'document', key, tenant: 'acme' })),
		],
		instance_assignments: [
			{ user: 'ann', role: 'viewer', type: 'folder', instance: 'f0' },
			...documents.map((instance) => ({ user: 'ben', role: 'editor', type: 'document', instance })),
		],
		relationships: [
			...folders.slice(1).map((instance) => ({
				type: 'folder',
				instance,
				relation: 'parent',
				subject_type: 'folder',
				subject: 'f0',
			})),
			...documents.map((instance, index) => ({
				type: 'document',
				instance,
				relation: 'parent',
				subject_type: 'folder',
				subject: folders[index % folders.length] ?? '',
			})),
		],
	},
};
const wider = {
	...model,
	schema: { ...model.schema, resources: [...model.schema.resources, resource('more', ['see'])] },
};

const facts = ['regolith', 'facts'];
/** Groups of paths that a revision may add or remove. */
const switches: readonly (readonly (readonly string[])[])[] = [
	...users.map((user) => [
		[...facts, 'tenant_roles', 'acme', user, 'reader'],
		[...facts, 'users', user, 'acme'],
	]),
	...users.flatMap((user) =>
		folders.map((key) => [[...facts, 'user_roles', user, 'folder', 'viewer', `folder:${key}`]]),
	),
	...users.flatMap((user) =>
		documents.slice(0, 9).map((key) => [[...facts, 'user_roles', user, 'document', 'editor', `document:${key}`]]),
	),
	...documents.map((key, index) => [
		[...facts, 'relations', `document:${key}`, 'parent', `folder:${folders[index % folders.length]}`],
	]),
	...folders.slice(1).map((key) => [[...facts, 'relations', `folder:${key}`, 'parent', 'folder:f0']]),
];

interface Change {
	readonly patches: readonly Patch[];
	/** Kind of change. A new policy, or a large patch, forces a copy. */
	readonly kind: 'small' | 'large' | 'policy';
}

const change: fc.Arbitrary<Change> = fc.record({
	patches: fc
		.array(fc.tuple(fc.constantFrom(...switches), fc.boolean()), { minLength: 1, maxLength: 4 })
		.map((switched) =>
			switched.flatMap(([paths, on]) =>
				paths.map((path): Patch => (on ? { op: 'upsert', path, value: null } : { op: 'remove', path })),
			),
		),
	kind: fc.oneof({ weight: 8, arbitrary: fc.constant('small' as const) }, fc.constantFrom('large', 'policy')),
});

/** Every kind of request over many turns. `work` returns the result as a string. */
const requests: readonly { readonly kind: ReaderKind; readonly work: (deciding: DecisionContext) => Steps<string> }[] =
	[
		...users.map((user) => ({
			kind: 'listing' as const,
			work: function* (deciding: DecisionContext) {
				return (yield* permissions(deciding, { user: { key: user } })).join('');
			},
		})),
		{
			kind: 'listing',
			work: function* (deciding: DecisionContext) {
				const object = { type: 'document', key: 'd1', tenant: 'acme' };
				return (yield* authorizedUsers(deciding, { action: 'read', resource: object })).join('');
			},
		},
		{
			kind: 'listing',
			work: function* (deciding: DecisionContext) {
				return JSON.stringify(yield* localAssignments(deciding, { page: 1, per_page: 100 }));
			},
		},
		{
			kind: 'batch',
			work: function* ({ engine }: DecisionContext) {
				const codes: string[] = [];
				yield* forEachChunk(documents, (portion) => {
					for (const key of portion) {
						const object = { type: 'document', key, tenant: 'acme' };
						codes.push(engine.code({ user: { key: 'ann' }, action: 'read', resource: object, time: 0 }));
					}
				});
				return codes.join();
			},
		},
	];

/** A decision point whose event loop, clock and control plane the test controls, and the data at each revision. */
class World {
	readonly loop = new SteppingLoop();
	readonly turns = new SeenTurns(this.loop);
	readonly sleeping: (() => void)[] = [];
	readonly leases = new SeenLeases(
		(_, signal) =>
			new Promise((resolve) => {
				this.sleeping.push(() => resolve(undefined));
				signal.addEventListener('abort', () => resolve(undefined));
			}),
	);
	readonly feed = new MemoryFeed();
	readonly replica = new Replica({
		controlPlane: '',
		apiKey: '',
		log: quiet,
		feed: this.feed,
		scheduler: this.turns,
		leases: this.leases,
	});
	readonly documents = new Map<number, Json>();
	revision = 1;
	#wide = false;

	readonly now = (): DecisionContext => {
		const held = this.replica.current();
		if (held === undefined) throw new Failure('unavailable', 'nothing is held');
		return { ...held, time: 0, log: quiet };
	};

	readonly read = createRevisionReader({
		now: this.now,
		leases: this.leases,
		scheduler: this.turns,
		budget: Number.POSITIVE_INFINITY,
	});

	static async start(t: ExecutionContext): Promise<World> {
		const world = new World();
		world.documents.set(1, JSON.parse(Buffer.from(modelData(model)).toString()) as Json);
		world.feed.publish(1, await snapshot({ revision: 1, model }));
		world.replica.start();
		t.teardown(() => void world.replica.stop());
		await world.reached(1);
		return world;
	}

	/** Publishes a change. Resolves when the decision point begins to apply this change. */
	async write({ patches, kind }: Change): Promise<void> {
		const base = this.revision;
		const revision = base + 1;
		const ballast: Patch = { op: 'upsert', path: ['ballast'], value: 'x'.repeat(200_000) };
		const all = kind === 'large' ? [...patches, ballast] : patches;
		const swapped = kind === 'policy' ? { wasm: await policyWasm(this.#wide ? model : wider) } : {};
		if (kind === 'policy') this.#wide = !this.#wide;
		const before = this.documents.get(base) ?? null;
		const after = all.reduce<Json>(
			(whole, { path, ...rest }) => replaceAt(whole, path, rest.op === 'upsert' ? rest.value : undefined) ?? {},
			before,
		);
		this.documents.set(revision, after);
		this.revision = revision;
		const begun = this.turns.runs + this.leases.settled;
		this.feed.publish(revision, await step({ base, revision, patches: all, ...swapped }));
		while (this.turns.runs + this.leases.settled === begun) await immediate();
		await immediate();
	}

	/** Lets the waits of all changes time out. */
	patience(): void {
		for (const resolve of this.sleeping.splice(0)) resolve();
	}

	isAt(revision: number): boolean {
		return this.replica.current()?.revision === revision;
	}

	reached(revision: number): Promise<void> {
		return this.until(() => {
			this.patience();
			return this.isAt(revision);
		});
	}

	/**
	 * Runs turns until the condition is true. Throws after a limit in real time, because other threads are also involved.
	 */
	async until(isSo: () => boolean): Promise<void> {
		for (const end = performance.now() + 30_000; !isSo(); await this.loop.turns(1)) {
			if (performance.now() > end) throw new Error('it does not come to an end');
		}
	}

	/** Returns the result from a decision point that never had any other revision. */
	async oracle(revision: number, work: (deciding: DecisionContext) => Steps<string>): Promise<string> {
		const data = Buffer.from(JSON.stringify(this.documents.get(revision)));
		const module = await WebAssembly.compile(await policyWasm(model));
		const engine = await Engine.load(module, data);
		return runToEnd(
			work({ engine, facts: FactsIndex.read(data), revision, policyRevision: revision, time: 0, log: quiet }),
		);
	}
}

test.before('build the policies', async () => {
	await Promise.all([policyWasm(model), policyWasm(wider)]);
});

/** Tracks whether a promise is settled. */
function watched<T>(promise: Promise<T>): { readonly promise: Promise<T>; over: boolean } {
	const state = { promise, over: false };
	const end = () => {
		state.over = true;
	};
	promise.then(end, end);
	return state;
}

test.serial('a response keeps its revision if a change arrives between any two slices', async (t) => {
	const change: Change = { patches: [{ op: 'remove', path: [...facts, 'user_roles'] }], kind: 'small' };
	const seen = { borders: 0, copies: 0, restarts: 0 };
	for (const { kind, work } of requests) {
		for (const patient of [true, false]) {
			for (let border = 0, over = false; !over; border += 1) {
				const world = await World.start(t);
				const request = watched(world.read({ kind, work }));
				await world.loop.turns(border);
				over = request.over;
				await world.write(change);
				if (!patient) world.patience();
				await world.until(() => request.over);
				const { result, revision } = await request.promise;
				t.is(result, await world.oracle(revision, work), `border ${border}`);
				if (kind === 'listing' || patient) t.is(revision, 1, 'the response keeps its revision');
				seen.borders += 1;
				seen.copies += world.leases.kept;
				seen.restarts += revision - 1;
				await world.reached(2);
				await world.replica.stop();
			}
		}
	}
	t.log(seen);
	t.true(seen.copies > 0 && seen.restarts > 0);
});

test.serial('each response is correct at its revision, despite writes between any two slices', async (t) => {
	const seen = { answers: 0, refused: 0, copies: 0, behind: 0 };
	const plan = fc.record({
		begun: fc.array(fc.tuple(fc.nat(30), fc.nat(requests.length - 1)), { minLength: 1, maxLength: 8 }),
		writes: fc.array(fc.tuple(fc.nat(12), change, fc.boolean()), { minLength: 1, maxLength: 12 }),
	});
	const law = fc.asyncProperty(plan, async ({ begun, writes }) => {
		const world = await World.start(t);
		const running: {
			work: (deciding: DecisionContext) => Steps<string>;
			read: Promise<ReadResult<string> | Failure>;
		}[] = [];
		let over = 0;
		let due = writes[0]?.[0] ?? 0;
		const left = [...writes];
		for (let turn = 0; turn <= 30 || over < running.length || left.length > 0; turn += 1) {
			for (const [when, number] of begun) {
				const request = requests[number];
				if (when !== turn || request === undefined) continue;
				const read = world.read(request).catch((error: unknown) => {
					if (error instanceof Failure && error.code === 'unavailable') return error;
					throw error;
				});
				running.push({ work: request.work, read });
				void read.finally(() => {
					over += 1;
				});
			}
			const [next] = left;
			if (next !== undefined && turn >= due && world.isAt(world.revision)) {
				await world.write(next[1]);
				left.shift();
				due = turn + (left[0]?.[0] ?? 0);
			}
			if (next?.[2] || turn % 7 === 0) world.patience();
			await world.loop.turns(1);
			if (turn > 1_000_000) throw new Error('it does not end');
		}
		await world.reached(world.revision);
		for (const { work, read } of running) {
			const answer = await read;
			if (answer instanceof Failure) {
				seen.refused += 1;
				continue;
			}
			seen.answers += 1;
			if (answer.revision < world.revision) seen.behind += 1;
			t.is(answer.result, await world.oracle(answer.revision, work));
		}
		seen.copies += world.leases.kept;
		t.is(world.leases.size, 0);
		const whole = world.replica.current();
		t.deepEqual((whole?.engine as Engine | undefined)?.dump(), world.documents.get(world.revision));
		await world.replica.stop();
	});
	await fc.assert(law, { numRuns: 25 });
	t.log(seen);
	t.true(seen.copies > 0 && seen.behind > 0 && seen.answers > 25);
});

test.serial('a listing finishes even with a write in every turn', async (t) => {
	const world = await World.start(t);
	const state = requests.slice(0, 4).map(({ kind, work }) => ({ work, answer: watched(world.read({ kind, work })) }));
	for (let turn = 0; state.some(({ answer }) => !answer.over); turn += 1) {
		if (turn > 1_000_000) throw new Error('they do not end');
		if (world.isAt(world.revision)) {
			const path = [...facts, 'user_roles', 'ann', 'document', 'editor', `document:d${turn % 40}`];
			await world.write({ patches: [{ op: 'upsert', path, value: null }], kind: 'small' });
		}
		world.patience();
		await world.loop.turns(1);
	}
	for (const { work, answer } of state) {
		const { result, revision } = await answer.promise;
		t.is(result, await world.oracle(revision, work));
	}
	t.true(world.revision > 1);
});

test.serial('a batch that loses its revision twice is rejected, and single checks continue', async (t) => {
	const world = await World.start(t);
	const codes = new Set<string>();
	const resource = { type: 'document', key: 'd1', tenant: 'acme' };
	const check = () => world.now().engine.code({ user: { key: 'ann' }, action: 'read', resource, time: 0 });
	const batch = watched(
		world.read({
			kind: 'batch',
			work: function* () {
				for (;;) yield;
			},
		}),
	);
	for (let round = 0; round < 2; round += 1) {
		await world.loop.turns(3);
		await world.write({ patches: [{ op: 'remove', path: [...facts, 'user_roles', 'ann'] }], kind: 'small' });
		await world.loop.turns(3);
		t.false(world.isAt(world.revision), 'the change waits');
		codes.add(check());
		world.patience();
		await world.reached(world.revision);
		codes.add(check());
	}
	await world.loop.turns(3);
	t.true(batch.over);
	await t.throwsAsync(batch.promise, {
		message: 'the revision changed twice during the request: send fewer checks per request',
	});
	t.deepEqual([...codes], ['allow']);
});

test.serial('a request over its CPU time limit is rejected', async (t) => {
	const world = await World.start(t);
	const read = createRevisionReader({ now: world.now, leases: world.leases, scheduler: world.turns, budget: 1_000 });
	const endless = watched(
		read({
			kind: 'listing',
			work: function* () {
				for (;;) yield;
			},
		}),
	);
	for (let turn = 0; !endless.over && turn < 1_000; turn += 1) await world.loop.turns(1);
	await t.throwsAsync(endless.promise, {
		message: 'the request takes more than 1 s of CPU time: split the request',
	});
	t.is(world.leases.size, 0);
});

test.serial('work for a disconnected client stops', async (t) => {
	const world = await World.start(t);
	const client = new AbortController();
	const endless = watched(
		world.read({
			kind: 'listing',
			work: function* () {
				for (;;) yield;
			},
			closed: client.signal,
		}),
	);
	await world.loop.turns(3);
	t.is(world.leases.size, 1);
	client.abort();
	await world.loop.turns(3);
	t.true(endless.over);
	t.is(world.leases.size, 0);
	await t.throwsAsync(endless.promise, { message: 'the client disconnected' });
});

test.serial('the decisions of a request are logged over several turns', async (t) => {
	const world = await World.start(t);
	const perTurn = new Map<number, number>();
	const record = () => {
		perTurn.set(world.loop.turn, (perTurn.get(world.loop.turn) ?? 0) + 1);
	};
	const read = createRevisionReader({
		now: () => ({ ...world.now(), record }),
		leases: world.leases,
		scheduler: world.turns,
		budget: Number.POSITIVE_INFINITY,
	});
	const many = 5_000;
	const request = watched(
		read({
			kind: 'batch',
			*work({ record: keep }) {
				const about = { type: 'document', tenant: 'acme' };
				const asked = { user: { key: 'ann' }, action: 'read', resource: about, time: 0 };
				for (let left = many; left > 0; left -= 1) keep?.(asked, 'allow', 0);
				yield;
			},
		}),
	);
	for (let turn = 0; !request.over && turn < 10_000; turn += 1) await world.loop.turns(1);
	await request.promise;
	const counts = [...perTurn.values()];
	t.is(
		counts.reduce((sum, count) => sum + count, 0),
		many,
	);
	t.is(Math.max(...counts), 1, 'a long step may follow many short steps');
});
