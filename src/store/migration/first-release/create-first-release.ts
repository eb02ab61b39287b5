import type { Knex } from 'knex';
import { accounts } from './accounts.js';
import { changes } from './changes.js';
import { decisionLog } from './decision-log.js';
import { elements } from './elements.js';
import { facts } from './facts.js';
import { policies } from './policies.js';
import { schema } from './schema.js';

/**
 * Creates the tables of the first release. INVARIANT: a table of environment objects has the primary key
 * (environment_id, id), and its foreign keys include environment_id, so no row can refer to a different environment.
 */
export async function createFirstRelease(knex: Knex): Promise<void> {
	const chapters = [accounts, schema, facts, changes, policies, elements, decisionLog];
	for (const statement of chapters.flat()) await knex.raw(statement);
}
