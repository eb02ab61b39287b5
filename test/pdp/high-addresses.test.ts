// @alone

import { createRequire } from 'node:module';
import type * as Library from '@open-policy-agent/opa-wasm';
import test from 'ava';
import { runToEnd } from '../../compiler/steps.js';
import { Heap } from '../../src/pdp/engine/heap.js';
import { makeFrames } from '../../src/pdp/engine/layout-probe.js';
import { aligned, headroom, ModuleMemory, page } from '../../src/pdp/engine/module-memory.js';
import type { PolicyExports } from '../../src/pdp/engine/policy-exports.js';
import { wasmFrom } from './environment.js';
import { policyOfCode } from './policy-of-code.js';

/**
 * Memory of up to 4 GiB. Addresses in its upper half are negative numbers in WASM. Memory below the start of the heap
 * is never accessed, so it costs nothing.
 */

const { loadPolicySync } = createRequire(import.meta.url)('@open-policy-agent/opa-wasm') as typeof Library;
const gigabyte = 2 ** 30;
const places = { 'across 2 GiB': 2 * gigabyte - 3 * page, 'at 3 GiB': 3 * gigabyte, 'far below the end of memory': 0 };

/** Returns a module with 2.2 GiB of memory above `base`, or less if the memory would exceed 4 GiB. */
async function highMemory(base: number) {
	const rule = 'code := concat("|", [input.user.key, input.action, data.table["k1"], data["é"]])\n';
	const module = await WebAssembly.compile(await wasmFrom(policyOfCode(rule)));
	const behind = Math.min(2.2 * gigabyte, 4 * gigabyte - 2 * page - base);
	const policy = loadPolicySync(module, { initial: Math.floor((base + Math.max(behind, 2 * headroom)) / page) });
	const instance = policy.wasmInstance as WebAssembly.Instance;
	// The package's types do not declare these exports.
	const memory = new ModuleMemory(instance.exports as unknown as PolicyExports, policy.mem);
	const { entrypoints } = policy as { readonly entrypoints: Readonly<Record<string, number>> };
	return { memory, entrypoint: entrypoints['regolith/check/code'] ?? -1 };
}

for (const [place, wanted] of Object.entries(places)) {
	test(`a heap ${place} is written, patched, dumped and queried like a heap at a low address`, async (t) => {
		const { memory, entrypoint } = await highMemory(wanted);
		const start = aligned(memory.free, 8);
		const heap = new Heap(memory, aligned(Math.max(wanted, start + page), page));
		t.true(heap.laidOut);
		const names = Array.from({ length: 20_000 }, (_, index) => `k${index}`);
		const table = Object.fromEntries(names.map((name, index) => [name, index % 3 === 0 ? { [name]: index } : name]));
		runToEnd(heap.loading(Buffer.from(JSON.stringify({ table, é: 'ü' }))));
		t.deepEqual(JSON.parse(heap.dump()), { table, é: 'ü' });

		const changes = names.map((name, index) => {
			const path = JSON.stringify(['table', name]);
			return index % 2 === 0 ? { path } : { path, value: JSON.stringify({ new: [name, 'ß'] }) };
		});
		runToEnd(heap.patching(changes));
		runToEnd(heap.patching([{ path: '["table","k1"]', value: '"😀"' }]));
		const left = names.filter((_, index) => index % 2 === 1).map((name) => [name, { new: [name, 'ß'] }] as const);
		t.deepEqual(JSON.parse(heap.dump()), { table: { ...Object.fromEntries(left), k1: '😀' }, é: 'ü' });

		const frames = makeFrames(memory, start, entrypoint);
		frames?.useData(heap.root);
		const resource = { type: 'document', tenant: 'acme' };
		for (const user of ['ann', 'é😀']) {
			t.is(frames?.evaluate({ user: { key: user }, action: 'read', resource, time: 0 }, heap.end), `${user}|read|😀|ü`);
		}
	});
}
