import pg from 'pg';
import type { Json, Model } from '../compiler/model.js';
import { runToEnd, type Steps } from '../compiler/steps.js';
import { loadEngine } from '../packages/engine/src/load-engine.js';
import { inferKinds } from '../src/filter/infer-kinds.js';
import { noRow, type Residual } from '../src/filter/residual.js';
import { toSql, toSqlLiterals } from '../src/filter/sql/to-sql.js';
import { toCerbosPlan } from '../src/filter/to-cerbos-plan.js';
import { toUcast } from '../src/filter/to-ucast.js';
import { writePermitFilter } from '../src/filter/write-permit-filter.js';
import type { DecisionContext } from '../src/pdp/decide/decide.js';
import { Engine } from '../src/pdp/engine/engine.js';
import { valueChunks } from '../src/pdp/engine/json-chunks.js';
import { FactsIndex } from '../src/pdp/facts/facts-index.js';
import { type Filter, filterRows } from '../src/pdp/filter/filter.js';
import { filterKeys } from '../src/pdp/filter/filter-keys.js';
import { permissions } from '../src/pdp/listing/permissions.js';
import { acme, modelData, policyWasm, quiet, resource } from '../test/pdp/environment.js';
import { createDatabase } from '../test/support/postgres.js';
import { quantile } from './support/quantile.js';

/**
 * Measures data filters with 50 condition set rules, at 20,000 and 200,000 instances: their CPU time and size. Targets
 * (p95): 5 ms without keys, 20 ms with 5,000 keys. Then measures the CPU time of the longest step for the largest
 * filters, which delays other requests (target: 250 ms), and the time for pages of 50 rows from a table with 1,000,000
 * rows, by filter and by listing.
 */

const rounds = Number(process.env['ROUNDS'] ?? 200);
const keys = 5_000;
const range = (length: number) => Array.from({ length }, (_, index) => index);
const named = (key: string) => ({ key, name: key, description: null });
const tenantOf = (index: number) => `tenant-${index % 50}`;
const set = (key: string, type: 'userset' | 'resourceset', conditions: Json) => {
	const of = type === 'userset' ? null : 'document';
	return { ...named(key), type, resource: of, parent: null, selects: { conditions } } as const;
};
const role = { permissions: ['read'], extends: [], no_direct_roles_on_object: false };

/** Ann holds roles in ten tenants, and ben a role on a folder with 5,000 documents. */
function modelWith(instances: number): Model {
	const derivations = [{ relation: 'parent', role: 'keeper', no_direct_roles_on_object: false }];
	return {
		schema: {
			resources: [
				{
					...resource('document', ['read']),
					roles: [{ ...named('reader'), ...role, derivations }],
					relations: [{ ...named('parent'), subject: 'folder' }],
				},
				{ ...resource('folder', ['read']), roles: [{ ...named('keeper'), ...role, derivations: [] }] },
			],
			roles: [
				{ ...named('viewer'), permissions: [{ resource: 'document', action: 'read' }], extends: [] },
				{ ...named('guest'), permissions: [], extends: [] },
			],
			condition_sets: range(50).flatMap((index) => [
				set(`users-${index}`, 'userset', { 'user.level': { 'greater-than-equals': index % 5 } }),
				set(`documents-${index}`, 'resourceset', {
					allOf: [
						{ 'resource.class': { equals: `class-${index}` } },
						{
							anyOf: [{ 'resource.owner': { equals: { ref: 'user.key' } } }, { 'resource.level': { 'less-than': 3 } }],
						},
					],
				}),
			]),
			set_rules: range(50).map((index) => {
				return { user_set: `users-${index}`, resource_set: `documents-${index}`, resource: 'document', action: 'read' };
			}),
		},
		facts: {
			...acme.facts,
			users: ['ann', 'ben'],
			tenants: range(50).map((index) => ({ key: tenantOf(index), attributes: {} })),
			role_assignments: range(10).map((index) => {
				return { user: 'ann', role: index < 2 ? 'viewer' : 'guest', tenant: tenantOf(index) };
			}),
			user_attributes: ['ann', 'ben'].map((user) => ({ user, attributes: { level: user === 'ann' ? 3 : -1 } })),
			instances: [
				{ type: 'folder', key: 'shared', tenant: tenantOf(0) },
				...range(instances).map((index) => {
					return { type: 'document', key: `document-${index}`, tenant: tenantOf(index < keys ? 0 : index) };
				}),
			],
			instance_attributes: range(instances).map((index) => {
				const attributes = { class: `class-${index % 500}`, owner: index % 2 === 0 ? 'ann' : 'ben', level: index % 9 };
				return { type: 'document', key: `document-${index}`, attributes };
			}),
			instance_assignments: [{ user: 'ben', role: 'keeper', type: 'folder', instance: 'shared' }],
			relationships: range(keys).map((index) => {
				const object = { type: 'document', instance: `document-${index}` };
				return { ...object, relation: 'parent', subject_type: 'folder', subject: 'shared' };
			}),
		},
	};
}

/** Runs a call repeatedly, first cold, then after the JIT compiler has optimized the code. Returns its last result. */
function measured<T>(title: string, run: () => T): T {
	let result = run();
	const figures = ['first', 'later'].map((when) => {
		const took: number[] = [];
		for (const _ of range(rounds)) {
			const start = process.cpuUsage();
			result = run();
			const { user, system } = process.cpuUsage(start);
			took.push((user + system) / 1000);
		}
		const [p50, p95] = [quantile(took, 0.5), quantile(took, 0.95)].map((time) => time.toFixed(2));
		return `${when} ${rounds} calls p50 ${p50} ms, p95 ${p95} ms`;
	});
	console.log(`${title}: ${figures.join('; ')} (CPU time)`);
	return result;
}

for (const instances of [20_000, 200_000]) {
	console.log(`${instances} instances`);
	const context = await contextFor(modelWith(instances));
	const options = { maxKeys: keys + 50, explain: false, matches: () => false };
	for (const [title, user] of [
		['50 rules in ten tenants', 'ann'],
		[`${keys} keys`, 'ben'],
	] as const) {
		const about = { user: { key: user }, action: 'read', resource: { type: 'document' } };
		const filtered = () => runToEnd(filterRows(context, about, options));
		const filter: Filter = measured(`  ${title}: filter`, filtered);
		console.log(`  ${title}: ${(JSON.stringify(filter).length / 1024).toFixed(1)} KiB`);
	}
}

/** CPU time for work in steps, in milliseconds. */
interface Stepped<T> {
	/** Absent if the work was refused. */
	readonly value?: T;
	readonly refusal?: string;
	readonly total: number;
	readonly longest: number;
}

/** Runs all steps. */
function stepped<T>(steps: Steps<T>): Stepped<T> {
	let [total, longest] = [0, 0];
	for (;;) {
		const start = process.cpuUsage();
		let step: IteratorResult<undefined, T>;
		try {
			step = steps.next();
		} catch (error) {
			return { refusal: String(error), total, longest };
		}
		const { user, system } = process.cpuUsage(start);
		const took = (user + system) / 1000;
		total += took;
		longest = Math.max(longest, took);
		if (step.done) return { value: step.value, total, longest };
	}
}

/** Ben reads each of `count` documents, in `tenants` tenants. */
function modelOfKeys(count: number, tenants: number): Model {
	const { schema, facts } = modelWith(0);
	return {
		schema,
		facts: {
			...facts,
			users: ['ben'],
			tenants: range(tenants).map((index) => ({ key: `tenant-${index}`, attributes: {} })),
			role_assignments: [],
			user_attributes: [],
			instances: range(count).map((index) => {
				return { type: 'document', key: `document-${index}`, tenant: `tenant-${index % tenants}` };
			}),
			instance_attributes: [],
			instance_assignments: range(count).map((index) => {
				return { user: 'ben', role: 'reader', type: 'document', instance: `document-${index}` };
			}),
			relationships: [],
		},
	};
}

const columns = { key: 'id', tenant: 'tenant', class: 'class', owner: 'owner', level: 'level' };
const formats: Readonly<Record<string, (residual: Residual) => Steps<unknown>>> = {
	'a Cerbos plan': toCerbosPlan,
	'UCAST (minimal)': (residual) => toUcast(residual, 'minimal', (name) => name),
	'SQL for MySQL': function* (residual) {
		return yield* toSqlLiterals(residual, 'mysql', columns, yield* inferKinds(residual));
	},
	'the format of permit-datafilter': writePermitFilter,
};

async function contextFor(model: Model): Promise<DecisionContext> {
	const data = modelData(model);
	const engine = await Engine.load(await WebAssembly.compile(await policyWasm(model)), data);
	return { engine, facts: FactsIndex.read(data), revision: 1, policyRevision: 1, time: Date.now(), log: quiet };
}

const everyTenant = { user: { key: 'ben' }, action: 'read', resource: { type: 'document' } };

for (const [count, tenants] of [
	[50_000, 100],
	[50_000, 50_000],
	[5_000, 5_000],
] as const) {
	const context = await contextFor(modelOfKeys(count, tenants));
	const options = { maxKeys: 50_000, explain: false, matches: () => false };
	const report = (title: string, { total, longest }: Stepped<unknown>) =>
		console.log(`  ${title}: ${total.toFixed(0)} ms CPU, longest step ${longest.toFixed(1)} ms`);
	console.log(`${count} keys in ${tenants} tenants`);
	for (const _ of range(2)) {
		const filter = stepped(filterRows(context, everyTenant, options));
		report('filter', filter);
		if (filter.value === undefined) throw new Error(filter.refusal);
		report('filter as JSON', stepped(valueChunks(filter.value)));
		for (const [name, write] of Object.entries(formats)) {
			const written = stepped(write(filter.value.condition ?? noRow));
			report(name, written);
			report(`${name} as JSON`, stepped(valueChunks(written.value)));
		}
	}
}

/** Calls `engine.filter` beside checks in one process. Prints the longest CPU time between two checks. */
async function besideChecks(count: number, tenants: number): Promise<void> {
	const model = modelOfKeys(count, tenants);
	const engine = await loadEngine({
		module: await WebAssembly.compile(await policyWasm(model)),
		data: modelData(model),
	});
	const check = { user: 'ben', action: 'read', resource: { type: 'document', key: 'document-1', tenant: 'tenant-1' } };
	for (const _ of range(2)) {
		let [longest, checks, isDone] = [0, 0, false];
		const filtering = engine.filter({ ...everyTenant, user: 'ben', max_keys: 50_000 }).finally(() => {
			isDone = true;
		});
		while (!isDone) {
			const start = process.cpuUsage();
			await new Promise((resolve) => setImmediate(resolve));
			engine.check(check);
			checks += 1;
			const { user, system } = process.cpuUsage(start);
			longest = Math.max(longest, (user + system) / 1000);
		}
		const { condition } = await filtering;
		console.log(`engine.filter beside ${checks} checks: longest delay ${longest.toFixed(1)} ms (${typeof condition})`);
	}
	await engine.close();
}

for (const tenants of [100, 25_000]) await besideChecks(25_000, tenants);

/** Ben holds a role in 50,000 tenants, and a role on 50,000 documents in the first tenant. */
function modelOfRules(count: number, userConditions: Json): Model {
	const { schema, facts } = modelWith(0);
	const none = set('users', 'userset', userConditions);
	const namesRoles = JSON.stringify(userConditions).includes('resource_roles');
	return {
		schema: {
			...schema,
			condition_sets: range(count).flatMap((index) => [
				{ ...none, ...named(`users-${index}`), resource: namesRoles ? 'document' : null },
				set(`documents-${index}`, 'resourceset', { 'resource.class': { equals: `class-${index}` } }),
			]),
			set_rules: range(count).map((index) => {
				return { user_set: `users-${index}`, resource_set: `documents-${index}`, resource: 'document', action: 'read' };
			}),
		},
		facts: {
			...facts,
			users: ['ben'],
			tenants: range(50_000).map((index) => ({ key: `tenant-${index}`, attributes: { plan: 10 + (index % 7) } })),
			role_assignments: range(50_000).map((index) => ({ user: 'ben', role: 'guest', tenant: `tenant-${index}` })),
			user_attributes: [{ user: 'ben', attributes: { level: 3 } }],
			instances: range(50_000).map((index) => ({ type: 'document', key: `document-${index}`, tenant: 'tenant-0' })),
			instance_attributes: [],
			instance_assignments: range(50_000).map((index) => {
				return { user: 'ben', role: 'reader', type: 'document', instance: `document-${index}` };
			}),
			relationships: [],
		},
	};
}

for (const [title, count, userConditions] of [
	['1,000 rules', 1_000, { 'user.level': { equals: 3 } }],
	["1,000 rules that read the user's roles", 1_000, { 'user.roles': { array_contains: 'guest' } }],
	['1,000 rules that name a role', 1_000, { 'user.resource_roles': { array_contains: 'reader' } }],
	['50 rules that read attributes of tenants', 50, { 'user.level': { equals: { ref: 'tenant.plan' } } }],
	['1,000 rules that read attributes of tenants', 1_000, { 'user.level': { equals: { ref: 'tenant.plan' } } }],
] as const) {
	const context = await contextFor(modelOfRules(count, userConditions));
	for (const _ of range(2)) {
		const options = { maxKeys: 50_000, explain: true, matches: () => false };
		for (const [path, work] of [
			['filter', () => filterRows(context, everyTenant, options)],
			['keys', () => filterKeys(context, everyTenant, { ...options, limit: 50_000, cursor: undefined })],
		] as const) {
			const { total, longest, refusal = '' } = stepped<unknown>(work());
			console.log(
				`${title}, ${path}: ${total.toFixed(0)} ms CPU, longest step ${longest.toFixed(1)} ms ${refusal.slice(0, 60)}`,
			);
		}
	}
}

const database = await createDatabase('none');
const client = new pg.Client({ connectionString: database.url });
await client.connect();
try {
	await client.query(
		'create table documents (id text primary key, tenant text, class text, owner text, level integer, created_at timestamptz)',
	);
	await client.query(
		`insert into documents select 'document-' || i, 'tenant-' || (case when i < ${keys} then 0 else i end) % 50,
			'class-' || i % 500, case when i % 2 = 0 then 'ann' else 'ben' end, i % 9, to_timestamp(i::bigint * 7919 % 1000000)
		from generate_series(0, 999999) as i`,
	);
	await client.query('create index on documents (created_at)');
	await client.query('create index on documents (tenant, created_at)');
	await client.query('analyze documents');
	const context = await contextFor(modelWith(200_000));
	const typed = {
		...columns,
		class: { column: 'class', type: 'string' },
		owner: { column: 'owner', type: 'string' },
		level: { column: 'level', type: 'integer' },
	};
	const page = async (condition: string, values: readonly unknown[]) => {
		const text = `select id from documents where ${condition} order by created_at desc, id limit 50`;
		return (await client.query({ text, values: [...values], rowMode: 'array' })).rows.length;
	};
	const byFilter = async (user: string) => {
		const filter = runToEnd(
			filterRows(
				context,
				{ ...everyTenant, user: { key: user } },
				{ maxKeys: keys + 50, explain: false, matches: () => false },
			),
		);
		const { sql, parameters } = toSql(filter.condition ?? noRow, 'postgresql', typed);
		return page(sql, parameters);
	};
	const byListing = async (user: string) => {
		const listed: Readonly<Record<string, { readonly permissions: readonly string[] }>> = JSON.parse(
			runToEnd(permissions(context, { user: { key: user }, resource_types: ['document'] })).join(''),
		);
		const found = Object.entries(listed).flatMap(([name, { permissions: actions }]) =>
			actions.includes('document:read') ? [name.replace(/^document:/, '')] : [],
		);
		return page('id = any($1)', [found]);
	};
	for (const [title, run] of [
		['by filter, 50 rules in ten tenants', () => byFilter('ann')],
		[`by filter, ${keys} keys`, () => byFilter('ben')],
		[`by listing, ${keys} keys`, () => byListing('ben')],
		['by listing, 50 rules in ten tenants', () => byListing('ann')],
	] as const) {
		const took: number[] = [];
		let rows = 0;
		for (const _ of range(Math.min(rounds, 20))) {
			const start = performance.now();
			rows = await run();
			took.push(performance.now() - start);
		}
		console.log(`page of ${rows} rows of 1,000,000 ${title}: p50 ${quantile(took, 0.5).toFixed(1)} ms`);
	}
} finally {
	await client.end();
	await database.drop();
}
