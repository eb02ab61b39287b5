import type { Knex } from 'knex';
import { notFound } from '../../failure.js';
import { lineageInForce } from './lineage.js';

/** A locked environment. */
export interface LockedEnvironment {
	/** It cannot change until the transaction ends. */
	readonly revision: number;
	/** The lineage of the database; `null` where `lineage` found none. */
	readonly lineage: string | null;
}

/**
 * Locks an environment until the transaction ends, so that its writers follow each other. `lineage` is the SQL that
 * finds the lineage. Throws `not_found`.
 */
export async function lockEnvironment(
	transaction: Knex.Transaction,
	environmentId: string,
	lineage: string = lineageInForce,
): Promise<LockedEnvironment> {
	const statement = `select revision, ${lineage} as lineage from "environments" where id = ? for no key update`;
	const { rows } = await transaction.raw<{ rows: readonly LockedEnvironment[] }>(statement, [environmentId]);
	const [locked] = rows;
	if (locked === undefined) throw notFound('Environment', environmentId);
	return locked;
}
