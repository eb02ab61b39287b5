import { isDeepStrictEqual } from 'node:util';
import type { EnvironmentModel } from '../table/environment-model.js';
import type { ChangedRecord } from './change.js';

/**
 * A row as the change log keeps it, without the environment's id, which the log's own row has. INVARIANT: columns whose
 * names begin with `secret` never get into the log, encrypted or not.
 */
export function changeRecord(row: EnvironmentModel): ChangedRecord {
	const { environment_id: _, ...record } = row.toJSON();
	return Object.fromEntries(Object.entries(record).filter(([name]) => !name.startsWith('secret')));
}

/** Whether these columns already have these values. */
export function hasValues(row: object, columns: object): boolean {
	const current = new Map(Object.entries(row));
	return Object.entries(columns).every(([name, value]) => isDeepStrictEqual(current.get(name), value));
}
