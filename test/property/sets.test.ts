// @both

/** Condition set and rule properties. A policy's decisions follow the definitions, and listings agree with checks. */
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { documentBytes } from '../../compiler/index.js';
import type { Model } from '../../compiler/model.js';
import { type Engine, evaluate, wasmEngine } from '../compiler/engine.js';
import { instanceNames, modelsOfOneSchema, userNames } from '../compiler/model.js';
import { draws, leastDrawn } from '../support/tier.js';
import { decide } from './oracle.js';
import { answered, type Question, rego } from './questions.js';
import { grantedBySets, isLikeRole, matchingSets } from './set-oracle.js';

const models = modelsOfOneSchema(4).filter(([first]) => (first?.schema.set_rules.length ?? 0) > 0);
const users = [...userNames, 'unone'];
const instances = [null, ...instanceNames, 'inone'];
const sent = [undefined, { level: 1 }, { level: 2, status: 2, roles: ['ra'] }, { level: null, tenant: 'tb' }] as const;

/**
 * Returns questions for every user, type, action with rules, and instance, with attributes in the question. For each
 * instance, there are questions with its own tenant and with a different tenant.
 */
function ruleQuestions({ schema, facts }: Model): readonly Question[] {
	return schema.resources.flatMap(({ key: type }) =>
		[...new Set(schema.set_rules.flatMap((rule) => (rule.resource === type ? [rule.action] : [])))].flatMap((action) =>
			instances.flatMap((key, index) => {
				const own = facts.instances.find((row) => row.type === type && row.key === key)?.tenant ?? 'ta';
				return [own, index === 1 ? 'tb' : 'tnone'].flatMap((tenant) =>
					users.flatMap((user, other) => {
						const [one, another] = [sent[(other + index) % sent.length], sent[(other * 2 + index + 1) % sent.length]];
						return {
							user: { key: user, ...(one === undefined ? {} : { attributes: one }) },
							action,
							resource: {
								type,
								tenant,
								...(key === null ? {} : { key }),
								...(another === undefined ? {} : { attributes: another }),
							},
						};
					}),
				);
			}),
		),
	) as unknown as readonly Question[];
}

test('WebAssembly and opa eval follow the definitions, and the explanation lists the sets', async (t) => {
	t.timeout(7_200_000);
	let byConditions = 0;
	const seen = new Map<string, number>();
	await fc.assert(
		fc.asyncProperty(models, async ([first, ...others]) => {
			if (first === undefined) return;
			const engine = await wasmEngine(rego(first));
			for (const [index, model] of [first, ...others].entries()) {
				const bytes = documentBytes(model);
				engine.setData(bytes);
				const queries = ruleQuestions(model);
				const expected = answered(
					queries,
					queries.map((query) => decide(model, query).code),
				);
				const codes = queries.map((query) => engine.ask('regolith/check/code', query));
				t.deepEqual(answered(queries, codes), expected);
				if (index === 0) {
					const evaluated = await evaluate(rego(model), bytes, 'regolith/check/code', queries);
					t.deepEqual(answered(queries, evaluated), expected);
				}
				for (const query of queries) {
					if (decide(model, query).allow) byConditions += grantedBySets(model, query) ? 1 : 0;
					const code = explained(t, engine, model, query);
					seen.set(code, (seen.get(code) ?? 0) + 1);
				}
				listsAsChecks(t, engine, model);
			}
		}),
		{ numRuns: draws(20, 'SCHEMAS') },
	);
	t.true(byConditions >= leastDrawn(21), `${byConditions} checks allowed by conditions`);
	for (const code of ['allow', 'no_matching_usersets', 'no_matching_resourcesets', 'no_matching_rules']) {
		t.true((seen.get(code) ?? 0) >= leastDrawn(1), `no section contains ${code}`);
	}
});

interface Section {
	readonly abac?: {
		readonly allow: boolean;
		readonly code: string;
		readonly matching_usersets?: readonly string[];
		readonly matching_resourcesets?: readonly string[];
	};
}

/**
 * Compares the section about conditions with the definitions. Returns the section's code, or nothing if there is no
 * such section.
 */
function explained(t: ExecutionContext, engine: Engine, model: Model, query: Question) {
	const { abac } = engine.ask('regolith/explain/sections', query) as Section;
	const granted = grantedBySets(model, query);
	const said = JSON.stringify(query);
	if (abac === undefined) {
		t.is(granted, false, said);
		return '';
	}
	t.is(abac.allow, granted, said);
	for (const [type, matching] of [
		['userset', abac.matching_usersets],
		['resourceset', abac.matching_resourcesets],
	] as const) {
		if (matching !== undefined) t.deepEqual([...matching].sort(), matchingSets(model, query, type), said);
	}
	return abac.code;
}

const asked = { enable_abac_user_permissions: true, enable_abac_authorized_users: true };

/** INVARIANT: listings agree with checks. Without `asked` as the context, they use only rules that act like roles. */
function listsAsChecks(t: ExecutionContext, engine: Engine, model: Model): void {
	listsAsked(t, engine, model, asked);
	const { set_rules } = model.schema;
	listsAsked(
		t,
		engine,
		withRules(
			model,
			set_rules.filter((rule) => isLikeRole(model, rule)),
		),
		{},
	);
}

function withRules(model: Model, set_rules: Model['schema']['set_rules']): Model {
	return { ...model, schema: { ...model.schema, set_rules } };
}

/** Compares the engine's listings with checks of the model. `context` is the context of the listings. */
function listsAsked(t: ExecutionContext, engine: Engine, model: Model, context: Record<string, boolean>): void {
	const named = model.facts.instances.map(({ type, key }) => ({ type, key }));
	for (const { type, key, tenant } of model.facts.instances.slice(0, 4)) {
		const resource = { type, key, tenant };
		for (const action of actionKeys(model, type)) {
			const input = { users: model.facts.users, action, resource, context };
			const listed = engine.ask('regolith/listing/authorized_users', input) as readonly string[];
			const allowed = model.facts.users.filter(
				(user) => decide(model, { user: { key: user }, action, resource }).allow,
			);
			t.deepEqual([...listed].sort(), [...allowed].sort(), JSON.stringify(input));
		}
	}
	for (const user of model.facts.users) {
		const input = { user: { key: user }, instances: named, context };
		const entries = engine.ask('regolith/listing/instance_permissions', input) as unknown as readonly {
			readonly tenant: { readonly key: string };
			readonly resource: { readonly type: string; readonly key: string };
			readonly permissions: readonly string[];
		}[];
		for (const { type, key, tenant } of model.facts.instances) {
			if (!model.facts.tenants.some((row) => row.key === tenant)) continue;
			const resource = { type, key, tenant };
			const actions = actionKeys(model, type);
			const allowed = actions.filter((action) => decide(model, { user: { key: user }, action, resource }).allow);
			const granted = actions.some((action) => grantedBySets(model, { user: { key: user }, action, resource }));
			const entry = entries.find((row) => row.resource.type === type && row.resource.key === key);
			const expected = entry === undefined && !granted ? [] : allowed.map((action) => `${type}:${action}`).sort();
			t.deepEqual([...(entry?.permissions ?? [])].sort(), expected, JSON.stringify(input));
		}
	}
}

function actionKeys({ schema }: Model, type: string): readonly string[] {
	return (schema.resources.find(({ key }) => key === type)?.actions ?? []).map(({ key }) => key);
}
