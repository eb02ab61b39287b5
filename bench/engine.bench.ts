import { compile, documentBytes } from '../compiler/index.js';
import type { Model, Patch } from '../compiler/model.js';
import { buildWasm, entrypoints, readPolicyLibrary } from '../compiler/opa/build.js';
import { manifest, manifestFile, unpack } from '../src/bundle/bundle.js';
import { pack } from '../src/bundle/pack.js';
import { Engine, type EngineInput } from '../src/pdp/engine/engine.js';
import { quantile } from './support/quantile.js';

/**
 * Measures a decision point engine at 1,000 and at 100,000 role assignments: checks, loading and patches. Prints
 * medians over several rounds. The rounds alternate between the two sizes, so other load on the machine affects
 * both. Targets: check p50 <= 6 us at 100,000, and at most 1.2 times the value at 1,000; loading 100,000 role
 * assignments takes under a second.
 */

const sizes = [1_000, 100_000] as const;
const usersPerTenant = 1_000;
const rounds = 15;
const checksPerRound = 5_000;

const actions = ['read', 'write', 'delete'];
/** Half of these roles cannot read, so half of the checks are denied. */
const roles = ['reader', 'writer', 'owner', 'guest', 'auditor', 'visitor'];

function sizedModel(assignments: number): Model {
	const action = (key: string) => ({ key, name: key, description: null });
	const resource = (key: string) => ({
		key,
		name: key,
		description: null,
		actions: actions.map(action),
		roles: [],
		relations: [],
	});
	const permissions = actions.map((action) => ({ resource: 'document', action }));
	const users = Array.from({ length: assignments }, (_, index) => userKey(index));
	return {
		schema: {
			condition_sets: [],
			set_rules: [],
			resources: ['document', 'folder', 'invoice', 'project'].map(resource),
			roles: roles.map((key, index) => ({
				key,
				name: key,
				description: null,
				extends: [],
				permissions: index < roles.length / 2 ? permissions : [],
			})),
		},
		facts: {
			user_attributes: [],
			instance_attributes: [],
			users,
			tenants: [...new Set(users.map((_, index) => tenantKey(index)))].map((key) => ({ key, attributes: {} })),
			role_assignments: users.map((user, index) => ({ user, role: roleKey(index), tenant: tenantKey(index) })),
			instances: [],
			instance_assignments: [],
			relationships: [],
		},
	};
}

const userKey = (index: number) => `user-${index}@example.com`;
const tenantKey = (index: number) => `tenant-${Math.floor(index / usersPerTenant)}`;
const roleKey = (index: number) => roles[index % roles.length] ?? 'reader';

function inputsFor(assignments: number, granted: boolean): readonly EngineInput[] {
	return Array.from({ length: checksPerRound }, (_, turn) => {
		const index = (turn * 7919) % assignments;
		// A user in the same block of six, with a role that gives the wanted decision.
		const block = index - (index % roles.length);
		const user = Math.min(block + (granted ? 0 : roles.length / 2) + (turn % 3), assignments - 1);
		return {
			user: { key: userKey(user) },
			action: actions[turn % actions.length] ?? 'read',
			resource: { type: 'document', tenant: tenantKey(user) },
			time: Date.now(),
		};
	});
}

async function buildBundle(model: Model): Promise<Uint8Array> {
	const compiled = compile(model);
	if (!('policy' in compiled)) throw new Error('the model does not compile');
	const files = [...(await readPolicyLibrary()), ...compiled.policy];
	const opa = process.env['OPA_PATH'] ?? '.tools/opa';
	const wasm = (await unpack(await buildWasm({ opa, files }))).get('policy.wasm') ?? new Uint8Array();
	const about = { revision: 1, environment: 'bench', policy: 'bench', entrypoints } as const;
	return pack([
		manifestFile(manifest({ ...about, step: { kind: 'snapshot' } })),
		{ path: 'data.json', bytes: documentBytes(model) },
		{ path: 'policy.wasm', bytes: wasm },
	]);
}

/** Loads a bundle into an engine and makes the first decision. */
async function load(bundle: Uint8Array): Promise<Engine> {
	const files = await unpack(bundle);
	const module = await WebAssembly.compile(files.get('policy.wasm') ?? new Uint8Array());
	const engine = await Engine.load(module, files.get('data.json') ?? new Uint8Array());
	engine.code({
		user: { key: userKey(0) },
		action: 'read',
		resource: { type: 'document', tenant: tenantKey(0) },
		time: Date.now(),
	});
	return engine;
}

function microseconds(run: () => void): number {
	const start = process.hrtime.bigint();
	run();
	return Number(process.hrtime.bigint() - start) / 1000;
}

/** Times each check separately, including the clock's own cost. */
function timings(engine: Engine, inputs: readonly EngineInput[]): readonly number[] {
	return inputs.map((input) => microseconds(() => void engine.code(input)));
}

const median = (values: readonly number[]) => quantile(values, 0.5);

function reassignment(index: number, turn: number): readonly Patch[] {
	const facts = ['regolith', 'facts'];
	return [
		{
			op: 'upsert',
			path: [...facts, 'tenant_roles', tenantKey(index), userKey(index)],
			value: { [roleKey(turn)]: null },
		},
		{ op: 'upsert', path: [...facts, 'users', userKey(index), tenantKey(index)], value: null },
	];
}

/** An environment size with its measurements. All are in microseconds, except `loads`, which is in milliseconds. */
interface Subject {
	readonly size: number;
	readonly bundle: Uint8Array;
	readonly engine: Engine;
	readonly loads: readonly number[];
	readonly granted: number[];
	readonly denied: number[];
}

async function measure(): Promise<void> {
	const subjects: Subject[] = [];
	for (const size of sizes) {
		const bundle = await buildBundle(sizedModel(size));
		const loads: number[] = [];
		for (let round = 0; round < 5; round += 1) {
			const start = performance.now();
			await load(bundle);
			loads.push(performance.now() - start);
		}
		subjects.push({ size, bundle, engine: await load(bundle), loads, granted: [], denied: [] });
	}
	for (let round = -2; round < rounds; round += 1) {
		for (const { size, engine, granted, denied } of subjects) {
			const [allow, deny] = [timings(engine, inputsFor(size, true)), timings(engine, inputsFor(size, false))];
			// The first rounds are a warm-up.
			if (round >= 0) granted.push(...allow);
			if (round >= 0) denied.push(...deny);
		}
	}
	for (const { size, bundle, engine, loads, granted, denied } of subjects) {
		const all = [...granted, ...denied];
		const patches = Array.from({ length: 20_000 }, (_, turn) =>
			microseconds(() => engine.patch(reassignment((turn * 31) % size, turn))),
		);
		console.log(`${size.toLocaleString('en')} role assignments`);
		console.log(`  check           p50 ${median(all).toFixed(2)} us, p99 ${quantile(all, 0.99).toFixed(2)} us`);
		console.log(`    that allows   p50 ${median(granted).toFixed(2)} us, p99 ${quantile(granted, 0.99).toFixed(2)} us`);
		console.log(`    that denies   p50 ${median(denied).toFixed(2)} us, p99 ${quantile(denied, 0.99).toFixed(2)} us`);
		console.log(
			`  bundle to first check   ${median(loads).toFixed(0)} ms (bundle ${(bundle.length / 1024).toFixed(0)} KiB)`,
		);
		console.log(
			`  one reassignment        p50 ${median(patches).toFixed(2)} us, p99 ${quantile(patches, 0.99).toFixed(2)} us`,
		);
		console.log(`  heap                    ${(engine.heapBytes / 1024 / 1024).toFixed(1)} MiB`);
	}
	const [small, large] = subjects;
	if (small === undefined || large === undefined) return;
	const ratio = (select: (subject: Subject) => readonly number[]) => median(select(large)) / median(select(small));
	console.log(`p50 at ${large.size.toLocaleString('en')} over p50 at ${small.size.toLocaleString('en')}`);
	console.log(
		`  allows ${ratio(({ granted }) => granted).toFixed(2)}, denies ${ratio(({ denied }) => denied).toFixed(2)}`,
	);
}

await measure();
