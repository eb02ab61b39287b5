/** The two engines that every policy must work with, from the same files: WebAssembly and OPA itself. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { type LoadedPolicy, loadPolicy } from '@open-policy-agent/opa-wasm';
import { extract } from 'tar-stream';
import type { Json, RegoFile } from '../../compiler/index.js';
import { readPolicyLibrary } from '../../compiler/opa/build.js';
import { sortedBy } from '../../compiler/order.js';
import { Entrypoints } from '../../src/pdp/engine/entrypoints.js';
import { createWasmCompiler } from '../../src/publish/wasm-compiler.js';

/** Package folder, seen from `dist/test/compiler/`. */
export const packageRoot = fileURLToPath(new URL('../../..', import.meta.url));

/** Path to the `opa` under test. */
export const opa = process.env['OPA_PATH'] ?? join(packageRoot, '.tools/opa');

/** A loaded policy, which evaluates inputs at an entrypoint. Its data can be replaced. */
export interface Engine {
	/** Takes a data document as JSON in UTF-8. */
	setData(document: Uint8Array): void;
	ask(entrypoint: string, input: Json): Json;
}

/**
 * The compiler shared by the whole process, because its program should start only once. wasm-compiler.test.ts asserts
 * that its output decides like `opa build`.
 */
const compiler = createWasmCompiler(opa);

/** Compiles generated files with the hand-written policy and loads the module. */
export async function wasmEngine(generated: readonly RegoFile[]): Promise<Engine> {
	const files = [...(await readPolicyLibrary()), ...generated];
	const policy = await loadPolicy(Buffer.from(await compiler.compile(files)), undefined, {
		'time.now_ns': () => Date.now() * 1_000_000,
	});
	refuseHostFunctions(policy);
	const entrypoints = new Entrypoints(policy.entrypoints as Record<string, number>);
	return {
		setData: (document) => policy.setData(new Uint8Array(document).buffer),
		// The module returns the result as JSON. An undefined result is an empty list, and is mapped to null, which no rule
		// returns.
		ask: (entrypoint, input) => {
			const question = entrypoints.inputFor(entrypoint, input);
			return (policy.evaluate(question, entrypoints.find(entrypoint)) as { result: Json }[])[0]?.result ?? null;
		},
	};
}

/**
 * Throws if a policy calls a host function other than the clock. OPA's loader has some host functions, but the
 * library's loader has none, so the two could differ (docs/decisions/0041).
 */
function refuseHostFunctions({ wasmInstance, mem }: LoadedPolicy): void {
	const exports = (wasmInstance as WebAssembly.Instance).exports as unknown as HostFunctionExports;
	const bytes = new Uint8Array(mem.buffer).subarray(exports.opa_json_dump(exports.builtins()));
	const names = Object.keys(JSON.parse(new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)))) as object);
	const others = names.filter((name) => name !== 'time.now_ns');
	if (others.length > 0) throw new Error(`the policy calls host functions: ${others.join(', ')}`);
}

interface HostFunctionExports {
	builtins(): number;
	opa_json_dump(address: number): number;
}

/** Extracts the module from a bundle. */
export async function policyWasm(bundle: Uint8Array): Promise<Buffer> {
	const entries = extract();
	entries.end(gunzipSync(bundle));
	for await (const entry of entries) {
		const chunks: Buffer[] = [];
		for await (const chunk of entry) {
			chunks.push(Buffer.from(chunk as Uint8Array));
		}
		if (entry.header.name === '/policy.wasm') {
			return Buffer.concat(chunks);
		}
	}
	throw new Error('the bundle contains no /policy.wasm');
}

/** Evaluates all inputs at an entrypoint with a single `opa eval`, with the same Rego and data loaded as a bundle. */
export async function evaluate(
	generated: readonly RegoFile[],
	document: Uint8Array,
	entrypoint: string,
	inputs: readonly Json[],
): Promise<readonly Json[]> {
	const folder = await mkdtemp(join(tmpdir(), 'regolith-test-'));
	try {
		const data = { path: 'data.json', text: new TextDecoder().decode(document) };
		await writeFiles(join(folder, 'bundle'), [...(await readPolicyLibrary()), ...generated, data]);
		await writeFile(join(folder, 'input.json'), JSON.stringify(inputs));
		const query = `[answer | some question in input; answer := data.${entrypoint.replaceAll('/', '.')} with input as question]`;
		return JSON.parse(await runOpa(['eval', '-b', 'bundle', '-i', 'input.json', '-f', 'raw', query], folder));
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

/** Runs `opa` and returns its output. */
export async function runOpa(argv: readonly string[], cwd: string): Promise<string> {
	const { stdout } = await promisify(execFile)(opa, [...argv], { cwd, maxBuffer: 1 << 26 });
	return stdout;
}

/** Writes files and their folders. */
export async function writeFiles(root: string, files: readonly RegoFile[]): Promise<void> {
	for (const file of files) {
		const path = join(root, file.path);
		await mkdir(dirname(path), { recursive: true });
		await writeFile(path, file.text);
	}
}

/** Sorts all arrays in a result, because the policy returns them unordered. */
export function withoutOrder(answer: Json): Json {
	if (Array.isArray(answer)) {
		return sortedBy(answer.map(withoutOrder), JSON.stringify);
	}
	return typeof answer === 'object' && answer !== null
		? Object.fromEntries(sortedBy(Object.entries(answer), ([key]) => key).map(([key, one]) => [key, withoutOrder(one)]))
		: answer;
}
