// @both

/** Compiler properties for every model and history. */
import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import fc from 'fast-check';
import type { Neighbourhood, Touched } from '../../compiler/data/delta.js';
import {
	compile,
	delta,
	document,
	documentBytes,
	documentSteps,
	type Json,
	type Model,
	patchDocument,
} from '../../compiler/index.js';
import type { ResourceRole, Role } from '../../compiler/model.js';
import { buildWasm, readPolicyLibrary } from '../../compiler/opa/build.js';
import { Engine as DecisionEngine } from '../../src/pdp/engine/engine.js';
import { type Engine, evaluate, opa, policyWasm, wasmEngine, withoutOrder } from '../compiler/engine.js';
import { model as anyModel, names, userNames } from '../compiler/model.js';
import { draws, inPush, leastDrawn } from '../support/tier.js';
import { emptyModel, opening, step, take } from './history.js';
import { neighbourhood, together, touchedBetween } from './neighbourhood.js';
import { decide, patched, permissions } from './oracle.js';
import type { Query } from './query.js';
import { rego } from './questions.js';

const nothingTouched: Touched = together([]);
const nothingAround: Neighbourhood = neighbourhood(emptyModel, nothingTouched);

function text(model: Model): string {
	return new TextDecoder().decode(documentBytes(model));
}

/** Returns the same model with every list reversed. Also repeats rows in lists in which repetition has no meaning. */
function shuffled({ schema, facts }: Model): Model {
	const reversed = <T>(rows: readonly T[]) => [...rows].reverse();
	const twice = <T>(rows: readonly T[]) => [...reversed(rows), ...rows];
	const reversedRoles = <R extends Role | ResourceRole>(roles: readonly R[]) =>
		reversed(roles).map((role) => ({
			...role,
			permissions: reversed<R['permissions'][number]>(role.permissions),
			extends: reversed(role.extends),
		}));
	return {
		schema: {
			condition_sets: reversed(schema.condition_sets),
			set_rules: reversed(schema.set_rules),
			...(schema.grant_conditions !== undefined && { grant_conditions: reversed(schema.grant_conditions) }),
			resources: reversed(schema.resources).map((resource) => ({
				...resource,
				actions: reversed(resource.actions),
				relations: reversed(resource.relations),
				roles: reversedRoles(resource.roles).map((role) => ({
					...role,
					derivations: reversed(role.derivations),
					...(role.grant_conditions !== undefined && { grant_conditions: reversed(role.grant_conditions) }),
				})),
			})),
			roles: reversedRoles(schema.roles),
		},
		facts: {
			user_attributes: reversed(facts.user_attributes),
			instance_attributes: reversed(facts.instance_attributes),
			users: reversed(facts.users),
			tenants: reversed(facts.tenants).map(({ key, attributes }) => ({
				key,
				attributes: Object.fromEntries(reversed(Object.entries(attributes))),
			})),
			role_assignments: twice(facts.role_assignments),
			instances: twice(facts.instances),
			instance_assignments: twice(facts.instance_assignments),
			relationships: twice(facts.relationships),
		},
	};
}

inPush('the order of rows does not change the bytes', (t) => {
	fc.assert(
		fc.property(anyModel, (model) => {
			t.deepEqual(rego(shuffled(model)), rego(model));
			t.is(text(shuffled(model)), text(model));
		}),
	);
});

inPush('the bytes encode the document', (t) => {
	fc.assert(
		fc.property(anyModel, (model) => {
			const compiled = compile(model);
			t.deepEqual(JSON.parse(text(model)), document(model));
			t.deepEqual('data' in compiled ? compiled.data : null, document(model));
		}),
	);
});

inPush('the document is written in steps: at least one per user and assignment', (t) => {
	fc.assert(
		fc.property(anyModel, (model) => {
			const steps = documentSteps(model);
			let count = 0;
			while (!steps.next().done) count += 1;
			const { users, role_assignments, instance_assignments } = model.facts;
			t.true(count >= new Set(users).size + role_assignments.length + instance_assignments.length);
		}),
	);
});

inPush('facts, tenant roles and permissions never change the Rego', (t) => {
	fc.assert(
		fc.property(anyModel, anyModel, (model, other) => {
			t.deepEqual(rego({ ...model, facts: other.facts }), rego(model));
			const stoodFor = model.schema.condition_sets.flatMap(({ selects }) => ('role' in selects ? [selects.role] : []));
			const kept = model.schema.roles.filter(({ key }, index) => index > 0 || stoodFor.includes(key));
			const roles = kept.map((role) => ({ ...role, permissions: [], extends: [] }));
			const resources = model.schema.resources.map((resource) => ({
				...resource,
				roles: resource.roles.map((role) => ({ ...role, permissions: [], extends: [] })),
			}));
			t.deepEqual(rego({ ...model, schema: { ...model.schema, resources, roles } }), rego(model));
		}),
	);
});

/** The model at a revision, the last model, and the patches from this or an earlier revision to the last model. */
const history = fc
	// With bias, half the steps would concern the first instance of the first type, and almost no facts would be left.
	.noBias(fc.tuple(opening, fc.array(step, { minLength: 10, maxLength: 70, size: 'max' }), fc.nat(), fc.nat()))
	.map(([first, then, from, later]) => {
		const models = [emptyModel];
		const touched = [...first, ...then].map((taken) => {
			const before = models.at(-1) ?? emptyModel;
			const after = take(before, taken);
			models.push(after);
			return touchedBetween(before, after);
		});
		const start = from % models.length;
		const base = start + (later % (models.length - start));
		const end = models.at(-1) ?? emptyModel;
		const run = together(touched.slice(start));
		return { before: models[base] ?? emptyModel, end, patches: delta(run, neighbourhood(end, run)) };
	});

test('applying a delta to a document gives the later document, from any revision', (t) => {
	const changed = new Map<string, number>();
	fc.assert(
		fc.property(history, ({ before, end, patches }) => {
			const base = document(before);
			t.deepEqual(patched(base, patches), document(end));
			t.deepEqual(patched(patched(base, patches), patches), document(end), 'a repeated patch has no effect');
			t.deepEqual(patchedThroughJson(base, patchDocument(patches)), document(end), 'through patch.json');
			for (const patch of patches) {
				if (!isDeepStrictEqual(patched(base, [patch]), base)) {
					const kind = `${patch.op} ${patch.path[2]}`;
					changed.set(kind, (changed.get(kind) ?? 0) + 1);
				}
			}
		}),
		{ numRuns: draws(1000, 'HISTORIES') },
	);
	const tables = ['users', 'tenants', 'tenant_roles', 'instances', 'user_roles', 'relations', 'closures'];
	for (const change of tables.flatMap((table) => [`upsert ${table}`, `remove ${table}`])) {
		t.true((changed.get(change) ?? 0) >= leastDrawn(3), `${changed.get(change)} patches: ${change}`);
	}
});

test('a delta removes one of several conditional assignments of a role on an instance', (t) => {
	const role = { user: 'ann', role: 'payer', type: 'account', instance: 'a' };
	const under = (set: string) => ({ ...role, condition: { set, values: {} } });
	const facts = {
		...emptyModel.facts,
		users: ['ann'],
		tenants: [{ key: 'acme', attributes: {} }],
		instances: [{ type: 'account', key: 'a', tenant: 'acme' }],
	};
	const states = [[under('one'), under('two'), role], [under('two'), role], [role], [under('one')], []].map(
		(instance_assignments): Model => ({ ...emptyModel, facts: { ...facts, instance_assignments } }),
	);
	for (const before of states) {
		for (const after of states) {
			const touched = touchedBetween(before, after);
			const patches = delta(touched, neighbourhood(after, touched));
			t.deepEqual(patched(document(before), patches), document(after));
		}
	}
});

test('applying a delta in the memory of a decision point gives the later document', async (t) => {
	const wasm = await policyWasm(await buildWasm({ opa, files: await readPolicyLibrary() }));
	const module = await WebAssembly.compile(new Uint8Array(wasm));
	await fc.assert(
		fc.asyncProperty(history, async ({ before, end, patches }) => {
			const engine = await DecisionEngine.load(module, documentBytes(before));
			engine.patch(patches);
			t.deepEqual(engine.dump(), JSON.parse(text(end)));
		}),
		{ numRuns: draws(100) },
	);
});

inPush('the cost of a delta depends only on the change', (t) => {
	const membership = { user: 'ann', tenant: 'acme' };
	const touched = { ...nothingTouched, memberships: [membership, membership] };
	const assignment = { ...membership, role: 'viewer' };
	const tenants = [{ key: 'acme', attributes: { plan: 'pro' } }];
	t.deepEqual(delta(touched, { ...nothingAround, users: ['ann'], tenants, role_assignments: [assignment] }), [
		{ op: 'upsert', path: ['regolith', 'facts', 'tenant_roles', 'acme', 'ann'], value: { viewer: null } },
		{ op: 'upsert', path: ['regolith', 'facts', 'users', 'ann', 'acme'], value: null },
	]);
	t.deepEqual(delta(touched, nothingAround), []);
});

inPush('an instance assignment and a relationship need one patch each, in any environment', (t) => {
	const assigned = { user: 'ann', role: 'viewer', type: 'folder', instance: 'top' };
	const related = { type: 'folder', instance: 'top', relation: 'parent', subject_type: 'folder', subject: 'root' };
	const touched = { ...nothingTouched, instance_assignments: [assigned, assigned], relationships: [related, related] };
	const closures = { of: [], relationships: [] };
	t.deepEqual(
		delta(touched, {
			...nothingAround,
			closures,
			schema: emptyModel.schema,
			instance_assignments: [assigned],
			relationships: [related],
		}),
		[
			{ op: 'upsert', path: ['regolith', 'facts', 'user_roles', 'ann', 'folder', 'viewer', 'folder:top'], value: null },
			{ op: 'upsert', path: ['regolith', 'facts', 'relations', 'folder:top', 'parent', 'folder:root'], value: null },
		],
	);
	t.deepEqual(delta(touched, { ...nothingAround, closures, schema: emptyModel.schema }), [
		{ op: 'remove', path: ['regolith', 'facts', 'user_roles', 'ann'] },
		{ op: 'remove', path: ['regolith', 'facts', 'relations', 'folder:top'] },
	]);
});

interface Operation {
	readonly op: string;
	readonly path: string;
	readonly value?: Json;
}

function patchOperations(patch: Json): readonly Operation[] {
	return (patch as unknown as { readonly data: readonly Operation[] }).data;
}

/** Applies patches like a bundle reader, which first decodes URL escapes and then pointer escapes. */
function patchedThroughJson(before: Json, patch: Json): Json {
	return patchOperations(patch).reduce((current, { op, path, value = null }) => {
		const members = path
			.slice(1)
			.split('/')
			.map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
		return patched(current, [op === 'upsert' ? { op, path: members, value } : { op: 'remove', path: members }]);
	}, before);
}

const keys = [...names, 'none'];
const users = [...userNames, 'unone'];

/** Every query about the keys in random models, except queries about instances. */
const queries: readonly (Query & { readonly [member: string]: Json })[] = keys.flatMap((type) =>
	keys.flatMap((action) =>
		users.flatMap((user) => [
			...keys.map((tenant) => ({ user: { key: user }, action, resource: { type, tenant: `t${tenant}` } })),
			{ user: { key: user }, action, resource: { type } },
		]),
	),
);

/**
 * Engines, keyed by their Rego. Random models and concurrent tests share engines, so callers must set the data and ask
 * all questions without an await in between.
 */
const engines = new Map<string, Promise<Engine>>();

function modelEngine(model: Model): Promise<Engine> {
	const policy = rego(model);
	const digest = JSON.stringify(policy);
	const engine = engines.get(digest) ?? wasmEngine(policy);
	engines.set(digest, engine);
	return engine;
}

/** Resources with every action that random roles can grant, so a single module can decide for all random facts. */
const full = names.map((key) => {
	const named = { name: key, description: null };
	return {
		key,
		...named,
		roles: [],
		relations: [],
		actions: names.slice(0, 3).map((action) => ({ key: action, name: action, description: null })),
	};
});

const grantingModel: fc.Arbitrary<Model> = fc
	.tuple(anyModel, fc.array(fc.record({ resource: fc.nat(3), action: fc.nat(2), role: fc.nat(3) }), { maxLength: 12 }))
	.map(([model, grants]) => ({
		facts: { ...emptyModel.facts, ...roleFacts(model) },
		schema: {
			condition_sets: [],
			set_rules: [],
			resources: full,
			roles: model.schema.roles.map((role, index) => ({
				...role,
				permissions: grants
					.filter((grant) => grant.role === index)
					.map((grant) => ({ resource: keys[grant.resource] ?? '', action: keys[grant.action] ?? '' })),
			})),
		},
	}));

function roleFacts({ facts: { users, tenants, role_assignments } }: Model) {
	return { users, tenants, role_assignments };
}

for (const [name, models, numRuns] of [
	['random schemas', anyModel, 10],
	['random grants', grantingModel, 60],
] as const) {
	test(`WebAssembly agrees with the oracle: ${name}`, async (t) => {
		await fc.assert(
			fc.asyncProperty(models, async (model) => {
				const engine = await modelEngine(model);
				engine.setData(documentBytes(model));
				for (const query of queries) {
					const expected = decide(model, query);
					t.is(engine.ask('regolith/check/code', query), expected.code, JSON.stringify(query));
				}
				for (const user of users) {
					const listed = engine.ask('regolith/listing/user_permissions', { user: { key: user } });
					t.deepEqual(withoutOrder(listed), permissions(model, user) as unknown as Json);
				}
			}),
			{ numRuns: draws(numRuns) },
		);
	});
}

test('opa eval and the explanation agree with the oracle', async (t) => {
	await fc.assert(
		fc.asyncProperty(grantingModel, async (model) => {
			const decisions = queries.map((query) => decide(model, query));
			const bytes = documentBytes(model);
			t.deepEqual(
				await evaluate(rego(model), bytes, 'regolith/check/decision', queries),
				decisions as unknown as Json[],
			);
			const engine = await modelEngine(model);
			engine.setData(bytes);
			for (const [index, query] of queries.entries()) {
				const sections = engine.ask('regolith/explain/sections', query);
				t.like(sections, { rbac: { ...decisions[index] } });
			}
		}),
		{ numRuns: draws(4) },
	);
});
