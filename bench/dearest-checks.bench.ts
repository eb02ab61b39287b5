import { longest } from '../compiler/condition/accepted-kinds.js';
import { conditionSteps } from '../compiler/condition/condition-steps.js';
import { parseConditions } from '../compiler/condition/parse/grammar.js';
import { derivationEdges, maxLeading, maxWalked } from '../compiler/cycle.js';
import { compile, documentBytes } from '../compiler/index.js';
import type {
	Attributes,
	ConditionSet,
	Facts,
	Json,
	Model,
	ParameterType,
	Relationship,
	Resource,
	Schema,
} from '../compiler/model.js';
import { buildWasm, readPolicyLibrary } from '../compiler/opa/build.js';
import { unpack } from '../src/bundle/bundle.js';
import { Derivations, maxSteps, Upstream } from '../src/domain/check-limit/check-steps.js';
import { estimateSteps } from '../src/pattern/compiled-patterns.js';
import { Engine, type EngineInput } from '../src/pdp/engine/engine.js';
import { type Layers, layeredGraph, layerName } from '../test/support/layers.js';
import { noFacts } from '../test/support/no-facts.js';

/**
 * The most expensive known checks, each as large as the limits allow or, without a limit, as large as expected in
 * practice. Target: 100 ms. Prints the most expensive check per case: the median over nine runs, in milliseconds of CPU
 * time.
 */

const opa = process.env['OPA_PATH'] ?? '.tools/opa';
const range = (length: number) => Array.from({ length }, (_, index) => index);
const named = (key: string) => ({ key, name: key, description: null });

/** A model, and checks to run on it. */
interface Case {
	readonly model: Model;
	readonly inputs: readonly EngineInput[];
}

function on(type: string, key: string, users: readonly string[], action = 'read'): readonly EngineInput[] {
	return users.map((user) => ({ user: { key: user }, action, resource: { type, key, tenant: 'acme' }, time: 0 }));
}

const inLayers = (layers: Layers): Case => ({
	model: layeredGraph(layers),
	inputs: on(layerName(0), 'only', ['ann', 'ben']),
});

function facts(some: Partial<Facts>): Facts {
	return { ...noFacts, users: ['ann', 'ben'], tenants: [{ key: 'acme', attributes: {} }], ...some };
}

/**
 * Returns a schema in which viewers of a folder can view everything below. If `conditional`, the role is derived only
 * on folders without assigned roles.
 */
function foldersSchema(conditional: boolean): Schema {
	const viewer = {
		...named('viewer'),
		permissions: ['read'],
		extends: [],
		no_direct_roles_on_object: false,
		derivations: [
			{ relation: 'parent', role: 'viewer', no_direct_roles_on_object: conditional },
			{ relation: 'viewers', role: 'member', no_direct_roles_on_object: false },
		],
	};
	const member = { ...viewer, ...named('member'), permissions: [] };
	const resources: readonly Resource[] = [
		{
			...named('folder'),
			actions: [named('read')],
			roles: [viewer],
			relations: [
				{ ...named('parent'), subject: 'folder' },
				{ ...named('viewers'), subject: 'group' },
			],
		},
		{
			...named('group'),
			actions: [],
			roles: [{ ...member, derivations: [{ relation: 'nested', role: 'member', no_direct_roles_on_object: false }] }],
			relations: [{ ...named('nested'), subject: 'group' }],
		},
	];
	return { condition_sets: [], set_rules: [], roles: [], resources };
}

const below = (child: number, parent: number): Relationship => ({
	type: 'folder',
	instance: `${child}`,
	relation: 'parent',
	subject_type: 'folder',
	subject: `${parent}`,
});

/** Returns checks on the folder `last`. Ann can view `apart` other folders, which are not related to this folder. */
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

/**
 * Returns a chain of parent folders. Each folder has its own group of viewers, and the groups are nested in a chain of
 * the same length.
 */
function foldersAndGroups(length: number): Case {
	const { model, inputs } = folders(false, chain(length), length, 1);
	const keys = range(length + 1).map(String);
	const viewers = keys.map((key) => ({
		type: 'folder',
		instance: key,
		relation: 'viewers',
		subject_type: 'group',
		subject: key,
	}));
	const nested = keys.slice(1).map((instance, index) => ({
		type: 'group',
		instance,
		relation: 'nested',
		subject_type: 'group',
		subject: `${index}`,
	}));
	const { facts } = model;
	const groups = [...keys, ...range(length).map((index) => `apart-${index}`)];
	const memberships = range(length).map((index) => ({
		user: 'ann',
		role: 'member',
		type: 'group',
		instance: `apart-${index}`,
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

/** Returns a folder that a group with many members can view. */
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

/** Returns a rule that connects a user set with these conditions to all documents. Ann has the passed attributes. */
function conditioned(conditions: Json, attributes: Readonly<Record<string, Json>>): Case {
	const userset: ConditionSet = {
		...named('some'),
		type: 'userset',
		resource: null,
		parent: null,
		selects: { conditions },
	};
	const any: ConditionSet = {
		...named('any'),
		type: 'resourceset',
		resource: 'document',
		parent: null,
		selects: { conditions: {} },
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

/** A type in a type graph. Each role lists its derivations as `<relation>:<role>`. */
interface Spec {
	readonly roles: Readonly<Record<string, readonly string[]>>;
	/** Subject types, keyed by relation. */
	readonly relations: Readonly<Record<string, string>>;
	readonly conditional?: boolean;
}

function typed(
	specs: Readonly<Record<string, Spec>>,
	relationships: readonly Relationship[],
	asked: string,
	held = 1,
): Case {
	const resources = Object.entries(specs).map(
		([type, { roles, relations, conditional = false }]): Resource => ({
			...named(type),
			actions: [named('read')],
			roles: Object.entries(roles).map(([role, derivations]) => ({
				...named(role),
				permissions: ['read'],
				extends: [],
				no_direct_roles_on_object: false,
				derivations: derivations.map((text) => {
					const [relation = '', source = ''] = text.split(':');
					return { relation, role: source, no_direct_roles_on_object: conditional };
				}),
			})),
			relations: Object.entries(relations).map(([key, subject]) => ({ ...named(key), subject })),
		}),
	);
	const ends = relationships.flatMap(({ type, instance, subject_type, subject }) => [
		JSON.stringify([type, instance]),
		JSON.stringify([subject_type, subject]),
	]);
	const instances = [...new Set(ends)].map((text) => {
		const [type, key] = JSON.parse(text) as [string, string];
		return { type, key, tenant: 'acme' };
	});
	const apart = Object.keys(specs).flatMap((type) =>
		range(held).map((index) => ({ type, key: `apart-${index}`, tenant: 'acme' })),
	);
	return {
		model: {
			schema: { condition_sets: [], set_rules: [], roles: [], resources },
			facts: facts({
				instances: [...instances, ...apart],
				instance_assignments: Object.entries(specs).flatMap(([type, { roles }]) =>
					Object.keys(roles).flatMap((role) =>
						range(held).map((index) => ({ user: 'ann', role, type, instance: `apart-${index}` })),
					),
				),
				relationships,
			}),
		},
		inputs: on(asked, 'only', ['ann']),
	};
}

const link = (type: string, instance: string, relation: string, subject_type: string, subject: string) => {
	return { type, instance, relation, subject_type, subject };
};

const folder: Spec = { roles: { viewer: ['parent:viewer'] }, relations: { parent: 'folder' } };

/** A document in every folder of a chain: each closure is contained in the next. */
const stacked = (length: number, conditional = false) =>
	typed(
		{
			document: { roles: { viewer: ['parent:viewer'] }, relations: { parent: 'folder' } },
			folder: { ...folder, conditional },
		},
		[
			...range(length).map((index) => link('document', 'only', 'parent', 'folder', `f${index}`)),
			...range(length - 1).map((index) => link('folder', `f${index + 1}`, 'parent', 'folder', `f${index}`)),
		],
		'document',
		length,
	);

/** A document related to a room by `relations` relations. The room is in many boxes, each on its own shelf. */
const fanned = (width: number, relations: number) =>
	typed(
		{
			document: {
				roles: { viewer: range(relations).map((index) => `in${index}:viewer`) },
				relations: Object.fromEntries(range(relations).map((index) => [`in${index}`, 'room'])),
			},
			room: { roles: { viewer: ['parent:viewer'] }, relations: { parent: 'box' } },
			box: { roles: { viewer: ['parent:viewer'] }, relations: { parent: 'shelf' } },
			shelf: { roles: { viewer: [] }, relations: {} },
		},
		[
			...range(relations).map((index) => link('document', 'only', `in${index}`, 'room', 'one')),
			...range(width).flatMap((index) => [
				link('room', 'one', 'parent', 'box', `b${index}`),
				link('box', `b${index}`, 'parent', 'shelf', `s${index}`),
			]),
		],
		'document',
	);

/**
 * A document in several chains of folders. Each chain has its own resource type, and an assignment on a folder would
 * interrupt the chain.
 */
const chains = (types: number, length: number) =>
	typed(
		{
			document: {
				roles: { viewer: range(types).map((index) => `in${index}:viewer`) },
				relations: Object.fromEntries(range(types).map((index) => [`in${index}`, `folder${index}`])),
			},
			...Object.fromEntries(
				range(types).map((index) => [
					`folder${index}`,
					{ roles: { viewer: ['parent:viewer'] }, relations: { parent: `folder${index}` }, conditional: true },
				]),
			),
		},
		range(types).flatMap((type) => [
			link('document', 'only', `in${type}`, `folder${type}`, 'f0'),
			...range(length).map((index) => link(`folder${type}`, `f${index}`, 'parent', `folder${type}`, `f${index + 1}`)),
		]),
		'document',
	);

/**
 * Many roles per type, each derived from all roles on the next type, with `width` instances per type and `depth` types.
 */
const latticed = (roles: number, width: number, depth: number) => {
	const model = layeredGraph({ depth, width, roles });
	return { model, inputs: on(layerName(0), 'only', ['ann']) };
};

function stepsIn({ model, inputs }: Case): string {
	const roleId = ({ type, role }: { readonly type: string; readonly role: string }) => `${type}#${role}`;
	const derivations = new Derivations(
		derivationEdges(model.schema).map(({ target, relation, source, no_direct_roles_on_object }) => ({
			role_id: roleId(target),
			resource_id: target.type,
			source_role_id: roleId(source),
			relation_id: `${target.type}:${relation}`,
			no_direct_roles_on_object,
			asked_by_sets: false,
		})),
	);
	const upstream = new Upstream(derivations);
	upstream.add(
		model.facts.relationships.map(({ type, instance, relation, subject_type, subject }) => ({
			subject_id: `${subject_type}:${subject}`,
			relation_id: `${type}:${relation}`,
			object_id: `${type}:${instance}`,
		})),
	);
	const [first] = inputs;
	const { steps } = upstream.stepsTo(`${first?.resource.type}:${first?.resource.key}`);
	const all = steps * derivations.repeated;
	return all > maxSteps ? `${all} steps, which is rejected` : `${all} steps`;
}

interface Granted {
	readonly conditions: Json;
	readonly parameters?: Readonly<Record<string, ParameterType>>;
	readonly values?: Attributes;
	readonly context: Attributes;
	/** Number of relations through which the role is derived. */
	readonly relations?: number;
	/** Number of times that a computed role names the derived role. */
	readonly operands?: number;
}

/** A bill with the maximum number of accounts on which a user may have conditional roles. */
function granted({ conditions, parameters = {}, values = {}, context, relations = 1, operands = 0 }: Granted): Case {
	const parsed = parseConditions(conditions, { type: 'grant', bound: false, parameters: Object.keys(parameters) });
	if (!('condition' in parsed)) throw new Error(JSON.stringify(parsed.problems));
	const steps = 1 + conditionSteps(parsed.condition, { parameters, patternSize: estimateSteps });
	const accounts = range(Math.floor(maxSteps / (steps * relations * (1 + operands)))).map(String);
	const links = range(relations).map((index) => `of${index}`);
	const role = { ...named('payer'), permissions: ['read'], extends: [], no_direct_roles_on_object: false };
	const derivations = links.map((relation) => ({ relation, role: 'payer', no_direct_roles_on_object: false }));
	const computed = { anyOf: range(operands).map(() => 'payer') };
	return {
		model: {
			schema: {
				grant_conditions: [{ ...named('condition'), conditions, parameters }],
				condition_sets: [],
				set_rules: [],
				roles: [],
				resources: [
					{
						...named('account'),
						actions: [named('read')],
						roles: [{ ...role, derivations: [], grant_conditions: ['condition'] }],
						relations: [],
					},
					{
						...named('bill'),
						actions: [named('read')],
						roles: [
							{ ...role, derivations },
							...(operands === 0 ? [] : [{ ...role, ...named('computed'), derivations: [], computed }]),
						],
						relations: links.map((relation) => ({ ...named(relation), subject: 'account' })),
					},
				],
			},
			facts: facts({
				instances: [
					{ type: 'bill', key: 'one', tenant: 'acme' },
					...accounts.map((key) => ({ type: 'account', key, tenant: 'acme' })),
				],
				instance_assignments: accounts.map((instance) => ({
					...{ user: 'ann', role: 'payer', type: 'account', instance },
					condition: { set: 'condition', values },
				})),
				relationships: accounts.flatMap((account) => links.map((of) => link('bill', 'one', of, 'account', account))),
				user_attributes: [{ user: 'ann', attributes: { a: manyMembers } }],
			}),
		},
		inputs: on('bill', 'one', ['ann', 'ben']).map((input) => ({ ...input, context })),
	};
}

const object = (members: number, last: number) =>
	Object.fromEntries(range(members).map((index) => [`m${index}`, index === members - 1 ? last : index]));
const manyMembers = object(500, 499);
const largeObjects = range(20).map((index) => object(490, -index - 1));
/** Returns letters without a regular pattern, so an automaton keeps reaching new states. */
function mixed(characters: number, seed: number): string {
	let state = seed;
	return range(characters)
		.map(() => {
			state = (state * 48_271) % 2_147_483_647;
			return state % 2 === 0 ? 'a' : 'b';
		})
		.join('');
}
const texts = range(9_900).map((index) => `n${index}`);
const alternatives = (count: number) => range(count).map((index) => ({ [`context.c${index}`]: { equals: -1 } }));
const contextOf = (count: number) => Object.fromEntries(range(count).map((index) => [`c${index}`, index]));
const inText = { parameters: { text: 'string' } } as const;
const inList = { parameters: { list: 'array' } } as const;
const hundred = range(100).map((index) => `v${index}`);
const conditionalAssignments: Readonly<Record<string, Granted>> = {
	'a number': {
		conditions: { 'context.amount': { 'less-than-equals': { ref: 'grant.limit' } } },
		...{ parameters: { limit: 'number' }, values: { limit: 5 }, context: { amount: 6 } },
	},
	'10 comparisons': { conditions: { anyOf: alternatives(10) }, context: contextOf(10) },
	'400 comparisons': { conditions: { anyOf: alternatives(400) }, context: contextOf(400) },
	'9,000 texts': { conditions: { 'context.a': { in: texts.slice(0, 9_000) } }, context: { a: 'no' } },
	'a list of 9,900': {
		conditions: { 'context.a': { array_contains: { ref: 'grant.text' } } },
		...{ ...inText, values: { text: 'no' }, context: { a: texts } },
	},
	'intersecting lists': {
		conditions: { 'context.a': { array_intersect: { ref: 'grant.list' } } },
		...{ ...inList, values: { list: hundred }, context: { a: texts } },
	},
	'a subset of a list': {
		conditions: { 'context.a': { array_subset: { ref: 'grant.list' } } },
		...{ ...inList, values: { list: hundred }, context: { a: texts } },
	},
	'a superset of a list': {
		conditions: { 'context.a': { array_superset: { ref: 'grant.list' } } },
		...{ ...inList, values: { list: hundred }, context: { a: texts } },
	},
	'a list of objects, by 8 relations': {
		...{ conditions: { 'context.a': { array_contains: 'no' } }, context: { a: largeObjects }, relations: 8 },
	},
	'a list of objects, 20 operands': {
		...{ conditions: { 'context.a': { array_contains: 'no' } }, context: { a: largeObjects }, operands: 20 },
	},
	'a list of objects': { conditions: { 'context.a': { array_contains: 'no' } }, context: { a: largeObjects } },
	'a subset of objects': {
		conditions: { 'context.a': { array_subset: { ref: 'grant.list' } } },
		...{ ...inList, values: { list: hundred }, context: { a: largeObjects } },
	},
	'intersecting objects': {
		conditions: { 'context.a': { array_intersect: { ref: 'context.b' } } },
		context: { a: largeObjects, b: largeObjects },
	},
	'equal lists of objects': {
		conditions: { 'context.a': { equals: { ref: 'context.b' } } },
		context: { a: largeObjects, b: largeObjects },
	},
	'a negated comparison': { conditions: { not: { 'context.a': { equals: 1 } } }, context: { a: largeObjects } },
	'a different value': { conditions: { 'context.a': { 'not-equals': 1 } }, context: { a: largeObjects } },
	'a list in the context': { conditions: { 'user.key': { in: { ref: 'context.a' } } }, context: { a: texts } },
	'equal objects': { conditions: { 'user.a': { equals: { ref: 'context.a' } } }, context: { a: manyMembers } },
	'100 IP ranges': {
		conditions: { 'context.ip': { 'in-cidr': { ref: 'grant.list' } } },
		...{ ...inList, values: { list: Array<string>(100).fill('2001:db8:1:2:3:4:5:6/128') } },
		context: { ip: 'ffff:1:2:3:4:5:6:7' },
	},
	'a text instead of an IP address': {
		conditions: { not: { 'context.ip': { 'in-cidr': ['10.0.0.0/8'] } } },
		context: { ip: '日'.repeat(65_000) },
	},
	'contained wide texts': {
		conditions: { 'context.a': { contains: `${'日'.repeat(longest.sought - 1)}x` } },
		context: { a: '日'.repeat(longest.searched) },
	},
	'wide texts contained in items': {
		conditions: { 'context.a': { any_match: { match: { l: { contains: `${'日'.repeat(longest.sought - 1)}x` } } } } },
		context: { a: range(4).map(() => ({ l: '日'.repeat(16_000) })) },
	},
	'contained texts': {
		conditions: { 'context.a': { contains: { ref: 'grant.text' } } },
		...{ ...inText, values: { text: `${'a'.repeat(longest.sought - 1)}b` } },
		context: { a: 'a'.repeat(longest.searched) },
	},
	'the longest regular expression': {
		conditions: { 'context.a': { matches: `[ab]*a${'.'.repeat(982)}c` } },
		context: { a: mixed(longest.matched, 1) },
	},
	'Unicode classes': {
		conditions: { 'context.a': { matches: '[\\pL\\pN]{12}x' } },
		context: { a: 'é'.repeat(longest.matched) },
	},
	'items of a list': {
		conditions: { 'context.a': { any_match: { match: { l: { equals: 'no' } } } } },
		context: { a: range(3_300).map((index) => ({ l: index })) },
	},
	'lists for items': {
		conditions: { 'context.a': { any_match: { match: { l: { in: hundred.slice(0, 90) } } } } },
		context: { a: range(3_300).map(() => ({ l: 'no' })) },
	},
	'a regular expression for items': {
		conditions: { 'context.a': { any_match: { match: { l: { matches: '[ab]*a......c' } } } } },
		context: { a: range(70).map((index) => ({ l: mixed(900, index + 1) })) },
	},
	'ten comparisons of items': {
		conditions: {
			'context.a': { any_match: { match: { anyOf: range(10).map((index) => ({ l: { equals: -index - 1 } })) } } },
		},
		context: { a: range(3_300).map((index) => ({ l: index })) },
	},
};

const cases: Readonly<Record<string, () => Case>> = {
	...Object.fromEntries(
		Object.entries(conditionalAssignments).map(([title, one]) => [
			`conditional assignments: ${title}`,
			() => granted(one),
		]),
	),
	...Object.fromEntries(
		[3, 4, 5, 6, 7, 8].map((depth) => [`${depth} layers of 30`, () => inLayers({ depth, width: 30 })]),
	),
	'8 layers of 100': () => inLayers({ depth: 8, width: 100 }),
	'3 layers of 200': () => inLayers({ depth: 3, width: 200 }),
	'6 layers of 30, cycles with closures': () => inLayers({ depth: 6, width: 30, cycle: 'closed' }),
	'6 layers of 30, interruptible cycles': () => inLayers({ depth: 6, width: 30, cycle: 'interruptible' }),
	'30 types, two relations each': () => inLayers({ depth: 30, width: 1, relations: 2 }),
	'30 types, two roles and relations each': () => inLayers({ depth: 30, width: 1, roles: 2, relations: 2 }),
	'8 layers of 30, two roles and relations each': () => inLayers({ depth: 8, width: 30, roles: 2, relations: 2 }),
	[`a chain of ${maxLeading}, a user with 100,000 roles`]: () => {
		return folders(false, chain(maxLeading), maxLeading, 100_000);
	},
	'545 parent folders, each with a nested group of viewers': () => foldersAndGroups(545),
	[`an interruptible chain of ${maxWalked}`]: () => folders(true, chain(maxWalked), maxWalked, 1),
	'7 interruptible chains of 211': () => chains(7, 211),
	'an interruptible cycle of 340, all related': () => folders(true, everyPair(340), 339, 1),
	'a document in 74,999 boxes, each on its own shelf': () => fanned(74_999, 1),
	'24,750 boxes on shelves, through 3 relations': () => fanned(24_750, 3),
	'74,990 boxes on shelves, through 10 relations': () => fanned(74_990, 10),
	'a document in all 545 folders of a chain, a user with 545 roles': () => stacked(545),
	'a document in all 545 folders of an interruptible chain': () => stacked(545, true),
	'5 roles, 3 layers of 24': () => latticed(5, 24, 3),
	'10 roles, 3 layers of 8': () => latticed(10, 8, 3),
	'20 roles, 2 layers of 3': () => latticed(20, 3, 2),
	'a group of 100,000 members': () => crowd(100_000),
	'4,900 comparisons that do not hold': () => conditioned(manyComparisons, { level: 1 }),
	'contains: the longest texts': () =>
		conditioned(
			{ 'user.text': { contains: `${'a'.repeat(longest.sought - 1)}b` } },
			{ text: 'a'.repeat(longest.searched) },
		),
};

async function load({ model }: Case): Promise<Engine> {
	const compiled = compile(model);
	if (!('policy' in compiled)) throw new Error(`the model does not compile: ${JSON.stringify(compiled.diagnostics)}`);
	const files = [...(await readPolicyLibrary()), ...compiled.policy];
	const wasm = (await unpack(await buildWasm({ opa, files }))).get('policy.wasm') ?? new Uint8Array();
	return Engine.load(await WebAssembly.compile(wasm), documentBytes(model));
}

/** Measures CPU time, which excludes other work on the machine. */
function milliseconds(run: () => void): number {
	const start = process.cpuUsage();
	run();
	const { user, system } = process.cpuUsage(start);
	return (user + system) / 1000;
}

function median(values: readonly number[]): number {
	return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

let dearest = 0;
const chosen = Object.entries(cases).filter(([title]) => title.includes(process.env['CASES'] ?? ''));
for (const [title, build] of chosen) {
	const made = build();
	const engine = await load(made);
	const { inputs, model } = made;
	const codes = inputs.map((input) => engine.code(input));
	const taken = inputs.map((input) => median(range(9).map(() => milliseconds(() => void engine.code(input)))));
	dearest = Math.max(dearest, ...taken);
	const size = `${model.facts.relationships.length} relationships, ${stepsIn(made)}`;
	console.log(
		`  ${title.padEnd(50)} ${Math.max(...taken)
			.toFixed(2)
			.padStart(8)} ms   ${codes.join(', ')}; ${size}`,
	);
}
console.log(`the most expensive check: ${dearest.toFixed(1)} ms`);
