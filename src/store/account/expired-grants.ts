import type { Knex } from 'knex';
import { Environment } from '../table/account.js';
import type { Scope } from '../unit/reading-unit.js';
import { environmentScope } from './account.js';

/** Returns the environments that still store expired grants or invites. The database clock determines expiry. */
export async function environmentsWithExpired(knex: Knex): Promise<readonly Scope[]> {
	const expired = (table: string) => `select environment_id from ${table} where expires_at <= statement_timestamp()`;
	const tables = ['role_assignments', 'relationship_tuples', 'user_invites'];
	const rows = await Environment.query(knex).whereRaw(`environments.id in (${tables.map(expired).join(' union ')})`);
	return rows.map(environmentScope);
}
