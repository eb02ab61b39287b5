import type { Knex } from 'knex';
import { notFound } from '../../failure.js';
import type { Environment } from '../table/account.js';

/**
 * Locks an environment until the transaction ends, so that its writers follow each other. Returns its revision, which
 * cannot change until then. Throws `not_found`.
 */
export async function lockEnvironment(transaction: Knex.Transaction, environmentId: string): Promise<number> {
	const statement = 'select revision from "environments" where id = ? for no key update';
	const { rows } = await transaction.raw<{ rows: readonly Pick<Environment, 'revision'>[] }>(statement, [
		environmentId,
	]);
	const [locked] = rows;
	if (locked === undefined) throw notFound('Environment', environmentId);
	return locked.revision;
}
