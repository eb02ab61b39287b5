// @both

import test from 'ava';
import fc from 'fast-check';
import { runToEnd } from '../../compiler/steps.js';
import { type ColumnMapping, ColumnMappingError } from '../../src/filter/column-mapping.js';
import { FilterRefusal, type Residual } from '../../src/filter/residual.js';

import { type SqlDialectName, sqlDialects, toSql, toSqlLiterals } from '../../src/filter/sql/to-sql.js';
import { anyCodePoint } from '../support/any-code-point.js';
import { draws, inPush } from '../support/tier.js';

const dialects = Object.keys(sqlDialects) as SqlDialectName[];

const columns: ColumnMapping = { key: 'id', tenant: 'tenant_id', owner: 'd.owner', level: 'level', at: 'created_at' };

function compare(name: string, type: string, operator: string, value: unknown): Residual {
	const column = name === 'key' ? ({ kind: 'key' } as const) : ({ kind: 'attribute', path: [name], type } as const);
	return { kind: 'comparison', column, operator, operand: { value: value as string }, name: 'own' };
}

/** A residual, and its SQL with parameters or with literals. `undefined` if the dialect cannot express it. */
interface Case {
	readonly title: string;
	readonly residual: Residual;
	readonly sql: Readonly<Record<SqlDialectName, readonly [string, ...unknown[]] | undefined>>;
	readonly literals: Readonly<Partial<Record<SqlDialectName, string>>>;
}

const cases: readonly Case[] = [
	{
		title: 'a byte comparison, next to a comparison that can use an index',
		residual: compare('owner', 'string', 'equals', "o'hara\\"),
		sql: {
			postgresql: [
				`("d"."owner" = CAST($1 AS text) AND CAST("d"."owner" AS text) COLLATE "C" = CAST($1 AS text))`,
				"o'hara\\",
			],
			mysql: [
				'(`d`.`owner` = ? AND CAST(CONVERT(`d`.`owner` USING utf8mb4) AS BINARY) = CAST(CONVERT(? USING utf8mb4) AS BINARY))',
				"o'hara\\",
				"o'hara\\",
			],
			sqlserver: [
				"([d].[owner] = @p1 AND CAST([d].[owner] AS nvarchar(max)) COLLATE Latin1_General_100_BIN2 + N'|' = CAST(@p1 AS nvarchar(max)) + N'|')",
				"o'hara\\",
			],
			sqlite: ['(`d`.`owner` = ? AND CAST(`d`.`owner` AS TEXT) COLLATE BINARY = ?)', "o'hara\\", "o'hara\\"],
		},
		literals: {
			postgresql: `("d"."owner" = E'o''hara\\\\' AND CAST("d"."owner" AS text) COLLATE "C" = E'o''hara\\\\')`,
			mysql:
				"(`d`.`owner` = _utf8mb4 X'6f27686172615c' AND CAST(CONVERT(`d`.`owner` USING utf8mb4) AS BINARY) = CAST(CONVERT(_utf8mb4 X'6f27686172615c' USING utf8mb4) AS BINARY))",
			sqlite: "(`d`.`owner` = 'o''hara\\' AND CAST(`d`.`owner` AS TEXT) COLLATE BINARY = 'o''hara\\')",
		},
	},
	{
		title: 'a negated comparison, which also selects rows without a value',
		residual: { kind: 'not', part: compare('level', 'number', 'greater-than', 3) },
		sql: {
			postgresql: [
				'("level" IS NULL OR "level" <= CAST($1 AS bigint) OR ("level" < -9007199254740991 OR "level" > 9007199254740991))',
				3,
			],
			mysql: ['(`level` IS NULL OR `level` <= ? OR (`level` < -9007199254740991 OR `level` > 9007199254740991))', 3],
			sqlserver: [
				'([level] IS NULL OR [level] <= CAST(@p1 AS bigint) OR ([level] < -9007199254740991 OR [level] > 9007199254740991))',
				3,
			],
			sqlite: ['(`level` IS NULL OR `level` <= ? OR (`level` < -9007199254740991 OR `level` > 9007199254740991))', 3],
		},
		literals: {},
	},
	{
		title: 'a key list as one parameter',
		residual: compare('key', 'string', 'in', ['a', 'b']),
		sql: {
			postgresql: [
				'("id" = ANY(CAST($1 AS text[])) AND CAST("id" AS text) COLLATE "C" = ANY(CAST($1 AS text[])))',
				['a', 'b'],
			],
			mysql: [
				"CAST(CONVERT(`id` USING utf8mb4) AS BINARY) IN (SELECT CAST(CONVERT(items.item USING utf8mb4) AS BINARY) FROM JSON_TABLE(?, '$[*]' COLUMNS (item LONGTEXT PATH '$')) AS items)",
				'["a","b"]',
			],
			sqlserver: [
				"CAST([id] AS nvarchar(max)) COLLATE Latin1_General_100_BIN2 + N'|' IN (SELECT [items].[item] + N'|' FROM OPENJSON(@p1) WITH ([item] nvarchar(max) '$') AS [items])",
				'["a","b"]',
			],
			sqlite: [
				'(`id` IN (SELECT value FROM json_each(?)) AND CAST(`id` AS TEXT) COLLATE BINARY IN (SELECT value FROM json_each(?)))',
				'["a","b"]',
				'["a","b"]',
			],
		},
		literals: { sqlite: "(`id` IN ('a', 'b') AND CAST(`id` AS TEXT) COLLATE BINARY IN ('a', 'b'))" },
	},
	{
		title: 'a time comparison, from the start of the next millisecond',
		residual: compare('at', 'time', 'greater-than', '2030-01-01T00:00:00.000Z'),
		sql: {
			postgresql: ['EXTRACT(EPOCH FROM "created_at") * 1000 >= CAST($1 AS bigint)', 1893456000001],
			mysql: undefined,
			sqlserver: undefined,
			sqlite: ['`created_at` COLLATE BINARY >= ?', '2030-01-01T00:00:00.001Z'],
		},
		literals: {},
	},
	{
		title: 'a search without wildcards',
		residual: compare('owner', 'string', 'starts-with', '50%'),
		sql: {
			postgresql: ['left(CAST("d"."owner" AS text) COLLATE "C", 3) = CAST($1 AS text)', '50%'],
			mysql: [
				'LEFT(CAST(CONVERT(`d`.`owner` USING utf8mb4) AS BINARY), 3) = CAST(CONVERT(? USING utf8mb4) AS BINARY)',
				'50%',
			],
			sqlserver: [
				"LEFT(CAST([d].[owner] AS nvarchar(max)) COLLATE Latin1_General_100_BIN2, 3) + N'|' = @p1 + N'|'",
				'50%',
			],
			sqlite: ['instr(`d`.`owner`, ?) = 1', '50%'],
		},
		literals: {},
	},
	{
		title: 'every row',
		residual: { kind: 'all', parts: [] },
		sql: { postgresql: ['1 = 1'], mysql: ['1 = 1'], sqlserver: ['1 = 1'], sqlite: ['1 = 1'] },
		literals: {},
	},
];

for (const { title, residual, sql, literals } of cases) {
	inPush(`SQL: ${title}`, (t) => {
		for (const dialect of dialects) {
			const expected = sql[dialect];
			if (expected === undefined) {
				t.like(
					t.throws(() => toSql(residual, dialect, columns), { instanceOf: FilterRefusal }),
					{
						condition: 'own',
						target: `sql.${dialect}`,
					},
				);
				continue;
			}
			const written = toSql(residual, dialect, columns);
			t.deepEqual([written.sql, ...written.parameters], expected);
			if (literals[dialect] !== undefined) t.is(runToEnd(toSqlLiterals(residual, dialect, columns)), literals[dialect]);
		}
	});
}

/** Residuals that no dialect can express. */
const refused: readonly Residual[] = [
	compare('owner', 'string', 'matches', '^a'),
	compare('owner', 'string', 'in-cidr', ['10.0.0.0/8']),
	compare('owner', 'array', 'array_contains', 'a'),
	compare('owner', '', 'equals', 'a'),
	compare('owner', 'string', 'equals', 'a\0b'),
	compare('owner', 'string', 'in', ['a', 'a\0b']),
	compare('owner', 'string', 'contains', '\ud800'),
	compare('at', 'time', 'less-than', '2030-01-01'),
];

inPush('a filter that no dialect can express is refused with the names of the condition and the target', (t) => {
	for (const residual of refused) {
		for (const dialect of dialects) {
			for (const write of [toSql, (...given: Parameters<typeof toSqlLiterals>) => runToEnd(toSqlLiterals(...given))]) {
				const error = t.throws(() => write(residual, dialect, columns), { instanceOf: FilterRefusal });
				t.true(error.message.includes(`sql.${dialect}`) && error.message.includes('own'), error.message);
			}
		}
	}
});

const wrongColumns: readonly (readonly [ColumnMapping, RegExp])[] = [
	[{}, /`owner`/],
	[{ owner: 'a b' }, /`owner`.*`a b`/],
	[{ owner: '' }, /`owner`/],
	[{ owner: 'a"; drop table b; --' }, /`owner`.*drop table/],
	[{ owner: 'a.b.c.d' }, /`owner`.*`a.b.c.d`/],
	[{ owner: 'x'.repeat(64) }, /`owner`/],
	[{ owner: { column: 'owner', type: 'text' } }, /`owner`.*`text`/],
	...['integer', 'number', 'bool', 'time', 'array', 'json'].flatMap((type): [ColumnMapping, RegExp][] => [
		[{ owner: 'owner', key: { column: 'id', type } }, /`key`.*string, uuid/],
		[{ owner: 'owner', tenant: { column: 'tenant', type } }, /`tenant`.*string, uuid/],
	]),
	[{ owner: 'owner', other: { column: '1a' } }, /`other`.*`1a`/],
	[JSON.parse('{"owner": null}'), /`owner`/],
	[JSON.parse('{"__proto__": {"column": "a"}}'), /`owner`/],
];

inPush('unusable columns are refused by name', (t) => {
	for (const [given, message] of wrongColumns) {
		for (const dialect of dialects) {
			const residual = compare('owner', 'string', 'equals', 'ann');
			t.throws(() => toSql(residual, dialect, given), { instanceOf: ColumnMappingError, message });
		}
	}
});

const uuid = '0B5A3F0E-1C2D-4E5F-8A9B-0C1D2E3F4A5B';

inPush('a UUID is a string in databases that store UUIDs as strings', (t) => {
	const residual = compare('owner', 'string', 'not-equals', uuid);
	const typed = { owner: { column: 'owner', type: 'uuid', required: true } };
	t.is(runToEnd(toSqlLiterals(residual, 'sqlite', typed)), `CAST(\`owner\` AS TEXT) COLLATE BINARY <> '${uuid}'`);
	t.regex(runToEnd(toSqlLiterals(residual, 'mysql', typed)), new RegExp(`<> .*${uuid}`));
	t.is(runToEnd(toSqlLiterals(residual, 'postgresql', typed)), '1 = 1');
});

inPush('a literal for SQL Server is split between a backslash and a line break', (t) => {
	const owner = { owner: 'owner' };
	for (const end of ['\n', '\r\n']) {
		const residual = compare('owner', 'string', 'starts-with', `a\\${end}'b`);
		const text = runToEnd(toSqlLiterals(residual, 'sqlserver', owner));
		t.true(text.includes(`= (CAST(N'a\\' AS nvarchar(max)) + N'${end}''b') + N'|'`), text);
	}
});

const identifier = /^(?:`[A-Za-z_][\w$]*`|"[A-Za-z_][\w$]*"|\[[A-Za-z_][\w$]*\])/;
/** A quoted string in any dialect, or a word, number or sign in a filter. */
const token =
	/(?:E'(?:[^'\\]|''|\\\\)*'|_utf8mb4 X'[\da-f]*'|N?'(?:[^']|'')*'|[A-Za-z]\w*|-?\s?\d+(?:\.\d+)?(?:e[+-]?\d+)?|<=|>=|<>|[=<>(),.+]|\s)/y;

test('user text appears in SQL only inside quotes', (t) => {
	const text = fc.oneof(
		fc.string({ unit: anyCodePoint }),
		fc.string({
			unit: fc.constantFrom(
				"'",
				'"',
				'\\',
				'\\\n',
				'\\\r\n',
				'`',
				']',
				'[',
				'%',
				'_',
				';',
				'-',
				'/',
				'*',
				'a',
				'\n',
				'😀',
			),
		}),
	);
	fc.assert(
		fc.property(
			text,
			fc.constantFrom('equals', 'contains', 'ends-with', 'less-than'),
			text,
			(value, operator, name) => {
				for (const dialect of dialects) {
					const usable = unless([FilterRefusal], () =>
						runToEnd(toSqlLiterals(compare('owner', 'string', operator, value), dialect, columns)),
					);
					const parameters = unless([FilterRefusal], () =>
						toSql(compare('owner', 'string', operator, value), dialect, columns),
					);
					if (usable !== undefined) t.true(isOfTokens(usable, dialect), usable);
					if (parameters !== undefined) t.true(isOfTokens(parameters.sql.replace(/[$@]p?\d+|\?/g, '0'), dialect));
					const named = unless([ColumnMappingError], () =>
						runToEnd(toSqlLiterals(compare('owner', 'string', 'equals', 'a'), dialect, { owner: name })),
					);
					if (named !== undefined) t.regex(name, /^[\w$.]+$/);
				}
			},
		),
		{ numRuns: draws(600) },
	);
});

function unless<T>(errors: readonly (new (...given: never[]) => Error)[], write: () => T): T | undefined {
	try {
		return write();
	} catch (error) {
		if (errors.some((one) => error instanceof one)) return undefined;
		throw error;
	}
}

/** True if a condition consists of tokens of the dialect. */
function isOfTokens(text: string, dialect: SqlDialectName): boolean {
	let place = 0;
	while (place < text.length) {
		const name = identifier.exec(text.slice(place))?.[0];
		token.lastIndex = place;
		const found = name ?? token.exec(text)?.[0];
		if (found === undefined || (dialect === 'mysql' && found.startsWith("'") && found.includes('\\'))) return false;
		if (dialect === 'sqlserver' && /\\\r?\n/.test(found)) return false;
		place += found.length;
	}
	return true;
}
