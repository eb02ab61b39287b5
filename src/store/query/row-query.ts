import { type Model, type QueryBuilder, raw } from 'objection';

type Builder = QueryBuilder<Model, Model[]>;

/** A page of a list. `page` begins at 1, and each page has `per_page` rows. */
export interface Page {
	readonly page: number;
	readonly per_page: number;
}

/** A page of rows, with the total number of rows. */
export interface PageResult<R, Count = number> {
	readonly data: readonly R[];
	readonly total_count: Count;
	readonly page_count: Count;
}

/** A page of rows. The counts are `null` if nothing was counted. */
export type ListResult<R> = PageResult<R> | PageResult<R, null>;

/**
 * Rows that code outside the store can read and count, but not filter. A statement runs only when a method is called.
 */
export class RowQuery<R> {
	readonly #builder: Builder;
	/** Finds the same rows without joins. */
	readonly #unjoined: Builder | undefined;

	constructor(builder: Builder, unjoined: Builder | undefined) {
		this.#builder = builder;
		this.#unjoined = unjoined;
	}

	all(): Promise<R[]> {
		return this.#builder.clone().castTo<(R & Model)[]>().execute();
	}

	count(): Promise<number> {
		return this.#counted().resultSize();
	}

	/** Reads a page without counting. */
	slice({ page, per_page }: Page): Promise<R[]> {
		return this.between((page - 1) * per_page, per_page);
	}

	/** Reads a page and counts all rows. Uses a single statement, so rows and count are consistent. */
	async page({ page, per_page }: Page): Promise<PageResult<R>> {
		const whole = this.#counted();
		const before = (page - 1) * per_page;
		const paged = this.#slice(before, per_page);
		if (!paged.hasSelects()) paged.select(`${paged.tableRefFor(paged.modelClass())}.*`);
		const found = await paged
			.select(raw('(select count(*) from ? as whole)', whole).as(counted))
			.castTo<(R & Model & Counted)[]>();
		// A page past the end contains no row with the count, so the rows are counted separately. Rows added in the meantime
		// must not make the count exceed the offset.
		const total_count = found.length > 0 ? takeCount(found) : Math.min(before, before && (await whole.resultSize()));
		return { data: found, total_count, page_count: Math.ceil(total_count / per_page) };
	}

	/** Reads a page. Counts only on request, because counting dominates the cost for a long list. */
	async list(page: Page & { readonly include_total_count: boolean }): Promise<ListResult<R>> {
		if (page.include_total_count) return this.page(page);
		return { data: await this.slice(page), total_count: null, page_count: null };
	}

	/** Reads `limit` rows after the first `offset` rows. */
	between(offset: number, limit: number): Promise<R[]> {
		return this.#slice(offset, limit).castTo<(R & Model)[]>().execute();
	}

	/** Returns the query whose rows are counted. */
	#counted(): Builder {
		return this.#unjoined ?? this.#builder.clone().clearOrder();
	}

	#slice(offset: number, limit: number): Builder {
		const builder = this.#builder.clone();
		if (this.#unjoined === undefined) return builder.offset(offset).limit(limit);
		const id = `${builder.modelClass().tableName}.id`;
		return builder.whereIn(id, this.#unjoined.clone().select(id).orderBy(id).offset(offset).limit(limit));
	}
}

/**
 * Hides a builder's methods. `unjoined` finds the same rows without joins and makes counting and skipping rows cheaper.
 * It requires joins that neither add nor filter rows, and a builder ordered by `id`.
 */
export function rowQuery<M extends Model, R>(
	builder: QueryBuilder<M, R[]>,
	unjoined?: QueryBuilder<M, M[]>,
): RowQuery<R> {
	return new RowQuery(builder as unknown as Builder, unjoined as unknown as Builder | undefined);
}

/** Alias for the count column. No table has a column with this name. */
const counted = 'size_of_whole';

interface Counted {
	[counted]?: number;
}

/** Removes the count from the rows, and returns it. */
function takeCount(found: readonly Counted[]): number {
	const [count = 0] = found.map((row) => row[counted]);
	for (const row of found) delete row[counted];
	return count;
}

/** A page of two concatenated lists. */
export interface JoinedPage<A, B> {
	readonly first: readonly A[];
	readonly second: readonly B[];
	readonly total_count: number;
	readonly page_count: number;
}

/** Reads a page from two concatenated queries, and counts the rows in both. */
export async function readJoinedPage<A, B>(
	first: RowQuery<A>,
	second: RowQuery<B>,
	{ page, per_page }: Page,
): Promise<JoinedPage<A, B>> {
	const [ahead, behind] = [await first.count(), await second.count()];
	const before = (page - 1) * per_page;
	const some = before < ahead ? await first.between(before, per_page) : [];
	const left = per_page - some.length;
	const from = Math.max(0, before - ahead);
	const others = left > 0 && from < behind ? await second.between(from, left) : [];
	const total_count = ahead + behind;
	return { first: some, second: others, total_count, page_count: Math.ceil(total_count / per_page) };
}
