import type { Knex } from 'knex';
import { schemaKinds } from './change.js';

/** A change of an environment's schema: its revision, and when it was made. */
export interface SchemaChange {
	readonly revision: number;
	readonly created_at: Date;
}

/** The first change of the schema after a revision, or `null`. The partial index `changes_of_schema` finds it. */
export async function schemaChangeAfter(
	knex: Knex,
	environmentId: string,
	revision: number,
): Promise<SchemaChange | null> {
	// The kinds are literals here as in the index: with bindings the index could not be used.
	const kinds = [...schemaKinds].map((kind) => `'${kind}'`).join(', ');
	const row: SchemaChange | undefined = await knex('changes')
		.where({ environment_id: environmentId })
		.where('revision', '>', revision)
		.whereRaw(`kind in (${kinds})`)
		.orderBy('revision')
		.first('revision', 'created_at');
	return row ?? null;
}
