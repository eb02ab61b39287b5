import { isDeepStrictEqual } from 'node:util';
import type { EnvironmentModel } from '../table/environment-model.js';
import type { ChangedRecord } from './change.js';

/**
 * Converts a row to its form in the change log. Omits the environment id, which the log row contains. INVARIANT:
 * columns whose names begin with `secret` never enter the log, encrypted or not.
 */
export function changeRecord(row: EnvironmentModel): ChangedRecord {
	const { environment_id: _, ...record } = row.toJSON();
	return Object.fromEntries(Object.entries(record).filter(([name]) => !name.startsWith('secret')));
}

/** Returns true if the row already has these column values. */
export function hasValues(row: object, columns: object): boolean {
	const current = new Map(Object.entries(row));
	return Object.entries(columns).every(([name, value]) => isDeepStrictEqual(current.get(name), value));
}
