/** Laws of the compiler that hold for every model and every history. */
import test from 'ava';
import fc from 'fast-check';
import {
	compile,
	compilePolicy,
	delta,
	document,
	documentBytes,
	type Json,
	type Model,
	patchDocument,
	type RegoFile,
} from '../../compiler/index.js';
import { type Engine, evaluate, wasmEngine, withoutOrder } from '../compiler/engine.js';
import { model as anyModel } from '../compiler/model.js';
import { emptyModel, neighbourhood, step, take, together } from './history.js';
import { decide, patched, permissions, type Query } from './oracle.js';

function rego(model: Model): readonly RegoFile[] {
	const { policy, diagnostics } = compilePolicy(model.schema);
	if (policy === null) {
		throw new Error(`the model has errors: ${JSON.stringify(diagnostics)}`);
	}
	return policy;
}

function text(model: Model): string {
	return new TextDecoder().decode(documentBytes(model));
}

/** The same model with every list in reverse, and rows said twice where saying them twice means nothing. */
function shuffled({ schema, facts }: Model): Model {
	const reversed = <T>(rows: readonly T[]) => [...rows].reverse();
	return {
		schema: {
			resources: reversed(schema.resources).map((resource) => ({ ...resource, actions: reversed(resource.actions) })),
			roles: reversed(schema.roles).map((role) => ({
				...role,
				permissions: reversed(role.permissions),
				extends: reversed(role.extends),
			})),
		},
		facts: {
			users: reversed(facts.users),
			tenants: reversed(facts.tenants).map(({ key, attributes }) => ({
				key,
				attributes: Object.fromEntries(reversed(Object.entries(attributes))),
			})),
			role_assignments: [...reversed(facts.role_assignments), ...facts.role_assignments],
		},
	};
}

test('the order of rows changes no byte', (t) => {
	fc.assert(
		fc.property(anyModel, (model) => {
			t.deepEqual(rego(shuffled(model)), rego(model));
			t.is(text(shuffled(model)), text(model));
		}),
	);
});

test('the bytes are the document', (t) => {
	fc.assert(
		fc.property(anyModel, (model) => {
			const compiled = compile(model);
			t.deepEqual(JSON.parse(text(model)), document(model));
			t.deepEqual('data' in compiled ? compiled.data : null, document(model));
		}),
	);
});

test('facts, roles and permissions never change the Rego', (t) => {
	fc.assert(
		fc.property(anyModel, anyModel, (model, other) => {
			t.deepEqual(rego({ ...model, facts: other.facts }), rego(model));
			const roles = model.schema.roles.slice(1).map((role) => ({ ...role, permissions: [], extends: [] }));
			t.deepEqual(rego({ ...model, schema: { ...model.schema, roles } }), rego(model));
		}),
	);
});

test('a document and the delta of a run give the document after it, from any revision of the run', (t) => {
	fc.assert(
		fc.property(fc.array(step, { maxLength: 40 }), fc.nat(), fc.nat(), (steps, first, second) => {
			const models = [emptyModel];
			const touched = steps.map((taken) => {
				const taking = take(models.at(-1) ?? emptyModel, taken);
				models.push(taking.model);
				return taking.touched;
			});
			const start = first % models.length;
			const base = start + (second % (models.length - start));
			const end = models.at(-1) ?? emptyModel;
			const run = together(touched.slice(start));
			const patches = delta(run, neighbourhood(end, run));
			const before = document(models[base] ?? emptyModel);
			t.deepEqual(patched(before, patches), document(end));
			t.deepEqual(patched(patched(before, patches), patches), document(end), 'twice is once');
			t.deepEqual(patchedThroughJson(before, patchDocument(patches)), document(end), 'through patch.json');
		}),
		{ numRuns: 2000 },
	);
});

test('a delta costs what the change costs', (t) => {
	const membership = { user: 'ann', tenant: 'acme' };
	const touched = {
		schema: false,
		users: [],
		tenants: [],
		tenant_attributes: [],
		memberships: [membership, membership],
	};
	const assignment = { ...membership, role: 'viewer' };
	const tenants = [{ key: 'acme', attributes: { plan: 'pro' } }];
	t.deepEqual(delta(touched, { schema: null, users: ['ann'], tenants, role_assignments: [assignment] }), [
		{ op: 'upsert', path: ['regolith', 'facts', 'tenant_roles', 'acme', 'ann'], value: { viewer: null } },
		{ op: 'upsert', path: ['regolith', 'facts', 'users', 'ann', 'acme'], value: null },
	]);
	t.deepEqual(delta(touched, { schema: null, users: [], tenants: [], role_assignments: [] }), []);
});

interface Operation {
	readonly op: string;
	readonly path: string;
	readonly value?: Json;
}

function operationsOf(patch: Json): readonly Operation[] {
	return (patch as unknown as { readonly data: readonly Operation[] }).data;
}

/** As a reader of bundles does it: undoes URL escapes, then those of the pointer. */
function patchedThroughJson(before: Json, patch: Json): Json {
	return operationsOf(patch).reduce((current, { op, path, value = null }) => {
		const members = path
			.slice(1)
			.split('/')
			.map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
		return patched(current, [op === 'upsert' ? { op, path: members, value } : { op: 'remove', path: members }]);
	}, before);
}

const keys = ['a', 'b', '1', '__proto__', 'none'];

/** Everything that can be asked about the keys of random models. */
const queries: readonly (Query & { readonly [member: string]: Json })[] = keys.flatMap((type) =>
	keys.flatMap((action) =>
		keys.flatMap((user) => [
			...keys.map((tenant) => ({ user: { key: `u${user}` }, action, resource: { type, tenant: `t${tenant}` } })),
			{ user: { key: `u${user}` }, action, resource: { type } },
		]),
	),
);

/**
 * Modules by their Rego: most random models share one with another, and tests that run side by side do too. So whoever
 * asks gives the data first, and asks all there is to ask before waiting for anything.
 */
const engines = new Map<string, Promise<Engine>>();

function engineOf(model: Model): Promise<Engine> {
	const policy = rego(model);
	const digest = JSON.stringify(policy);
	const engine = engines.get(digest) ?? wasmEngine(policy);
	engines.set(digest, engine);
	return engine;
}

/** A schema with everything that random roles can grant, so that one module answers for all random facts. */
const full = keys.slice(0, 4).map((key) => {
	const named = { name: key, description: null };
	return {
		key,
		...named,
		actions: keys.slice(0, 3).map((action) => ({ key: action, name: action, description: null })),
	};
});

const grantingModel: fc.Arbitrary<Model> = fc
	.tuple(anyModel, fc.array(fc.record({ resource: fc.nat(3), action: fc.nat(2), role: fc.nat(3) }), { maxLength: 12 }))
	.map(([model, grants]) => ({
		facts: model.facts,
		schema: {
			resources: full,
			roles: model.schema.roles.map((role, index) => ({
				...role,
				permissions: grants
					.filter((grant) => grant.role === index)
					.map((grant) => ({ resource: keys[grant.resource] ?? '', action: keys[grant.action] ?? '' })),
			})),
		},
	}));

for (const [name, models, numRuns] of [
	['random schemas', anyModel, 10],
	['random grants', grantingModel, 60],
] as const) {
	test(`WebAssembly answers as the oracle: ${name}`, async (t) => {
		await fc.assert(
			fc.asyncProperty(models, async (model) => {
				const engine = await engineOf(model);
				engine.setData(documentBytes(model));
				for (const query of queries) {
					const expected = decide(model, query);
					t.is(engine.ask('regolith/check/code', query), expected.code, JSON.stringify(query));
				}
				for (const user of keys.map((key) => `u${key}`)) {
					const listed = engine.ask('regolith/listing/user_permissions', { user: { key: user } });
					t.deepEqual(withoutOrder(listed), permissions(model, user) as unknown as Json);
				}
			}),
			{ numRuns },
		);
	});
}

test('opa eval and the explanation answer as the oracle', async (t) => {
	await fc.assert(
		fc.asyncProperty(grantingModel, async (model) => {
			const decisions = queries.map((query) => decide(model, query));
			const bytes = documentBytes(model);
			t.deepEqual(
				await evaluate(rego(model), bytes, 'regolith/check/decision', queries),
				decisions as unknown as Json[],
			);
			const engine = await engineOf(model);
			engine.setData(bytes);
			for (const [index, query] of queries.entries()) {
				const sections = engine.ask('regolith/explain/sections', query);
				t.like(sections, { rbac: { ...decisions[index] } });
			}
		}),
		{ numRuns: 4 },
	);
});
