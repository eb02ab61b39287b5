// @both

/** A row satisfies a filter if the check with the row's key, tenant and attributes is allowed. */
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { compile, documentBytes } from '../../compiler/index.js';
import type { Attributes, Json, Model } from '../../compiler/model.js';
import { runToEnd } from '../../compiler/steps.js';
import { Failure } from '../../src/failure.js';
import { compileResidual } from '../../src/filter/evaluate-residual.js';
import { everyRow, noRow, type Residual, type Row } from '../../src/filter/residual.js';
import type { DecisionContext } from '../../src/pdp/decide/decide.js';
import type { FilterInput } from '../../src/pdp/decide/normalise.js';
import { Engine } from '../../src/pdp/engine/engine.js';
import { FactsIndex } from '../../src/pdp/facts/facts-index.js';
import { type Filter, filterRows } from '../../src/pdp/filter/filter.js';
import { layeredModels } from '../compiler/layered-model.js';
import { instanceNames, names as keyNames, modelsOfOneSchema, pick, userNames } from '../compiler/model.js';
import { policyWasm, quiet } from '../pdp/environment.js';
import { patternMatches } from '../support/conditions.js';
import { draws, leastDrawn } from '../support/tier.js';
import { anyConditions, anyResourceConditions, names, record } from './conditions.js';

/** Attributes that conditions name, and built-in attributes to compare in their place. */
const builtIn: Readonly<Record<string, string>> = {
	'user.a': 'user.key',
	'resource.a': 'resource.key',
	'resource.c': 'resource.tenant',
};
const builtInReference: Readonly<Record<string, string>> = {
	...builtIn,
	'user.b': 'user.tenants',
	'user.c': 'user.roles',
	'resource.b': 'resource.type',
	'tenant.a': 'tenant.key',
};

/** Replaces some attributes by built-in attributes. */
function withBuiltIn(condition: Json): Json {
	if (typeof condition !== 'object' || condition === null) return condition;
	if (Array.isArray(condition)) return condition.map(withBuiltIn);
	return Object.fromEntries(
		Object.entries(condition).map(([name, inside]): [string, Json] => {
			if (name === 'ref' && typeof inside === 'string') return [name, builtInReference[inside] ?? inside];
			return [builtIn[name] ?? name, withBuiltIn(inside)];
		}),
	);
}

const sometimes = (conditions: fc.Arbitrary<Json>) => fc.oneof(conditions, conditions.map(withBuiltIn));
const many = { minLength: 6, maxLength: 6, size: 'max' } as const;
const material = fc.record({
	ofUsers: fc.array(sometimes(anyConditions), many),
	ofResources: fc.array(sometimes(anyResourceConditions), many),
	attributes: fc.array(record, { minLength: 12, maxLength: 12, size: 'max' }),
	rules: fc.array(fc.nat({ max: 999 }), { minLength: 2, maxLength: 6 }),
});
type Material = typeof material extends fc.Arbitrary<infer M> ? M : never;

/** Replaces the conditions and the attributes of a model, and adds rules. */
function withConditions(
	{ schema, facts, ...others }: Model,
	{ ofUsers, ofResources, attributes, rules }: Material,
): Model {
	const set = (type: 'userset' | 'resourceset', key: string, resource: string | null, conditions: Json) => {
		return { key, name: key, description: null, type, resource, parent: null, selects: { conditions } } as const;
	};
	const all = schema.resources.flatMap(({ key, actions }) =>
		actions.map((action) => ({ resource: key, action: action.key })),
	);
	const added = rules.flatMap((number) => {
		const about = pick(all, number);
		const user_set = `users-${number % ofUsers.length}`;
		return about === undefined ? [] : [{ ...about, user_set, resource_set: `${about.resource}-${number % 5}` }];
	});
	const users = ofUsers.map((conditions, index) =>
		set('userset', `users-${index}`, null, index === 0 ? {} : conditions),
	);
	const resources = schema.resources.flatMap(({ key }, type) =>
		[0, 1, 2, 3, 4].map((index) =>
			set('resourceset', `${key}-${index}`, key, ofResources[(type + index) % ofResources.length] ?? {}),
		),
	);
	const parents = [...users, ...resources].map((one, index) => {
		const before = index % 3 === 2 ? [...users, ...resources][index - 1] : undefined;
		return before?.resource === one.resource ? { ...one, parent: before.key } : one;
	});
	const random = (index: number) => attributes[index % attributes.length] ?? {};
	return {
		...others,
		schema: {
			...schema,
			condition_sets: [...schema.condition_sets, ...parents],
			set_rules: [...new Map([...schema.set_rules, ...added].map((rule) => [JSON.stringify(rule), rule])).values()],
		},
		facts: {
			...facts,
			user_attributes: facts.users.map((user, index) => ({ user, attributes: random(index) })),
			instance_attributes: facts.instances.map(({ type, key }, index) => ({
				type,
				key,
				attributes: random(index + 4),
			})),
			tenants: facts.tenants.map((tenant, index) => ({ ...tenant, attributes: random(index + 8) })),
		},
	};
}

const anyQuestion = fc.record({
	user: fc.constantFrom(...userNames, 'unone'),
	which: fc.nat({ max: 99 }),
	tenant: fc.constantFrom(undefined, undefined, 'ta', 'ta', 'tb', 'tnone'),
	time: fc.constantFrom(0, 1_500, Date.UTC(2026, 0, 1)),
	sentUser: fc.option(record, { nil: undefined }),
	sentResource: fc.option(record, { nil: undefined, freq: 3 }),
	context: record,
	rows: fc.array(
		fc.record({
			key: fc.constantFrom(...instanceNames, 'inone', 'a', '1'),
			tenant: fc.constantFrom(...keyNames.map((name) => `t${name}`), 'ta', 'tnone'),
			attributes: record,
		}),
		{ minLength: 8, maxLength: 8, size: 'max' },
	),
});
type Question = typeof anyQuestion extends fc.Arbitrary<infer Q> ? Q : never;

/** Sends every attribute that conditions name, null if it is missing. Attributes of the request replace the row's. */
function sentAttributes(row: Attributes, known: Attributes | undefined): Attributes {
	return Object.fromEntries(
		names.map((name) => [
			name,
			(known !== undefined && Object.hasOwn(known, name) ? known[name] : ownMember(row, name)) ?? null,
		]),
	);
}

function ownMember(attributes: Attributes, name: string): Json | undefined {
	return Object.hasOwn(attributes, name) ? attributes[name] : undefined;
}

function conditionOf({ type, condition }: Filter): Residual {
	return condition ?? (type === 'always_allow' ? everyRow : noRow);
}

const options = { maxKeys: 1_000, explain: true, matches: patternMatches };

/** Returns a filter, unless its conditions read related instances. */
function filterUnlessRefused(context: DecisionContext, input: FilterInput): Filter | undefined {
	try {
		return runToEnd(filterRows(context, input, options));
	} catch (error) {
		if (error instanceof Failure && /fk_resource_type/.test(error.message)) return undefined;
		throw error;
	}
}

/** Compares a filter with checks. Returns the number of allowed rows. */
function compareFilter(t: ExecutionContext, context: DecisionContext, input: FilterInput, question: Question): number {
	const filter = filterUnlessRefused(context, input);
	if (filter === undefined) return 0;
	const selects = runToEnd(compileResidual(conditionOf(filter), patternMatches));
	const branches = (filter.debug?.branches ?? []).map(({ condition }) =>
		runToEnd(compileResidual(condition, patternMatches)),
	);
	const { attributes: known, tenant: given } = input.resource;
	let allowed = 0;
	for (const row of question.rows) {
		const stored = context.facts.tenantKey(`${input.resource.type}:${row.key}`);
		// A filter is about rows whose tenant is the tenant of the stored instance.
		const tenant = stored ?? row.tenant;
		const attributes = sentAttributes(row.attributes, known as Attributes | undefined);
		const { type } = input.resource;
		const check = { ...input, resource: { type, key: row.key, tenant, attributes }, time: context.time };
		const right = context.engine.code(check) === 'allow' && (given === undefined || given === tenant);
		const asRow: Row = { ...row, tenant };
		const said = (): string => JSON.stringify({ check, filter });
		if (selects(asRow) !== right) t.is(selects(asRow), right, said());
		const byBranch = branches.some((holds) => holds(asRow)) && (given === undefined || given === tenant);
		if (byBranch !== right) t.is(byBranch, right, said());
		allowed += Number(right);
	}
	const { valid_until } = filter;
	const later = valid_until === null ? 8e15 : Math.max(context.time, Date.parse(valid_until) - 1);
	const { condition, type } = runToEnd(filterRows({ ...context, time: later }, input, options));
	t.deepEqual({ condition, type }, { condition: filter.condition, type: filter.type }, 'until it expires');
	return allowed;
}

const base = fc.oneof(modelsOfOneSchema(3), layeredModels(3));
const questions = fc.array(anyQuestion, { minLength: 40, maxLength: 40, size: 'max' });

/** Compares the filters for all questions. Returns the numbers of rows, of allowed rows, and of filters with both kinds. */
function compareFilters(t: ExecutionContext, engine: Engine, model: Model, asked: readonly Question[]) {
	const facts = FactsIndex.read(documentBytes(model));
	const all = model.schema.resources.flatMap(({ key, actions }) => actions.map((action) => [key, action.key] as const));
	const found = { rows: 0, allowed: 0, conditional: 0 };
	for (const question of asked) {
		const [type = '', action = ''] = pick(all, question.which) ?? [];
		const { user, tenant, sentUser, sentResource, context: sent } = question;
		const input: FilterInput = {
			user: { key: user, ...(sentUser && { attributes: sentUser }) },
			action,
			resource: { type, ...(tenant && { tenant }), ...(sentResource && { attributes: sentResource }) },
			context: sent,
		};
		const countDifference = () => t.fail('the referee saw a difference');
		const at = { revision: 1, policyRevision: 1, time: question.time, log: quiet, countDifference };
		const allowed = compareFilter(t, { engine, facts, ...at }, input, question);
		found.rows += question.rows.length;
		found.allowed += allowed;
		found.conditional += Number(allowed > 0 && allowed < question.rows.length);
	}
	return found;
}

test('a filter selects the rows that checks allow, and its branches do together', async (t) => {
	t.timeout(7_200_000);
	let [rows, allowed, conditional] = [0, 0, 0];
	await fc.assert(
		fc.asyncProperty(base, material, questions, async (some, one, asked) => {
			const models = some.map((model) => withConditions(model, one));
			const [first] = models;
			if (first === undefined || !('policy' in compile(first))) return;
			const module = await WebAssembly.compile(await policyWasm(first));
			for (const model of models) {
				const found = compareFilters(t, await Engine.load(module, documentBytes(model)), model, asked);
				rows += found.rows;
				allowed += found.allowed;
				conditional += found.conditional;
			}
		}),
		{ numRuns: draws(9, 'SCHEMAS') },
	);
	t.log({ rows, allowed, conditional });
	t.true(
		allowed >= leastDrawn(100) && conditional >= leastDrawn(30),
		`${allowed} of ${rows} rows, ${conditional} filters`,
	);
});

/** Keeps every other item. */
function mixed(before: readonly Json[], after: readonly Json[]): Json[] {
	return before.map((own, index) => (index % 2 === 1 ? own : (after[index] ?? own)));
}

test('a filter has no suspended and no pending grants', async (t) => {
	t.timeout(7_200_000);
	let [rows, allowed, pending] = [0, 0, 0];
	await fc.assert(
		fc.asyncProperty(base, material, material, questions, async ([model], before, after, asked) => {
			if (model === undefined) return;
			const old = withConditions(model, before);
			const next = withConditions(model, {
				...after,
				ofUsers: mixed(before.ofUsers, after.ofUsers),
				ofResources: mixed(before.ofResources, after.ofResources),
				rules: [...before.rules.slice(1), ...after.rules.slice(0, 2)],
			});
			if (!('policy' in compile(old)) || !('policy' in compile(next))) return;
			const now: Model = { ...next, in_force: old.schema };
			const module = await WebAssembly.compile(await policyWasm(old));
			const found = compareFilters(t, await Engine.load(module, documentBytes(now)), now, asked);
			rows += found.rows;
			allowed += found.allowed;
			pending += Number(FactsIndex.read(documentBytes(now)).pending);
		}),
		{ numRuns: draws(9, 'SCHEMAS') },
	);
	t.log({ rows, allowed, pending });
	t.true(allowed >= leastDrawn(10) && pending >= leastDrawn(4), `${allowed} of ${rows} rows, ${pending} pending`);
});
