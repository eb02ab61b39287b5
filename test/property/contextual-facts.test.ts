// @both

/** Decisions with contextual facts equal decisions after the same facts were written. */

import test from 'ava';
import fc from 'fast-check';
import { documentBytes } from '../../compiler/index.js';
import type { Facts, Model } from '../../compiler/model.js';
import { withContextualFacts } from '../../src/pdp/decide/contextual-facts.js';
import type { EngineInput } from '../../src/pdp/engine/engine.js';
import { FactsIndex } from '../../src/pdp/facts/facts-index.js';
import type { ContextualFacts } from '../../src/wire/decision/contextual-facts.js';
import { wasmEngine } from '../compiler/engine.js';
import { layeredModels } from '../compiler/layered-model.js';
import { modelsOfOneSchema, pick } from '../compiler/model.js';
import { draws, leastDrawn } from '../support/tier.js';
import { modelQuestions } from './model-questions.js';
import { decide } from './oracle.js';
import { answered, type Question, rego } from './questions.js';

/** Numbers that choose the facts, because facts depend on the model. */
const choices = fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat()), { minLength: 1, maxLength: 6 });

/** A model with stored facts, and the model after the contextual facts were written. */
interface World {
	readonly stored: Model;
	readonly written: Model;
	readonly given: ContextualFacts;
}

function addFacts(model: Model, numbers: readonly (readonly [number, number, number])[]): World {
	const { schema, facts } = model;
	const tenants = new Set(facts.tenants.map(({ key }) => key));
	const placed = facts.instances.filter(({ tenant }) => tenants.has(tenant));
	const added = numbers.flatMap(([first, second, third]): Facts['instance_assignments'] => {
		const [user, instance] = [pick(facts.users, first), pick(placed, second)];
		const role = pick(schema.resources.find(({ key }) => key === instance?.type)?.roles ?? [], third);
		if (user === undefined || instance === undefined || role === undefined) return [];
		return [{ user, role: role.key, type: instance.type, instance: instance.key }];
	});
	const role_assignments = added.map(({ user, role, type, instance }) => ({
		user,
		role,
		resource_instance: `${type}:${instance}`,
	}));
	return {
		stored: { ...model, contextual_facts: true },
		written: { ...model, facts: { ...facts, instance_assignments: [...facts.instance_assignments, ...added] } },
		given: { role_assignments },
	};
}

const models = fc.oneof(modelsOfOneSchema(3), layeredModels(3));

test('contextual facts decide like written facts', async (t) => {
	t.timeout(7_200_000);
	let changed = 0;
	await fc.assert(
		fc.asyncProperty(models, fc.array(choices, { minLength: 3, maxLength: 3 }), async (drawn, chosen) => {
			const [first] = drawn;
			if (first === undefined) return;
			const engine = await wasmEngine(rego(first));
			for (const [index, model] of drawn.entries()) {
				const { stored, written, given } = addFacts(model, chosen[index] ?? []);
				const bytes = documentBytes(stored);
				const facts = FactsIndex.read(bytes);
				const queries = modelQuestions(model).filter(({ resource }) => typeof resource.tenant === 'string');
				const asked = queries.map((query) => {
					// The questions are checks with a tenant.
					const input = { ...query, time: 0 } as unknown as EngineInput;
					return withContextualFacts({ facts, denial: undefined }, input, given, []) as unknown as Question;
				});
				const ask = (inputs: readonly Question[]) => inputs.map((input) => engine.ask('regolith/check/code', input));
				engine.setData(bytes);
				const [before, codes] = [ask(queries), ask(asked)];
				engine.setData(documentBytes(written));
				const expected = ask(queries);
				t.deepEqual(answered(asked, codes), answered(asked, expected));
				t.deepEqual(
					expected,
					queries.map((query) => decide(written, query).code),
				);
				changed += codes.filter((code, position) => code !== before[position]).length;
			}
		}),
		{ numRuns: draws(30, 'SCHEMAS') },
	);
	t.true(changed >= leastDrawn(101), `${changed} decisions changed by contextual facts`);
});
