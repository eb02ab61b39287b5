import PostgresClient from 'knex/lib/dialects/postgres/index.js';

/** What begins a part of a transaction that can be undone by itself. */
export const savepoint = 'savepoint member';

/** Longer statements are those of many rows, of which hardly two have the same text. */
const longestNamed = 2_000;
/** How many statements a connection keeps prepared at most. */
const mostNamed = 300;

/**
 * Connections on which a savepoint is due. Not in the class: knex makes clients of transactions without its
 * constructor.
 */
const due = new WeakSet<PostgresClient.Connection>();

/** The names under which statements are prepared, by text, and those that were met only once so far. */
const names = new Map<string, string>();
const metOnce = new Set<string>();

/**
 * knex's dialect for PostgreSQL servers, for many small transactions: what a transaction says again and again is parsed
 * and planned once for each connection, and a savepoint travels with the statement that follows it.
 */
export class ServerClient extends PostgresClient {
	protected override async _query<Q extends PostgresClient.Statement>(
		connection: PostgresClient.Connection,
		statement: Q,
	): Promise<Q> {
		if (statement.sql === savepoint) {
			due.add(connection);
			return statement;
		}
		// Other statements are rarer and more of a search, for which planning by the values asked for pays, but for those
		// that bring a name.
		const name = connection.__knexTxId === undefined ? statement.options?.name : nameOf(statement);
		if (name !== undefined) statement.options = { ...statement.options, name };
		const { stream } = connection.connection;
		// What is said in one breath goes in one packet.
		stream.cork();
		process.nextTick(() => stream.uncork());
		// Whoever waits for the statement hears of it when this fails: then that fails too.
		if (due.delete(connection)) connection.query(savepoint, () => {});
		const answered = super._query(connection, statement);
		return name === undefined ? answered : answered.catch((error: unknown) => outdated(connection, error));
	}
}

/**
 * Whether a statement was prepared before the tables changed: another process, of a newer version, has migrated them
 * meanwhile. Connections that prepare it again are not affected.
 */
export function isOutdatedPlan(error: Error & { readonly code?: unknown }): boolean {
	return error.code === '0A000' && error.message.includes('cached plan must not change result type');
}

/** Has knex throw a connection away whose prepared statements are of no use any more. */
function outdated(connection: PostgresClient.Connection, error: unknown): never {
	if (error instanceof Error && isOutdatedPlan(error)) connection.__knex__disposed = error;
	throw error;
}

/**
 * None for statements that want a few rows of tables that they join: prepared, they would come to be planned for any
 * values, and with those the server walks a table in the order that is asked for rather than go by the index of what
 * is looked for.
 */
function nameOf({ sql, bindings = [] }: PostgresClient.Statement): string | undefined {
	if (bindings.length === 0 || sql.length > longestNamed) return undefined;
	if (sql.includes(' join ') && sql.includes(' limit ')) return undefined;
	const known = names.get(sql);
	if (known !== undefined || names.size >= mostNamed) return known;
	if (!metOnce.has(sql)) {
		if (metOnce.size >= mostNamed) metOnce.clear();
		metOnce.add(sql);
		return undefined;
	}
	metOnce.delete(sql);
	const name = `regolith_${names.size}`;
	names.set(sql, name);
	return name;
}
