// @both

/** Instance role properties. For any schema and facts, a policy's decisions equal the results of a plain search. */

import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { derivationCycles, derivationGraph, roleName } from '../../compiler/cycle.js';
import { findWalks } from '../../compiler/data/walk.js';
import { documentBytes, type Json } from '../../compiler/index.js';
import type { InstanceAssignment, Model, Schema } from '../../compiler/model.js';
import { evaluate, wasmEngine } from '../compiler/engine.js';
import { layeredModels } from '../compiler/layered-model.js';
import { schema as anySchema, modelsOfOneSchema } from '../compiler/model.js';
import { draws, leastDrawn } from '../support/tier.js';
import { joinedKeys } from './joined-keys.js';
import { modelQuestions } from './model-questions.js';
import { decide, denials } from './oracle.js';
import type { Query } from './query.js';
import { answered, rego } from './questions.js';
import { circularEdges, leadTo, rolesOn, schemaDerivations } from './relationship-oracle.js';

/** Compares a module with the search, for models with the same schema. Returns the number of results per code. */
async function compare(t: ExecutionContext, models: readonly Model[]): Promise<ReadonlyMap<string, number>> {
	const seen = new Map<string, number>();
	const [first] = models;
	if (first === undefined) return seen;
	const engine = await wasmEngine(rego(first));
	for (const model of models) {
		engine.setData(documentBytes(model));
		const queries = modelQuestions(model);
		const expected = queries.map((query) => decide(model, query).code);
		const codes = queries.map((query) => engine.ask('regolith/check/code', query));
		t.deepEqual(answered(queries, codes), answered(queries, expected));
		for (const code of expected) seen.set(code, (seen.get(code) ?? 0) + 1);
	}
	return seen;
}

test('WebAssembly agrees with the search in every code', async (t) => {
	t.timeout(7_200_000);
	const seen = new Map<string, number>();
	const derived = { open: 0, closed: 0, walked: 0 };
	await fc.assert(
		fc.asyncProperty(modelsOfOneSchema(6), async (models) => {
			for (const [code, number] of await compare(t, models)) seen.set(code, (seen.get(code) ?? 0) + number);
			for (const model of models) {
				for (const way of derivedRoles(model)) derived[way] += 1;
			}
		}),
		{ numRuns: draws(30, 'SCHEMAS') },
	);
	for (const [way, number] of Object.entries(derived))
		t.true(number >= leastDrawn(51), `${number} roles derived: ${way}`);
	const codes = ['allow', 'no_permission', 'no_graph_roles', 'tenant_mismatch', 'no_such_resource_instance'];
	for (const code of codes) t.true((seen.get(code) ?? 0) >= leastDrawn(1), `no check was answered ${code}`);
});

test('WebAssembly agrees with the search when paths diverge and converge in layers', async (t) => {
	t.timeout(7_200_000);
	const derived = { open: 0, closed: 0, walked: 0 };
	let walks = 0;
	let fromComputed = 0;
	await fc.assert(
		fc.asyncProperty(layeredModels(6), async (models) => {
			await compare(t, models);
			for (const model of models) {
				for (const way of derivedRoles(model)) derived[way] += 1;
				fromComputed += countFromComputed(model);
			}
			walks += models
				.slice(0, 1)
				.filter(({ schema }) => findWalks(derivationGraph(schema), schema).all.length > 0).length;
		}),
		{ numRuns: draws(30, 'SCHEMAS') },
	);
	for (const [way, number] of Object.entries(derived))
		t.true(number >= leastDrawn(21), `${number} roles derived: ${way}`);
	t.true(walks >= leastDrawn(3), `${walks} schemas with walks`);
	t.true(fromComputed >= leastDrawn(21), `${fromComputed} roles derived from computed roles`);
});

/** Counts users' roles derived from computed roles. */
function countFromComputed({ schema, facts }: Model): number {
	const isComputed = (type: string, role: string) =>
		schema.resources.some((own) => own.key === type && own.roles.some((row) => row.key === role && row.computed));
	const from = schemaDerivations(schema).filter(({ sourceType, source }) => isComputed(sourceType, source));
	if (from.length === 0) return 0;
	return facts.users
		.flatMap((user) =>
			facts.instances.map(
				({ type, key }) => [type, rolesOn({ schema, facts }, { user: { key: user } }, type, key)] as const,
			),
		)
		.reduce((sum, [type, held]) => sum + from.filter((edge) => edge.type === type && held.has(edge.role)).length, 0);
}

/** Returns a word for each derived role on an instance: `open` outside cycles, else the kind of cycle. */
function derivedRoles(model: Model): readonly ('open' | 'closed' | 'walked')[] {
	const { facts, schema } = model;
	const cycles = derivationCycles(schema);
	return facts.users.flatMap((user) =>
		facts.instances.flatMap(({ type, key }) =>
			[...rolesOn(model, { user: { key: user } }, type, key)]
				.filter((role) => !facts.instance_assignments.some((row) => isOn(row, { user, role, type, instance: key })))
				.map((role) => {
					const cycle = cycles.find(({ members }) => members.some((own) => own.type === type && own.role === role));
					return cycle === undefined ? 'open' : cycle.conditional ? 'walked' : 'closed';
				}),
		),
	);
}

function isOn(left: InstanceAssignment, right: InstanceAssignment): boolean {
	return (
		left.user === right.user && left.role === right.role && left.type === right.type && left.instance === right.instance
	);
}

test('opa eval agrees with the search, and the explanation contains each model’s result and the roles', async (t) => {
	await fc.assert(
		fc.asyncProperty(fc.oneof(modelsOfOneSchema(1), layeredModels(1)), async (models) => {
			for (const model of models) {
				const queries = modelQuestions(model);
				const bytes = documentBytes(model);
				const expected = queries.map((query) => decide(model, query).code);
				const evaluated = await evaluate(rego(model), bytes, 'regolith/check/code', queries);
				t.deepEqual(answered(queries, evaluated), answered(queries, expected));
				const engine = await wasmEngine(rego(model));
				engine.setData(bytes);
				for (const query of queries) {
					const sections = engine.ask('regolith/explain/sections', query);
					t.deepEqual(codesIn(sections), explained(model, query), JSON.stringify(query));
				}
			}
		}),
		{ numRuns: draws(6) },
	);
});

interface Section {
	readonly code: string;
	readonly allowing_roles?: readonly (string | { readonly role: string })[];
}

/** Returns the codes in the access models' sections, and the allowing roles on the instance. */
function codesIn(sections: Json): Json {
	const { rbac, rebac } = sections as unknown as Readonly<Record<'rbac' | 'rebac', Section | undefined>>;
	const roles = rebac?.allowing_roles?.map((allowing) => (typeof allowing === 'string' ? allowing : allowing.role));
	return { rbac: rbac?.code ?? null, rebac: rebac?.code ?? null, roles: [...(roles ?? [])].sort() };
}

/**
 * Computes the expected result of `codesIn` with the oracle. It contains the access models that allow, or every access
 * model with its reason if all deny.
 */
function explained(model: Model, query: Query): Json {
	const { tenantRoles, instanceRoles } = denials(model, query);
	const { type, key = '' } = query.resource;
	const { allow: allowed } = decide(model, query);
	const shown = (code: string | null | undefined) =>
		code === undefined || (allowed && code !== null) ? null : (code ?? 'allow');
	const roles = instanceRoles === null ? [...rolesOn(model, query, type, key)] : [];
	const granting = roles.filter((role) => denials(onlyWith(model, query, role), query).instanceRoles === null);
	const names = granting.map((role) => `${type}:${key}#${role}`).sort();
	return { rbac: shown(tenantRoles), rebac: shown(instanceRoles), roles: names };
}

/** Returns the model in which the user has only this role, assigned on the instance. */
function onlyWith(model: Model, { user, resource }: Query, role: string): Model {
	const assignment = { user: user.key, role, type: resource.type, instance: resource.key ?? '' };
	const resources = model.schema.resources.map((type) => ({
		...type,
		roles: type.roles.map(({ computed: _, ...own }) => ({ ...own, derivations: [] })),
	}));
	// Only stored users can have assignments.
	const users = [...model.facts.users, user.key];
	const facts = { ...model.facts, users, instance_assignments: [assignment], relationships: [] };
	return { schema: { ...model.schema, resources }, facts };
}

test('a set of users holds the same roles as a user with only the set’s role', async (t) => {
	t.timeout(7_200_000);
	let allowed = 0;
	await fc.assert(
		fc.asyncProperty(fc.oneof(modelsOfOneSchema(2), layeredModels(2)), async (models) => {
			const [first] = models;
			if (first === undefined) return;
			const engine = await wasmEngine(rego(first));
			for (const model of models) {
				engine.setData(documentBytes(model));
				const { schema, facts } = model;
				const nodes = facts.instances.flatMap(({ type, key }) =>
					(schema.resources.find((own) => own.key === type)?.roles ?? []).map((role) => ({
						type,
						key,
						role: role.key,
					})),
				);
				for (const { type, key, role } of nodes.slice(0, 12)) {
					const set = `${type}:${key}#${role}`;
					const alone: Model = {
						schema,
						facts: {
							...facts,
							users: [...facts.users, set],
							instance_assignments: [...facts.instance_assignments, { user: set, role, type, instance: key }],
						},
					};
					const queries = facts.instances.flatMap((row) =>
						(schema.resources.find((own) => own.key === row.type)?.actions ?? []).map((action) => ({
							user: { key: set },
							action: action.key,
							resource: { type: row.type, key: row.key, tenant: row.tenant },
						})),
					);
					const expected = queries.map((query) => decide(alone, query).allow);
					const holdings = { [type]: { [role]: { [`${type}:${key}`]: null } } };
					const answers = queries.map(
						(query) => engine.ask('regolith/check/code', { ...query, user: { key: set, holdings } }) === 'allow',
					);
					t.deepEqual(answered(queries, answers), answered(queries, expected));
					allowed += expected.filter(Boolean).length;
				}
			}
		}),
		{ numRuns: draws(12, 'SCHEMAS') },
	);
	t.true(allowed >= leastDrawn(21), `${allowed} checks were allowed`);
});

test('a cycle contains the roles that derive from each other, and their derivations', (t) => {
	let cycles = 0;
	fc.assert(
		fc.property(anySchema, (schema) => {
			const found = derivationCycles(schema).map(({ members, edges, conditional }) => ({
				members: members.map(roleName),
				conditional,
				edges: edges
					.map(({ target, relation, source }) => [roleName(target), relation, roleName(source)].join())
					.sort(),
			}));
			cycles += found.length;
			t.deepEqual(found, searchedCycles(schema));
		}),
		{ numRuns: draws(2000) },
	);
	t.true(cycles >= leastDrawn(101));
});

/** Returns the groups of roles that derive from each other, with the derivations inside each group. */
function searchedCycles(schema: Schema) {
	const circular = circularEdges(schema);
	const reach = new Map(
		schemaDerivations(schema).flatMap(({ type, role, sourceType, source }) => [
			[joinedKeys(type, role), leadTo(schema, type, role)],
			[joinedKeys(sourceType, source), leadTo(schema, sourceType, source)],
		]),
	);
	const members = new Set(circular.map(({ type, role }) => joinedKeys(type, role)));
	const together = (left: string, right: string) => reach.get(left)?.has(right) && reach.get(right)?.has(left);
	const groups = [...members].map((name) => [...members].filter((other) => together(name, other)).sort());
	const distinct = [...new Map(groups.map((group) => [group.join(' '), group])).values()];
	return distinct
		.map((group) => {
			const edges = circular.filter(({ type, role }) => group.includes(joinedKeys(type, role)));
			return {
				members: group,
				conditional: edges.some(({ blocked, declares }) => blocked || declares),
				edges: edges
					.map(({ type, role, relation, sourceType, source }) =>
						[joinedKeys(type, role), relation, joinedKeys(sourceType, source)].join(),
					)
					.sort(),
			};
		})
		.sort((left, right) => (left.members.join(' ') < right.members.join(' ') ? -1 : 1));
}
