import { longest } from '../compiler/condition/accepted-kinds.js';
import { maxMembers as maxLiteralMembers } from '../compiler/condition/parse/operand.js';
import { compile, documentBytes } from '../compiler/index.js';
import type { Json, Model } from '../compiler/model.js';
import { buildWasm, readPolicyLibrary } from '../compiler/opa/build.js';
import { unpack } from '../src/bundle/bundle.js';
import { Engine, type EngineInput } from '../src/pdp/engine/engine.js';
import { ComparedAttributes, maxMembers, maxText, maxValues } from '../src/wire/attributes.js';

/**
 * The most expensive known check for each operator, within the limits for attributes and conditions. Target: 100 ms of
 * CPU time each. The attributes `user.a` and `context.b` are sent with the check, because sent attributes cost more
 * than stored attributes.
 */

const rounds = Number(process.env['ROUNDS'] ?? 5);
const opa = process.env['OPA_PATH'] ?? '.tools/opa';
const range = (length: number) => Array.from({ length }, (_, index) => index);
const named = (key: string) => ({ key, name: key, description: null });

/** Returns an object with `members` numbers. */
function object(members: number, last = 0): Json {
	return Object.fromEntries(range(members).map((index) => [`m${index}`, index === members - 1 ? last : index]));
}

/** Returns the maximum number of objects that attributes may contain. Each object has a different last member. */
function objects(members: number): Json {
	const count = Math.floor(Math.min(maxValues / (members + 2), maxText / (members * 4)));
	return range(count).map((index) => object(members, -index - 1));
}

const many = maxValues - 10;
const numbers: Json = range(many);
const others: Json = range(many).map((index) => -index - 1);
const empties: Json = range(many).map(() => ({}));
const text = (characters: number, letter = 'a') => letter.repeat(characters);
/** Returns letters without a regular pattern, so an automaton keeps reaching new states. */
function mixed(characters: number, seed = 1): string {
	let state = seed;
	return range(characters)
		.map(() => {
			state = (state * 48_271) % 2_147_483_647;
			return state % 2 === 0 ? 'a' : 'b';
		})
		.join('');
}
const wide = '日';
const ref = { ref: 'context.b' };
const pattern = (letters: number) => `[ab]*a${'.'.repeat(letters - 8)}c`;
const classes = (letters: number) => `[ab]*a${'[ab]'.repeat((letters - 8) / 4)}c`;
const inItems = (operator: Json): Json => ({ any_match: { match: { l: operator } } });
const repeatedItems = (value: Json, count: number): Json => range(count).map(() => ({ l: value }));
const differentItems = (characters: number, count: number): Json =>
	range(count).map((index) => ({ l: mixed(characters, index + 1) }));
const third = Math.floor(many / 3);
/** Number of strings with this length that attributes may contain. */
const texts = (characters: number) => Math.floor(maxText / (characters + 1));

interface Dear {
	readonly title: string;
	/** Comparison on `user.a`. */
	readonly comparison: Json;
	readonly a: Json;
	readonly b?: Json;
}

const dear: readonly Dear[] = [
	{ title: 'equals: objects', comparison: { equals: ref }, a: object(maxMembers), b: object(maxMembers) },
	{ title: 'equals: arrays of objects', comparison: { equals: ref }, a: objects(490), b: objects(490) },
	{ title: 'equals: numbers', comparison: { equals: ref }, a: numbers, b: numbers },
	{ title: 'equals: text', comparison: { equals: ref }, a: text(maxText - 2), b: text(maxText - 2) },
	{ title: 'not-equals: objects', comparison: { 'not-equals': ref }, a: objects(490), b: objects(490) },
	{ title: 'greater-than: text', comparison: { 'greater-than': ref }, a: text(maxText - 2), b: text(maxText - 2) },
	{ title: 'between: text', comparison: { between: ref }, a: text(20_000), b: [text(20_000), text(20_001)] },
	{ title: 'in: numbers', comparison: { in: ref }, a: -1, b: numbers },
	{ title: 'in: an object among objects', comparison: { in: ref }, a: object(490, 1), b: objects(490) },
	{ title: 'in: an object among empty ones', comparison: { in: ref }, a: object(maxMembers), b: empties },
	{ title: 'in: an array of objects among arrays', comparison: { in: ref }, a: [object(maxMembers)], b: empties },
	{ title: 'not-in: an object among empty ones', comparison: { 'not-in': ref }, a: object(maxMembers), b: empties },
	{
		title: 'contains: wide characters',
		comparison: { contains: ref },
		a: text(longest.searched, wide),
		b: `${text(longest.sought - 1, wide)}x`,
	},
	{
		title: 'contains: in all items',
		a: repeatedItems(text(16_000, wide), 4),
		comparison: inItems({ contains: `${text(longest.sought - 1, wide)}x` }),
	},
	{ title: 'starts-with', comparison: { 'starts-with': ref }, a: text(maxText - 2), b: text(maxText - 2) },
	{ title: 'ends-with', comparison: { 'ends-with': ref }, a: text(maxText - 2), b: text(maxText - 2) },
	{ title: 'matches: many states', comparison: { matches: pattern(990) }, a: mixed(longest.matched) },
	{ title: 'matches: many classes', comparison: { matches: classes(1000) }, a: mixed(longest.matched) },
	{ title: 'matches: Unicode', comparison: { matches: '^[\\pL\\pN]{20}' }, a: text(longest.matched, 'é') },
	{
		title: 'matches: in all items',
		a: differentItems(900, texts(900)),
		comparison: inItems({ matches: pattern(16) }),
	},
	{
		title: 'matches: in many items',
		a: differentItems(15, third),
		comparison: inItems({ matches: '^.{1,6}$' }),
	},
	{
		title: 'in: in many items',
		a: repeatedItems(-1, third),
		comparison: inItems({ in: range(95) }),
	},
	{ title: 'array_contains: numbers', comparison: { array_contains: ref }, a: numbers, b: -1 },
	{ title: 'array_contains: objects', comparison: { array_contains: ref }, a: objects(490), b: object(490, 1) },
	{ title: 'array_contains: an object in empty ones', comparison: { array_contains: ref }, a: empties, b: object(490) },
	{ title: 'array_subset: numbers', comparison: { array_subset: ref }, a: numbers, b: numbers },
	{
		title: 'in-cidr',
		comparison: { 'in-cidr': ref },
		a: 'ffff:1:2:3:4:5:6:7',
		b: Array<string>(100).fill('2001:db8:1:2:3:4:5:6/128'),
	},
	{ title: 'array_subset: objects', comparison: { array_subset: ref }, a: objects(490), b: objects(490) },
	{ title: 'array_superset: objects', comparison: { array_superset: ref }, a: objects(100), b: objects(100) },
	{ title: 'array_intersect: numbers', comparison: { array_intersect: ref }, a: numbers, b: others },
	{ title: 'array_intersect: objects', comparison: { array_intersect: ref }, a: objects(490), b: objects(490) },
	{
		title: 'object_match',
		a: { l: object(maxMembers) },
		b: object(maxMembers),
		comparison: { object_match: { match: { l: { equals: object(maxLiteralMembers) } } } },
	},
	{
		title: 'any_match: literal objects',
		a: repeatedItems({}, third),
		comparison: inItems({ equals: object(maxLiteralMembers) }),
	},
	{
		title: 'any_match: objects with a literal one',
		a: repeatedItems(object(480), 20),
		comparison: inItems({ equals: object(maxLiteralMembers) }),
	},
	{
		title: 'all_match: numbers',
		a: repeatedItems(1, third),
		comparison: { all_match: { match: { l: { equals: 1 } } } },
	},
	{
		title: 'all_match: related instances',
		a: range(many).map((index) => `k${index}`),
		comparison: { all_match: { match: { l: { 'is-null': true } }, fk_resource_type: 'document' } },
	},
	{
		title: 'all_match: times',
		a: repeatedItems('2026-10-25T09:30:00.000Z', texts(24)),
		comparison: { all_match: { match: { l: { 'older-than': 'P30D' } } } },
	},
	{ title: 'is-null', comparison: { 'is-null': false }, a: numbers },
];

const caseKey = (index: number) => `case-${index}`;

/** A model with an action for each case. Each action has a rule for its own set. */
const model: Model = {
	schema: {
		resources: [
			{ ...named('document'), actions: dear.map((_, index) => named(caseKey(index))), roles: [], relations: [] },
		],
		roles: [],
		condition_sets: [
			...dear.map(({ comparison }, index) => ({
				...named(caseKey(index)),
				type: 'userset' as const,
				resource: null,
				parent: null,
				selects: { conditions: { 'user.a': comparison } },
			})),
			{
				...named('all'),
				type: 'resourceset',
				resource: 'document',
				parent: null,
				selects: { conditions: {} },
			},
		],
		set_rules: dear.map((_, index) => ({
			user_set: caseKey(index),
			resource_set: 'all',
			resource: 'document',
			action: caseKey(index),
		})),
	},
	facts: {
		users: ['ann'],
		tenants: [{ key: 'acme', attributes: {} }],
		role_assignments: [],
		instances: [],
		instance_assignments: [],
		relationships: [],
		instance_attributes: [],
		user_attributes: [],
	},
};

function dearInput({ a, b = null }: Dear, index: number): EngineInput {
	for (const sent of [{ a }, { b }]) {
		const { error } = ComparedAttributes.safeParse(sent);
		if (error !== undefined) throw new Error(`${caseKey(index)} is beyond the limits: ${error.message}`);
	}
	const user = { key: 'ann', attributes: { a } };
	return { user, action: caseKey(index), resource: { type: 'document', tenant: 'acme' }, context: { b }, time: 0 };
}

function median(values: readonly number[]): number {
	return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const compiled = compile(model);
if (!('policy' in compiled)) throw new Error(`the model does not compile: ${JSON.stringify(compiled.diagnostics)}`);
const files = [...(await readPolicyLibrary()), ...compiled.policy];
const bundle = await unpack(await buildWasm({ opa, files }));
const module = await WebAssembly.compile(bundle.get('policy.wasm') ?? new Uint8Array());
const engine = await Engine.load(module, documentBytes(model));

let dearest = 0;
for (const [index, one] of dear.entries()) {
	const input = dearInput(one, index);
	const taken = range(rounds + 1).map(() => {
		const start = process.cpuUsage();
		engine.code(input);
		const { user, system } = process.cpuUsage(start);
		return (user + system) / 1000;
	});
	const took = median(taken.slice(1));
	dearest = Math.max(dearest, took);
	console.log(`  ${one.title.padEnd(44)} median ${took.toFixed(2)} ms, worst ${Math.max(...taken).toFixed(2)} ms`);
}
console.log(`the most expensive of ${dear.length} checks: median ${dearest.toFixed(2)} ms`);
