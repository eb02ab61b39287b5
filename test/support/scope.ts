import { environmentScope } from '../../src/store/account/account.js';
import { Environment } from '../../src/store/table/account.js';
import type { Scope } from '../../src/store/unit/reading-unit.js';
import type { Place } from './management.js';

/** Returns the scope for units of work in the environment. */
export async function scopeIn({ store, id }: Pick<Place, 'store' | 'id'>): Promise<Scope> {
	const environment = await Environment.query(store.database.knex).findById(id);
	if (environment === undefined) throw new Error('the environment is gone');
	return environmentScope(environment);
}
