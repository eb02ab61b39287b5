// @alone

import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import fc from 'fast-check';
import type { Json, Patch } from '../../compiler/model.js';
import { Engine, EngineError } from '../../src/pdp/engine/engine.js';
import { anyCodePoint } from '../support/any-code-point.js';
import { acme, acmeWithMuch, assign, modelData, policyWasm, wasmFrom } from './environment.js';
import { withOtherHashes } from './other-layout.js';
import { key, type Model, ownCopy, patchModel, sorted, value } from './plain-model.js';
import { policyOfCode } from './policy-of-code.js';

/** Data laid out by our code behaves exactly like data parsed by the module, for all reads and changes. */

test.before('build the policies', async () => {
	await Promise.all([policyWasm(acme), policyWasm(acmeWithMuch)]);
});

/** Modules with different ways to load data: our code lays it out, or the module parses it. */
const kinds = {
	laidOut: async (model = acme) => WebAssembly.compile(await policyWasm(model)),
	parsed: async (model = acme) => WebAssembly.compile(withOtherHashes(await policyWasm(model))),
} as const;
const load = async (json: string | Uint8Array) => Engine.load(await kinds.laidOut(), Buffer.from(json));

test('data is written directly into the memory of modules that Regolith has built, and parsed by other modules', async (t) => {
	for (const [kind, module] of Object.entries(kinds)) {
		const engine = await Engine.load(await module(), modelData(acme));
		t.is(engine.laidOut, kind === 'laidOut');
		t.is(
			engine.code({ user: { key: 'ann' }, action: 'write', resource: { type: 'document', tenant: 'acme' }, time: 0 }),
			'allow',
		);
		t.deepEqual(engine.dump(), JSON.parse(Buffer.from(modelData(acme)).toString()) as Json);
		engine.patch(assign('idle', 'acme', ['reader']));
		const idle = {
			user: { key: 'idle' },
			action: 'read',
			resource: { type: 'document', tenant: 'acme', key: 'any' },
			time: 0,
		};
		t.is(engine.code(idle), 'allow');
		const other = await (kind === 'laidOut' ? kinds.parsed : kinds.laidOut)();
		const moved = await engine.fork(other);
		t.not(moved.laidOut, engine.laidOut);
		t.deepEqual(moved.dump(), engine.dump());
		t.is(moved.code(idle), 'allow');
	}
});

const member = fc.tuple(key, fc.oneof(value, fc.string({ unit: anyCodePoint, minLength: 60, maxLength: 200 })));
/** Nested objects, and flat objects with up to 200 members. */
const object: fc.Arbitrary<Model> = fc.letrec<{ object: Model }>((tie) => ({
	object: fc
		.oneof(
			fc.array(fc.oneof({ weight: 3, arbitrary: member }, fc.tuple(key, tie('object'))), { maxLength: 6 }),
			fc.array(
				fc.tuple(
					fc.nat(400).map(String),
					member.map(([, some]) => some),
				),
				{ maxLength: 200 },
			),
		)
		.map((members) => ownCopy(Object.fromEntries(members)) as Model),
})).object;

/** A change to an existing or a missing member. */
const change = fc.record({
	steps: fc.array(fc.nat(), { minLength: 1, maxLength: 5 }),
	key,
	value: fc.oneof(value, object),
});

/** Returns the patch for a change. Each step selects a member of the current object. */
function changePatch(model: Model, { steps, key, value }: { steps: number[]; key: string; value: unknown }): Patch {
	const path: string[] = [];
	let at: unknown = model;
	for (const step of steps.slice(1)) {
		const names = typeof at === 'object' && at !== null && !Array.isArray(at) ? Object.keys(at) : [];
		const name = names[step % (names.length + 1)];
		if (name === undefined) break;
		path.push(name);
		at = (at as Model)[name];
	}
	const remove = (steps[0] ?? 0) % 2 === 0;
	if (remove && path.length > 0) return { op: 'remove', path };
	return { op: 'upsert', path: [...path, key], value: value as Json };
}

test('data behaves like a plain object, from loading through patches and moves', async (t) => {
	const modules = await Promise.all([kinds.laidOut(), kinds.laidOut(acmeWithMuch), kinds.parsed()]);
	await fc.assert(
		fc.asyncProperty(
			object,
			fc.array(fc.array(change, { maxLength: 8 }), { maxLength: 10 }),
			async (given, batches) => {
				const model = ownCopy(given) as Model;
				let engine = await Engine.load(modules[0], Buffer.from(JSON.stringify(given)));
				if (sorted(engine.dump()) !== sorted(model)) return false;
				for (const [index, batch] of batches.entries()) {
					const patches = batch.map((each) => changePatch(model, each));
					engine.patch(patches.filter((each) => patchModel(model, each)));
					if (sorted(engine.dump()) !== sorted(model)) return false;
					if (index % 3 === 1) engine = await engine.fork(modules[batch.length % 3] ?? modules[0]);
				}
				return true;
			},
		),
		{ numRuns: 100 },
	);
	t.pass();
});

test('tables can be emptied, refilled and replaced', async (t) => {
	const members = (from: number, count: number) =>
		Object.fromEntries(Array.from({ length: count }, (_, index) => [`member-${from + index}`, null]));
	const engine = await load(JSON.stringify({ table: members(0, 300), other: members(0, 5) }));
	const model = ownCopy({ table: members(0, 300), other: members(0, 5) }) as Model;
	for (let round = 0; round < 6; round += 1) {
		const patches: readonly Patch[] = [
			...Object.keys(model['table'] as Model).map((name): Patch => ({ op: 'remove', path: ['table', name] })),
			...Object.keys(members(round * 7, 400)).map(
				(name): Patch => ({ op: 'upsert', path: ['table', name], value: null }),
			),
			{ op: 'upsert', path: ['other'], value: members(round, 2 ** round) },
		];
		for (const patch of patches) patchModel(model, patch);
		engine.patch(patches);
		t.is(sorted(engine.dump()), sorted(model));
	}
});

/** JSON texts, each with its data; `undefined` if the text is invalid. */
const texts: readonly (readonly [string, Json?])[] = [
	[' \t\r\n{ "a" : { } , "b" : [ 1 , 2 ] }\n ', { a: {}, b: [1, 2] }],
	['{"a":1,"b":2,"a":3}', { a: 3, b: 2 }],
	['{"a":{"b":1},"\\u0061":null}', { a: null }],
	['{"a":-0.5e-3,"b":1E2,"c":0}', { a: -0.0005, b: 100, c: 0 }],
	[`{"a":1${'0'.repeat(60)},"b":${'1'.repeat(40)}}`, { a: 1e60, b: Number('1'.repeat(40)) }],
	['{"\\u00e9\\n\\"\\\\\\/":"\\ud83d\\ude00 \\uD83D\\uDE00 \\uD83D"}', { 'é\n"\\/': '😀 😀 \ufffd' }],
	['{"a":["\\ud83d","\\uDE00"],"b":[true,false,null]}', { a: ['\ufffd', '\ufffd'], b: [true, false, null] }],
	['{"":{"":{"":""}}}', { '': { '': { '': '' } } }],
	[''],
	['  '],
	['{'],
	['{}}'],
	['{} {}'],
	['{},'],
	['\ufeff{}'],
	['[]'],
	['"{}"'],
	['{"a"}'],
	['{"a":}'],
	['{"a":1,}'],
	['{,"a":1}'],
	['{"a":1 "b":2}'],
	['{"a" 1}'],
	['{a:1}'],
	["{'a':1}"],
	['{"a":1'],
	['{"a":"'],
	['{"a":"b'],
	['{"a":"\\'],
	['{"a":"\\"}'],
	['{"a":"\\x"}'],
	['{"a":"\\u12g4"}'],
	['{"a":"\\u12"}'],
	['{"a":"\n"}'],
	['{"a\u0000":1}'],
	['{"a":["\t"]}'],
	['{"a":nul}'],
	['{"a":nulls}'],
	['{"a":True}'],
	['{"a":truefalse}'],
	['{"a":01}'],
	['{"a":1.}'],
	['{"a":.5}'],
	['{"a":+1}'],
	['{"a":1e}'],
	['{"a":1.2.3}'],
	['{"a":-}'],
	['{"a":0x10}'],
	['{"a":NaN}'],
	['{"a":[1,]}'],
	['{"a":[1 2]}'],
	['{"a":[}'],
	['{"a":[1}}'],
	['{"a":[1]]}'],
	['{"a":[{"b":tru}]}'],
	['{"a":set()}'],
	['{"a":{1,2}}'],
];

for (const [kind, module] of Object.entries(kinds)) {
	test(`data is parsed as strictly as JSON (${kind})`, async (t) => {
		const compiled = await module();
		for (const [text, expected] of texts) {
			const loading = Engine.load(compiled, Buffer.from(text));
			if (expected === undefined) await t.throwsAsync(loading, { instanceOf: EngineError }, text);
			else t.deepEqual((await loading).dump(), expected, text);
		}
		for (const bytes of [Buffer.from('7b2261223a22ff227d', 'hex'), Buffer.from('7b22c3223a317d', 'hex')]) {
			await t.throwsAsync(Engine.load(compiled, bytes), { instanceOf: EngineError }, bytes.toString('hex'));
		}
	});
}

test('the last value of a duplicate field wins', async (t) => {
	const policy = policyOfCode(`default code := "another number"

code := "three" if count(data.table) == 3
`);
	const module = await WebAssembly.compile(await wasmFrom(policy));
	const engine = await Engine.load(module, Buffer.from('{"table":{"a":1,"b":2,"a":3,"c":4,"b":5,"a":6}}'));
	t.true(engine.laidOut);
	const input = { user: { key: 'ann' }, action: 'read', resource: { type: 'document', tenant: 'acme' }, time: 0 };
	t.is(engine.code(input), 'three');
	t.deepEqual(engine.dump(), { table: { a: 6, b: 5, c: 4 } });
});

test('deeply nested data is either read or rejected', async (t) => {
	const nested = (depth: number, open: string, close: string) => `${open.repeat(depth)}null${close.repeat(depth)}`;
	for (const depth of [63, 64, 65, 66, 200, 1_000]) {
		const text = nested(depth, '{"a":', '}');
		t.is(JSON.stringify((await load(text)).dump()), text);
	}
	for (const depth of [20_000, 1_000_000]) {
		await t.throwsAsync(load(nested(depth, '{"a":', '}')), { instanceOf: EngineError });
		await t.throwsAsync(load(`{"a":${nested(depth, '[', ']')}}`), { instanceOf: EngineError });
		await t.throwsAsync(load('{"a":'.repeat(depth)), { instanceOf: EngineError });
	}
});

test('memory grows for unusually large data', async (t) => {
	const data = Object.fromEntries(Array.from({ length: 150_000 }, (_, index) => [index, { a: { b: {} } }]));
	const engine = await load(JSON.stringify(data));
	t.true(engine.heapBytes > JSON.stringify(data).length * 5);
	t.true(isDeepStrictEqual(engine.dump(), data));
});
