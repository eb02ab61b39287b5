import { mostLeading, mostWalked } from '../compiler/circle.js';
import { compile, documentBytes } from '../compiler/index.js';
import type { ConditionSet, Facts, Json, Model, Relationship, Resource, Schema } from '../compiler/model.js';
import { buildWasm, readPolicyLibrary } from '../compiler/opa/build.js';
import { unpack } from '../src/bundle.js';
import { Engine, type EngineInput } from '../src/pdp/engine.js';
import { type Layers, layeredGraph, layerOf } from '../test/support/layers.js';

/**
 * The dearest checks that are known, each built as large as the limits allow or, where there is none, as large as
 * anybody is expected to have. Target (in the issue): 100 ms. Prints the dearest check of each, of three tries the median.
 */

const opa = process.env['OPA_PATH'] ?? '.tools/opa';
const range = (length: number) => Array.from({ length }, (_, index) => index);
const named = (key: string) => ({ key, name: key, description: null });

/** What is built, and what is asked about it. */
interface Case {
	readonly model: Model;
	readonly inputs: readonly EngineInput[];
}

function on(type: string, key: string, users: readonly string[], action = 'read'): readonly EngineInput[] {
	return users.map((user) => ({ user: { key: user }, action, resource: { type, key, tenant: 'acme' } }));
}

const inLayers = (layers: Layers): Case => ({
	model: layeredGraph(layers),
	inputs: on(layerOf(0), 'only', ['ann', 'ben']),
});

function facts(some: Partial<Facts>): Facts {
	return {
		...{ users: ['ann', 'ben'], tenants: [{ key: 'acme', attributes: {} }], role_assignments: [] },
		...{ instances: [], instance_assignments: [], relationships: [], user_attributes: [], instance_attributes: [] },
		...some,
	};
}

/** Folders, viewed by whoever views what is above them; `conditional` where nothing is assigned. */
function foldersSchema(conditional: boolean): Schema {
	const viewer = {
		...named('viewer'),
		...{ permissions: ['read'], extends: [], no_direct_roles_on_object: false },
		derivations: [
			{ relation: 'parent', role: 'viewer', no_direct_roles_on_object: conditional },
			{ relation: 'viewers', role: 'member', no_direct_roles_on_object: false },
		],
	};
	const member = { ...viewer, ...named('member'), permissions: [] };
	const resources: readonly Resource[] = [
		{
			...{ ...named('folder'), actions: [named('read')], roles: [viewer] },
			relations: [
				{ ...named('parent'), subject: 'folder' },
				{ ...named('viewers'), subject: 'group' },
			],
		},
		{
			...{ ...named('group'), actions: [] },
			roles: [{ ...member, derivations: [{ relation: 'nested', role: 'member', no_direct_roles_on_object: false }] }],
			relations: [{ ...named('nested'), subject: 'group' }],
		},
	];
	return { condition_sets: [], set_rules: [], roles: [], resources };
}

const below = (child: number, parent: number): Relationship => ({
	...{ type: 'folder', instance: `${child}`, relation: 'parent' },
	...{ subject_type: 'folder', subject: `${parent}` },
});

/** Ann views so many folders that lead nowhere, and is asked about the last of those that are related. */
function folders(conditional: boolean, relationships: readonly Relationship[], last: number, apart: number): Case {
	const keys = [...range(last + 1).map(String), ...range(apart).map((index) => `apart-${index}`)];
	const assigned = { user: 'ann', role: 'viewer', type: 'folder' };
	return {
		model: {
			schema: foldersSchema(conditional),
			facts: facts({
				instances: keys.map((key) => ({ type: 'folder', key, tenant: 'acme' })),
				instance_assignments: [
					...range(apart).map((index) => ({ ...assigned, instance: `apart-${index}` })),
					{ ...assigned, user: 'ben', instance: '0' },
				],
				relationships,
			}),
		},
		inputs: on('folder', String(last), ['ann', 'ben']),
	};
}

const chain = (length: number) => range(length).map((index) => below(index + 1, index));
const everyPair = (number: number) => range(number).flatMap((one) => range(number).map((other) => below(one, other)));

/** So many folders above one, each viewed by the members of a group of its own, which is in as many groups. */
function foldersAndGroups(length: number): Case {
	const { model, inputs } = folders(false, chain(length), length, 1);
	const keys = range(length + 1).map(String);
	const viewers = keys.map((key) => ({
		...{ type: 'folder', instance: key, relation: 'viewers', subject_type: 'group', subject: key },
	}));
	const nested = keys.slice(1).map((instance, index) => ({
		...{ type: 'group', instance, relation: 'nested', subject_type: 'group', subject: `${index}` },
	}));
	const { facts } = model;
	const groups = [...keys, ...range(length).map((index) => `apart-${index}`)];
	const memberships = range(length).map((index) => ({
		...{ user: 'ann', role: 'member', type: 'group', instance: `apart-${index}` },
	}));
	return {
		model: {
			...model,
			facts: {
				...facts,
				instances: [...facts.instances, ...groups.map((key) => ({ type: 'group', key, tenant: 'acme' }))],
				instance_assignments: [...facts.instance_assignments, ...memberships],
				relationships: [...facts.relationships, ...viewers, ...nested],
			},
		},
		inputs,
	};
}

/** A folder that a group of so many members views. */
function crowd(members: number): Case {
	const users = range(members).map((index) => `user-${index}`);
	return {
		model: {
			schema: foldersSchema(false),
			facts: facts({
				users,
				instances: [
					{ type: 'folder', key: '0', tenant: 'acme' },
					{ type: 'group', key: 'everyone', tenant: 'acme' },
				],
				instance_assignments: users.map((user) => ({ user, role: 'member', type: 'group', instance: 'everyone' })),
				relationships: [
					{ type: 'folder', instance: '0', relation: 'viewers', subject_type: 'group', subject: 'everyone' },
				],
			}),
		},
		inputs: on('folder', '0', ['user-7', 'nobody']),
	};
}

/** One rule between a user set with these conditions and every document. Ann has these attributes. */
function conditioned(conditions: Json, attributes: Readonly<Record<string, Json>>): Case {
	const userset: ConditionSet = {
		...{ ...named('some'), type: 'userset', resource: null, parent: null, selects: { conditions } },
	};
	const any: ConditionSet = {
		...{ ...named('any'), type: 'resourceset', resource: 'document', parent: null, selects: { conditions: {} } },
	};
	return {
		model: {
			schema: {
				resources: [{ ...named('document'), actions: [named('read')], roles: [], relations: [] }],
				roles: [],
				condition_sets: [userset, any],
				set_rules: [{ user_set: 'some', resource_set: 'any', resource: 'document', action: 'read' }],
			},
			facts: facts({ user_attributes: [{ user: 'ann', attributes }] }),
		},
		inputs: on('document', 'd', ['ann']),
	};
}

const manyComparisons: Json = {
	anyOf: range(4_900).map((index) => ({ 'user.level': { equals: -index - 1 } })),
};

const cases: Readonly<Record<string, () => Case>> = {
	...Object.fromEntries(
		[3, 4, 5, 6, 7, 8].map((depth) => [`${depth} layers of 30`, () => inLayers({ depth, width: 30 })]),
	),
	'8 layers of 100': () => inLayers({ depth: 8, width: 100 }),
	'3 layers of 200': () => inLayers({ depth: 3, width: 200 }),
	'6 layers of 30, cycles with closures': () => inLayers({ depth: 6, width: 30, circle: 'closed' }),
	'6 layers of 30, interruptible cycles': () => inLayers({ depth: 6, width: 30, circle: 'interruptible' }),
	'30 types, two relations each': () => inLayers({ depth: 30, width: 1, relations: 2 }),
	'30 types, two roles and relations each': () => inLayers({ depth: 30, width: 1, roles: 2, relations: 2 }),
	'8 layers of 30, two roles and relations each': () => inLayers({ depth: 8, width: 30, roles: 2, relations: 2 }),
	[`a chain of ${mostLeading}, a user with 100,000 roles`]: () => {
		return folders(false, chain(mostLeading), mostLeading, 100_000);
	},
	'1,000 folders above, each of a group in groups': () => foldersAndGroups(1_000),
	[`an interruptible chain of ${mostWalked}`]: () => folders(true, chain(mostWalked), mostWalked, 1),
	[`an interruptible cycle of ${mostWalked}, all related`]: () =>
		folders(true, everyPair(mostWalked), mostWalked - 1, 1),
	'a group of 100,000 members': () => crowd(100_000),
	'4,900 comparisons that do not hold': () => conditioned(manyComparisons, { level: 1 }),
	'contains, of the longest texts': () =>
		conditioned({ 'user.text': { contains: `${'a'.repeat(9_999)}b` } }, { text: 'a'.repeat(100_000) }),
};

async function load({ model }: Case): Promise<Engine> {
	const compiled = compile(model);
	if (!('policy' in compiled)) throw new Error(`the model does not compile: ${JSON.stringify(compiled.diagnostics)}`);
	const files = [...(await readPolicyLibrary()), ...compiled.policy];
	const wasm = (await unpack(await buildWasm({ opa, files }))).get('policy.wasm') ?? new Uint8Array();
	return Engine.load(await WebAssembly.compile(wasm), documentBytes(model));
}

function milliseconds(run: () => void): number {
	const start = performance.now();
	run();
	return performance.now() - start;
}

function median(values: readonly number[]): number {
	return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

let dearest = 0;
for (const [title, build] of Object.entries(cases)) {
	const made = build();
	const engine = await load(made);
	const { inputs, model } = made;
	const codes = inputs.map((input) => engine.code(input));
	const taken = inputs.map((input) => median(range(3).map(() => milliseconds(() => void engine.code(input)))));
	dearest = Math.max(dearest, ...taken);
	const size = `${model.facts.relationships.length} relationships`;
	console.log(
		`  ${title.padEnd(50)} ${Math.max(...taken)
			.toFixed(2)
			.padStart(8)} ms   ${codes.join(', ')}; ${size}`,
	);
}
console.log(`the dearest: ${dearest.toFixed(1)} ms`);
