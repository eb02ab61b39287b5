/**
 * Laws of an older policy over the data of a newer schema: it allows nothing that the newer schema denies, and what
 * neither of the two changed goes on.
 */
import test from 'ava';
import fc from 'fast-check';
import { delta, document, documentBytes, type Json } from '../../compiler/index.js';
import type { Facts, Model, Resource, Schema } from '../../compiler/model.js';
import { evaluate, wasmEngine } from '../compiler/engine.js';
import { instanceNames, modelsOfOneSchema, userNames } from '../compiler/model.js';
import { neighbourhood, touchedBetween } from './neighbourhood.js';
import { decide, patched } from './oracle.js';
import { answered, type Question, rego } from './questions.js';
import { edited, factsUnder, schemaEdit } from './schema-edits.js';

const users = [...userNames, 'unone'];

/** A schema in force, and schemas that edits made of it one after another, each with facts. */
const histories = fc
	.tuple(
		modelsOfOneSchema(4),
		fc.array(fc.array(schemaEdit, { minLength: 1, maxLength: 3 }), { minLength: 4, maxLength: 4 }),
	)
	.map(([models, edits]) => {
		const inForce = models[0]?.schema ?? { resources: [], roles: [], condition_sets: [], set_rules: [] };
		let schema = inForce;
		const later = models.map(({ facts }, index) => {
			schema = (edits[index] ?? []).reduce(edited, schema);
			return { schema, facts: factsUnder(schema, facts), in_force: inForce };
		});
		return { inForce, later };
	});

/** Every user, action and instance together, of the newer schema and of the one in force. */
function queriesOf({ schema, facts }: Model, inForce: Schema): readonly Question[] {
	const types = new Map([...inForce.resources, ...schema.resources].map(({ key, actions }) => [key, actions]));
	for (const { key, actions } of inForce.resources) types.set(key, [...(types.get(key) ?? []), ...actions]);
	return [...types].flatMap(([type, actions]) =>
		[null, ...instanceNames].flatMap((key) => {
			const tenant = facts.instances.find((row) => row.type === type && row.key === key)?.tenant ?? 'ta';
			const resource = key === null ? { type, tenant } : { type, tenant, key };
			return [...new Set(actions.map((action) => action.key))].flatMap((action) =>
				users.map((user): Question => ({ user: { key: user }, action, resource })),
			);
		}),
	);
}

/**
 * What stands, as plain as it can be said: the newer schema, with those derivations and rules only that the schema in
 * force has too and that mean the same in both.
 */
function standing(inForce: Schema, schema: Schema): Schema {
	return {
		...schema,
		resources: schema.resources.flatMap((resource) => {
			const before = inForce.resources.find(({ key }) => key === resource.key);
			return before === undefined ? [] : [standingResource(before, resource)];
		}),
		set_rules: schema.set_rules.filter((rule) => {
			const isSame = (kind: string, key: string) => textOfSet(inForce, kind, key) === textOfSet(schema, kind, key);
			const had = inForce.set_rules.some((other) => JSON.stringify(other) === JSON.stringify(rule));
			return had && isSame('userset', rule.user_set) && isSame('resourceset', rule.resource_set);
		}),
	};
}

function standingResource(before: Resource, after: Resource): Resource {
	const flat = (key: string): readonly string[] => {
		const role = after.roles.find((other) => other.key === key);
		return role === undefined ? [] : [...role.permissions, ...role.extends.flatMap(flat)];
	};
	const subject = ({ relations }: Resource, relation: string) => relations.find(({ key }) => key === relation)?.subject;
	return {
		...after,
		actions: after.actions.filter(({ key }) => before.actions.some((action) => action.key === key)),
		roles: after.roles.map((role) => {
			const old = before.roles.find(({ key }) => key === role.key);
			if (old === undefined) return { ...role, permissions: [], extends: [], derivations: [] };
			return {
				...role,
				permissions: [...new Set(flat(role.key))],
				extends: [],
				// As narrow as the narrower of the two.
				no_direct_roles_on_object: role.no_direct_roles_on_object || old.no_direct_roles_on_object,
				derivations: role.derivations.flatMap((row) => {
					const other = old.derivations.find(({ relation, role: of }) => relation === row.relation && of === row.role);
					if (other === undefined || subject(before, row.relation) !== subject(after, row.relation)) return [];
					const [was, is] = [
						other.no_direct_roles_on_object || old.no_direct_roles_on_object,
						row.no_direct_roles_on_object || role.no_direct_roles_on_object,
					];
					return is && !was ? [] : [{ ...row, no_direct_roles_on_object: was }];
				}),
			};
		}),
	};
}

function textOfSet({ condition_sets }: Schema, type: string, key: string | null): string {
	const set = condition_sets.find((other) => other.type === type && other.key === key);
	return set === undefined
		? 'none'
		: JSON.stringify([set.selects, set.resource, textOfSet({ condition_sets } as Schema, type, set.parent)]);
}

test('what a newer schema takes away is suspended, and what neither changed goes on', async (t) => {
	t.timeout(900_000);
	const seen = { lost: 0, kept: 0, gained: 0, pending: 0 };
	await fc.assert(
		fc.asyncProperty(histories, async ({ inForce, later }) => {
			const engine = await wasmEngine(rego({ schema: inForce, facts: noFacts }));
			for (const [index, model] of later.entries()) {
				const bytes = documentBytes(model);
				engine.setData(bytes);
				const queries = queriesOf(model, inForce);
				const codes = queries.map((query) => engine.ask('regolith/check/code', query));
				const stands = { schema: standing(inForce, model.schema), facts: model.facts };
				const before = { schema: inForce, facts: model.facts };
				for (const [at, query] of queries.entries()) {
					const code = codes[at];
					const text = `${JSON.stringify(query)} -> ${JSON.stringify(code)}`;
					const wanted = decide(model, query).allow;
					if (code === 'allow') t.true(wanted, `allowed, and the newest schema denies: ${text}`);
					if (decide(stands, query).allow) t.is(code, 'allow', `nothing of the grant was changed: ${text}`);
					if (wanted && code !== 'allow') t.is(code, 'policy_pending', `it waits for its policy: ${text}`);
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
		{ numRuns: Number(process.env['SCHEMAS'] ?? 15) },
	);
	t.log(JSON.stringify(seen));
	for (const [what, number] of Object.entries(seen)) t.true(number > 20, `${number} checks: ${what}`);
});

const noFacts: Facts = {
	users: [],
	tenants: [],
	role_assignments: [],
	instances: [],
	instance_assignments: [],
	relationships: [],
	user_attributes: [],
	instance_attributes: [],
};

test('patches lead from what was suspended to what is, and to the policy that comes', (t) => {
	fc.assert(
		fc.property(histories, ({ inForce, later }) => {
			// One run of facts, of which each step loses some; a policy comes in between: its schema is then in force itself.
			const all = later[0]?.facts ?? noFacts;
			const states: readonly Model[] = [
				{ schema: inForce, facts: all },
				...later.map(({ schema, in_force }, index) => {
					const fewer = { ...all, relationships: all.relationships.slice(index) };
					const facts = factsUnder(schema, fewer);
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
		{ numRuns: Number(process.env['SCHEMAS'] ?? 300) },
	);
});
