import { compile, documentBytes } from '../compiler/index.js';
import type { Model } from '../compiler/model.js';
import { buildWasm, readPolicyLibrary } from '../compiler/opa/build.js';
import { unpack } from '../src/bundle/bundle.js';
import { Engine, type EngineInput } from '../src/pdp/engine/engine.js';
import { FactsIndex } from '../src/pdp/facts/facts-index.js';
import { anyCheck, graphModel } from './support/graph-model.js';
import { quantile } from './support/quantile.js';

/**
 * Measures expiry costs. Alternates between the graph in `graph-model` without expiries and the same graph with
 * expiries everywhere. Target: without expiries, checks and memory cost the same as in versions without this feature
 * (see `bench/relationships.bench.ts`, which runs on any version).
 */

const rounds = Number(process.env['ROUNDS'] ?? 9);
const checksPerRound = 4_000;
const day = 86_400_000;

function expiring({ schema, facts }: Model): Model {
	const ends = <T>(row: T, index: number) => ({ ...row, expires_at: Date.now() + day + index });
	return {
		schema,
		facts: {
			...facts,
			role_assignments: facts.role_assignments.map(ends),
			instance_assignments: facts.instance_assignments.map(ends),
			relationships: facts.relationships.map(ends),
		},
	};
}

async function load(title: string, model: Model) {
	const compiled = compile(model);
	if (!('policy' in compiled)) throw new Error(`the model does not compile: ${JSON.stringify(compiled.diagnostics)}`);
	const files = [...(await readPolicyLibrary()), ...compiled.policy];
	const built = await unpack(await buildWasm({ opa: process.env['OPA_PATH'] ?? '.tools/opa', files }));
	const module = await WebAssembly.compile(built.get('policy.wasm') ?? new Uint8Array());
	const data = documentBytes(model);
	const engine = await Engine.load(module, data);
	FactsIndex.read(data);
	const [document, heap] = [data.length, engine.heapBytes].map((bytes) => (bytes / 1024 / 1024).toFixed(1));
	console.log(`${title}: data ${document} MiB, heap ${heap} MiB`);
	return { title, engine, times: { allowed: [] as number[], denied: [] as number[] } };
}

const model = graphModel();
const subjects = [await load('nothing expires', model), await load('everything expires', expiring(model))];
const [first] = subjects;
if (first === undefined) throw new Error('nothing was loaded');
const drawn = Array.from({ length: 200_000 }, (_, turn) => anyCheck(turn));
const isAllowed = (input: EngineInput) => first.engine.code(input) === 'allow';
const inputs = {
	allowed: drawn.filter(isAllowed).slice(0, checksPerRound),
	denied: drawn.filter((input) => !isAllowed(input)).slice(0, checksPerRound),
};
for (let round = -2; round < rounds; round += 1) {
	for (const kind of ['allowed', 'denied'] as const) {
		for (const { engine, times } of subjects) {
			for (const input of inputs[kind]) {
				const start = process.hrtime.bigint();
				engine.code(input);
				if (round >= 0) times[kind].push(Number(process.hrtime.bigint() - start) / 1000);
			}
		}
	}
}
for (const { title, times } of subjects) {
	for (const kind of ['allowed', 'denied'] as const) {
		const [p50, p99] = [0.5, 0.99].map((share) => quantile(times[kind], share).toFixed(2));
		console.log(`  ${title}, ${kind}: p50 ${p50} us, p99 ${p99} us`);
	}
}
