// @both

/**
 * Random models on a running decision point, with random tables: the rows that databases find by a filter are the rows
 * that checks allow.
 */

import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { parseConditions } from '../../compiler/condition/parse/grammar.js';
import { compile } from '../../compiler/index.js';
import type { Json, Model } from '../../compiler/model.js';
import { runToEnd } from '../../compiler/steps.js';
import { userSetParts } from '../../compiler/user-set.js';
import type { RowFilter } from '../../packages/engine/src/api.js';
import { FilterRefusal, type Residual } from '../../src/filter/residual.js';
import { toSql, toSqlLiterals } from '../../src/filter/sql/to-sql.js';
import type { FilterInput } from '../../src/pdp/decide/normalise.js';
import { pick } from '../compiler/model.js';
import { snapshot } from '../pdp/environment.js';
import { serve } from '../pdp/served.js';
import { baseModels, choicesOf, materialOf, questioner, withConditions } from '../property/filter-models.js';
import type { Client } from '../support/client.js';
import { draws, leastDrawn } from '../support/tier.js';
import { type DocumentsTable, documentColumns, openTable, tableDialects } from './document-tables.js';
import { anyRows, asRow, durations, operands, type StoredRow, texts } from './rows.js';

const types = { name: 'string', note: 'string', size: 'number', rate: 'number', active: 'bool', at: 'time' } as const;
const columns = {
	key: documentColumns.key,
	tenant: documentColumns.tenant,
	name: { column: documentColumns.name, type: types.name },
	note: documentColumns.note,
	size: { column: documentColumns.size, type: types.size },
	rate: { column: documentColumns.rate, type: types.rate },
	active: { column: documentColumns.active, type: types.active },
	at: { column: documentColumns.at, type: types.at },
};

const text = fc.constantFrom(...texts);
const reference = fc.constantFrom('user.key', 'user.team', 'user.level', 'tenant.key').map((ref): Json => ({ ref }));
const compared = fc.constantFrom('key', 'tenant', 'name', 'note', 'size', 'rate', 'active', 'at');
const comparison = fc.oneof(
	...([...operands, ['within-last', durations], ['older-than', durations]] as const).map(([operator, operand]) =>
		fc
			.tuple(compared, fc.oneof({ weight: 6, arbitrary: operand }, reference))
			.map(([member, value]): Json => ({ [`resource.${member}`]: { [operator]: value } })),
	),
);
const ofResources = fc
	.letrec<{ condition: Json }>((tie) => ({
		condition: fc.oneof(
			{ depthSize: 'small', withCrossShrink: true },
			{ weight: 4, arbitrary: comparison },
			{ weight: 2, arbitrary: tie('condition').map((not): Json => ({ not })) },
			{
				weight: 3,
				arbitrary: fc
					.tuple(fc.constantFrom('allOf', 'anyOf'), fc.array(tie('condition'), { minLength: 1, maxLength: 3 }))
					.map(([kind, parts]): Json => ({ [kind]: parts })),
			},
		),
	}))
	.condition.filter((condition) => 'condition' in parseConditions(condition, { type: 'resourceset', bound: true }));
const ofUsers = fc.constantFrom<Json>(
	{},
	{ 'user.level': { 'greater-than': 0 } },
	{ not: { 'user.level': { equals: 1 } } },
	{ anyOf: [{ 'user.tenants': { array_contains: 'ta' } }, { 'context.level': { equals: 1 } }] },
	{ 'user.level': { 'less-than-equals': { ref: 'tenant.level' } } },
);
const attributes = fc.record(
	{ level: fc.constantFrom<Json>(0, 1, 2, 'two', null), team: text },
	{ requiredKeys: [], noNullPrototype: true },
);
const known = fc.record(
	{ name: fc.option(text), size: fc.constantFrom<Json>(0, 1, 'one', null), active: fc.boolean() },
	{ requiredKeys: [], noNullPrototype: true },
);
const material = materialOf({ ofUsers, ofResources, attributes });
const choices = fc.record(choicesOf({ sentUser: attributes, sentResource: known, context: attributes }));

/** Removes a model's condition sets, because their conditions compare attributes without a column. */
function withoutSets({ schema, ...others }: Model): Model {
	return { ...others, schema: { ...schema, condition_sets: [], set_rules: [] } };
}

/** Gives half of the rows the keys and tenants of stored instances, and most other rows a tenant in the model. */
function placed({ facts: { instances, tenants } }: Model, drawn: readonly StoredRow[]): readonly StoredRow[] {
	return drawn.map((row, place) => {
		const stored = place % 2 === 0 ? pick(instances, place / 2) : undefined;
		const tenant = place % 3 === 0 ? undefined : pick(tenants, place)?.key;
		return { ...row, key: stored?.key ?? row.key, tenant: stored?.tenant ?? tenant ?? row.tenant };
	});
}

/** Counts compared filters, filters that select only some rows, rejections by a dialect, and sets of users. */
interface Counts {
	cases: number;
	some: number;
	rejected: number;
	sets: number;
}

interface Compared {
	readonly model: Model;
	readonly rows: readonly StoredRow[];
	readonly input: FilterInput;
	/** If set, values are literals. */
	readonly hasLiterals: boolean;
}

/** Compares the rows that the tables find by a filter with the rows that checks allow. */
async function compareRows(
	t: ExecutionContext,
	{
		http,
		tables,
		counts,
	}: { readonly http: Client; readonly tables: readonly DocumentsTable[]; readonly counts: Counts },
	{ model, rows, input, hasLiterals }: Compared,
): Promise<void> {
	const { user, action, resource, context } = input;
	const set = user.holdings === undefined ? undefined : user.key;
	if (set !== undefined && userSetParts(set) === null) return;
	const question = { user: set === undefined ? user : { set }, action, context };
	const stored = new Map(model.facts.instances.map(({ type, key, tenant }) => [`${type}:${key}`, tenant]));
	// A filter applies only to rows in the same tenant as the stored instance.
	const isPlaced = ({ key, tenant }: StoredRow) => (stored.get(`${resource.type}:${key}`) ?? tenant) === tenant;
	const checks = rows.map(asRow).map((row) => {
		const all = { ...(row.attributes as object), ...(resource.attributes as object) };
		return { ...question, resource: { type: resource.type, key: row.key, tenant: row.tenant, attributes: all } };
	});
	const checked = await http.post<{ allow: { allow: boolean }[] }>('/allowed/bulk', checks);
	const isInside = ({ tenant }: StoredRow) => resource.tenant === undefined || resource.tenant === tenant;
	const places = rows.flatMap((row, place) => (isPlaced(row) ? [place] : []));
	const right = rows.flatMap((row, place) =>
		isPlaced(row) && isInside(row) && checked.body.allow[place]?.allow ? [place] : [],
	);
	const { status, body: filter } = await http.post<RowFilter>('/filter', { ...question, resource });
	if (status !== 200) return t.fail(JSON.stringify(filter));
	counts.cases += 1;
	if (set !== undefined) counts.sets += 1;
	if (right.length > 0 && right.length < places.length) counts.some += 1;
	const residual = (filter.condition ?? { kind: 'any', parts: [] }) as Residual;
	for (const { dialect, select } of tables) {
		const written = unlessRejected(() =>
			hasLiterals
				? { sql: runToEnd(toSqlLiterals(residual, dialect, columns)), parameters: [] }
				: toSql(residual, dialect, columns),
		);
		if (written === undefined) {
			counts.rejected += 1;
			continue;
		}
		const found = await select(written.sql, written.parameters);
		const got = places.filter((place) => found.has(place));
		if (got.join() === right.join()) continue;
		t.deepEqual(got, right, `${dialect}: ${JSON.stringify({ question, resource, filter })} as ${written.sql}`);
	}
}

test('databases find exactly the rows that checks allow', async (t) => {
	t.timeout(7_200_000);
	let time = 0;
	const { http, feed, replica } = await serve(t, { clock: { now: () => new Date(time) } });
	const tables: DocumentsTable[] = [];
	for (const dialect of tableDialects) {
		const table = await openTable(dialect);
		tables.push(table);
		t.teardown(table.close);
	}
	const counts = { cases: 0, some: 0, rejected: 0, sets: 0 };
	let revision = 0;
	const asked = fc.array(fc.tuple(choices, fc.boolean()), { minLength: 90, maxLength: 90, size: 'max' });
	await fc.assert(
		fc.asyncProperty(baseModels(3), material, asked, anyRows(10), async (some, one, questions, drawn) => {
			for (const model of some.map((base) => withConditions(withoutSets(base), one))) {
				if (!('policy' in compile(model))) return;
				revision += 1;
				feed.publish({ revision, snapshot: await snapshot({ revision, model }) });
				await replica.reached(revision);
				const rows = placed(model, drawn);
				for (const { fill } of tables) await fill(rows);
				const choose = questioner(model);
				for (const [choice, hasLiterals] of questions) {
					time = choice.time;
					await compareRows(t, { http, tables, counts }, { model, rows, input: choose(choice).input, hasLiterals });
				}
			}
		}),
		{ numRuns: draws(27, 'SCHEMAS') },
	);
	t.log(counts);
	t.true(counts.some >= leastDrawn(200) && counts.sets >= leastDrawn(50), JSON.stringify(counts));
	t.true(counts.rejected < counts.cases / 2, JSON.stringify(counts));
});

function unlessRejected<T>(write: () => T): T | undefined {
	try {
		return write();
	} catch (error) {
		if (error instanceof FilterRefusal) return undefined;
		throw error;
	}
}
