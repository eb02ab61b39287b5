import type { TestedCheck } from '../../wire/schema/check-test.js';
import { type RowQuery, rowQuery } from '../query/row-query.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import { KeyedModel } from './environment-model.js';

/** A check with its expected result. */
export class CheckTest extends KeyedModel {
	static override readonly tableName = 'check_tests';
	static override readonly jsonAttributes = ['check'];
	static readonly kind = 'check_test';
	static readonly title = 'CheckTest';

	declare description: string | null;
	declare check: TestedCheck;
	declare expected: 'allow' | 'deny';
}

/** Returns the environment's check tests in key order. */
export function checkTestsByKey(unit: ReadingUnit): RowQuery<CheckTest> {
	return rowQuery(unit.query(CheckTest).orderByRaw('check_tests.key collate "C"'));
}
