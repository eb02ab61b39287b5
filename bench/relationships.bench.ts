import { compile, documentBytes } from '../compiler/index.js';
import type { Model, Patch } from '../compiler/model.js';
import { buildWasm, readPolicyLibrary } from '../compiler/opa/build.js';
import { unpack } from '../src/bundle/bundle.js';
import { Engine, type EngineInput } from '../src/pdp/engine/engine.js';
import { anyCheck, graphModel, groupKey, mixed, sizes, userKey } from './support/graph-model.js';
import { quantile } from './support/quantile.js';

/**
 * Measures all kinds of checks, and patches, in a decision point engine with the graph from `graph-model`. Targets:
 * check p50 <= 12 us and p99 <= 30 us, in process. Prints medians over several rounds.
 */

const rounds = Number(process.env['ROUNDS'] ?? 9);
const checksPerRound = 4_000;

async function load(model: Model): Promise<{ readonly engine: Engine; readonly bytes: number; readonly took: number }> {
	const compiled = compile(model);
	if (!('policy' in compiled)) throw new Error(`the model does not compile: ${JSON.stringify(compiled.diagnostics)}`);
	const files = [...(await readPolicyLibrary()), ...compiled.policy];
	const wasm = (await unpack(await buildWasm({ opa: process.env['OPA_PATH'] ?? '.tools/opa', files }))).get(
		'policy.wasm',
	);
	const module = await WebAssembly.compile(wasm ?? new Uint8Array());
	const data = documentBytes(model);
	const start = performance.now();
	const engine = await Engine.load(module, data);
	return { engine, bytes: data.length, took: performance.now() - start };
}

function microseconds(run: () => void): number {
	const start = process.hrtime.bigint();
	run();
	return Number(process.hrtime.bigint() - start) / 1000;
}

function report(title: string, values: readonly number[]): void {
	const [p50, p99] = [0.5, 0.99].map((share) => quantile(values, share).toFixed(2));
	console.log(`  ${title.padEnd(34)} p50 ${p50} us, p99 ${p99} us`);
}

async function measure(): Promise<void> {
	const { engine, bytes, took } = await load(graphModel());
	const heap = engine.heapBytes / 1024 / 1024;
	console.log(
		`data ${(bytes / 1024 / 1024).toFixed(1)} MiB, heap ${heap.toFixed(0)} MiB, loaded in ${took.toFixed(0)} ms`,
	);
	const drawn = Array.from({ length: 400_000 }, (_, turn) => anyCheck(turn));
	const allowed = drawn.filter((input) => engine.code(input) === 'allow').slice(0, checksPerRound);
	const denied = drawn.filter((input) => engine.code(input) !== 'allow').slice(0, checksPerRound);
	const times = { allowed: [] as number[], denied: [] as number[] };
	for (let round = -2; round < rounds; round += 1) {
		for (const [name, inputs] of Object.entries({ allowed, denied }) as ['allowed' | 'denied', EngineInput[]][]) {
			const taken = inputs.map((input) => microseconds(() => void engine.code(input)));
			if (round >= 0) times[name].push(...taken);
		}
	}
	console.log(`${allowed.length} checks that allow and ${denied.length} that deny, ${rounds} rounds`);
	report('all', [...times.allowed, ...times.denied]);
	report('that allow', times.allowed);
	report('that deny', times.denied);
	const facts = ['regolith', 'facts'];
	const membership = (turn: number): readonly Patch[] => {
		const [user, group] = [userKey(mixed(turn, sizes.users)), `group:${groupKey(mixed(turn + 1, sizes.groups))}`];
		return [{ op: 'upsert', path: [...facts, 'user_roles', user, 'group', 'member', group], value: null }];
	};
	report(
		'one membership, patched',
		Array.from({ length: 20_000 }, (_, turn) => microseconds(() => engine.patch(membership(turn)))),
	);
}

/**
 * Layers of folders. The parents of each folder are all folders in the layer above. A user can view the single top
 * folder.
 */
function layered(depth: number, width: number): Model {
	const { schema } = graphModel();
	const names = Array.from({ length: depth + 1 }, (_, layer) =>
		Array.from({ length: layer === 0 || layer === depth ? 1 : width }, (__, index) => `folder-${layer}-${index}`),
	);
	const folder = { type: 'folder', relation: 'parent', subject_type: 'folder' };
	return {
		schema,
		facts: {
			user_attributes: [],
			instance_attributes: [],
			users: ['ann', 'ben'],
			tenants: [{ key: 'acme', attributes: {} }],
			role_assignments: [],
			instances: names.flat().map((key) => ({ type: 'folder', key, tenant: 'acme' })),
			instance_assignments: [
				{ user: 'ann', role: 'viewer', type: 'folder', instance: 'folder-0-0' },
				{ user: 'ben', role: 'editor', type: 'folder', instance: `folder-${depth}-0` },
			],
			relationships: names
				.slice(1)
				.flatMap((layer, above) =>
					layer.flatMap((instance) => (names[above] ?? []).map((subject) => ({ ...folder, instance, subject }))),
				),
		},
	};
}

/** A group with very many members and a role on a folder. */
function crowded(members: number): Model {
	const { schema } = graphModel();
	const users = Array.from({ length: members }, (_, index) => userKey(index));
	return {
		schema,
		facts: {
			user_attributes: [],
			instance_attributes: [],
			users,
			tenants: [{ key: 'acme', attributes: {} }],
			role_assignments: [],
			instances: [
				{ type: 'folder', key: 'folder-1-0', tenant: 'acme' },
				{ type: 'group', key: 'everyone', tenant: 'acme' },
			],
			instance_assignments: users.map((user) => ({ user, role: 'member', type: 'group', instance: 'everyone' })),
			relationships: [
				{ type: 'folder', instance: 'folder-1-0', relation: 'viewers', subject_type: 'group', subject: 'everyone' },
			],
		},
	};
}

async function measureShapes(): Promise<void> {
	const shapes = [
		['chain of 22', layered(22, 1), 22, 'ann'],
		['diamonds, 22 deep, 2 wide', layered(22, 2), 22, 'ann'],
		['chain of 1,000', layered(1_000, 1), 1_000, 'ann'],
		['group of 100,000', crowded(100_000), 1, userKey(77_777)],
	] as const;
	const subjects = [];
	for (const [title, model, depth, user] of shapes) {
		const { engine } = await load(model);
		const resource = { type: 'folder', key: `folder-${depth}-0`, tenant: 'acme' };
		const inputs: readonly EngineInput[] = [
			{ user: { key: user }, action: 'list', resource, time: 0 },
			{ user: { key: user }, action: 'manage', resource, time: 0 },
		];
		const codes = inputs.map((input) => engine.code(input)).join();
		if (codes !== 'allow,no_permission') throw new Error(`${title}: decided ${codes}`);
		subjects.push({ title, engine, inputs, times: [] as number[] });
	}
	for (let round = -2; round < rounds; round += 1) {
		for (const { engine, inputs, times } of subjects) {
			const taken = Array.from({ length: 1_000 }, () =>
				inputs.map((input) => microseconds(() => void engine.code(input))),
			).flat();
			if (round >= 0) times.push(...taken);
		}
	}
	for (const { title, times } of subjects) report(title, times);
}

await measure();
await measureShapes();
