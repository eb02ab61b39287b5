import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Patch } from '../compiler/model.js';
import { runToEnd, type Steps } from '../compiler/steps.js';
import type { DecisionContext } from '../src/pdp/decide/decide.js';
import { Engine } from '../src/pdp/engine/engine.js';
import { FactsIndex } from '../src/pdp/facts/facts-index.js';
import { authorizedUsers } from '../src/pdp/listing/authorized-users.js';
import { permissions } from '../src/pdp/listing/permissions.js';
import { modelData, policyWasm, quiet, snapshot } from '../test/pdp/environment.js';
import { FakeFeed } from '../test/pdp/fake-feed.js';
import { client } from '../test/support/client.js';
import { eventually } from '../test/support/eventually.js';
import type { Told } from './support/decision-point.js';
import { documents, listingModel, tenantOf, users } from './support/listing-model.js';
import { quantile } from './support/quantile.js';

/**
 * Measures listings of the environment in `listing-model`, and the index behind them: its memory, and the times to load
 * and to patch it. Targets: documents with conditions take at most 35 ms (p50) over HTTP; a patch of a fact takes less
 * than 10 us.
 */

const rounds = Number(process.env['ROUNDS'] ?? 15);
const apiKey = 'permit_key_of_the_environment';

const used = () => {
	for (const _ of [1, 2, 3]) globalThis.gc?.();
	const { heapUsed, external, arrayBuffers } = process.memoryUsage();
	return heapUsed + external + arrayBuffers;
};
const median = (values: readonly number[]) => quantile(values, 0.5);

/** CPU time of this process, in milliseconds. */
function worked(run: () => unknown): number {
	const start = process.cpuUsage();
	run();
	const { user, system } = process.cpuUsage(start);
	return (user + system) / 1000;
}

const data = modelData(listingModel);
console.log(`data ${(data.length / 1024 / 1024).toFixed(1)} MiB`);

const facts = FactsIndex.read(data);
const before = used();
const held = Array.from({ length: 3 }, () => FactsIndex.read(data));
const bytes = (used() - before) / held.length;
const loads = Array.from({ length: rounds }, () => worked(() => FactsIndex.read(data)));
console.log(`index: ${(bytes / 1024 / 1024).toFixed(2)} MiB, load ${median(loads).toFixed(0)} ms CPU`);

const path = ['regolith', 'facts'];
/** Patches that change a fact and change it back. */
const patches: Readonly<Record<string, (turn: number) => readonly Patch[]>> = {
	'a role in a tenant': (turn) => {
		const to = [...path, 'tenant_roles', tenantOf(turn), users[(turn * 17) % users.length] ?? ''];
		return [
			{ op: 'upsert', path: to, value: { reader: null, other: null } },
			{ op: 'remove', path: [...to, 'other'] },
		];
	},
	'a parent': (turn) => {
		const to = [...path, 'relations', `document:${documents[turn % documents.length]}`, 'parent'];
		const folder = (number: number) => `folder:folder-${number % 2_000}`;
		return [
			{ op: 'upsert', path: [...to, folder(turn + 1)], value: null },
			{ op: 'remove', path: [...to, folder(turn + 1)] },
		];
	},
	'an instance': (turn) => {
		const to = [...path, 'instances', `document:more-${turn % 1_000}`];
		return [
			{ op: 'upsert', path: to, value: tenantOf(turn) },
			{ op: 'remove', path: to },
		];
	},
};
for (const [title, patch] of Object.entries(patches)) {
	const count = 20_000;
	const took = Array.from({ length: 5 }, () =>
		worked(() => {
			for (let turn = 0; turn < count; turn += 1) facts.patch(patch(turn));
		}),
	);
	console.log(`patch of ${title}: ${((1000 * median(took)) / count / 2).toFixed(2)} us CPU`);
}

if (process.env['INDEX_ONLY'] !== undefined) process.exit();

const engine = await Engine.load(await WebAssembly.compile(await policyWasm(listingModel)), data);
const context: DecisionContext = {
	engine,
	facts: FactsIndex.read(data),
	revision: 1,
	policyRevision: 1,
	time: Date.now(),
	log: quiet,
};
const user = (turn: number) => ({ key: users[(turn * 37) % users.length] ?? '' });
const withConditions = { enable_abac_user_permissions: true, enable_abac_authorized_users: true };
type Listing = (turn: number) => Steps<readonly string[]>;
const all = ['document', 'folder', 'group', '__tenant'];
const document = (turn: number) => ({
	type: 'document',
	key: documents[turn] ?? '',
	tenant: tenantOf(turn),
});
const listings: Readonly<Record<string, Listing>> = {
	'documents, conditions': (turn) =>
		permissions(context, { user: user(turn), resource_types: ['document'], context: withConditions }),
	documents: (turn) => permissions(context, { user: user(turn), resource_types: ['document'] }),
	'all types, conditions': (turn) =>
		permissions(context, { user: user(turn), resource_types: all, context: withConditions }),
	'authorized users, conditions': (turn) =>
		authorizedUsers(context, { action: 'read', resource: document(turn), context: withConditions }),
	'authorized users': (turn) => authorizedUsers(context, { action: 'read', resource: document(turn) }),
};
for (const [title, listing] of Object.entries(listings)) {
	let size = 0;
	const took = Array.from({ length: Math.ceil(rounds / 3) + 1 }, (_, turn) =>
		worked(() => {
			size = runToEnd(listing(turn)).join('').length;
		}),
	);
	console.log(`${title}: ${median(took.slice(1)).toFixed(1)} ms CPU, ${(size / 1024).toFixed(0)} KiB`);
}

const feed = new FakeFeed();
await feed.start();
feed.publish({ revision: 1, snapshot: await snapshot({ revision: 1, model: listingModel }) });
const child = fork(fileURLToPath(new URL('./support/decision-point.js', import.meta.url)));
child.send({ follow: feed.url, apiKey });
const [told] = (await once(child, 'message')) as [Told];
const http = client('url' in told ? told.url : '', apiKey);
await eventually(
	() => http.get('/ready'),
	({ status }) => status === 200,
	{ deadline: 60_000, interval: 100 },
);
for (const [title, path, body] of [
	['documents, conditions', '/user-permissions', { resource_types: ['document'], context: withConditions }],
	['documents', '/user-permissions', { resource_types: ['document'] }],
	['all types, conditions', '/user-permissions', { resource_types: all, context: withConditions }],
] as const) {
	const took: number[] = [];
	for (let turn = 0; turn < rounds; turn += 1) {
		const start = performance.now();
		const { status } = await http.post(path, { user: user(turn), ...body });
		if (status !== 200) throw new Error(`${title}: ${status}`);
		took.push(performance.now() - start);
	}
	console.log(`over HTTP, ${title}: p50 ${median(took).toFixed(1)} ms`);
}
child.kill();
await feed.stop();
