// @both

/** Impact property: a change's impact equals the difference between all decisions before and after the change. */

import test from 'ava';
import fc from 'fast-check';
import type { Touched } from '../../compiler/data/delta.js';
import { everyone } from '../../compiler/everyone.js';
import { delta, documentBytes } from '../../compiler/index.js';
import type { Facts, Model, Schema } from '../../compiler/model.js';
import { readPolicyLibrary } from '../../compiler/opa/build.js';
import { runToEnd, type Steps } from '../../compiler/steps.js';
import { answerImpact } from '../../src/impact/answer-impact.js';
import { compareStates } from '../../src/impact/compare-states.js';
import { Engine, type EngineInput } from '../../src/pdp/engine/engine.js';
import { FactsIndex } from '../../src/pdp/facts/facts-index.js';
import { createWasmCompiler } from '../../src/publish/wasm-compiler.js';
import type { ImpactRow } from '../../src/wire/general/impact.js';
import { opa } from '../compiler/engine.js';
import { layeredModels } from '../compiler/layered-model.js';
import { modelsOfOneSchema, pick } from '../compiler/model.js';
import { noFacts } from '../support/no-facts.js';
import { draws, leastDrawn } from '../support/tier.js';
import { standing } from './changed-facts.js';
import { neighbourhood, touchedBetween } from './neighbourhood.js';
import { rego } from './questions.js';
import { edited, factsUnder, schemaEdit } from './schema-edits.js';

/** Decision time. */
const time = 1_000;

const compiler = createWasmCompiler(opa);
test.after.always(() => compiler.stop());

/** A fact change: a row from a second model is added, or a row is removed. */
interface FactEdit {
	readonly table: (typeof tables)[number];
	readonly comes: boolean;
	readonly which: number;
	readonly until: number;
}

const tables = [
	'users',
	'tenants',
	'role_assignments',
	'instances',
	'instance_assignments',
	'relationships',
	'user_attributes',
	'instance_attributes',
] as const;

const factEdit: fc.Arbitrary<FactEdit> = fc.record({
	table: fc.constantFrom(...tables),
	comes: fc.boolean(),
	which: fc.nat({ max: 60 }),
	until: fc.nat({ max: 20 }),
});

/** Fact expiries. Most facts have none, some expire in the future, and some have expired. */
const expiries = [undefined, undefined, undefined, undefined, time + 1, time, time - 500];
const expiring: ReadonlySet<string> = new Set(['role_assignments', 'instance_assignments', 'relationships']);

/** Returns a row's identity. Two rows with the same name are the same fact. */
function rowName(row: unknown): string {
	if (typeof row === 'string') return row;
	const { expires_at: _, attributes: __, tenant, ...named } = row as Readonly<Record<string, unknown>>;
	return JSON.stringify('key' in named ? named : { ...named, tenant });
}

function editedFacts(facts: Facts, other: Facts, { table, comes, which, until }: FactEdit): Facts {
	const rows: readonly unknown[] = facts[table];
	if (!comes) return { ...facts, [table]: rows.filter((_, index) => index !== which % rows.length) };
	const chosen = pick<unknown>(other[table], which);
	if (chosen === undefined) return facts;
	const expires_at = pick(expiries, until);
	const row = expiring.has(table) && expires_at !== undefined ? { ...(chosen as object), expires_at } : chosen;
	return { ...facts, [table]: [...rows.filter((known) => rowName(known) !== rowName(row)), row] };
}

/** Removes duplicate facts and facts about missing objects. */
function sound({ schema, facts }: Model): Model {
	const rows = tables.map((table) => [
		table,
		[...new Map((facts[table] as readonly unknown[]).map((row) => [rowName(row), row])).values()],
	]);
	const once: Facts = { ...facts, ...Object.fromEntries(rows) };
	return standing({ schema, facts: factsUnder(schema, once) }, Number.NEGATIVE_INFINITY);
}

/** A change to tenant roles, which random schema edits do not touch. */
interface GrantEdit {
	readonly role: number;
	readonly permission: number;
	readonly extended: number;
}

const grantEdit: fc.Arbitrary<GrantEdit> = fc.record({
	role: fc.nat({ max: 11 }),
	permission: fc.nat({ max: 60 }),
	extended: fc.nat({ max: 11 }),
});

function regranted(schema: Schema, { role, permission, extended }: GrantEdit): Schema {
	const chosen = pick(schema.roles, role);
	const all = schema.resources.flatMap(({ key, actions }) =>
		actions.map((action) => ({ resource: key, action: action.key })),
	);
	const granted = pick(all, permission);
	if (chosen === undefined || granted === undefined) return schema;
	const place = schema.roles.indexOf(chosen);
	const parent = pick(schema.roles.slice(place + 1), extended)?.key;
	const has = chosen.permissions.some((one) => one.resource === granted.resource && one.action === granted.action);
	const others = chosen.permissions.filter((one) => one.resource !== granted.resource || one.action !== granted.action);
	const next = {
		...chosen,
		permissions: has ? others : [...others, granted],
		extends: extended % 3 === 0 ? (parent === undefined ? [] : [parent]) : chosen.extends,
	};
	return { ...schema, roles: schema.roles.map((one) => (one === chosen ? next : one)) };
}

const few = <T>(item: fc.Arbitrary<T>) => fc.array(item, { maxLength: 3 });

/** A model before and after a few changes to its facts, its schema, or both. */
const changes: fc.Arbitrary<readonly [before: Model, after: Model]> = fc
	.tuple(
		fc.oneof(modelsOfOneSchema(2), layeredModels(2)),
		fc.oneof(fc.constant([]), few(schemaEdit)),
		fc.oneof(fc.constant([]), few(grantEdit)),
		few(factEdit),
	)
	.map(([models, schemaEdits, grantEdits, factEdits]) => {
		const [first = { schema: noSchema, facts: noFacts }, other = first] = models;
		const before = sound(first);
		const schema = grantEdits.reduce(regranted, schemaEdits.reduce(edited, before.schema));
		const facts = factEdits.reduce((known, edit) => editedFacts(known, other.facts, edit), before.facts);
		return [before, sound({ schema, facts })];
	});

const noSchema: Schema = { resources: [], roles: [], condition_sets: [], set_rules: [] };

const modules = new Map<string, Promise<WebAssembly.Module>>();
const bytes = new Map<string, Promise<Uint8Array>>();

function wasm(model: Model): Promise<Uint8Array> {
	const name = JSON.stringify(rego(model));
	const known =
		bytes.get(name) ?? readPolicyLibrary().then((library) => compiler.compile([...library, ...rego(model)]));
	bytes.set(name, known);
	return known;
}

function module(model: Model): Promise<WebAssembly.Module> {
	const name = JSON.stringify(rego(model));
	const compiled = modules.get(name) ?? compile(model);
	modules.set(name, compiled);
	return compiled;
}

async function compile(model: Model): Promise<WebAssembly.Module> {
	return WebAssembly.compile((await wasm(model)) as Uint8Array<ArrayBuffer>);
}

const run = async <T>(steps: Steps<T>): Promise<T> => runToEnd(steps);

/** Returns the touched objects. An instance whose tenant differs was deleted and recreated. */
function touchedBy(before: Model, after: Model): Touched {
	const touched = touchedBetween(before, after);
	const moved = after.facts.instances.filter(({ type, key, tenant }) =>
		before.facts.instances.some((row) => row.type === type && row.key === key && row.tenant !== tenant),
	);
	return { ...touched, instances: [...touched.instances, ...moved.map(({ type, key }) => ({ type, key }))] };
}

/** Yields every question about the two models, for all users, all actions and all resources. */
function* everything(before: Model, after: Model): Iterable<EngineInput> {
	const both = <T>(rows: (model: Model) => readonly T[]) => [...new Set([...rows(before), ...rows(after)])];
	const users = both(({ facts }) => [
		...facts.users,
		...facts.instance_assignments.flatMap(({ user }) => (user === everyone ? user : [])),
	]);
	const actions = both(({ schema }) =>
		schema.resources.flatMap(({ key, actions }) => actions.map((action) => JSON.stringify([key, action.key]))),
	).map((text) => JSON.parse(text) as [type: string, action: string]);
	const tenants = both(({ facts }) => facts.tenants.map(({ key }) => key));
	const instances = both(({ facts }) =>
		facts.instances.map((row) => JSON.stringify([row.type, row.key, row.tenant])),
	).map((text) => JSON.parse(text) as [type: string, key: string, tenant: string]);
	for (const [type, action] of actions) {
		const places = [
			...tenants.map((tenant) => ({ type, tenant })),
			...instances.filter(([own]) => own === type).map(([, key, tenant]) => ({ type, key, tenant })),
		];
		for (const resource of places) for (const key of users) yield { user: { key }, action, resource, time };
	}
}

function rowText({ user, action, resource: { type, key }, tenant }: Omit<ImpactRow, 'before' | 'after'>): string {
	return JSON.stringify([user, action, type, key, tenant]);
}

/** Compares two freshly loaded engines on all questions. */
async function difference(before: Model, after: Model) {
	const earlier = await Engine.load(await module(before), documentBytes(before));
	const later = await Engine.load(await module(after), documentBytes(after));
	const [gains, loses]: [string[], string[]] = [[], []];
	let asked = 0;
	for (const input of everything(before, after)) {
		asked += 1;
		const { user, action, resource } = input;
		const [one, other] = [earlier.code(input) === 'allow', later.code(input) === 'allow'];
		const named = { type: resource.type, key: resource.key ?? null };
		const text = rowText({ user: user.key, action, resource: named, tenant: resource.tenant });
		if (one !== other) (other ? gains : loses).push(text);
	}
	return { gains: gains.sort(), loses: loses.sort(), asked };
}

/** Returns the states before and after a change. As in an impact process, the later state is a patched copy. */
async function states(before: Model, after: Model) {
	const touched = touchedBy(before, after);
	const bytes = documentBytes(before);
	const [engine, facts] = [await Engine.load(await module(before), bytes), FactsIndex.read(bytes)];
	const patches = delta(touched, neighbourhood(after, touched));
	const next = { engine: await engine.fork(await module(after)), facts: runToEnd(facts.copying()) };
	next.engine.patch(patches);
	next.facts.patch(patches);
	return { before: { engine, facts }, after: next, touched };
}

const unlimited = { checks: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY, isOver: () => false };

test('impact is the difference between all decisions before and after', async (t) => {
	t.timeout(7_200_000);
	const seen = { all: 0, asked: 0, gained: 0, lost: 0, changes: 0, exact: 0 };
	await fc.assert(
		fc.asyncProperty(changes, fc.nat(), async ([before, after], number) => {
			const expected = await difference(before, after);
			const change = await states(before, after);
			const found = runToEnd(compareStates(change, time, unlimited));
			t.deepEqual(found.gains.map(rowText).sort(), expected.gains);
			t.deepEqual(found.loses.map(rowText).sort(), expected.loses);
			t.deepEqual([found.gained, found.lost, found.truncated], [found.gains.length, found.loses.length, false]);
			t.true(found.asked <= expected.asked);
			for (const row of found.gains) t.true(row.after.by.length > 0 && row.before.by.length === 0, JSON.stringify(row));
			for (const row of found.loses) t.true(row.before.by.length > 0 && row.after.by.length === 0, JSON.stringify(row));
			const sum = (name: 'gained' | 'lost') => found.by_cause.reduce((total, cause) => total + cause[name], 0);
			t.deepEqual([sum('gained'), sum('lost')], [found.gained, found.lost]);

			// If the touched objects are unknown, the comparison asks all questions.
			const whole = runToEnd(compareStates({ ...change, touched: null }, time, unlimited));
			t.deepEqual([whole.asked, whole.gained, whole.lost], [expected.asked, found.gained, found.lost]);

			// If a limit is reached, the counts are lower bounds.
			const checks = found.asked === 0 ? 0 : number % found.asked;
			const cut = runToEnd(compareStates(change, time, { ...unlimited, checks, rows: 1 }));
			t.deepEqual([cut.asked, cut.truncated], [checks, found.asked > 0]);
			t.true(cut.gained <= found.gained && cut.lost <= found.lost && cut.gains.length <= 1);

			// The impact process recomputes closures like this if there are too many for patches.
			const touched = touchedBy(before, after);
			const now = { ...neighbourhood(after, touched), schema: after.schema, closures: null };
			const closures = touched.derivations || touched.relationships.length > 0;
			const question = {
				advance: { to: { lineage: '', token: '', revision: 1, digest: '', pending: null }, patches: [] },
				patches: delta(touched, now),
				closures: closures ? { schema: after.schema, in_force: null } : null,
				touched,
				policy: await wasm(after),
				time,
				limits: { checks: 1e9, rows: 1e9, milliseconds: 600_000 },
				decisions: [],
			};
			const { comparison } = await answerImpact(change.before, question, run);
			t.deepEqual(
				[comparison.gains.map(rowText).sort(), comparison.loses.map(rowText).sort()],
				[expected.gains, expected.loses],
			);

			seen.all += expected.asked;
			seen.asked += found.asked;
			seen.gained += found.gained;
			seen.lost += found.lost;
			seen.changes += 1;
			seen.exact += Number(found.asked > 0 && found.asked === found.gained + found.lost);
		}),
		{ numRuns: draws(200, 'SCHEMAS') },
	);
	t.log(JSON.stringify(seen));
	for (const name of ['gained', 'lost'] as const) t.true(seen[name] >= leastDrawn(21), `${name}: ${seen[name]}`);
	t.true(seen.asked * 2 < seen.all, `${seen.asked} of ${seen.all} checks were asked`);
});

/** Returns a model in which a folder is shared with a team of everyone, under a condition on the attribute `trust`. */
function sharedWithEveryone(trust: number): Model {
	const named = { name: 'Name', description: null };
	const role = { ...named, extends: [], no_direct_roles_on_object: false };
	const under = { set: 'trusted', values: { least: 3 } };
	return {
		schema: {
			...noSchema,
			grant_conditions: [
				{
					...{ key: 'trusted', ...named, parameters: { least: 'number' } },
					conditions: { 'user.trust': { 'greater-than-equals': { ref: 'grant.least' } } },
				},
			],
			resources: [
				{
					...{ key: 'team', ...named, actions: [], relations: [] },
					roles: [{ key: 'member', ...role, permissions: [], derivations: [], public: true }],
				},
				{
					...{ key: 'folder', ...named, actions: [{ key: 'read', ...named }] },
					relations: [{ key: 'team', ...named, subject: 'team', grant_conditions: ['trusted'] }],
					roles: [
						{
							...{ key: 'reader', ...role, permissions: ['read'] },
							derivations: [{ relation: 'team', role: 'member', no_direct_roles_on_object: false }],
						},
					],
				},
			],
		},
		facts: {
			...noFacts,
			users: ['ann', 'ben'],
			user_attributes: [{ user: 'ann', attributes: { trust } }],
			tenants: [{ key: 'acme', attributes: {} }],
			instances: [
				{ type: 'team', key: 't', tenant: 'acme' },
				{ type: 'folder', key: 'f', tenant: 'acme' },
			],
			instance_assignments: [{ user: everyone, role: 'member', type: 'team', instance: 't' }],
			relationships: [
				{ type: 'folder', instance: 'f', relation: 'team', subject_type: 'team', subject: 't', condition: under },
			],
		},
	};
}

test('impact includes users whose attributes satisfy the condition of a relationship to a role for everyone', async (t) => {
	const [before, after] = [sharedWithEveryone(1), sharedWithEveryone(3)];
	const { gains } = await difference(before, after);
	t.is(gains.length, 1);
	const found = runToEnd(compareStates(await states(before, after), time, unlimited));
	t.deepEqual(found.gains.map(rowText), gains);
});
