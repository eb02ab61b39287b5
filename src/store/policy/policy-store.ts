import type { Knex } from 'knex';
import type { RegoFile, Schema } from '../../../compiler/model.js';
import { notFound } from '../../failure.js';
import { tokenAt } from '../unit/counters.js';
import { type NewPolicy, PolicyHistory, type WriteCompanionFiles } from './policy-history.js';
import { type FailedAttempt, type PolicyInForce, type Publications, readPublications } from './publications.js';

/** A compiled policy, shared by all environments with the same Rego. */
export interface Policy {
	/** SHA-256 of the Rego text and the compiler, hexadecimal. */
	readonly digest: string;
	readonly files: readonly RegoFile[];
	readonly wasm: Uint8Array;
}

/** A compiled schema's revision. */
export interface CompiledRevision {
	readonly environmentId: string;
	readonly revision: number;
	readonly token: string;
}

/** Compiled policies, and the environments in which they are active. */
export class PolicyStore {
	/** Previously active policies. */
	readonly history: PolicyHistory;

	constructor(
		private readonly knex: Knex,
		private readonly writeCompanionFiles: WriteCompanionFiles,
	) {
		this.history = new PolicyHistory(knex, writeCompanionFiles);
	}

	/** Returns true if there is a policy with this digest. */
	async has(digest: string): Promise<boolean> {
		return (await this.knex<Policy>('policies').where({ digest }).first('digest')) !== undefined;
	}

	/** Returns a policy's module by digest, or `null`. */
	async wasm(digest: string): Promise<Uint8Array | null> {
		const row = await this.knex<Policy>('policies').where({ digest }).first('wasm');
		return row?.wasm ?? null;
	}

	/** Returns a policy's Rego by digest, or `null`. */
	async files(digest: string): Promise<readonly RegoFile[] | null> {
		const row = await this.knex<Policy>('policies').where({ digest }).first('files');
		return row?.files ?? null;
	}

	/** Stores a policy, unless it is already stored. */
	async keep(policy: Policy, now: Date): Promise<void> {
		const row = { digest: policy.digest, files: JSON.stringify(policy.files), wasm: policy.wasm, created_at: now };
		await this.knex('policies').insert(row).onConflict('digest').ignore();
	}

	publications(environmentId: string): Promise<Publications> {
		return readPublications(this.knex, environmentId);
	}

	/** Like `PolicyHistory.remember`. Returns false and records nothing if the schema is not part of this history. */
	record(of: CompiledRevision, policy: NewPolicy, schema: Schema): Promise<boolean> {
		return this.#ifKnown(of, (transaction) =>
			new PolicyHistory(transaction, this.writeCompanionFiles).remember(of.environmentId, policy, schema),
		);
	}

	/**
	 * Activates a policy compiled from `schema`, which does not contain the excluded objects. If a different
	 * process has published the policy of a newer schema in the meantime, keeps the newer policy. Returns false and does
	 * nothing if the schema is not part of this history. Throws `not_found`.
	 */
	publish(of: CompiledRevision, live: PolicyInForce, schema: Schema): Promise<boolean> {
		return this.#note(of, {
			...live,
			left_out: JSON.stringify(live.left_out),
			schema: JSON.stringify(schema),
			failure: null,
			failed_revision: null,
			failed_at: null,
		});
	}

	/** Records a failed compilation and keeps the active policy. Returns and throws like `publish`. */
	fail(of: CompiledRevision, attempt: FailedAttempt): Promise<boolean> {
		return this.#note(of, { ...attempt, failure: JSON.stringify(attempt.failure) });
	}

	#note(of: CompiledRevision, columns: Readonly<Record<string, unknown>>): Promise<boolean> {
		return this.#ifKnown(of, async (transaction) => {
			const noted = transaction('publications')
				.insert({ ...columns, environment_id: of.environmentId })
				.onConflict('environment_id')
				.merge();
			const revision = columns['schema_revision'];
			if (typeof revision === 'number') {
				noted.whereRaw('coalesce(publications.schema_revision, 0) <= ?', [revision]);
			}
			await noted;
		});
	}

	/** Runs `work` in a transaction if the database contains the compiled revision. Returns true if it does. */
	#ifKnown(
		{ environmentId, revision, token }: CompiledRevision,
		work: (transaction: Knex.Transaction) => Promise<void>,
	): Promise<boolean> {
		return this.knex.transaction(async (transaction) => {
			// The environment's row is locked until the commit, so no row is added to an environment that is being
			// deleted.
			const held = await transaction('environments').where({ id: environmentId }).forKeyShare().first('id');
			if (held === undefined) throw notFound('Environment', environmentId);
			const isKnown = (await tokenAt(transaction, environmentId, revision)) === token;
			if (isKnown) await work(transaction);
			return isKnown;
		});
	}
}
