// @both

/** Contextual facts have the same effect on decisions and listings as stored facts. */

import test from 'ava';
import fc from 'fast-check';
import { roleName, rolesUnderConditions } from '../../compiler/cycle.js';
import { documentBytes, type Json } from '../../compiler/index.js';
import type { Facts, Model, Relationship, Schema } from '../../compiler/model.js';
import { runToEnd } from '../../compiler/steps.js';
import { isSetRelation } from '../../compiler/user-set.js';
import type { EventLog } from '../../src/log.js';
import { permissionsInput, withContextualFacts } from '../../src/pdp/decide/contextual-facts.js';
import type { DecisionContext } from '../../src/pdp/decide/decide.js';
import type { PermissionsInput } from '../../src/pdp/decide/normalise.js';
import type { EngineInput } from '../../src/pdp/engine/engine.js';
import { FactsIndex } from '../../src/pdp/facts/facts-index.js';
import { permissions } from '../../src/pdp/listing/permissions.js';
import type { PermissionsQuery } from '../../src/wire/decision/check.js';
import type { ContextualFacts } from '../../src/wire/decision/contextual-facts.js';
import { wasmEngine } from '../compiler/engine.js';
import { layeredModels } from '../compiler/layered-model.js';
import { declaringOnly, modelsOfOneSchema, pick } from '../compiler/model.js';
import { noFacts } from '../support/no-facts.js';
import { draws, leastDrawn } from '../support/tier.js';
import { modelQuestions } from './model-questions.js';
import { decide } from './oracle.js';
import { answered, type Question, rego } from './questions.js';
import { schemaDerivations } from './relationship-oracle.js';
import { schemaHistories, schemaQuestions } from './schema-histories.js';

/** Numbers that choose the facts, because facts depend on the model. */
const triples = (maxLength: number) => fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat()), { maxLength });
const choices = fc.record({ assignments: triples(4), tuples: triples(6) });
type Choices = typeof choices extends fc.Arbitrary<infer T> ? T : never;

/** A model, contextual facts, and the model in which these facts are stored. */
interface World {
	readonly stored: Model;
	readonly written: Model;
	readonly given: ContextualFacts;
	/** Relationships that a check must refuse. */
	readonly blocked: readonly Relationship[];
}

function addFacts(model: Model, { assignments, tuples }: Choices): World {
	const { schema, facts } = model;
	const tenants = new Set(facts.tenants.map(({ key }) => key));
	const placed = facts.instances.filter(({ tenant }) => tenants.has(tenant));
	const added = assignments.flatMap(([first, second, third]): Facts['instance_assignments'] => {
		const [user, instance] = [pick(facts.users, first), pick(placed, second)];
		const roles = schema.resources.find(({ key }) => key === instance?.type)?.roles ?? [];
		const role = pick(
			roles.filter(({ computed }) => computed === undefined),
			third,
		);
		if (user === undefined || instance === undefined || role === undefined) return [];
		return [{ user, role: role.key, type: instance.type, instance: instance.key }];
	});
	const related = tuples.flatMap(([first, second, third]): Facts['relationships'] => {
		const object = pick(placed, first);
		const relations = schema.resources.find(({ key }) => key === object?.type)?.relations ?? [];
		const relation = pick(
			relations.filter(({ key }) => !isSetRelation(key)),
			second,
		);
		const subjects = placed.filter(({ type, tenant }) => type === relation?.subject && tenant === object?.tenant);
		const subject = pick(subjects, third);
		if (object === undefined || relation === undefined || subject === undefined) return [];
		const { type, key: instance } = object;
		return [{ type, instance, relation: relation.key, subject_type: subject.type, subject: subject.key }];
	});
	const relationships = related.filter((row) => !isBlocked(schema, row));
	const relationship_tuples = relationships.map((row) => ({
		subject: `${row.subject_type}:${row.subject}`,
		relation: row.relation,
		object: `${row.type}:${row.instance}`,
	}));
	const role_assignments = added.map(({ user, role, type, instance }) => ({
		user,
		role,
		resource_instance: `${type}:${instance}`,
	}));
	return {
		stored: { ...model, contextual_facts: true },
		written: {
			...model,
			facts: {
				...facts,
				instance_assignments: [...facts.instance_assignments, ...added],
				relationships: [...facts.relationships, ...relationships],
			},
		},
		given: { role_assignments, relationship_tuples },
		blocked: related.filter((row) => isBlocked(schema, row)),
	};
}

/**
 * True if a check must refuse the relationship as a contextual fact. A derivation follows it, and an assigned role can
 * block a derivation on its type, any role in the schema is derived from a computed role, or users may hold the
 * derivation's source role under a condition.
 */
function isBlocked(schema: Schema, { type, relation }: Relationship): boolean {
	const all = schemaDerivations(schema);
	const ways = all.filter((way) => way.type === type);
	const isComputed = (key: string, role: string) =>
		schema.resources.some((own) => own.key === key && own.roles.some((row) => row.key === role && row.computed));
	const isUnsafe = ways.some(({ blocked }) => blocked) || all.some((way) => isComputed(way.sourceType, way.source));
	const conditional = rolesUnderConditions(schema);
	const followed = ways.filter((way) => way.relation === relation);
	return followed.some((way) => isUnsafe || conditional.has(roleName({ type: way.sourceType, role: way.source })));
}

/** Log for listings, where a difference between the facts index and the policy is an error. */
const quiet: EventLog = {
	debug: () => undefined,
	info: () => undefined,
	warn: () => undefined,
	error: () => {
		throw new Error('a listing differs from the policy');
	},
	isLevelEnabled: () => false,
};

function listing(context: DecisionContext, input: PermissionsInput): unknown {
	return JSON.parse(runToEnd(permissions(context, input)).join(''));
}

function resourceTypes({ schema }: Model): string[] {
	return schema.resources.map(({ key }) => key);
}

/** Returns the input for a check with contextual facts. */
function inputWith(context: DecisionContext, query: Question, given: ContextualFacts): Question {
	// The questions are checks with a tenant.
	const input = { ...query, time: context.time } as unknown as EngineInput;
	return withContextualFacts(context, input, given, []) as unknown as Question;
}

const models = fc.oneof(modelsOfOneSchema(3), layeredModels(3));

/** Histories without grant conditions, because with conditions, checks must refuse most relationships. */
const histories = schemaHistories.map(({ inForce, later }) => ({
	inForce: declaringNone(inForce),
	later: later.map(withoutConditions),
}));

function declaringNone(schema: Schema): Schema {
	return declaringOnly(schema, new Set());
}

function withoutConditions({ facts, schema, in_force, ...model }: Model): Model {
	return {
		...model,
		schema: declaringNone(schema),
		...(in_force !== undefined && { in_force: declaringNone(in_force) }),
		facts: {
			...facts,
			instance_assignments: facts.instance_assignments.filter(({ condition }) => condition === undefined),
			relationships: facts.relationships.filter(({ condition }) => condition === undefined),
		},
	};
}

test('contextual facts have the same effect on checks and listings as stored facts', async (t) => {
	t.timeout(7_200_000);
	const changed = { assignments: 0, tuples: 0 };
	let refused = 0;
	await fc.assert(
		fc.asyncProperty(models, fc.array(choices, { minLength: 3, maxLength: 3 }), async (drawn, chosen) => {
			const [first] = drawn;
			if (first === undefined) return;
			const engine = await wasmEngine(rego(first));
			for (const [index, model] of drawn.entries()) {
				const numbers = chosen[index] ?? { assignments: [], tuples: [] };
				const { stored, written, given, blocked } = addFacts(model, numbers);
				const bytes = documentBytes(stored);
				const facts = FactsIndex.read(bytes);
				const queries = modelQuestions(model).filter(({ resource }) => typeof resource.tenant === 'string');
				engine.setData(bytes);
				const evaluate = (entrypoint: string, input: unknown) => engine.ask(entrypoint, input as Json);
				const code = (input: EngineInput) => String(evaluate('regolith/check/code', input));
				const context = { engine: { code, evaluate }, facts, time: 0, revision: 1, policyRevision: 1, log: quiet };
				const withFacts = (query: Question, facts: ContextualFacts) => inputWith(context, query, facts);
				const ask = (inputs: readonly Question[]) => inputs.map((input) => engine.ask('regolith/check/code', input));
				const asked = queries.map((query) => withFacts(query, given));
				const [before, codes] = [ask(queries), ask(asked)];
				for (const row of blocked) {
					const [query] = queries;
					if (query === undefined) continue;
					const { type, instance, relation, subject_type, subject } = row;
					const tuple = { subject: `${subject_type}:${subject}`, relation, object: `${type}:${instance}` };
					t.throws(() => withFacts(query, { relationship_tuples: [tuple] }), {
						message: /no_direct_roles_on_object|derived from a computed role|under a condition/,
					});
					refused += 1;
				}
				const asking = (user: string): PermissionsQuery => ({
					user: { key: user },
					resource_types: resourceTypes(model),
				});
				const listed = [...facts.users].map((user) =>
					listing(context, permissionsInput(context, { ...asking(user), contextual_facts: given })),
				);
				const bytesWritten = documentBytes(written);
				engine.setData(bytesWritten);
				const expected = ask(queries);
				const after = { ...context, facts: FactsIndex.read(bytesWritten) };
				t.deepEqual(
					listed,
					[...facts.users].map((user) => listing(after, permissionsInput(after, asking(user)))),
				);
				// For users who are not stored, compare only whether the check is allowed: a role derived from a role
				// assigned to everyone changes the code.
				const comparable = (all: readonly Json[]) =>
					all.map((code, at) => (facts.hasUser(asked[at]?.user.key ?? '') ? code : code === 'allow'));
				t.deepEqual(answered(asked, comparable(codes)), answered(asked, comparable(expected)));
				t.deepEqual(
					expected,
					queries.map((query) => decide(written, query).code),
				);
				const differing = codes.filter((code, position) => code !== before[position]).length;
				changed[(given.relationship_tuples ?? []).length > 0 ? 'tuples' : 'assignments'] += differing;
			}
		}),
		{ numRuns: draws(30, 'SCHEMAS') },
	);
	for (const [kind, number] of Object.entries(changed)) {
		t.true(number >= leastDrawn(51), `${number} decisions changed by contextual ${kind}`);
	}
	t.true(refused >= leastDrawn(1), 'no relationship was refused');
});

test('an older policy allows nothing through contextual facts that the newer schema denies', async (t) => {
	t.timeout(7_200_000);
	const seen = { allowed: 0, lost: 0 };
	await fc.assert(
		fc.asyncProperty(histories, fc.array(choices, { minLength: 4, maxLength: 4 }), async (drawn, chosen) => {
			const { inForce, later } = drawn;
			const engine = await wasmEngine(rego({ schema: inForce, facts: noFacts }));
			const code = (input: EngineInput) => String(engine.ask('regolith/check/code', input as unknown as Json));
			const evaluate = (entrypoint: string, input: unknown) => engine.ask(entrypoint, input as Json);
			for (const [index, model] of later.entries()) {
				const { stored, written, given } = addFacts(model, chosen[index] ?? { assignments: [], tuples: [] });
				const bytes = documentBytes(stored);
				engine.setData(bytes);
				const facts = FactsIndex.read(bytes);
				const context = { engine: { code, evaluate }, facts, time: 0, revision: 1, policyRevision: 0, log: quiet };
				for (const query of schemaQuestions(model, inForce)) {
					const allowed = engine.ask('regolith/check/code', inputWith(context, query, given)) === 'allow';
					const wanted = decide(written, query).allow;
					if (allowed && !wanted) t.fail(JSON.stringify({ query, given, inForce, model }));
					seen.allowed += Number(allowed && !decide(stored, query).allow);
					seen.lost += Number(!wanted && decide({ ...written, schema: inForce }, query).allow);
				}
			}
		}),
		{ numRuns: draws(12, 'SCHEMAS') },
	);
	for (const [what, number] of Object.entries(seen)) t.true(number >= leastDrawn(21), `${number} checks: ${what}`);
});
