import type { Knex } from 'knex';
import { notFound } from '../failure.js';
import type { Environment } from './table/account.js';

/**
 * Makes the writers of one environment follow each other, until the transaction ends. Returns the revision that holds
 * until then. Throws `not_found`.
 */
export async function lock(transaction: Knex.Transaction, environmentId: string): Promise<number> {
	const locked = await transaction<Environment>('environments')
		.where({ id: environmentId })
		.forNoKeyUpdate()
		.first('revision');
	if (locked === undefined) throw notFound('Environment', environmentId);
	return locked.revision;
}
