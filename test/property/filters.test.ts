// @both

/** A filter selects a row if and only if the check with the row's key, tenant and attributes is allowed. */
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
import { filterKeys, type KeyPage } from '../../src/pdp/filter/filter-keys.js';
import { instanceNames, names as keyNames } from '../compiler/model.js';
import { policyWasm, quiet } from '../pdp/environment.js';
import { patternMatches } from '../support/conditions.js';
import { draws, leastDrawn } from '../support/tier.js';
import type { Aim } from './aimed-questions.js';
import { anyConditions, anyResourceConditions, names, record } from './conditions.js';
import { baseModels, choicesOf, materialOf, questioner, withConditions } from './filter-models.js';
import { LapsedGrants } from './lapsed-grants.js';

/** Built-in attributes to compare instead of the attributes in generated conditions. */
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
const material = materialOf({
	ofUsers: sometimes(anyConditions),
	ofResources: sometimes(anyResourceConditions),
	attributes: record,
});

const anyQuestion = fc.record({
	...choicesOf({ sentUser: record, sentResource: record, context: record }),
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

/** Returns every attribute that conditions name, or null if it is missing. Known attributes override the row's. */
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

function conditionOf({ type, condition }: Pick<Filter, 'type' | 'condition'>): Residual {
	return condition ?? (type === 'always_allow' ? everyRow : noRow);
}

const options = { maxKeys: 1_000, explain: true, matches: patternMatches };

/** Returns a filter; `undefined` if its conditions compare related instances. */
function filterUnlessRefused(context: DecisionContext, input: FilterInput): Filter | undefined {
	try {
		return runToEnd(filterRows(context, input, options));
	} catch (error) {
		if (error instanceof Failure && /fk_resource_type/.test(error.message)) return undefined;
		throw error;
	}
}

/** Calls `filterKeys` until the last page. Returns all keys, and the filter for all other rows. */
function allPages(context: DecisionContext, input: FilterInput) {
	const keys: KeyPage['keys'][number][] = [];
	for (let cursor: string | undefined; ; ) {
		const page: KeyPage = runToEnd(filterKeys(context, input, { limit: 3, cursor, matches: patternMatches }));
		keys.push(...page.keys);
		if (page.next === null) return { rest: page.rest, keys };
		cursor = page.next;
	}
}

/** Compares a filter with checks. Returns a test for its rows, and the allowed row count. */
function compareFilter(t: ExecutionContext, context: DecisionContext, input: FilterInput, rows: readonly Row[]) {
	const filter = filterUnlessRefused(context, input);
	if (filter === undefined) return undefined;
	const selects = runToEnd(compileResidual(conditionOf(filter), patternMatches));
	const branches = (filter.debug?.branches ?? []).map(({ condition }) =>
		runToEnd(compileResidual(condition, patternMatches)),
	);
	const { rest, keys } = allPages(context, input);
	const selectsRest = runToEnd(compileResidual(conditionOf(rest), patternMatches));
	const { attributes: known, tenant: given, type } = input.resource;
	let allowed = 0;
	for (const row of rows) {
		const { key, tenant } = row;
		const attributes = sentAttributes(row.attributes as Attributes, known as Attributes | undefined);
		const check = { ...input, resource: { type, key, tenant, attributes }, time: context.time };
		const isInside = given === undefined || given === tenant;
		const right = context.engine.code(check) === 'allow' && isInside;
		const said = (part: string): string => JSON.stringify({ part, check, filter });
		if (selects(row) !== right) t.is(selects(row), right, said('filter'));
		const byBranch = branches.some((holds) => holds(row)) && isInside;
		if (byBranch !== right) t.is(byBranch, right, said('branches'));
		const byPages = selectsRest(row) || keys.some((one) => one.key === key && one.tenant === tenant);
		if (byPages !== right) t.is(byPages, right, said('pages'));
		allowed += Number(right);
	}
	const { valid_until } = filter;
	const later = valid_until === null ? 8e15 : Math.max(context.time, Date.parse(valid_until) - 1);
	const { condition, type: kind } = runToEnd(filterRows({ ...context, time: later }, input, options));
	t.deepEqual({ condition, kind }, { condition: filter.condition, kind: filter.type }, 'until it expires');
	return { selects, allowed };
}

const questions = fc.array(anyQuestion, { minLength: 40, maxLength: 40, size: 'max' });

/** Returns a question's rows. A row with the key of a stored instance gets the instance's tenant. */
function rowsOf({ rows }: Question, aim: Aim | undefined, type: string, facts: FactsIndex): readonly Row[] {
	return rows.map((row, index) => {
		const key = (index % 2 === 0 ? aim?.key : undefined) ?? row.key;
		const tenant = (index % 2 === 0 ? aim?.tenant : undefined) ?? row.tenant;
		return { ...row, key, tenant: facts.tenantKey(`${type}:${key}`) ?? tenant };
	});
}

/** Counts rows, allowed rows, rows allowed for sets of users, and filters with both allowed and denied rows. */
interface Found {
	rows: number;
	allowed: number;
	ofSets: number;
	conditional: number;
}

/** Compares the filters for all questions with checks. `lapsed` counts the rows decided by expired grants. */
function compareFilters(
	t: ExecutionContext,
	{ engine, model, asked, lapsed }: { engine: Engine; model: Model; asked: readonly Question[]; lapsed?: LapsedGrants },
): Found {
	const facts = FactsIndex.read(documentBytes(model));
	const choose = questioner(model);
	lapsed?.use(model);
	const found: Found = { rows: 0, allowed: 0, ofSets: 0, conditional: 0 };
	for (const question of asked) {
		const { input, aim, isOfSet } = choose(question);
		const { type } = input.resource;
		const countDifference = () => t.fail('the index and the engine differ');
		const at = { revision: 1, policyRevision: 1, time: question.time, log: quiet, countDifference };
		const context: DecisionContext = { engine, facts, ...at };
		const rows = rowsOf(question, aim, type, facts);
		const compared = compareFilter(t, context, input, rows);
		if (compared === undefined) continue;
		const { allowed, selects } = compared;
		const given = input.resource.tenant;
		const inside = rows.filter((row) => given === undefined || given === row.tenant);
		lapsed?.count(context, input, inside, selects);
		found.rows += rows.length;
		found.allowed += allowed;
		if (isOfSet) found.ofSets += allowed;
		found.conditional += Number(allowed > 0 && allowed < rows.length);
	}
	return found;
}

/**
 * Minimum number of rows decided by expired facts, keyed by the kind of fact and the access model. Few schemas have
 * public roles, so only runs with more draws require such rows.
 */
const leastLapsed: Readonly<Record<string, number>> = {
	'tenant roles, rbac': 20,
	'tenant roles, abac': 2,
	'roles on instances, rebac': 5,
	'roles on instances, abac': 5,
	'roles of everyone, rebac': 0.5,
	'relationships, rebac': 5,
};

test('a filter, and the union of its branches, select exactly the rows that checks allow', async (t) => {
	t.timeout(7_200_000);
	let [rows, allowed, ofSets, conditional] = [0, 0, 0, 0];
	const lapsed = new LapsedGrants();
	await fc.assert(
		fc.asyncProperty(baseModels(2), material, questions, async (some, one, asked) => {
			const models = some.map((model) => withConditions(model, one));
			const [first] = models;
			if (first === undefined || !('policy' in compile(first))) return;
			const module = await WebAssembly.compile(await policyWasm(first));
			for (const model of models) {
				const engine = await Engine.load(module, documentBytes(model));
				const found = compareFilters(t, { engine, model, asked, lapsed });
				rows += found.rows;
				allowed += found.allowed;
				ofSets += found.ofSets;
				conditional += found.conditional;
			}
		}),
		{ numRuns: draws(15, 'SCHEMAS') },
	);
	t.log({ rows, allowed, ofSets, conditional }, Object.fromEntries(lapsed.counts));
	for (const [kind, least] of Object.entries(leastLapsed)) {
		const count = lapsed.counts.get(kind) ?? 0;
		t.true(count >= leastDrawn(least), `${count} rows of expired ${kind}`);
	}
	t.true(
		allowed >= leastDrawn(100) && ofSets >= leastDrawn(20) && conditional >= leastDrawn(30),
		`${allowed} of ${rows} rows, ${ofSets} of them for sets of users, ${conditional} filters`,
	);
});

/** Replaces every other item of `before`. */
function mixed(before: readonly Json[], after: readonly Json[]): Json[] {
	return before.map((own, index) => (index % 2 === 1 ? own : (after[index] ?? own)));
}

test('a filter contains no suspended or pending grants', async (t) => {
	t.timeout(7_200_000);
	let [rows, allowed, pending] = [0, 0, 0];
	await fc.assert(
		fc.asyncProperty(baseModels(1), material, material, questions, async ([model], before, after, asked) => {
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
			const engine = await Engine.load(module, documentBytes(now));
			const found = compareFilters(t, { engine, model: now, asked });
			rows += found.rows;
			allowed += found.allowed;
			pending += Number(FactsIndex.read(documentBytes(now)).pending);
		}),
		{ numRuns: draws(9, 'SCHEMAS') },
	);
	t.log({ rows, allowed, pending });
	t.true(allowed >= leastDrawn(10) && pending >= leastDrawn(4), `${allowed} of ${rows} rows, ${pending} pending`);
});
