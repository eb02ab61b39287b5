import { type Model, type QueryBuilder, raw } from 'objection';

declare const made: unique symbol;

/**
 * Rows that other rooms may read but not narrow further: `await` reads all of them, `readPage` one page, and `countRows`
 * says how many there are.
 */
export interface RowQuery<R> extends PromiseLike<R[]> {
	/** Exists in the type alone, so that nothing but `rowQuery` makes one. */
	readonly [made]: true;
}

/** For a query, one that finds the same rows of its table without joining others. */
const unjoinedQueries = new WeakMap<object, QueryBuilder<Model, Model[]>>();

/**
 * Hides the methods of a builder. `unjoined` finds the same rows of its table without the joins, where these neither add
 * nor narrow. Then rows are counted, and passed over for later pages, without looking up what they join. The builder
 * has to be ordered by `id`.
 */
export function rowQuery<M extends Model, R>(
	builder: QueryBuilder<M, R[]>,
	unjoined?: QueryBuilder<M, M[]>,
): RowQuery<R> {
	if (unjoined !== undefined) unjoinedQueries.set(builder, unjoined as unknown as QueryBuilder<Model, Model[]>);
	return builder as unknown as RowQuery<R>;
}

/** What to count for a query. */
function asCounted(query: RowQuery<unknown>): QueryBuilder<Model, Model[]> {
	return unjoinedQueries.get(query) ?? asBuilder(query).clone().clearOrder();
}

/** A builder of some of the rows of a query. */
function asSlice(query: RowQuery<unknown>, offset: number, limit: number): QueryBuilder<Model, Model[]> {
	const builder = asBuilder(query).clone();
	const unjoined = unjoinedQueries.get(query);
	if (unjoined === undefined) return builder.offset(offset).limit(limit);
	const id = `${builder.modelClass().tableName}.id`;
	return builder.whereIn(id, unjoined.clone().select(id).orderBy(id).offset(offset).limit(limit));
}

/** INVARIANT: every `RowQuery` is a builder, because `rowQuery` made it of one. */
function asBuilder(query: RowQuery<unknown>): QueryBuilder<Model, Model[]> {
	return query as unknown as QueryBuilder<Model, Model[]>;
}

/** A slice of a list: `page` from 1, `per_page` rows each. */
export interface Page {
	readonly page: number;
	readonly per_page: number;
	/** Whether the size of the whole is wanted; counting it is most of the work of a long list. Wanted, unless given. */
	readonly include_total_count?: boolean;
}

/** One page of rows and the size of the whole, or 0 where that was not wanted. */
export interface PageResult<R> {
	readonly data: readonly R[];
	readonly total_count: number;
	readonly page_count: number;
}

/**
 * Reads one page of a query and counts all its rows, unless the page says not to, in one statement: so rows and count
 * are of the same moment, whoever writes meanwhile.
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
	// Past the end no row carries the count. Then it is at most the offset, whatever was added meanwhile.
	const total_count = found.length > 0 ? takeCount(found) : Math.min(before, before && (await whole.resultSize()));
	return { data: found, total_count, page_count: Math.ceil(total_count / page.per_page) };
}

/** Reads one page of a query without counting. */
export function readRows<R>(query: RowQuery<R>, { page, per_page }: Page): Promise<readonly R[]> {
	return readSlice(query, (page - 1) * per_page, per_page);
}

/** The alias of the count, a name that no table has as a column. */
const counted = 'size_of_whole';

interface Counted {
	[counted]?: number;
}

/** Removes the count from rows that were selected with it, and returns it. */
function takeCount(found: readonly Counted[]): number {
	const [count = 0] = found.map((row) => row[counted]);
	for (const row of found) delete row[counted];
	return count;
}

/** How many rows a query has. */
export function countRows(query: RowQuery<unknown>): Promise<number> {
	return asCounted(query).resultSize();
}

/** One page of two lists that follow each other as one: all rows of the first come before those of the second. */
export interface JoinedPage<A, B> {
	readonly first: readonly A[];
	readonly second: readonly B[];
	readonly total_count: number;
	readonly page_count: number;
}

/** Reads one page of two queries that follow each other, and counts the rows of both. */
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
