import type { Knex } from 'knex';
import { schemaKinds } from './change.js';

/** A schema change in an environment: its revision and time. */
export interface SchemaChange {
	readonly revision: number;
	readonly created_at: Date;
}

/** Returns the first schema change after a revision, or `null`. Uses the partial index `changes_of_schema`. */
export async function schemaChangeAfter(
	knex: Knex,
	environmentId: string,
	revision: number,
): Promise<SchemaChange | null> {
	// The kinds are literals, as in the index. With bindings, the database could not use the index.
	const kinds = [...schemaKinds].map((kind) => `'${kind}'`).join(', ');
	const row: SchemaChange | undefined = await knex('changes')
		.where({ environment_id: environmentId })
		.where('revision', '>', revision)
		.whereRaw(`kind in (${kinds})`)
		.orderBy('revision')
		.first('revision', 'created_at');
	return row ?? null;
}
