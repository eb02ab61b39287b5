/** Compares the compiled output of every model in `test/case`, byte by byte, and its results. */
import { existsSync, readdirSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { compile, documentBytes, type Json, type Model, type RegoFile } from '../../compiler/index.js';
import { checkRego, readPolicyLibrary } from '../../compiler/opa/build.js';
import { evaluate, opa, packageRoot, wasmEngine, withoutOrder, writeFiles } from './engine.js';

/** A query in a case. Arrays in results are compared without order. */
interface Check {
	/** Reason for this result. */
	readonly because: string;
	/** Entrypoint; `regolith/check/decision` by default. */
	readonly entrypoint?: string;
	readonly query: Json;
	readonly answer: Json;
}

const root = join(packageRoot, 'test/case');

/** Writes the compiled output as the expected output, to be reviewed and committed. Results are never written. */
const update = process.env['UPDATE'] === '1';

const golden = test.macro({
	title: (_, name: string) => `${name} compiles to the expected files`,
	exec: async (t, name: string) => {
		const model = await readModel(name);
		const files = outcome(model);
		const expected = join(root, name, 'expected');
		if (update) {
			await rm(expected, { recursive: true, force: true });
			await writeFiles(expected, files);
		}
		t.deepEqual(files, await readFiles(expected));
		const compiled = compile(model);
		if ('policy' in compiled) {
			await t.notThrowsAsync(checkRego({ opa, files: [...(await readPolicyLibrary()), ...compiled.policy] }));
		}
	},
});

const answers = test.macro({
	title: (_, name: string) => `WebAssembly and opa eval return the expected results for ${name}`,
	exec: async (t, name: string) => {
		const model = await readModel(name);
		const compiled = compile(model);
		if (!('policy' in compiled)) {
			t.false(hasChecks(name), 'a model with errors has no checks');
			return;
		}
		const engine = await wasmEngine(compiled.policy);
		const document = documentBytes(model);
		engine.setData(document);
		for (const [entrypoint, checks] of byEntrypoint(await readChecks(name))) {
			const queries = checks.map((check) => check.query);
			const evaluated = await evaluate(compiled.policy, document, entrypoint, queries);
			for (const [index, { because, query, answer }] of checks.entries()) {
				const expected = withoutOrder(answer);
				t.deepEqual(withoutOrder(engine.ask(entrypoint, query)), expected, `wasm: ${because}`);
				t.deepEqual(withoutOrder(evaluated[index] ?? null), expected, `opa eval: ${because}`);
			}
		}
	},
});

for (const name of readdirSync(root).sort()) {
	test(golden, name);
	test(answers, name);
}

/** Returns all files compiled from a model, sorted by path. */
function outcome(model: Model): readonly RegoFile[] {
	const compiled = compile(model);
	return sorted([
		...('policy' in compiled ? [...compiled.policy, { path: 'data.json', text: dataText(model) }] : []),
		{ path: 'diagnostics.json', text: `${JSON.stringify(compiled.diagnostics, null, '\t')}\n` },
	]);
}

/** Returns the data document in readable form, in the compiler's order, so that the order is compared as well. */
function dataText(model: Model): string {
	const text = new TextDecoder().decode(documentBytes(model));
	return `${text.replaceAll('":{"', '":{\n"').replaceAll(',"', ',\n"')}\n`;
}

function byEntrypoint(checks: readonly Check[]): ReadonlyMap<string, readonly Check[]> {
	const groups = new Map<string, Check[]>();
	for (const check of checks) {
		const entrypoint = check.entrypoint ?? 'regolith/check/decision';
		groups.set(entrypoint, [...(groups.get(entrypoint) ?? []), check]);
	}
	return groups;
}

async function readFiles(folder: string): Promise<readonly RegoFile[]> {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true });
	const files = entries
		.filter((entry) => entry.isFile())
		.map(async (entry) => {
			const path = join(entry.parentPath, entry.name);
			return { path: path.slice(folder.length + 1), text: await readFile(path, 'utf8') };
		});
	return sorted(await Promise.all(files));
}

function sorted(files: readonly RegoFile[]): readonly RegoFile[] {
	return [...files].sort((left, right) => (left.path < right.path ? -1 : 1));
}

async function readModel(name: string): Promise<Model> {
	return JSON.parse(await readFile(join(root, name, 'model.json'), 'utf8'));
}

async function readChecks(name: string): Promise<readonly Check[]> {
	return JSON.parse(await readFile(join(root, name, 'checks.json'), 'utf8'));
}

function hasChecks(name: string): boolean {
	return existsSync(join(root, name, 'checks.json'));
}
