// @both

/** Random conditions on a running decision point: the rows that a database finds by a filter are the rows that checks allow. */

import test from 'ava';
import fc from 'fast-check';
import pg from 'pg';
import { parseConditions } from '../../compiler/condition/parse/grammar.js';
import type { Json, Model } from '../../compiler/model.js';
import type { RowFilter } from '../../packages/engine/src/api.js';
import { toSql } from '../../packages/engine/src/filter.js';
import { serving } from '../pdp/cases.js';
import { acme, resource } from '../pdp/environment.js';
import { createDatabase } from '../support/postgres.js';
import { draws, leastDrawn } from '../support/tier.js';
import { anyRows, asRow, operands } from './rows.js';
import { openSqlite } from './sqlite.js';

const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const types = { name: 'string', note: 'string', size: 'number', rate: 'number', active: 'bool', at: 'time' } as const;
const columns = {
	key: 'key',
	tenant: 'tenant',
	...Object.fromEntries(Object.entries(types).map(([column, type]) => [column, { column, type }])),
};
const members = ['key', 'tenant', 'name', 'note', 'size', 'rate', 'active', 'at'] as const;

const comparison = fc.oneof(
	...operands.map(([operator, operand]) =>
		fc
			.tuple(fc.constantFrom(...members), fc.oneof({ weight: 6, arbitrary: operand }, fc.constant({ ref: 'user.key' })))
			.map(([member, value]): Json => ({ [`resource.${member}`]: { [operator]: value } })),
	),
);
const anyCondition = fc
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

const named = (key: string) => ({ key, name: key, description: null });

/** A model with an action for each condition. The tenant of some rows does not exist. */
function modelOf(conditions: readonly Json[]): Model {
	const action = (index: number) => `action-${index}`;
	const none = { resource: null, parent: null } as const;
	return {
		schema: {
			...acme.schema,
			resources: [
				resource(
					'document',
					conditions.map((_, index) => action(index)),
				),
			],
			roles: [],
			condition_sets: [
				{ ...named('everyone'), ...none, type: 'userset', selects: { conditions: {} } },
				...conditions.map((one, index) => ({
					...named(action(index)),
					type: 'resourceset' as const,
					resource: 'document',
					parent: null,
					selects: { conditions: one },
				})),
			],
			set_rules: conditions.map((_, index) => {
				return { user_set: 'everyone', resource_set: action(index), resource: 'document', action: action(index) };
			}),
		},
		facts: {
			...acme.facts,
			users: ['a'],
			tenants: ['acme', 'Acme', 'acme '].map((key) => ({ key, attributes: {} })),
			role_assignments: [],
			user_attributes: [],
			instances: [],
			instance_assignments: [],
			relationships: [],
		},
	};
}

test('databases find exactly the rows that checks allow', async (t) => {
	const count = draws(60);
	const [rows = []] = fc.sample(anyRows(20), { numRuns: 1, seed });
	const conditions = fc.sample(anyCondition, { numRuns: count, seed });
	const { http } = await serving(t, modelOf(conditions));

	const sqlite = await openSqlite();
	const database = await createDatabase('none');
	const postgresql = new pg.Client({ connectionString: database.url });
	await postgresql.connect();
	t.teardown(async () => {
		await postgresql.end();
		await database.drop();
	});
	sqlite.run(
		'create table documents (key text, tenant text, name text, note text, size integer, rate real, active integer, at text)',
	);
	await postgresql.query(
		'create table documents (key text, tenant text, name text, note text, size bigint, rate double precision, active boolean, at timestamptz)',
	);
	for (const row of rows) {
		const { at, active } = row;
		const texts = { ...row, at: at && `${at.slice(0, 23)}Z`, active: active === null ? null : Number(active) };
		sqlite.run(
			'insert into documents values (?, ?, ?, ?, ?, ?, ?, ?)',
			members.map((member) => texts[member]),
		);
		await postgresql.query(
			'insert into documents values ($1, $2, $3, $4, $5, $6, $7, $8)',
			members.map((member) => row[member]),
		);
	}

	const counts = { some: 0, refused: 0 };
	for (const [index, condition] of conditions.entries()) {
		const question = { user: 'a', action: `action-${index}` };
		const checks = rows.map(asRow).map(({ key, tenant, attributes }) => {
			return { ...question, resource: { type: 'document', key, tenant, attributes } };
		});
		const checked = await http.post<{ allow: { allow: boolean }[] }>('/allowed/bulk', checks);
		const right = rows.flatMap(({ key }, place) => (checked.body.allow[place]?.allow ? [key] : []));
		if (right.length > 0 && right.length < rows.length) counts.some += 1;
		const { body: filter } = await http.post<RowFilter>('/filter', { ...question, resource: 'document' });
		for (const dialect of ['sqlite', 'postgresql'] as const) {
			const written = orRefused(() => toSql(filter, dialect, columns));
			if (written === undefined) {
				counts.refused += 1;
				continue;
			}
			const { sql, parameters } = written;
			const text = `select key from documents where ${sql}`;
			const found = new Set(
				dialect === 'sqlite'
					? sqlite.column(text, parameters)
					: (await postgresql.query({ text, values: [...parameters], rowMode: 'array' })).rows.flat(),
			);
			const got = rows.flatMap(({ key }) => (found.has(key) ? [key] : []));
			t.deepEqual(got, right, `${dialect}: ${JSON.stringify(condition)} as ${sql} (seed ${seed})`);
		}
	}
	t.log(counts);
	t.true(counts.some >= leastDrawn(15) && counts.refused < count, JSON.stringify(counts));
});

function orRefused<T>(write: () => T): T | undefined {
	try {
		return write();
	} catch (error) {
		if ((error as { code?: unknown }).code === 'filter_refused') return undefined;
		throw error;
	}
}
