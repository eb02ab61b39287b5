import test from 'ava';
import fc from 'fast-check';
import { Engine, type EngineInput, evaluationFailed } from '../../src/pdp/engine/engine.js';
import { anyCodePoint } from '../support/any-code-point.js';
import { acme, assign, modelData, policyWasm, wasmFrom } from './environment.js';
import { policyOfCode } from './policy-of-code.js';

/** The usual check, with strings written directly to memory, is decided like the same check in JSON. */

const check = 'regolith/check/code';

async function loadEngine(rules: string): Promise<Engine> {
	return Engine.load(await WebAssembly.compile(await wasmFrom(policyOfCode(rules))), Buffer.from('{}'));
}

function usual(user: string, action: string, type: string, tenant: string, key?: string): EngineInput {
	return { user: { key: user }, action, resource: { type, tenant, ...(key === undefined ? {} : { key }) }, time: 0 };
}

/** Forces JSON, because the frame has no place for a context. */
const inJson = (input: EngineInput): EngineInput => ({ ...input, context: {} });

const text = fc.oneof(
	fc.constantFrom('', 'a', '"', '\\', '\n', '\u0000', 'é', '😀', '\ud83d', '\ude00', 'x\ud83d', '__proto__'),
	fc.string({ maxLength: 40 }),
	fc.string({ unit: anyCodePoint, maxLength: 40 }),
	fc.string({ minLength: 100, maxLength: 3_000, unit: fc.constantFrom('a', 'b', 'é') }),
	// Random UTF-16 code units.
	fc.array(fc.nat(0xffff), { maxLength: 12 }).map((units) => String.fromCharCode(...units)),
);
const time = fc.oneof(fc.constantFrom(0, -1, Number.MIN_SAFE_INTEGER), fc.maxSafeInteger());
const input = fc
	.record({ user: text, action: text, type: text, tenant: text, key: fc.option(text, { nil: undefined }), time })
	.map(({ user, action, type, tenant, key, time }) => ({ ...usual(user, action, type, tenant, key), time }));

test('the policy reads the strings and the time of a check', async (t) => {
	const engine = await loadEngine(`instance := object.get(input.resource, "key", "none")

code := concat("|", [input.user.key, input.action, input.resource.type, input.resource.tenant, instance, time])

time := json.marshal(input.time)
`);
	t.true(engine.laidOut);
	const whole = (text: string) => Buffer.from(text).toString();
	fc.assert(
		fc.property(input, (input) => {
			const { user, action, resource, time } = input;
			const texts = [user.key, action, resource.type, resource.tenant, resource.key ?? 'none', String(time)];
			const said = texts.map(whole).join('|');
			return engine.code(input) === said && engine.code(inJson(input)) === said;
		}),
		{ numRuns: 1_000 },
	);
});

test('a code that the policy copies from a check is returned for this check only', async (t) => {
	const engine = await loadEngine('code := input.user.key\n');
	for (const user of ['ann', 'ben', '', 'é', 'ann']) t.is(engine.code(usual(user, 'read', 'document', 'acme')), user);
});

test('a value that is not a string is not a code', async (t) => {
	const engine = await loadEngine(`code := "allow" if input.action == ""

code := 7 if input.action == "number"

code := true if input.action == "true"

code := null if input.action == "null"

code := ["allow"] if input.action == "array"

code := {"allow"} if input.action == "set"

code := {"allow": "allow"} if input.action == "object"
`);
	t.is(engine.code(usual('ann', '', 'document', 'acme')), 'allow');
	for (const action of ['number', 'true', 'null', 'array', 'set', 'object', 'undefined']) {
		const asked = usual('ann', action, 'document', 'acme');
		t.is(engine.code(asked), evaluationFailed, action);
		t.is(engine.code(inJson(asked)), evaluationFailed, action);
	}
	t.is(engine.code(usual('ann', '', 'document', 'acme', 'budget')), 'allow');
});

test('a check gets the same decision as the same check in JSON, through patches, moves and growing memory', async (t) => {
	const module = await WebAssembly.compile(await policyWasm(acme));
	let engine = await Engine.load(module, modelData(acme));
	const codes = new Set<string>();
	await fc.assert(
		fc.asyncProperty(fc.array(input, { maxLength: 12 }), fc.boolean(), async (inputs, move) => {
			for (const [index, { user, ...question }] of inputs.entries()) {
				const whole = Buffer.from(user.key).toString();
				if (index % 3 > 0) engine.patch(assign(whole, 'acme', [index % 2 === 0 ? 'reader' : 'editor']));
				const { key } = question.resource;
				const action = ['read', 'write', question.action][index % 3] ?? '';
				for (const asked of [
					{ user, ...question },
					usual(user.key, action, 'document', 'acme', key),
					usual(user.key, action, 'document', question.resource.tenant, key),
				]) {
					const code = engine.code(asked);
					codes.add(code);
					if (code !== engine.code(inJson(asked)) || code !== engine.evaluate(check, asked)) return false;
				}
			}
			if (move) engine = await engine.fork(module);
			return true;
		}),
		{ numRuns: 60 },
	);
	const all = ['allow', 'no_permission', 'no_such_action', 'no_such_resource', 'no_such_tenant', 'user_not_synced'];
	t.deepEqual([...codes].filter((code) => all.includes(code)).sort(), all);
	t.false(codes.has(evaluationFailed));
	const large = 'é'.repeat(10_000_000);
	t.is(engine.code(usual(large, 'read', 'document', 'acme', large)), 'user_not_synced');
	t.is(engine.code(usual('ann', 'write', 'document', 'acme', large)), 'allow');
	t.is(engine.code(usual('ann', 'write', 'document', 'acme', 'budget')), 'allow');
});
