import type { Knex } from 'knex';
import type { RegoFile } from '../../compiler/model.js';
import type { Page, PageOf } from './filter.js';
import type { LivePolicy } from './policy.js';
import { referring } from './referring.js';

/** How many policies of an environment are remembered: those of its newest schema revisions that were published. */
export const mostRemembered = 1_000;

/** A policy that was published, with all its files. */
export interface PastPolicy extends LivePolicy {
	/** The Rego, and what was made beside it of the same schema; in no order. */
	readonly files: readonly RegoFile[];
}

/** Which policies were published, by the schema revision that each was compiled from. */
export class PolicyHistory {
	constructor(private readonly knex: Knex) {}

	/**
	 * Remembers a policy that is on the shelf, with the files beside it, and forgets one that is too many. What is
	 * remembered of that revision already is replaced, if it is another. Throws `not_found`.
	 */
	async remember(environmentId: string, published: LivePolicy, beside: readonly RegoFile[]): Promise<void> {
		const row = { ...published, environment_id: environmentId, files: JSON.stringify(beside) };
		await referring('Environment', environmentId, () =>
			this.knex('policy_revisions')
				.insert(row)
				.onConflict(['environment_id', 'schema_revision'])
				.merge()
				.whereRaw('policy_revisions.digest <> excluded.digest or policy_revisions.files <> excluded.files'),
		);
		const tooMany = this.#rows(environmentId)
			.orderBy('schema_revision', 'desc')
			.offset(mostRemembered)
			.select('schema_revision');
		await this.#rows(environmentId).whereIn('schema_revision', tooMany).delete();
	}

	/** One page of what is remembered, the newest first. */
	async page(environmentId: string, { page, per_page }: Page): Promise<PageOf<LivePolicy>> {
		const [counted] = await this.#rows(environmentId).count<{ total: number }[]>('* as total');
		const total_count = counted?.total ?? 0;
		const data: LivePolicy[] = await this.#rows(environmentId)
			.orderBy('schema_revision', 'desc')
			.offset((page - 1) * per_page)
			.limit(per_page)
			.select('schema_revision', 'digest', 'published_at');
		return { data, total_count, page_count: Math.ceil(total_count / per_page) };
	}

	/** The policy of the newest schema revision that is not after this revision; `null` when none is remembered. */
	async at(environmentId: string, revision: number): Promise<PastPolicy | null> {
		const row: (PastPolicy & { readonly rego: readonly RegoFile[] }) | undefined = await this.#rows(environmentId)
			.where('schema_revision', '<=', revision)
			.join('policies', 'policies.digest', 'policy_revisions.digest')
			.orderBy('schema_revision', 'desc')
			.first(
				'schema_revision',
				'policies.digest',
				'published_at',
				'policies.files as rego',
				'policy_revisions.files as files',
			);
		if (row === undefined) return null;
		const { rego, files, ...published } = row;
		return { ...published, files: [...rego, ...files] };
	}

	#rows(environmentId: string): Knex.QueryBuilder {
		return this.knex('policy_revisions').where({ environment_id: environmentId });
	}
}
