// @alone

import test from 'ava';
import fc from 'fast-check';
import type { Json, Patch } from '../../compiler/model.js';
import type { Steps } from '../../compiler/steps.js';
import { Engine, EngineError, type EngineInput, evaluationFailed } from '../../src/pdp/engine/engine.js';
import { acme, acmeWithMuch, assign, modelData, policyWasm, wasmFrom } from './environment.js';
import { key, type Model, ownCopy, patchModel, sorted, value } from './plain-model.js';
import { policyOfCode } from './policy-of-code.js';

/** Data in WASM memory behaves like a plain object when the engine patches, evaluates or moves it. */

test.before('build the policies', async () => {
	await Promise.all([policyWasm(acme), policyWasm(acmeWithMuch)]);
});

const module = async (model = acme) => WebAssembly.compile(await policyWasm(model));
const load = async (data: Uint8Array = modelData(acme)) => Engine.load(await module(), data);

function check(user: string, action: string, type: string, tenant = 'acme'): EngineInput {
	return { user: { key: user }, action, resource: { type, tenant }, time: 0 };
}

const strangers = ['__proto__', 'constructor', 'toString', 'é', '\u0000', '"', '😀', '\ud800', '\\ud800'];

const codes: readonly (readonly [EngineInput, string])[] = [
	[check('ann', 'write', 'document'), 'allow'],
	[check('ann', 'read', 'document'), 'allow'],
	[check('ben', 'read', 'document'), 'allow'],
	[check('ben', 'write', 'document'), 'no_permission'],
	[check('ben', 'write', 'document', 'default'), 'allow'],
	[check('ann', 'read', 'document', 'default'), 'no_role_in_tenant'],
	[check('idle', 'read', 'document'), 'no_user_roles'],
	[check('nobody', 'read', 'document'), 'user_not_synced'],
	[check('ann', 'read', 'document', 'nowhere'), 'no_such_tenant'],
	[check('ann', 'fly', 'document'), 'no_such_action'],
	[check('ann', 'read', 'nothing'), 'no_such_resource'],
	[check('ann', 'read', 'empty'), 'no_such_action'],
	...strangers.map((key) => [check(key, 'read', 'document'), 'user_not_synced'] as const),
];

test('returns the code of each check', async (t) => {
	const engine = await load();
	for (const [input, code] of codes) {
		t.is(engine.code(input), code, JSON.stringify(input));
		t.like(engine.evaluate('regolith/check/decision', input), { allow: code === 'allow', code });
	}
});

test('without data, everything is denied', async (t) => {
	const engine = await load(Buffer.from('{}'));
	t.is(engine.code(check('ann', 'read', 'document')), 'no_such_resource');
});

test('rejects invalid data', async (t) => {
	for (const data of ['', '[]', 'null', '{"a":', 'true']) {
		await t.throwsAsync(load(Buffer.from(data)), { instanceOf: EngineError }, data);
	}
});

test('an unknown entrypoint throws', async (t) => {
	const engine = await load();
	t.throws(() => engine.evaluate('regolith/other', {}), { instanceOf: EngineError, message: /regolith\/other/ });
});

test('after a failed patch, the engine denies every check', async (t) => {
	const engine = await load();
	const impossible: Patch = {
		op: 'upsert',
		path: ['regolith', 'facts', 'users', 'ann', 'acme', 'deeper', 'still'],
		value: 1,
	};
	t.throws(() => engine.patch([...assign('idle', 'acme', ['editor']), impossible]), { instanceOf: EngineError });
	t.truthy(engine.broken);
	t.is(engine.code(check('ann', 'read', 'document')), evaluationFailed);
	t.throws(() => engine.patch([]), { message: /broken/ });
	t.throws(() => engine.dump(), { message: /broken/ });
	await t.throwsAsync(engine.fork(await module()), { message: /broken/ });
});

/** A policy with two different codes for the action `conflict`, which make the module abort. */
const contradictory = policyOfCode(`default code := "allow"

code := "one" if input.action == "conflict"

code := "other" if input.action == "conflict"
`);

test('an aborted evaluation denies, and leaves the engine unchanged', async (t) => {
	const engine = await Engine.load(await WebAssembly.compile(await wasmFrom(contradictory)), modelData(acme));
	engine.patch(assign('idle', 'acme', ['reader']));
	const data = engine.dump();
	const conflict = check('ann', 'conflict', 'document');
	for (let round = 0; round < 600; round += 1) {
		if (engine.code(conflict) !== evaluationFailed) t.fail('a conflict is no decision');
		if (engine.code(check('ann', 'read', 'document')) !== 'allow') return t.fail(`denies after ${round} aborts`);
	}
	t.throws(() => engine.evaluate('regolith/check/decision', conflict), {
		instanceOf: EngineError,
		message: /conflict/,
	});
	t.deepEqual(engine.dump(), data);
	engine.patch(assign('idle', 'acme', []));
	t.notDeepEqual(engine.dump(), data);
});

test('input that is nested too deeply for the machine is denied', async (t) => {
	const engine = await load();
	let deep: unknown = null;
	for (let depth = 0; depth < 8_000; depth += 1) deep = [deep];
	t.is(engine.code({ ...check('ann', 'read', 'document'), context: { deep } }), evaluationFailed);
	t.is(engine.code(check('ann', 'read', 'document')), 'allow');
});

test('half a surrogate pair becomes the replacement character', async (t) => {
	const engine = await load(Buffer.from('{"\\ud800":"\\ud83d\\ude00", "b":"\\\\ud800"}'));
	t.deepEqual(engine.dump(), { '\ufffd': '😀', b: '\\ud800' });
	engine.patch([{ op: 'upsert', path: ['\udc00x'], value: 'a\ud83d' }]);
	t.deepEqual(engine.dump(), { '\ufffd': '😀', '\ufffdx': 'a\ufffd', b: '\\ud800' });
});

test('keys with the names of inherited object properties are ordinary keys', async (t) => {
	const engine = await load();
	for (const key of ['__proto__', 'constructor', 'hasOwnProperty', '']) {
		engine.patch([{ op: 'upsert', path: ['regolith', 'facts', 'users', key], value: {} }]);
		t.is(engine.code(check(key, 'read', 'document')), 'no_user_roles', key);
		engine.patch(assign(key, 'acme', ['reader']));
		t.is(engine.code(check(key, 'read', 'document')), 'allow', key);
		engine.patch(assign(key, 'acme', []));
		t.is(engine.code(check(key, 'read', 'document')), 'no_user_roles', key);
	}
});

test('an instance can have any key', async (t) => {
	const engine = await load();
	const { resource, ...question } = check('ann', 'read', 'document');
	for (const key of ['budget', '', 'a "b"', 'a\\b', 'line\n', 'é', '\ud83d']) {
		t.is(engine.code({ ...question, resource: { ...resource, key } }), 'allow', key);
	}
});

test('input larger than the current memory is read completely', async (t) => {
	const engine = await load();
	const attributes = { text: 'é'.repeat(4_000_000) };
	const input = { ...check('ann', 'read', 'document'), context: attributes };
	t.is(engine.code(input), 'allow');
	t.is(engine.code(check('ben', 'write', 'document')), 'no_permission');
});

const patch: fc.Arbitrary<Patch> = fc
	.record({ path: fc.array(key, { minLength: 1, maxLength: 4 }), value, remove: fc.boolean() })
	.map(({ path, value, remove }) => {
		const inBag = ['regolith', 'bag', ...path];
		return remove ? { op: 'remove', path: inBag } : { op: 'upsert', path: inBag, value: value as Json };
	});

test('data after patches between evaluations equals a plain object, even after a policy change', async (t) => {
	const modules = [await module(), await module(acmeWithMuch)] as const;
	const batches = fc.array(fc.array(patch, { maxLength: 12 }), { maxLength: 25 });
	await fc.assert(
		fc.asyncProperty(batches, fc.integer({ min: 0, max: 24 }), async (batches, moveAt) => {
			let engine = await Engine.load(modules[0], modelData(acme));
			const model = ownCopy(engine.dump()) as Model;
			for (const [index, batch] of batches.entries()) {
				engine.patch(batch.filter((each) => patchModel(model, each)));
				for (const [input, code] of codes) if (engine.code(input) !== code) return false;
				if (index === moveAt) engine = await engine.fork(modules[1]);
			}
			return sorted(engine.dump()) === sorted(model);
		}),
		{ numRuns: 60 },
	);
	t.pass();
});

test('a policy change keeps data with and without booleans', async (t) => {
	const tenants = ['regolith', 'facts', 'tenants'];
	for (const attributes of [
		{ paid: null, seats: 3 },
		{ paid: true, late: false },
	]) {
		const model = {
			...acme,
			facts: {
				...acme.facts,
				tenants: [
					{ key: 'acme', attributes: {} },
					{ key: 'default', attributes: {} },
				],
			},
		};
		const engine = await load(modelData(model));
		engine.patch([{ op: 'upsert', path: [...tenants, 'acme'], value: attributes }]);
		const moved = await engine.fork(await module(acmeWithMuch));
		t.deepEqual(moved.dump(), engine.dump());
		for (const [input, code] of codes) t.is(moved.code(input), code);
		moved.patch(assign('idle', 'acme', ['editor']));
		t.is(moved.code(check('idle', 'write', 'document')), 'allow');
		t.is(engine.code(check('idle', 'write', 'document')), 'no_user_roles');
		const listed = moved.evaluate('regolith/listing/user_permissions', { user: { key: 'ann' }, time: 0 });
		t.like(listed, { '__tenant:acme': { tenant: { key: 'acme', attributes } } });
	}
});

test('a policy change drops unneeded data', async (t) => {
	const engine = await load();
	const small = engine.heapBytes;
	const bulk = Array.from({ length: 500_000 }, (_, index) => index);
	engine.patch([{ op: 'upsert', path: ['regolith', 'bulk'], value: bulk }]);
	t.deepEqual((engine.dump() as { readonly regolith: { readonly bulk: Json } }).regolith.bulk, bulk);
	engine.patch([{ op: 'upsert', path: ['regolith', 'bulk'], value: null }, ...assign('idle', 'acme', ['reader'])]);
	const moved = await engine.fork(await module(acmeWithMuch));
	t.deepEqual(moved.dump(), engine.dump());
	t.true(moved.heapBytes < small * 2, `${moved.heapBytes} bytes for data that took ${small}`);
	t.is(moved.code(check('idle', 'read', 'document')), 'allow');
});

test('memory use is constant over many changes and checks', async (t) => {
	const engine = await load();
	const round = (from: number) => {
		for (let index = from; index < from + 20_000; index += 1) {
			const user = `user-${index % 500}`;
			engine.patch(assign(user, 'acme', index % 3 === 0 ? [] : ['reader', `role-${index % 40}`]));
			engine.code(check(user, 'read', 'document'));
		}
	};
	round(0);
	const before = engine.heapBytes;
	round(20_000);
	round(40_000);
	t.true(engine.heapBytes - before < 64 * 1024, `grew by ${engine.heapBytes - before} bytes`);
});

test('a copy is a second engine, and repeated copies leak no memory', async (t) => {
	let engine = await load();
	const round = (from: number) => {
		for (let index = from; index < from + 500; index += 1) {
			engine.patch(assign(`user-${index % 50}`, 'acme', index % 3 === 0 ? [] : ['reader', `role-${index % 40}`]));
		}
	};
	round(0);
	const before = engine.heapBytes;
	for (let turn = 1; turn < 30; turn += 1) {
		const copy = await engine.copy();
		t.deepEqual(copy.dump(), engine.dump());
		copy.patch(assign('idle', 'acme', turn % 2 === 0 ? ['reader'] : []));
		t.is(copy.code(check('idle', 'read', 'document')) === 'allow', turn % 2 === 0);
		for (const [input, code] of codes) t.is(engine.code(input), code);
		engine = copy;
		round(turn * 500);
		engine.patch(assign('idle', 'acme', []));
	}
	t.true(engine.heapBytes - before < 64 * 1024, `grew by ${engine.heapBytes - before} bytes`);
});

test('large data is loaded, copied, moved and patched in small steps', async (t) => {
	const users = Array.from({ length: 20_000 }, (_, index) => `user-${index}`);
	const model = { ...acme, facts: { ...acme.facts, users: [...acme.facts.users, ...users] } };
	let steps = 0;
	const counted = <T>(work: Steps<T>): Promise<T> => {
		for (steps = 1; ; steps += 1) {
			const step = work.next();
			if (step.done) return Promise.resolve(step.value);
		}
	};
	const loaded = await Engine.load(await module(), modelData(model), counted);
	t.true(steps > 80, `${steps} to load`);
	const copy = await loaded.copy(counted);
	t.true(steps > 2, `${steps} to copy`);
	const moved = await loaded.fork(await module(acmeWithMuch), counted);
	t.true(steps > 12 && steps < 80, `${steps} to move, which looks for booleans and does not load anew`);
	await counted(copy.patching(users.flatMap((user) => assign(user, 'acme', ['reader']))));
	t.true(steps > 400, `${steps} to patch`);
	t.deepEqual(moved.dump(), loaded.dump());
	t.is(copy.code(check('user-7', 'read', 'document')), 'allow');
	t.is(loaded.code(check('user-7', 'read', 'document')), 'no_user_roles');
});
