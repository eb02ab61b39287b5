import type { Knex } from 'knex';
import type { Schema } from '../../../compiler/model.js';

/** Why a schema did not become a policy. */
export interface PolicyFailure {
	readonly message: string;
	/** What the compiler or OPA said, line by line. */
	readonly details: readonly string[];
}

/** The policy that is in force in an environment. */
export interface LivePolicy {
	readonly digest: string;
	/** The revision of the schema that it was compiled from. */
	readonly schema_revision: number;
	readonly published_at: Date;
}

/** An object that was left out of a policy, because the schema did not compile with it. */
export interface LeftOut {
	/** What people call it, such as "user set `adults`". */
	readonly object: string;
	/** What the compiler or OPA said. */
	readonly message: string;
}

/** The policy in force, and what it was compiled with and without. */
export interface PolicyInForce extends LivePolicy {
	/** The layout of the data that it reads; `null` when an earlier version published it. */
	readonly layout: number | null;
	readonly left_out: readonly LeftOut[];
}

/** The last attempt to compile, when it failed: the policy that was in force before it stays. */
export interface FailedAttempt {
	readonly failure: PolicyFailure;
	readonly failed_revision: number;
	readonly failed_at: Date;
}

/** The policy in force in an environment, and why its newest schema is not. */
export interface Publications {
	/** `null` while no schema of the environment was ever compiled. */
	readonly live: PolicyInForce | null;
	/** `null` when the last attempt succeeded, or there was none. */
	readonly failed: FailedAttempt | null;
}

/** Reads the publications of an environment. */
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
	// Constraints of the table make the columns of each half null together.
	return { live: row?.digest ? row : null, failed: row?.failure ? row : null };
}

/** The schema that the policy in force was compiled from; `null` where none is, or an earlier version published it. */
export async function schemaInForce(knex: Knex, environmentId: string): Promise<Schema | null> {
	const row: { readonly schema: Schema | null } | undefined = await knex('publications')
		.where({ environment_id: environmentId })
		.first('schema');
	return row?.schema ?? null;
}
