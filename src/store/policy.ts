import type { Knex } from 'knex';
import type { RegoFile } from '../../compiler/model.js';
import { notFound } from '../failure.js';

/** A compiled policy: shared by every environment whose Rego is the same. */
export interface Policy {
	/** SHA-256 of the Rego text, hexadecimal. */
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

/** What became of one revision of an environment's schema. */
export interface Publication {
	readonly schema_revision: number;
	readonly published_at: Date;
	/** `null` when it failed: then `failure` says why and the publication before it stays in force. */
	readonly digest: string | null;
	readonly failure: PolicyFailure | null;
}

/** The newest publication of an environment, and the newest that did not fail: the policy in force. */
export interface Publications {
	readonly newest: Publication | null;
	readonly live: Publication | null;
}

/** Reads the publications that matter of one environment. */
export async function publicationsOf(knex: Knex, environmentId: string): Promise<Publications> {
	const rows: readonly Publication[] = await knex('publications')
		.where({ environment_id: environmentId })
		.orderBy('schema_revision', 'desc')
		.limit(2)
		.select('schema_revision', 'published_at', 'digest', 'failure');
	const [newest = null] = rows;
	return { newest, live: rows.find((row) => row.digest !== null) ?? null };
}

/** Compiled policies and which environment revisions they are for. */
export class PolicyShelf {
	constructor(private readonly knex: Knex) {}

	/** The policy with this digest, or `null`. */
	async policy(digest: string): Promise<Policy | null> {
		const row = await this.knex<Policy>('policies').where({ digest }).first('digest', 'files', 'wasm');
		return row ?? null;
	}

	/** Only the Rego of the policy with this digest, or `null`. */
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

	/** Notes what became of a schema revision. INVARIANT: the newest row that succeeded is kept, others older go. Throws `not_found`. */
	async note(environmentId: string, publication: Publication): Promise<void> {
		await this.knex.transaction(async (transaction) => {
			// Held until the commit: an environment that is being deleted must not get a row any more.
			const held = await transaction('environments').where({ id: environmentId }).forKeyShare().first('id');
			if (held === undefined) throw notFound('Environment', environmentId);
			const failure = publication.failure === null ? null : JSON.stringify(publication.failure);
			await transaction('publications')
				.insert({ ...publication, failure, environment_id: environmentId })
				.onConflict(['environment_id', 'schema_revision'])
				.merge();
			const older = transaction('publications')
				.where({ environment_id: environmentId })
				.where('schema_revision', '<', publication.schema_revision);
			if (publication.digest === null) older.whereNull('digest');
			await older.delete();
		});
	}
}
