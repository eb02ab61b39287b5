import type { Knex } from 'knex';
import type { RegoFile, Schema } from '../../../compiler/model.js';
import { notFound } from '../../failure.js';
import { PolicyHistory, type WriteCompanionFiles } from './policy-history.js';
import { type FailedAttempt, type PolicyInForce, type Publications, readPublications } from './publications.js';

/** A compiled policy: shared by every environment whose Rego is the same. */
export interface Policy {
	/** SHA-256 of the Rego text and of what compiled it, hexadecimal. */
	readonly digest: string;
	readonly files: readonly RegoFile[];
	readonly wasm: Uint8Array;
}

/** Compiled policies and which environments they are in force in. */
export class PolicyStore {
	/** The policies that were in force before. */
	readonly history: PolicyHistory;

	constructor(
		private readonly knex: Knex,
		writeCompanionFiles: WriteCompanionFiles,
	) {
		this.history = new PolicyHistory(knex, writeCompanionFiles);
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

	/** Stores a policy, unless it is stored already. */
	async keep(policy: Policy, now: Date): Promise<void> {
		const row = { digest: policy.digest, files: JSON.stringify(policy.files), wasm: policy.wasm, created_at: now };
		await this.knex('policies').insert(row).onConflict('digest').ignore();
	}

	/** The publications of an environment. */
	publications(environmentId: string): Promise<Publications> {
		return readPublications(this.knex, environmentId);
	}

	/**
	 * Puts a policy in force that was compiled from `schema`, which lacks what was left out. If another process has
	 * published the policy of a newer schema meanwhile, that one stays. Throws `not_found`.
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

	/** Records a failure; the policy in force stays. Throws `not_found`. */
	async fail(environmentId: string, attempt: FailedAttempt): Promise<void> {
		await this.#note(environmentId, { ...attempt, failure: JSON.stringify(attempt.failure) });
	}

	async #note(environmentId: string, columns: Readonly<Record<string, unknown>>): Promise<void> {
		await this.knex.transaction(async (transaction) => {
			// Locked until the commit: an environment that is being deleted must not get another row.
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
