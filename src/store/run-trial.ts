import type { Knex } from 'knex';
import type { Clock } from '../clock.js';
import type { Cipher } from './account/secret.js';
import { hasCode } from './database/error-code.js';
import { type Actor, actorId, callerOf, checkCaller, LostAccess } from './unit/caller-check.js';
import type { Committed } from './unit/queued-write.js';
import type { Scope } from './unit/reading-unit.js';
import { WritingUnit } from './unit/writing-unit.js';

/** Maximum time that a trial waits for a row locked by a writer, in milliseconds. */
const lockTimeout = 200;

/** PostgreSQL's codes for a serialization failure, a deadlock, and a lock that is not available. */
const conflict = /^(40001|40P01|55P03)$/;

/** Dependencies of a trial. */
interface Surroundings {
	readonly database: Knex;
	readonly clock: Clock;
	readonly cipher: Cipher;
}

/**
 * Runs `work` in a unit on a snapshot of the environment, then rolls back the unit. The transaction does not lock the
 * environment, so writers wait only if they touch the rows written by the trial. Rejects like `work`, and with
 * `LostAccess`.
 */
export async function runTrial<T>(
	{ database, clock, cipher }: Surroundings,
	scope: Scope,
	actor: Actor,
	work: (unit: WritingUnit) => Promise<T>,
): Promise<Committed<T>> {
	const transaction = await database.transaction({ isolationLevel: 'repeatable read' });
	const unit = new WritingUnit(scope, transaction, clock, cipher, actorId(actor), clock.now());
	try {
		await transaction.raw(`select set_config('lock_timeout', ?, true)`, [String(lockTimeout)]);
		const caller = callerOf(actor);
		if (!(await checkCaller(transaction, caller, null)).hasAccess) throw new LostAccess();
		const { revision, lineage } = await unit.counters();
		return { value: await work(unit), revision, lineage };
	} catch (error) {
		throw unit.failure(error);
	} finally {
		unit.close();
		await transaction.rollback();
	}
}

/** True if a concurrent writer caused the failure of a trial. */
export function isConflict(error: unknown): boolean {
	return hasCode(error, conflict);
}
