import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import type { Knex } from 'knex';
import type { RegoFile, Schema } from '../../../compiler/model.js';
import type { Page, PageResult } from '../query/row-query.js';
import { insertOrNotFound } from '../unit/insert-or-not-found.js';
import type { LivePolicy } from './publications.js';

/** Maximum number of policies kept per environment; the oldest are dropped. */
export const maxRemembered = 1_000;

/** A published policy with all its files. */
export interface PastPolicy extends LivePolicy {
	/** The Rego and the other files generated from the same schema, in no particular order. */
	readonly files: readonly RegoFile[];
}

/** A policy to publish, and its schema's table layout. */
export interface NewPolicy extends LivePolicy {
	readonly layout: number;
}

export interface CompiledSchema {
	readonly schema_revision: number;
	readonly digest: string;
	/** Layout of the policy's data; `null` if an earlier version compiled it. */
	readonly layout: number | null;
	readonly schema: Schema;
}

/** Writes the files that accompany a schema's Rego, for tables with this layout. */
export type WriteCompanionFiles = (schema: Schema, layout: number) => readonly RegoFile[];

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Published policies, identified by the schema revision they were compiled from. */
export class PolicyHistory {
	constructor(
		private readonly knex: Knex,
		private readonly writeCompanionFiles: WriteCompanionFiles,
	) {}

	/**
	 * Records a stored policy with its schema, and drops the oldest records beyond the limit. Replaces an existing
	 * record for the same revision if it differs. Throws `not_found`.
	 */
	async remember(
		environmentId: string,
		{ digest, schema_revision, published_at, layout }: NewPolicy,
		schema: Schema,
	): Promise<void> {
		const packed = await compress(JSON.stringify(schema), { level: constants.Z_BEST_SPEED });
		const published = { digest, schema_revision, published_at, layout };
		const row = { ...published, environment_id: environmentId, files: '[]', schema: packed };
		await insertOrNotFound('Environment', environmentId, () =>
			this.knex('policy_revisions')
				.insert(row)
				.onConflict(['environment_id', 'schema_revision'])
				.merge()
				.whereRaw(
					'policy_revisions.digest <> excluded.digest or policy_revisions.schema is distinct from excluded.schema',
				),
		);
		const tooMany = this.#rows(environmentId)
			.orderBy('schema_revision', 'desc')
			.offset(maxRemembered)
			.select('schema_revision');
		await this.#rows(environmentId).whereIn('schema_revision', tooMany).delete();
	}

	/** Returns a page of recorded policies, newest first. */
	async page(environmentId: string, { page, per_page }: Page): Promise<PageResult<LivePolicy>> {
		const [counted] = await this.#rows(environmentId).count<{ total: number }[]>('* as total');
		const total_count = counted?.total ?? 0;
		const data: LivePolicy[] = await this.#rows(environmentId)
			.orderBy('schema_revision', 'desc')
			.offset((page - 1) * per_page)
			.limit(per_page)
			.select('schema_revision', 'digest', 'published_at');
		return { data, total_count, page_count: Math.ceil(total_count / per_page) };
	}

	/** Returns the policy for the newest recorded schema revision up to this revision, or `null` if none is recorded. */
	async at(environmentId: string, revision: number): Promise<PastPolicy | null> {
		const row: Remembered | undefined = await this.#rows(environmentId)
			.where('schema_revision', '<=', revision)
			.join('policies', 'policies.digest', 'policy_revisions.digest')
			.orderBy('schema_revision', 'desc')
			.first(
				'schema_revision',
				'policies.digest',
				'published_at',
				'layout',
				'schema',
				'policies.files as rego',
				'policy_revisions.files as files',
			);
		if (row === undefined) return null;
		const { rego, files, schema, layout, ...published } = row;
		if (schema === null || layout === null) return { ...published, files: [...rego, ...files] };
		const unpacked: Schema = JSON.parse((await decompress(schema)).toString());
		return { ...published, files: [...rego, ...this.writeCompanionFiles(unpacked, layout)] };
	}

	/**
	 * Returns the compiled schema for the newest recorded schema revision up to this revision. Returns `null` if no
	 * revision is recorded, or if its record contains no schema.
	 */
	async compiledAt(environmentId: string, revision: number): Promise<CompiledSchema | null> {
		const row: (Omit<CompiledSchema, 'schema'> & Pick<Remembered, 'schema'>) | undefined = await this.#rows(
			environmentId,
		)
			.where('schema_revision', '<=', revision)
			.orderBy('schema_revision', 'desc')
			.first('schema_revision', 'digest', 'layout', 'schema');
		if (!row?.schema) return null;
		return { ...row, schema: JSON.parse((await decompress(row.schema)).toString()) };
	}

	#rows(environmentId: string): Knex.QueryBuilder {
		return this.knex('policy_revisions').where({ environment_id: environmentId });
	}
}

/** A stored row. A row with a schema has no files; a row from an earlier version has no schema, but all files. */
interface Remembered extends PastPolicy {
	readonly rego: readonly RegoFile[];
	readonly layout: number | null;
	readonly schema: Uint8Array | null;
}
