import { compilePolicy, layout } from '../compiler/index.js';
import type { Schema } from '../compiler/model.js';
import { readPolicyLibrary } from '../compiler/opa/build.js';
import { unpack } from '../src/bundle/bundle.js';
import { pack } from '../src/bundle/pack.js';
import { companionFiles } from '../src/publish/companion-files.js';
import { createWasmCompiler } from '../src/publish/wasm-compiler.js';
import { readSchema } from '../src/store/model/model.js';
import { PolicyStore } from '../src/store/policy/policy-store.js';
import type { StoreKind } from '../test/support/postgres.js';
import { type Stack, startStack } from '../test/support/stack.js';
import { derivedTypes, schemaDocument, setRules } from './support/schema-shapes.js';

/**
 * Measures the time from a schema change request until the resulting policy makes decisions. API, publisher and
 * decision point run in this process and communicate over real HTTP. The decision point is waiting in a long poll. Also
 * measures each step separately. `SHAPES` selects shapes by a part of their title, `ROUNDS` is the number of changes,
 * `STORE` is `server` or `embedded`.
 */

const rounds = Number(process.env['ROUNDS'] ?? 9);
const only = process.env['SHAPES'] ?? '';
const kind = (process.env['STORE'] ?? 'server') as StoreKind;

interface Shape {
	readonly title: string;
	readonly schema: Schema;
	/** Makes a new schema change and returns its revision. */
	readonly change: (stack: Stack, turn: number) => Promise<number | undefined>;
}

const types = (count: number): Shape => ({
	title: `${count} types with derived roles, one more action`,
	schema: derivedTypes(count),
	change: ({ environment }, turn) =>
		accepted(
			environment.post(`/v2/schema/default/dev/resources/type-${turn}/actions`, { key: `new-${turn}`, name: 'x' }),
		),
});

const rules = (sets: number, count: number, layout: Parameters<typeof setRules>[2]): Shape => ({
	title: `${sets} sets, ${count} rules ${layout}, one more rule`,
	schema: setRules(sets, count, layout),
	change: ({ environment }, turn) =>
		accepted(
			environment.post('/v2/facts/default/dev/set_rules', {
				user_set: `users-${turn}`,
				resource_set: `documents-${sets / 2 - 1}`,
				permission: 'document:action-39',
			}),
		),
});

const shapes: readonly Shape[] = [
	rules(100, 100, 'over 40 actions'),
	rules(1_000, 1_000, 'over 40 actions'),
	rules(100, 2_400, 'on one action'),
	rules(240, 2_400, 'over 40 actions'),
	rules(320, 25_000, 'on one action'),
	rules(1_000, 25_000, 'over 40 actions'),
	types(50),
	types(100),
	types(300),
	types(600),
];

async function accepted(
	answer: Promise<{ readonly status: number; readonly body: unknown; readonly revision: number | undefined }>,
) {
	const { status, body, revision } = await answer;
	if (status >= 300) throw new Error(`a write returned ${status}: ${JSON.stringify(body).slice(0, 2_000)}`);
	return revision;
}

async function policyHash({ environment }: Stack): Promise<string> {
	return (await environment.get<{ readonly hash: string }>('/v2/projects/default/dev/policy')).body.hash;
}

async function measure(stack: Stack, { schema, change }: Shape): Promise<readonly number[]> {
	const filled = stack.environment.post('/v2/projects/default/envs/dev/import', schemaDocument(schema));
	await stack.reached(await accepted(filled));
	const times: number[] = [];
	for (let turn = -1; turn < rounds; turn += 1) {
		const before = await policyHash(stack);
		const started = performance.now();
		await stack.reached(await change(stack, turn + 1));
		if (turn >= 0) times.push(performance.now() - started);
		if ((await policyHash(stack)) === before) throw new Error('the revision is reached, but its policy is not active');
	}
	return times;
}

/** Measures the separate steps in order, without the time between them. */
async function measureSteps({ api, config }: Stack): Promise<ReadonlyMap<string, readonly number[]>> {
	const took = new Map<string, number[]>();
	const timed = async <T>(step: string, run: () => T | Promise<T>): Promise<T> => {
		const started = performance.now();
		const value = await run();
		took.set(step, [...(took.get(step) ?? []), performance.now() - started]);
		return value;
	};
	const row = await api.store.database.knex('environments').where({ key: 'dev' }).first('id');
	const policies = new PolicyStore(api.store.database.knex, companionFiles);
	const compiler = createWasmCompiler(config.opa_path ?? '');
	const library = await readPolicyLibrary();
	for (let turn = 0; turn < Math.min(rounds, 3); turn += 1) {
		const schema = await timed('read the schema (known)', () => api.store.snapshot(row.id, (unit) => readSchema(unit)));
		const { policy } = await timed('compile it to Rego', () => compilePolicy(schema));
		const files = [...library, ...(policy ?? [])];
		const wasm = await timed('compile that to WASM', () => compiler.compile(files));
		await timed('WebAssembly.compile', () => WebAssembly.compile(wasm as Uint8Array<ArrayBuffer>));
		const digest = `bench-${turn}`;
		await timed('keep it', () => policies.keep({ digest, files, wasm }, new Date()));
		const published = { digest, schema_revision: 1, published_at: new Date(), layout };
		await timed('remember it', () => policies.history.remember(row.id, published, schema));
		await timed('fetch the module', () => policies.wasm(digest));
		const packed = await timed('pack', () => pack([{ path: 'policy.wasm', bytes: wasm }]));
		await timed('unpack', () => unpack(packed));
		if (turn === 0) {
			const kib = (bytes: number) => (bytes / 1024).toFixed(0);
			const text = files.reduce((sum, file) => sum + file.text.length, 0);
			console.log(
				`  ${files.length} files, ${kib(text)} KiB of Rego, ${kib(wasm.length)} KiB of WASM, ${kib(packed.length)} KiB packed`,
			);
		}
	}
	await compiler.stop();
	return took;
}

const quantile = (values: readonly number[], share: number) => {
	const sorted = values.toSorted((a, b) => a - b);
	return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

for (const shape of shapes.filter(({ title }) => title.includes(only))) {
	const stack = await startStack(kind);
	const times = await measure(stack, shape);
	const [median, p95] = [quantile(times, 0.5), quantile(times, 0.95)];
	console.log(`${shape.title} (${kind}): median ${median.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms`);
	for (const [step, taken] of await measureSteps(stack)) {
		console.log(`  ${step.padEnd(24)} ${quantile(taken, 0.5).toFixed(0).padStart(6)} ms`);
	}
	await stack.stop();
}
