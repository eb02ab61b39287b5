import type { Knex } from 'knex';
import { notFound } from '../../failure.js';
import { type CallerCheck, checkCaller, type KeyHolder } from './caller-check.js';
import { lineageInForce } from './lineage.js';

/**
 * Locks an environment until the transaction ends, which serializes its writers, and checks a caller: see
 * `checkCaller`. `lineage` is SQL for the lineage. Throws `not_found`.
 */
export async function lockEnvironment(
	transaction: Knex.Transaction,
	environmentId: string,
	caller: KeyHolder | null,
	lineage: string = lineageInForce,
): Promise<CallerCheck> {
	const root = { table: 'environments', id: environmentId, lineage } as const;
	const check = await checkCaller(transaction, caller, root);
	if (!check.found) throw notFound('Environment', environmentId);
	return check;
}
