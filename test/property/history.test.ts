// @apart @both

import { deepStrictEqual, strictEqual } from 'node:assert';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { document, type Model } from '../../compiler/index.js';
import { parseManifest, parsePatches } from '../../src/bundle/bundle.js';
import { Engine } from '../../src/pdp/engine/engine.js';
import { newPlace, type Place } from '../support/management.js';
import { type Stack, shareStack } from '../support/stack.js';
import { draws, leastDrawn } from '../support/tier.js';
import { askOpa, type Bundle, bundleData, bundleModule, snapshot, stepFrom } from './feed.js';
import { modelAt } from './model-at.js';
import { decide, patched, permissions } from './oracle.js';
import type { Query } from './query.js';
import { ends, opening, Simulation, universe, type Write, write } from './simulation.js';

/** Random write histories over HTTP, compared with separate books, the oracle, and stock OPA. */

let stack: Stack;
test.before(async () => {
	stack = await shareStack();
});
test.after.always(() => stack?.stop());

async function send({ http: api, schema, facts }: Place, entry: Write) {
	const at = (path: string, name: string) => `${path}/${encodeURIComponent(name)}`;
	const blocks = (actions: readonly string[]) => Object.fromEntries(actions.map((name) => [name, {}]));
	switch (entry.kind) {
		case 'create-user': {
			const { user, role, tenant } = entry;
			return api.post(`${facts}/users`, { key: user, role_assignments: role === undefined ? [] : [{ role, tenant }] });
		}
		case 'rename-user':
			return api.patch(at(`${facts}/users`, entry.user), { first_name: entry.name });
		case 'describe-user':
			return api.patch(at(`${facts}/users`, entry.user), { attributes: entry.attributes });
		case 'delete-user':
			return api.delete(at(`${facts}/users`, entry.user));
		case 'create-tenant':
			return api.post(`${facts}/tenants`, { key: entry.tenant, name: entry.tenant });
		case 'set-tenant':
			return api.patch(at(`${facts}/tenants`, entry.tenant), { attributes: entry.attributes });
		case 'delete-tenant':
			return api.delete(at(`${facts}/tenants`, entry.tenant));
		case 'create-resource':
			return api.post(`${schema}/resources`, {
				key: entry.resource,
				name: entry.resource,
				actions: blocks(entry.actions),
			});
		case 'set-actions':
			return api.patch(at(`${schema}/resources`, entry.resource), { actions: blocks(entry.actions) });
		case 'delete-resource':
			return api.delete(at(`${schema}/resources`, entry.resource));
		case 'create-role':
			return api.post(`${schema}/roles`, { key: entry.role, name: entry.role, extends: entry.parents });
		case 'grant':
		case 'revoke': {
			const body = { permissions: [`${entry.resource}:${entry.action}`] };
			const path = `${at(`${schema}/roles`, entry.role)}/permissions`;
			return entry.kind === 'grant' ? api.post(path, body) : api.delete(path, body);
		}
		case 'delete-role':
			return api.delete(at(`${schema}/roles`, entry.role));
		case 'assign':
		case 'unassign': {
			const { kind, ...body } = entry;
			return kind === 'assign'
				? api.post(`${facts}/role_assignments`, body)
				: api.delete(`${facts}/role_assignments`, body);
		}
	}
}

/** Returns every question about the keys in `universe`, and some questions about missing objects. */
function everyQuery(): readonly Query[] {
	const users = [...universe.users, 'nobody'];
	const tenants = [...universe.tenants, 'nowhere'];
	const types = [...universe.resources, 'nothing'];
	const actions = [...universe.actions, 'never'];
	return users.flatMap((key) =>
		tenants.flatMap((tenant) =>
			types.flatMap((type) => actions.map((action) => ({ user: { key }, action, resource: { type, tenant } }))),
		),
	);
}

/** Times before any expiry and at each expiry. */
const times = [0, ...ends.map((end) => Date.parse(end))];

/** Expected environment state: its books and revision. */
interface Expected {
	readonly books: Simulation;
	revision: number;
}

/** The environment, and earlier bundles, from which a decision point must reach the newest bundle. */
interface Real {
	readonly place: Place;
	readonly bases: Bundle[];
}

type Command = fc.AsyncCommand<Expected, Real>;

/** Returns a command for a write. Also sends writes that must be refused. */
function writing(entry: Write): Command {
	return {
		check: () => true,
		run: (expected, { place }) => enter(entry, expected, place),
		toString: () => JSON.stringify(entry),
	};
}

async function enter(entry: Write, expected: Expected, place: Place): Promise<void> {
	const { accepted, changes } = expected.books.enter(entry);
	const answer = await send(place, entry);
	const said = `${JSON.stringify(entry)} was answered ${answer.status} ${JSON.stringify(answer.body)}`;
	strictEqual(answer.status < 300, accepted, said);
	if (!accepted) return;
	// Revisions have no gaps, and a write without changes creates none.
	expected.revision += changes ? 1 : 0;
	strictEqual(answer.revision, expected.revision, said);
}

/** Keeps a snapshot, from which patches must later produce the newest bundle. */
const keepSnapshot: Command = {
	check: () => true,
	run: async (_, { place, bases }) => {
		bases.push(await snapshot(place, ''));
	},
	toString: () => 'keep a snapshot',
};

/** Path to replay a counterexample, as named in its report. */
const replayPath = process.env['TEST_REPLAY_PATH'];

/** Histories with enough writes to use earlier objects again, and with some snapshots in between. */
const histories = fc.commands(
	[fc.oneof({ weight: 12, arbitrary: write.map(writing) }, { weight: 1, arbitrary: fc.constant(keepSnapshot) })],
	{ maxCommands: 52, size: 'max', ...(replayPath ? { replayPath } : {}) },
);

test('patches produce the newest snapshot; WASM, opa eval and the oracle agree; listings agree with checks', async (t) => {
	t.timeout(600_000);
	t.timeout(7_200_000);
	let steps = 0;
	await fc.assert(
		fc.asyncProperty(histories, async (commands) => {
			const place = await newPlace({ url: stack.api.listening.url, store: stack.api.store }, stack.organization);
			const empty = await snapshot(place, '');
			const bases = [empty];
			const expected = { books: new Simulation(), revision: Number(parseManifest(empty.files).revision) };
			for (const entry of opening) await enter(entry, expected, place);
			await fc.asyncModelRun(() => ({ model: expected, real: { place, bases } }), commands);

			const model = expected.books.model();
			const newest = await hold(await snapshot(place, ''));
			deepStrictEqual(
				bundleData(newest.bundle),
				JSON.parse(JSON.stringify(document(model))),
				'the snapshot equals the books',
			);
			strictEqual(parseManifest(newest.bundle.files).revision, String(expected.revision));

			for (const base of bases) steps += await follow(place, base, newest);
			await askEverything(t, place, { model, engine: newest.engine });
		}),
		{ numRuns: draws(8, 'HISTORIES') },
	);
	t.true(steps >= leastDrawn(1), 'no history used patches');
});

/** A bundle loaded in an engine. */
interface Held {
	readonly bundle: Bundle;
	readonly engine: Engine;
}

async function hold(bundle: Bundle): Promise<Held> {
	const data = bundle.files.get('data.json') as Uint8Array;
	return { bundle, engine: await Engine.load(await bundleModule(bundle), data) };
}

/** Follows the feed from a bundle to the newest bundle. Returns 1 if patches were used, otherwise 0. */
async function follow(place: Place, base: Bundle, newest: Held): Promise<0 | 1> {
	const step = await stepFrom(place, base.etag);
	if (step === null) return 0;
	const patches = parsePatches(step.files);
	deepStrictEqual(patched(bundleData(base), patches), bundleData(newest.bundle), 'snapshot + patches = later snapshot');
	const { engine } = await hold(base);
	const moved = step.files.has('policy.wasm') ? await engine.fork(await bundleModule(step)) : engine;
	moved.patch(patches);
	deepStrictEqual(moved.dump(), newest.engine.dump(), 'the same inside WASM memory');
	return parseManifest(step.files).metadata.regolith.kind === 'snapshot' ? 0 : 1;
}

/** An engine and the model that it must follow. */
interface Decider {
	readonly model: Model;
	readonly engine: Engine;
}

/** Sends all queries to WASM, `opa eval` and the oracle, and compares the results. */
async function askEverything(t: ExecutionContext, place: Place, { model, engine }: Decider): Promise<void> {
	const queries = everyQuery();
	const answers = times.map((time) => {
		const standing = modelAt(model, time);
		const expected = queries.map((query) => decide(standing, query).code);
		const inWasm = queries.map((query) => engine.code({ ...query, time } as Parameters<Engine['code']>[0]));
		deepStrictEqual(inWasm, expected, `WASM = oracle, at ${time}`);
		for (const key of [...universe.users, 'nobody']) {
			const listed = engine.evaluate('regolith/listing/user_permissions', { user: { key }, time }) ?? {};
			const checks = JSON.parse(JSON.stringify(permissions(standing, key)));
			deepStrictEqual(sorted(listed), checks, `listing = checks, at ${time}`);
		}
		return expected;
	});
	// OPA gets each question only once, with varying times.
	const asked = queries.map((query, index) => ({ ...query, time: times[index % times.length] ?? 0 }));
	const expected = queries.map((_, index) => answers[index % times.length]?.[index]);
	deepStrictEqual(await askOpa(t, await snapshot(place, '/rego'), asked), expected, 'opa eval = oracle');
}

function sorted(listing: unknown): unknown {
	const entries = Object.entries(listing as Record<string, { permissions: string[]; roles: string[] }>);
	return Object.fromEntries(
		entries.map(([key, entry]) => [
			key,
			{ ...entry, permissions: [...entry.permissions].sort(), roles: [...entry.roles].sort() },
		]),
	);
}
