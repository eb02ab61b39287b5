// @both

/** A row satisfies a filter if the check with the row's key, tenant and attributes is allowed. */
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { compile, documentBytes } from '../../compiler/index.js';
import type { Attributes, ConditionSet, Expiring, Json, Model } from '../../compiler/model.js';
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
import { layeredModels } from '../compiler/layered-model.js';
import {
	instanceNames,
	names as keyNames,
	modelsOfOneSchema,
	pick,
	roleConditions,
	userNames,
} from '../compiler/model.js';
import { policyWasm, quiet } from '../pdp/environment.js';
import { patternMatches } from '../support/conditions.js';
import { draws, leastDrawn } from '../support/tier.js';
import { type Aim, aimsOf } from './aimed-questions.js';
import { anyConditions, anyResourceConditions, names, record } from './conditions.js';
import { expiringModels } from './expiring-models.js';
import { LapsedGrants } from './lapsed-grants.js';
import { lapses, withLapses } from './lapsing-grants.js';

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
	rules: fc.array(fc.nat({ max: 999 }), { minLength: 4, maxLength: 8 }),
	/** Users' tenant roles. Most expire. */
	assignments: fc.array(
		fc.record({
			user: fc.constantFrom(...userNames),
			tenant: fc.constantFrom('ta', 'ta', 'tb'),
			expiry: fc.constantFrom<Expiring>({}, { expires_at: 1 }, { expires_at: 2 }, { expires_at: 3 }),
		}),
		{ minLength: 2, maxLength: 4 },
	),
	permissions: fc.tuple(fc.nat({ max: 99 }), fc.nat({ max: 99 })),
	roleForms: fc.nat({ max: 59 }),
	lapsing: lapses,
});
type Material = typeof material extends fc.Arbitrary<infer M> ? M : never;

const named = (key: string) => ({ key, name: key, description: null });
/** A tenant role in every model. */
const extraRole = 'rextra';

/** Replaces a model's conditions and attributes, and adds a tenant role, sets and rules. */
function withConditions(
	{ schema, facts, ...others }: Model,
	{ ofUsers, ofResources, attributes, rules, assignments, permissions, roleForms, lapsing }: Material,
): Model {
	const set = (type: 'userset' | 'resourceset', key: string, resource: string | null, conditions: Json) => {
		return { ...named(key), type, resource, parent: null, selects: { conditions } } as const;
	};
	const all = schema.resources.flatMap(({ key, actions }) =>
		actions.map((action) => ({ resource: key, action: action.key })),
	);
	const users = ofUsers.map((conditions, index) =>
		set('userset', `users-${index}`, null, index === 0 ? {} : conditions),
	);
	const byRole: readonly ConditionSet[] = [
		{ ...named('role'), type: 'userset', resource: null, parent: null, selects: { role: extraRole } },
		set('userset', 'roles', null, { 'user.roles': { array_contains: extraRole } }),
	];
	const holders = schema.resources.flatMap(({ key, roles }, index) => {
		const conditions = roleConditions(
			roles.map((role) => role.key),
			roleForms + index,
		);
		return roles.length === 0 ? [] : [set('userset', `holders-${key}`, key, conditions)];
	});
	const added = rules.flatMap((number) => {
		const about = pick(all, number);
		const ofType = holders.filter(({ resource }) => resource === about?.resource);
		const user_set = pick(pick([users, byRole, ofType, users], number) ?? [], Math.floor(number / 4))?.key;
		if (about === undefined || user_set === undefined) return [];
		return [{ ...about, user_set, resource_set: `${about.resource}-${pick([0, 0, 1, 2, 3, 4], number)}` }];
	});
	const resources = schema.resources.flatMap(({ key }, type) =>
		[0, 1, 2, 3, 4].map((index) =>
			set('resourceset', `${key}-${index}`, key, (index > 0 && ofResources[(type + index) % ofResources.length]) || {}),
		),
	);
	const parents = [...users, ...resources].map((one, index) => {
		const before = index % 3 === 2 ? [...users, ...resources][index - 1] : undefined;
		return before?.resource === one.resource ? { ...one, parent: before.key } : one;
	});
	const random = (index: number) => attributes[index % attributes.length] ?? {};
	const whole = {
		...others,
		schema: {
			...schema,
			roles: [
				...schema.roles,
				{ ...named(extraRole), permissions: permissions.flatMap((one) => pick(all, one) ?? []), extends: [] },
			],
			condition_sets: [...schema.condition_sets, ...parents, ...byRole, ...holders],
			set_rules: [...new Map([...schema.set_rules, ...added].map((rule) => [JSON.stringify(rule), rule])).values()],
		},
		facts: {
			...facts,
			role_assignments: [
				...facts.role_assignments,
				...new Map(
					assignments.map(({ user, tenant, expiry }) => [
						`${user} ${tenant}`,
						{ user, tenant, role: extraRole, ...expiry },
					]),
				).values(),
			],
			user_attributes: facts.users.map((user, index) => ({ user, attributes: random(index) })),
			instance_attributes: facts.instances.map(({ type, key }, index) => ({
				type,
				key,
				attributes: random(index + 4),
			})),
			tenants: facts.tenants.map((tenant, index) => ({ ...tenant, attributes: random(index + 8) })),
		},
	};
	return withLapses(whole, lapsing);
}

const anyQuestion = fc.record({
	user: fc.constantFrom(...userNames, 'unone'),
	which: fc.nat({ max: 9_999 }),
	isAimed: fc.nat({ max: 3 }).map((number) => number > 0),
	tenant: fc.constantFrom(undefined, undefined, 'ta', 'ta', 'tb', 'tnone'),
	time: fc.constantFrom(0, 1, 2, 1_500, Date.UTC(2026, 0, 1)),
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

function conditionOf({ type, condition }: Pick<Filter, 'type' | 'condition'>): Residual {
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

/** Calls `filterKeys` until the last page. Returns the rest of the filter, and all keys. */
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

const base = fc.oneof(
	modelsOfOneSchema(3),
	layeredModels(3),
	expiringModels(modelsOfOneSchema(3)),
	expiringModels(layeredModels(3)),
);
const questions = fc.array(anyQuestion, { minLength: 40, maxLength: 40, size: 'max' });

/** Returns a question's rows. A filter is about rows in the stored instance's tenant. */
function rowsOf({ rows }: Question, aim: Aim | undefined, type: string, facts: FactsIndex): readonly Row[] {
	return rows.map((row, index) => {
		const key = (index % 2 === 0 ? aim?.key : undefined) ?? row.key;
		const tenant = (index % 2 === 0 ? aim?.tenant : undefined) ?? row.tenant;
		return { ...row, key, tenant: facts.tenantKey(`${type}:${key}`) ?? tenant };
	});
}

/** Counts rows, allowed rows, and filters with both kinds. */
interface Found {
	rows: number;
	allowed: number;
	conditional: number;
}

/** Compares the filters for all questions. Counts the expired grants' rows in `lapsed`. */
function compareFilters(
	t: ExecutionContext,
	{ engine, model, asked, lapsed }: { engine: Engine; model: Model; asked: readonly Question[]; lapsed?: LapsedGrants },
): Found {
	const facts = FactsIndex.read(documentBytes(model));
	const all = model.schema.resources.flatMap(({ key, actions }) => actions.map((action) => [key, action.key] as const));
	const aims = aimsOf(model);
	lapsed?.use(model);
	const found: Found = { rows: 0, allowed: 0, conditional: 0 };
	for (const question of asked) {
		const { which, tenant, sentUser, sentResource, context: sent } = question;
		const aim = question.isAimed ? pick(pick(aims, which) ?? [], Math.floor(which / aims.length)) : undefined;
		const [type = '', action = ''] = aim === undefined ? (pick(all, which) ?? []) : [aim.type, aim.action];
		const input: FilterInput = {
			user: { key: aim?.user ?? question.user, ...(sentUser && { attributes: sentUser }) },
			action,
			resource: {
				type,
				...(tenant && { tenant: aim?.tenant ?? tenant }),
				...(sentResource && { attributes: sentResource }),
			},
			context: sent,
		};
		const countDifference = () => t.fail('the referee saw a difference');
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
		found.conditional += Number(allowed > 0 && allowed < rows.length);
	}
	return found;
}

/**
 * Expired facts with their grants' models, and the minimum number of rows they decide. Few schemas have public roles,
 * so only runs with more draws count these.
 */
const leastLapsed: Readonly<Record<string, number>> = {
	'tenant roles, rbac': 20,
	'tenant roles, abac': 5,
	'roles on instances, rebac': 5,
	'roles of everyone, rebac': 0.5,
	'relationships, rebac': 5,
};

test('a filter selects the rows that checks allow, and so do its branches together', async (t) => {
	t.timeout(7_200_000);
	let [rows, allowed, conditional] = [0, 0, 0];
	const lapsed = new LapsedGrants();
	await fc.assert(
		fc.asyncProperty(base, material, questions, async (some, one, asked) => {
			const models = some.map((model) => withConditions(model, one));
			const [first] = models;
			if (first === undefined || !('policy' in compile(first))) return;
			const module = await WebAssembly.compile(await policyWasm(first));
			for (const model of models) {
				const engine = await Engine.load(module, documentBytes(model));
				const found = compareFilters(t, { engine, model, asked, lapsed });
				rows += found.rows;
				allowed += found.allowed;
				conditional += found.conditional;
			}
		}),
		{ numRuns: draws(9, 'SCHEMAS') },
	);
	t.log({ rows, allowed, conditional }, Object.fromEntries(lapsed.counts));
	for (const [kind, least] of Object.entries(leastLapsed)) {
		const count = lapsed.counts.get(kind) ?? 0;
		t.true(count >= leastDrawn(least), `${count} rows of expired ${kind}`);
	}
	t.true(
		allowed >= leastDrawn(100) && conditional >= leastDrawn(30),
		`${allowed} of ${rows} rows, ${conditional} filters`,
	);
});

/** Keeps every other item. */
function mixed(before: readonly Json[], after: readonly Json[]): Json[] {
	return before.map((own, index) => (index % 2 === 1 ? own : (after[index] ?? own)));
}

test('a filter contains no suspended or pending grants', async (t) => {
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
