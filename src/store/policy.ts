import type { Knex } from 'knex';
import type { RegoFile, Schema } from '../../compiler/model.js';
import { notFound } from '../failure.js';
import { PolicyHistory, type WriteBeside } from './policy-history.js';

/** A compiled policy: shared by every environment whose Rego is the same. */
export interface Policy {
	/** SHA-256 of the Rego text and of what compiled it, hexadecimal. */
	readonly digest: string;
	readonly files: readonly RegoFile[];
	readonly wasm: Uint8Array;
}

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

/** An object that was left out of a policy, because it kept the schema from becoming one. */
export interface LeftOut {
	/** What people call it, such as "user set `adults`". */
	readonly object: string;
	/** What the compiler or OPA said. */
	readonly message: string;
}

/** The policy in force, and how it stands to the schema that it was compiled from. */
export interface PolicyInForce extends LivePolicy {
	/** The layout of the data that it reads; `null` of one that an earlier version published. */
	readonly layout: number | null;
	readonly left_out: readonly LeftOut[];
}

/** The last attempt to compile, when it failed: the policy that was in force before it stays. */
export interface FailedAttempt {
	readonly failure: PolicyFailure;
	readonly failed_revision: number;
	readonly failed_at: Date;
}

/** What became of an environment's schema. */
export interface Publications {
	/** `null` while no schema of the environment was ever compiled. */
	readonly live: PolicyInForce | null;
	/** `null` when the last attempt succeeded, or there was none. */
	readonly failed: FailedAttempt | null;
}

/** Reads what became of an environment's schema. */
export async function publicationsOf(knex: Knex, environmentId: string): Promise<Publications> {
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
	// The columns of each half are null together: the table sees to it.
	return { live: row?.digest ? row : null, failed: row?.failure ? row : null };
}

/** The schema that the policy in force was compiled from; `null` where none is, or an earlier version published it. */
export async function schemaInForce(knex: Knex, environmentId: string): Promise<Schema | null> {
	const row: { readonly schema: Schema | null } | undefined = await knex('publications')
		.where({ environment_id: environmentId })
		.first('schema');
	return row?.schema ?? null;
}

/** Compiled policies and which environments they are in force in. */
export class PolicyShelf {
	/** The policies that were in force before. */
	readonly history: PolicyHistory;

	constructor(
		private readonly knex: Knex,
		writeBeside: WriteBeside,
	) {
		this.history = new PolicyHistory(knex, writeBeside);
	}

	/** Whether there is a policy with this digest. */
	async has(digest: string): Promise<boolean> {
		return (await this.knex<Policy>('policies').where({ digest }).first('digest')) !== undefined;
	}

	/** The module of the policy with this digest, or `null`. */
	async wasm(digest: string): Promise<Uint8Array | null> {
		const row = await this.knex<Policy>('policies').where({ digest }).first('wasm');
		return row?.wasm ?? null;
	}

	/** The Rego of the policy with this digest, or `null`. */
	async files(digest: string): Promise<readonly RegoFile[] | null> {
		const row = await this.knex<Policy>('policies').where({ digest }).first('files');
		return row?.files ?? null;
	}

	/** Keeps a policy; one that is there already stays. */
	async keep(policy: Policy, now: Date): Promise<void> {
		const row = { digest: policy.digest, files: JSON.stringify(policy.files), wasm: policy.wasm, created_at: now };
		await this.knex('policies').insert(row).onConflict('digest').ignore();
	}

	/** What became of an environment's schema. */
	publications(environmentId: string): Promise<Publications> {
		return publicationsOf(this.knex, environmentId);
	}

	/**
	 * Puts a policy in force that was compiled from `schema`, which lacks what was left out. A newer schema's policy, noted
	 * meanwhile by another process, stays. Throws `not_found`.
	 */
	async publish(environmentId: string, live: PolicyInForce, schema: Schema): Promise<void> {
		await this.#note(environmentId, {
			...live,
			left_out: JSON.stringify(live.left_out),
			schema: JSON.stringify(schema),
			failure: null,
			failed_revision: null,
			failed_at: null,
		});
	}

	/** Notes a failure; the policy in force stays. Throws `not_found`. */
	async fail(environmentId: string, attempt: FailedAttempt): Promise<void> {
		await this.#note(environmentId, { ...attempt, failure: JSON.stringify(attempt.failure) });
	}

	async #note(environmentId: string, columns: Readonly<Record<string, unknown>>): Promise<void> {
		await this.knex.transaction(async (transaction) => {
			// Held until the commit: an environment that is being deleted must not get a row any more.
			const held = await transaction('environments').where({ id: environmentId }).forKeyShare().first('id');
			if (held === undefined) throw notFound('Environment', environmentId);
			const noted = transaction('publications')
				.insert({ ...columns, environment_id: environmentId })
				.onConflict('environment_id')
				.merge();
			const revision = columns['schema_revision'];
			if (typeof revision === 'number') {
				noted.whereRaw('coalesce(publications.schema_revision, 0) <= ?', [revision]);
			}
			await noted;
		});
	}
}
