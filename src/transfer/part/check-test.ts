import { CheckTest } from '../../store/table/check-test.js';
import type { CheckTestEntry } from '../../wire/general/environment-document.js';
import { keyedPart } from './keyed-part.js';
import { type DocumentPart, mapEntries, withoutDefaults } from './part.js';

const member = ['schema', 'check_tests'] as const;

/** Check tests. They refer to other objects by key, and the objects need not exist. */
export const checkTestPart: DocumentPart<CheckTestEntry> = keyedPart({
	table: CheckTest,
	title: 'check test',
	member,
	scope: ({ value }) => [['resources', value.check.resource.type]],
	entriesIn: ({ schema }) => mapEntries(member, schema?.check_tests),
	toDocument: (value) => withoutDefaults(value, { description: null }),
	describe: ({ description, check, expected }) => ({ description, check, expected }),
	columns: (value) => value,
	create: (unit, entries) =>
		unit.createMany(
			CheckTest,
			entries.map(({ name: key, value }) => ({ key, ...value })),
			({ key }) => key,
		),
	removeRows: (unit, rows) => unit.removeMany(CheckTest, rows, ({ key }) => key),
});
