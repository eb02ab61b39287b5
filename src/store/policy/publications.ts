import type { Knex } from 'knex';
import type { Schema } from '../../../compiler/model.js';

/** Reason why a schema did not become a policy. */
export interface PolicyFailure {
	readonly message: string;
	/** Compiler or OPA output, line by line. */
	readonly details: readonly string[];
}

/** An environment's active policy. */
export interface LivePolicy {
	readonly digest: string;
	/** Schema revision from which the policy was compiled. */
	readonly schema_revision: number;
	readonly published_at: Date;
}

/** An object that was excluded from a policy, because the schema did not compile with it. */
export interface LeftOut {
	/** Human-readable name, such as "user set `adults`". */
	readonly object: string;
	/** Message from the compiler or OPA. */
	readonly message: string;
}

/** Active policy, and the objects excluded from it. */
export interface PolicyInForce extends LivePolicy {
	/** Layout of its data; `null` if an earlier version published it. */
	readonly layout: number | null;
	readonly left_out: readonly LeftOut[];
}

/** The last compilation attempt, if it failed. The previously active policy stays active. */
export interface FailedAttempt {
	readonly failure: PolicyFailure;
	readonly failed_revision: number;
	readonly failed_at: Date;
}

/** An environment's active policy, and the reason why the newest schema is not active. */
export interface Publications {
	/** `null` until the first schema has been compiled. */
	readonly live: PolicyInForce | null;
	/** `null` if the last attempt succeeded, or if there was no attempt. */
	readonly failed: FailedAttempt | null;
}

/** Reads an environment's publications. */
export async function readPublications(knex: Knex, environmentId: string): Promise<Publications> {
	const row: (PolicyInForce & FailedAttempt) | undefined = await knex('publications')
		.where({ environment_id: environmentId })
		.first(
			'digest',
			'schema_revision',
			'published_at',
			'layout',
			'left_out',
			'failure',
			'failed_revision',
			'failed_at',
		);
	// Table constraints ensure that the columns of each half are either all null or all set.
	return { live: row?.digest ? row : null, failed: row?.failure ? row : null };
}

/** Returns the active policy's schema; `null` if there is no active policy, or if an earlier version published it. */
export async function schemaInForce(knex: Knex, environmentId: string): Promise<Schema | null> {
	const row: { readonly schema: Schema | null } | undefined = await knex('publications')
		.where({ environment_id: environmentId })
		.first('schema');
	return row?.schema ?? null;
}
