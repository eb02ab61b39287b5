import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Patch } from '../compiler/model.js';
import { type DecidingEngine, Engine, type EngineInput } from '../src/pdp/engine/engine.js';
import { removeFolder, temporaryFolder } from '../test/support/temporary.js';
import { regolithEngine } from './rivals/deciders.js';
import { kinds, questions, users } from './rivals/world.js';

/**
 * Counts runtime crashes under load, per Node.js version and V8 flag. Node.js 20.20.2 has crashed in V8
 * (`unreachable code` in `Deoptimizer::DoComputeBuiltinContinuation`), in about one of thirty heavy benchmark runs.
 * Each run is a process that decides checks of every kind while engines are patched, copied and replaced. `RUNS` is the
 * number of runs per variant, `SECONDS` the length of a run, `NODES` a list of Node.js programs, separated by commas.
 * By default, only this Node.js runs.
 */

const runs = Number(process.env['RUNS'] ?? 2);
const seconds = Number(process.env['SECONDS'] ?? 5);
const nodes = process.env['NODES']?.split(',') ?? [process.execPath];
/**
 * V8 flags to compare: none, and the flag against the inlining of WebAssembly calls. The crashes happened during this
 * inlining.
 */
const flags = [[], ['--no-turbo-inline-js-wasm-calls']] as const;

/** Decides checks until the time is over, while functions are optimized and deoptimized and memories grow. */
async function load(folder: string): Promise<void> {
	const [module, data] = [readFileSync(join(folder, 'policy.wasm')), readFileSync(join(folder, 'data.json'))];
	const compiled = await WebAssembly.compile(module);
	const inputs = kinds.flatMap((kind) => questions(kind, 300).map(({ body }, index) => inputOf(body, index)));
	let engine = await Engine.load(compiled, data);
	const end = performance.now() + seconds * 1000;
	for (let turn = 0; performance.now() < end; turn += 1) {
		const decide = newDecider(turn);
		for (const input of inputs) decide(engine, input);
		engine.patch(patches(turn));
		if (turn % 7 === 0) engine.evaluate('regolith/check/decision', inputs[turn % inputs.length]);
		if (turn % 20 === 0) engine = await engine.copy();
		if (turn % 50 === 0) engine = await engine.fork(await WebAssembly.compile(module));
	}
}

/** Returns a new function, so V8 optimizes the engine calls again and again. */
function newDecider(turn: number): (engine: DecidingEngine, input: EngineInput) => string {
	return new Function('engine', 'input', `return engine.code(input) + ${turn % 97}`) as ReturnType<typeof newDecider>;
}

/** Returns inputs of several shapes: with and without attributes and context. */
function inputOf({ user, action, resource }: ReturnType<typeof questions>[number]['body'], index: number): EngineInput {
	const input = { user: { key: user }, action, resource, time: Date.now() };
	return index % 3 === 0 ? { ...input, context: { [`name-${index % 5}`]: index } } : input;
}

function patches(turn: number): readonly Patch[] {
	return Array.from({ length: 50 }, (_, index) => {
		const path = ['regolith', 'facts', 'user_attributes', users[(turn * 50 + index) % users.length] ?? ''];
		return { op: 'upsert', path, value: { department: 'department-1', note: 'x'.repeat((turn * index) % 3000) } };
	});
}

/** Runs a process. Returns the exit status and the fatal error, or `undefined` after a success. */
async function runOnce(folder: string, node: string, variant: readonly string[]): Promise<string | undefined> {
	const child = spawn(node, [...variant, fileURLToPath(import.meta.url)], {
		env: { ...process.env, CRASH_LOAD: folder },
		stdio: ['ignore', 'ignore', 'pipe'],
	});
	let said = '';
	child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
		said += chunk;
	});
	const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
	if (code === 0) return undefined;
	const [fatal = ''] = /# .*(?:unreachable|Fatal|Check failed).*/.exec(said) ?? [said.trim().slice(0, 200)];
	return `${signal ?? `exit code ${code}`} ${fatal}`.trim();
}

async function versionOf(node: string): Promise<string> {
	const child = spawn(node, ['--version'], { stdio: ['ignore', 'pipe', 'inherit'] });
	const [chunk] = await once(child.stdout.setEncoding('utf8'), 'data');
	return String(chunk).trim();
}

async function soak(folder: string): Promise<void> {
	const { module, data } = await regolithEngine();
	writeFileSync(join(folder, 'policy.wasm'), module);
	writeFileSync(join(folder, 'data.json'), data);
	const variants = await Promise.all(
		nodes.flatMap((node) =>
			flags.map(async (flag) => ({
				node,
				flag,
				title: [await versionOf(node), ...flag].join(' '),
				ends: [] as string[],
			})),
		),
	);
	let done = 0;
	const print = () => {
		for (const { title, ends } of variants) {
			console.log(
				`${title.padEnd(45)} ${done} runs of ${seconds} s, ${ends.length} crashed${ends.map((end) => `\n  ${end}`).join('')}`,
			);
		}
	};
	process.once('SIGINT', () => {
		print();
		process.exit(130);
	});
	// Alternate, so other load on the machine affects all variants.
	for (; done < runs; done += 1) {
		for (const { node, flag, ends } of variants) {
			const end = await runOnce(folder, node, flag);
			if (end !== undefined) ends.push(end);
		}
		if (done % 10 === 9 && done + 1 < runs) console.log(`${done + 1} of ${runs} rounds`);
	}
	print();
}

const loaded = process.env['CRASH_LOAD'];
if (loaded === undefined) {
	const folder = temporaryFolder();
	await soak(folder);
	removeFolder(folder);
} else await load(loaded);
