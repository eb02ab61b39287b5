// @both

/** Expiry properties. At any time, decisions and listings are the same as without the expired facts. */

import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { everyone } from '../../compiler/everyone.js';
import { documentBytes, type Json } from '../../compiler/index.js';
import type { Model } from '../../compiler/model.js';
import { runToEnd } from '../../compiler/steps.js';
import type { DecisionContext } from '../../src/pdp/decide/decide.js';
import { Engine, type EngineInput } from '../../src/pdp/engine/engine.js';
import { FactsIndex } from '../../src/pdp/facts/facts-index.js';
import { authorizedUsers } from '../../src/pdp/listing/authorized-users.js';
import { localAssignments } from '../../src/pdp/listing/local-assignments.js';
import { permissions } from '../../src/pdp/listing/permissions.js';
import { userTenants } from '../../src/pdp/listing/user-tenants.js';
import { evaluate } from '../compiler/engine.js';
import { layeredModels } from '../compiler/layered-model.js';
import { modelsOfOneSchema } from '../compiler/model.js';
import { policyWasm, quiet } from '../pdp/environment.js';
import { noFacts } from '../support/no-facts.js';
import { draws, inPush, leastDrawn } from '../support/tier.js';
import { expiringModels } from './expiring-models.js';
import { modelAt } from './model-at.js';
import { modelQuestions } from './model-questions.js';
import { decide } from './oracle.js';
import { answered, type Question, rego } from './questions.js';

/** Grants expire at 1, 2 and 3, or never. */
const times = [0, 1, 2, 3];

const anyModels = fc.oneof(expiringModels(modelsOfOneSchema(3)), expiringModels(layeredModels(3)));

const asInput = (question: Question, time: number) => ({ ...question, time }) as EngineInput;

/** Returns a decision point's state at a time. */
async function contextOf(module: WebAssembly.Module, model: Model, time: number): Promise<DecisionContext> {
	const data = documentBytes(model);
	const engine = await Engine.load(module, data);
	return { engine, facts: FactsIndex.read(data), revision: 1, policyRevision: 1, time, log: quiet };
}

/** Returns every listing for all users and resources in a model. */
function listings(context: DecisionContext, { schema, facts }: Model): Readonly<Record<string, unknown>> {
	const users = [...facts.users, 'unone'];
	const found = new Map<string, unknown>();
	for (const key of users) {
		const user = { key };
		found.set(`permissions ${key}`, JSON.parse(runToEnd(permissions(context, { user })).join('')));
		found.set(`tenants ${key}`, JSON.parse(runToEnd(userTenants(context, { user })).join('')));
	}
	for (const { type, action, ...object } of resourcesIn({ schema, facts })) {
		const asked = { action, resource: { type, ...object } };
		found.set(JSON.stringify(asked), JSON.parse(runToEnd(authorizedUsers(context, asked)).join('')));
	}
	found.set('assignments', runToEnd(localAssignments(context, { page: 1, per_page: 100 })));
	return Object.fromEntries(found);
}

/** Returns every instance with every action on its type, and every type with its actions in every tenant. */
function resourcesIn({ schema, facts }: Model) {
	return schema.resources.flatMap(({ key: type, actions }) =>
		actions.flatMap(({ key: action }) => [
			...facts.tenants.map(({ key: tenant }) => ({ type, action, tenant })),
			...facts.instances.filter((row) => row.type === type).map(({ key, tenant }) => ({ type, action, key, tenant })),
		]),
	);
}

/** Asserts that each listing for a resource contains exactly the allowed users. Returns the number of allowed users. */
function listedAndAllowed(t: ExecutionContext, context: DecisionContext, model: Model): number {
	let allowed = 0;
	for (const { type, action, ...object } of resourcesIn(model)) {
		const asked = { action, resource: { type, ...object } };
		const withSets = { ...asked, context: { enable_abac_authorized_users: true } };
		const { users } = JSON.parse(runToEnd(authorizedUsers(context, withSets)).join('')) as { readonly users: object };
		const may = model.facts.users.filter((key) => {
			return context.engine.code({ user: { key }, ...asked, time: context.time }) === 'allow';
		});
		const listed = Object.keys(users).flatMap((key) => (key === everyone ? model.facts.users : [key]));
		t.deepEqual([...new Set(listed)].sort(), [...new Set(may)].sort(), JSON.stringify(asked));
		allowed += may.length;
	}
	return allowed;
}

test('at any time, checks and listings are the same as without the expired facts', async (t) => {
	t.timeout(7_200_000);
	const seen = { allowed: 0, ended: 0 };
	await fc.assert(
		fc.asyncProperty(anyModels, async (models) => {
			const [first] = models;
			if (first === undefined) return;
			const module = await WebAssembly.compile(await policyWasm(first));
			for (const model of models) {
				const questions = modelQuestions(model);
				let before: readonly string[] = [];
				for (const time of times) {
					const context = await contextOf(module, model, time);
					const codes = questions.map((question) => context.engine.code(asInput(question, time)));
					const standing = modelAt(model, time);
					const expected = questions.map((question) => decide(standing, question).code);
					t.deepEqual(answered(questions, codes), answered(questions, expected), `at ${time}`);
					const never = await contextOf(module, standing, time);
					t.deepEqual(listings(context, model), listings(never, model), `listings at ${time}`);
					seen.allowed += listedAndAllowed(t, context, model);
					seen.ended += changes(before, codes, 'allow');
					before = codes;
				}
			}
		}),
		{ numRuns: draws(8, 'SCHEMAS') },
	);
	t.true(seen.allowed >= leastDrawn(51), `${seen.allowed} allowed`);
	t.true(seen.ended >= leastDrawn(11), `${seen.ended} ended by time`);
});

/** Counts the decisions that changed from this code to a different code. */
function changes(before: readonly string[], after: readonly string[], code: string): number {
	return before.filter((answer, index) => answer === code && after[index] !== code).length;
}

/** Ann is a viewer of a document's folder. Until time 2, her own role on the document blocks the derived role. */
const stopped: Model = {
	schema: {
		condition_sets: [],
		set_rules: [],
		roles: [],
		resources: ['document', 'folder'].map((key) => ({
			key,
			name: key,
			description: null,
			actions: [{ key: 'read', name: 'Read', description: null }],
			relations: key === 'folder' ? [] : [{ key: 'parent', name: 'Parent', description: null, subject: 'folder' }],
			roles: ['viewer', 'guest'].map((role) => ({
				key: role,
				name: role,
				description: null,
				permissions: role === 'viewer' ? ['read'] : [],
				extends: [],
				no_direct_roles_on_object: true,
				derivations:
					key === 'document' && role === 'viewer'
						? [{ relation: 'parent', role: 'viewer', no_direct_roles_on_object: true }]
						: [],
			})),
		})),
	},
	facts: {
		...noFacts,
		users: ['ann'],
		tenants: [{ key: 'acme', attributes: {} }],
		instances: ['document', 'folder'].map((type) => ({ type, key: 'one', tenant: 'acme' })),
		instance_assignments: [
			{ user: 'ann', role: 'viewer', type: 'folder', instance: 'one' },
			{ user: 'ann', role: 'guest', type: 'document', instance: 'one', expires_at: 2 },
		],
		relationships: [{ type: 'document', instance: 'one', relation: 'parent', subject_type: 'folder', subject: 'one' }],
	},
};

inPush('when a blocking role expires, the blocked role is granted', async (t) => {
	const module = await WebAssembly.compile(await policyWasm(stopped));
	const resource = { type: 'document', key: 'one', tenant: 'acme' };
	const codes: string[] = [];
	for (const time of [1, 2]) {
		const context = await contextOf(module, stopped, time);
		codes.push(context.engine.code({ user: { key: 'ann' }, action: 'read', resource, time }));
		listedAndAllowed(t, context, stopped);
		const never = await contextOf(module, modelAt(stopped, time), time);
		t.deepEqual(listings(context, stopped), listings(never, stopped));
	}
	t.deepEqual(codes, ['no_permission', 'allow']);
});

test('a stock OPA makes the same decisions, with the time in the input', async (t) => {
	await fc.assert(
		fc.asyncProperty(anyModels, async (models) => {
			for (const model of models.slice(0, 1)) {
				const questions = modelQuestions(model).flatMap((question) => times.map((time) => ({ ...question, time })));
				const expected = questions.map(({ time, ...question }) => decide(modelAt(model, time), question).code);
				const codes = await evaluate(rego(model), documentBytes(model), 'regolith/check/code', questions);
				t.deepEqual(answered(questions, codes), answered(questions, expected));
			}
		}),
		{ numRuns: draws(3) },
	);
});

inPush('a stock OPA without a time in the input uses its own clock', async (t) => {
	const [model] = fc.sample(modelsOfOneSchema(1), { numRuns: 1, seed: 7 })[0] ?? [];
	if (model === undefined) return t.fail();
	const role_assignments = (expires_at: number) =>
		model.facts.users.flatMap((user) =>
			model.facts.tenants.flatMap(({ key: tenant }) =>
				model.schema.roles.map((role) => ({ user, role: role.key, tenant, expires_at })),
			),
		);
	const questions = modelQuestions(model);
	for (const expires_at of [Date.now() - 60_000, Date.now() + 600_000]) {
		const expiringModel = { ...model, facts: { ...model.facts, role_assignments: role_assignments(expires_at) } };
		const expected = questions.map((question) => decide(modelAt(expiringModel, Date.now()), question).code);
		const codes: readonly Json[] = await evaluate(
			rego(model),
			documentBytes(expiringModel),
			'regolith/check/code',
			questions,
		);
		t.deepEqual(answered(questions, codes), answered(questions, expected));
	}
});
