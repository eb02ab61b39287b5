import { type Model, type QueryBuilder, raw } from 'objection';

declare const made: unique symbol;

/**
 * Rows that code outside the store can read but not filter: `await` reads all rows, `readPage` reads a page, and
 * `countRows` counts the rows.
 */
export interface RowQuery<R> extends PromiseLike<R[]> {
	/** Member that exists only in the type, so only `rowQuery` can create a value. */
	readonly [made]: true;
}

/** For each query, an equivalent query that finds the same rows without joins. */
const unjoinedQueries = new WeakMap<object, QueryBuilder<Model, Model[]>>();

/**
 * Hides a builder's methods. `unjoined` finds the same rows without joins and makes counting and skipping rows cheaper.
 * It requires joins that neither add nor filter rows, and a builder ordered by `id`.
 */
export function rowQuery<M extends Model, R>(
	builder: QueryBuilder<M, R[]>,
	unjoined?: QueryBuilder<M, M[]>,
): RowQuery<R> {
	if (unjoined !== undefined) unjoinedQueries.set(builder, unjoined as unknown as QueryBuilder<Model, Model[]>);
	return builder as unknown as RowQuery<R>;
}

/** Returns the query whose rows are counted. */
function asCounted(query: RowQuery<unknown>): QueryBuilder<Model, Model[]> {
	return unjoinedQueries.get(query) ?? asBuilder(query).clone().clearOrder();
}

/** Returns a builder for a slice of the rows. */
function asSlice(query: RowQuery<unknown>, offset: number, limit: number): QueryBuilder<Model, Model[]> {
	const builder = asBuilder(query).clone();
	const unjoined = unjoinedQueries.get(query);
	if (unjoined === undefined) return builder.offset(offset).limit(limit);
	const id = `${builder.modelClass().tableName}.id`;
	return builder.whereIn(id, unjoined.clone().select(id).orderBy(id).offset(offset).limit(limit));
}

/** INVARIANT: every `RowQuery` is a builder created by `rowQuery`. */
function asBuilder(query: RowQuery<unknown>): QueryBuilder<Model, Model[]> {
	return query as unknown as QueryBuilder<Model, Model[]>;
}

/** A page of a list. `page` begins at 1, and each page has `per_page` rows. */
export interface Page {
	readonly page: number;
	readonly per_page: number;
	/** True (the default) to count the whole list. Counting dominates the cost for a long list. */
	readonly include_total_count?: boolean;
}

/** A page of rows. The total is the whole list's size, or 0 if the list was not counted. */
export interface PageResult<R> {
	readonly data: readonly R[];
	readonly total_count: number;
	readonly page_count: number;
}

/**
 * Reads a page of a query and counts all its rows, unless the page excludes the count. Uses a single statement, so rows
 * and count are consistent.
 */
export async function readPage<R extends object>(query: RowQuery<R>, page: Page): Promise<PageResult<R>> {
	if (page.include_total_count === false) return { data: await readRows(query, page), total_count: 0, page_count: 0 };
	const whole = asCounted(query);
	const before = (page.page - 1) * page.per_page;
	const paged = asSlice(query, before, page.per_page);
	if (!paged.hasSelects()) paged.select(`${paged.tableRefFor(paged.modelClass())}.*`);
	const found = await paged
		.select(raw('(select count(*) from ? as whole)', whole).as(counted))
		.castTo<(R & Counted)[]>();
	// A page past the end contains no row with the count, so the rows are counted separately. Rows added in the meantime
	// must not make the count exceed the offset.
	const total_count = found.length > 0 ? takeCount(found) : Math.min(before, before && (await whole.resultSize()));
	return { data: found, total_count, page_count: Math.ceil(total_count / page.per_page) };
}

/** Reads a page of a query without counting. */
export function readRows<R>(query: RowQuery<R>, { page, per_page }: Page): Promise<readonly R[]> {
	return readSlice(query, (page - 1) * per_page, per_page);
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

/** Counts a query's rows. */
export function countRows(query: RowQuery<unknown>): Promise<number> {
	return asCounted(query).resultSize();
}

/** A page of two concatenated lists. */
export interface JoinedPage<A, B> {
	readonly first: readonly A[];
	readonly second: readonly B[];
	readonly total_count: number;
	readonly page_count: number;
}

/** Reads a page from two concatenated queries, and counts the rows in both. */
export async function readJoinedPage<A extends object, B extends object>(
	first: RowQuery<A>,
	second: RowQuery<B>,
	{ page, per_page }: Page,
): Promise<JoinedPage<A, B>> {
	const [ahead, behind] = [await countRows(first), await countRows(second)];
	const before = (page - 1) * per_page;
	const some = before < ahead ? await readSlice(first, before, per_page) : [];
	const left = per_page - some.length;
	const from = Math.max(0, before - ahead);
	const others = left > 0 && from < behind ? await readSlice(second, from, left) : [];
	const total_count = ahead + behind;
	return { first: some, second: others, total_count, page_count: Math.ceil(total_count / per_page) };
}

async function readSlice<R>(query: RowQuery<R>, offset: number, limit: number): Promise<readonly R[]> {
	return asSlice(query, offset, limit).castTo<(R & Model)[]>();
}
