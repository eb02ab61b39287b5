import type { Knex } from 'knex';
import { notFound } from '../../failure.js';
import { lineageInForce } from './lineage.js';
import { checkStanding, type KeyHolder, type Standing } from './standing.js';

/**
 * Locks an environment until the transaction ends, which serializes its writers, and checks a caller: see
 * `checkStanding`. `lineage` is SQL for the lineage. Throws `not_found`.
 */
export async function lockEnvironment(
	transaction: Knex.Transaction,
	environmentId: string,
	caller: KeyHolder | null,
	lineage: string = lineageInForce,
): Promise<Standing> {
	const root = { table: 'environments', id: environmentId, lineage } as const;
	const standing = await checkStanding(transaction, caller, root);
	if (!standing.found) throw notFound('Environment', environmentId);
	return standing;
}
