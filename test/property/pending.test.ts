// @both

/**
 * Properties of an older policy over a newer schema's data. The policy allows nothing that the newer schema denies, and
 * still allows everything unchanged between the two.
 */
import test from 'ava';
import fc from 'fast-check';
import { delta, document, documentBytes, type Json } from '../../compiler/index.js';
import type { Model, Schema } from '../../compiler/model.js';
import { pendingTable } from '../../compiler/policy/pending.js';
import { edgeName } from '../../compiler/policy/standing.js';
import { evaluate, wasmEngine } from '../compiler/engine.js';
import { noFacts } from '../support/no-facts.js';
import { draws, leastDrawn } from '../support/tier.js';
import { neighbourhood, touchedBetween } from './neighbourhood.js';
import { decide, patched } from './oracle.js';
import { answered, rego } from './questions.js';
import { factsUnder } from './schema-edits.js';
import { schemaHistories, schemaQuestions } from './schema-histories.js';
import { nobody, standing } from './standing.js';

test('access that a newer schema removes is suspended, and unchanged access stays', async (t) => {
	t.timeout(7_200_000);
	const seen = { lost: 0, kept: 0, gained: 0, pending: 0 };
	await fc.assert(
		fc.asyncProperty(schemaHistories, async ({ inForce, later }) => {
			const engine = await wasmEngine(rego({ schema: inForce, facts: noFacts }));
			for (const [index, model] of later.entries()) {
				const bytes = documentBytes(model);
				engine.setData(bytes);
				const queries = schemaQuestions(model, inForce);
				const codes = queries.map((query) => engine.ask('regolith/check/code', query));
				const stands = { schema: standing(inForce, model.schema), facts: model.facts };
				const before = { schema: inForce, facts: model.facts };
				for (const [at, query] of queries.entries()) {
					const code = codes[at];
					const text = `${JSON.stringify(query)} -> ${JSON.stringify(code)}`;
					const wanted = decide(model, query).allow;
					if (code === 'allow') t.true(wanted, `allowed, although the newest schema denies: ${text}`);
					if (decide(stands, query).allow) t.is(code, 'allow', `denied, although the grant is unchanged: ${text}`);
					if (wanted && code !== 'allow') t.is(code, 'policy_pending', `denied with the wrong code: ${text}`);
					const had = decide(before, query).allow;
					seen.lost += had && !wanted ? 1 : 0;
					seen.kept += had && wanted && code === 'allow' ? 1 : 0;
					seen.gained += wanted && code !== 'allow' ? 1 : 0;
					seen.pending += code === 'policy_pending' ? 1 : 0;
				}
				if (index === 0) {
					const rules = rego({ schema: inForce, facts: noFacts });
					const evaluated = await evaluate(rules, bytes, 'regolith/check/code', queries);
					t.deepEqual(answered(queries, evaluated), answered(queries, codes));
				}
			}
		}),
		{ numRuns: draws(20, 'SCHEMAS') },
	);
	t.log(JSON.stringify(seen));
	for (const [what, number] of Object.entries(seen)) t.true(number >= leastDrawn(21), `${number} checks: ${what}`);
});

/**
 * Returns a schema that decides like the older policy with the newer schema's data. Permissions and tenant roles are
 * data. Derivations and rules come from the older schema, except suspended derivations and rules. Nobody holds a
 * suspended computed role.
 */
function underOlderPolicy(inForce: Schema, schema: Schema): Schema {
	const pending = new Map(Object.entries((pendingTable(inForce, schema) ?? {}) as Readonly<Record<string, Json>>));
	const table = (name: string, ...path: readonly string[]) => path.reduce<Json | undefined>(member, pending.get(name));
	return {
		...schema,
		condition_sets: inForce.condition_sets,
		resources: inForce.resources.flatMap((resource) => {
			const now = schema.resources.find(({ key }) => key === resource.key);
			if (now === undefined) return [];
			const roles = resource.roles.map((role) => ({
				...role,
				permissions: now.roles.find(({ key }) => key === role.key)?.permissions ?? [],
				extends: now.roles.find(({ key }) => key === role.key)?.extends ?? [],
				derivations: role.derivations.filter(({ relation, role: source }) => {
					const subject = resource.relations.find(({ key }) => key === relation)?.subject ?? '';
					const name = edgeName({ relation, source: { type: subject, role: source } });
					return table('derivations', resource.key, role.key, name) === undefined;
				}),
				...(table('computed', resource.key, role.key) !== undefined && { computed: nobody }),
			}));
			// Roles that only the newer schema has are not derived, but their permissions are data.
			const added = now.roles.filter(({ key }) => !roles.some((role) => role.key === key));
			return [
				{
					...resource,
					actions: resource.actions.filter(({ key }) => now.actions.some((action) => action.key === key)),
					roles: [...roles, ...added.map((role) => ({ ...role, derivations: [], computed: nobody }))],
				},
			];
		}),
		set_rules: inForce.set_rules.filter(({ resource, action, user_set, resource_set }) => {
			const standing = table('set_rules', resource, action);
			return standing === undefined || member(member(standing, user_set), resource_set) !== undefined;
		}),
	};
}

function member(value: Json | undefined, name: string): Json | undefined {
	return new Map(Object.entries((value ?? {}) as Readonly<Record<string, Json>>)).get(name);
}

test('the older policy allows nothing that the newer schema denies', (t) => {
	const seen = { allowed: 0, lost: 0 };
	fc.assert(
		fc.property(schemaHistories, ({ inForce, later }) => {
			for (const { schema, facts } of later) {
				const older = { schema: underOlderPolicy(inForce, schema), facts };
				const [newest, before] = [schema, inForce].map((one): Model => ({ schema: one, facts })) as [Model, Model];
				for (const query of schemaQuestions(newest, inForce)) {
					const wanted = decide(newest, query).allow;
					const said = () =>
						`allowed, although the newest schema denies: ${JSON.stringify({ query, inForce, schema, facts })}`;
					const allowed = decide(older, query).allow;
					if (allowed && !wanted) t.fail(said());
					seen.allowed += Number(allowed);
					seen.lost += Number(!wanted && decide(before, query).allow);
				}
			}
		}),
		{ numRuns: draws(120, 'HISTORIES') },
	);
	t.log(JSON.stringify(seen));
	for (const [what, number] of Object.entries(seen)) t.true(number >= leastDrawn(21), `${number} checks: ${what}`);
});

test('patches update the suspended state to each later state, and to the state of the new policy', (t) => {
	fc.assert(
		fc.property(schemaHistories, ({ inForce, later }) => {
			// All steps share a set of facts, and each step removes some facts. At the third step, the newest schema's policy
			// becomes active.
			const all = later[0]?.facts ?? noFacts;
			let facts = all;
			const states: readonly Model[] = [
				{ schema: inForce, facts: all },
				...later.map(({ schema, in_force }, index) => {
					facts = factsUnder(schema, { ...facts, relationships: facts.relationships.slice(Math.min(index, 1)) });
					return index === 2 ? { schema, facts } : { schema, facts, in_force };
				}),
			];
			let text: Json = document(states[0] as Model);
			let before = states[0] as Model;
			for (const model of states.slice(1)) {
				const touched = { ...touchedBetween(before, model), pending: true, derivations: true };
				text = patched(text, delta(touched, neighbourhood(model, touched)));
				t.deepEqual(text, document(model));
				before = model;
			}
		}),
		{ numRuns: draws(300, 'SCHEMAS') },
	);
});
