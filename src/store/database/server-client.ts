import PostgresClient from 'knex/lib/dialects/postgres/index.js';

/** Starts a part of a transaction that can be rolled back by itself. */
export const savepoint = 'savepoint member';

/** The longest statement that is prepared, in characters. Longer ones carry many rows and hardly ever repeat. */
const maxNamedLength = 2_000;
/** The most statements that a connection keeps prepared. */
const maxNamed = 300;

/**
 * Connections with a savepoint that is not sent yet. Not a member of the class, because knex makes clients of
 * transactions without its constructor.
 */
const dueSavepoints = new WeakSet<PostgresClient.Connection>();

/** The names of prepared statements by their text, and the texts that were met only once so far. */
const names = new Map<string, string>();
const metOnce = new Set<string>();

/**
 * knex's dialect for PostgreSQL servers, tuned for many small transactions: a statement that repeats is parsed and
 * planned once for each connection, and a savepoint is sent together with the statement that follows it.
 */
export class ServerClient extends PostgresClient {
	/** The server's processes behind the open connections, by their ids. */
	readonly #processes = new Set<number>();

	/** Whether a process of the server serves a connection of this pool. Ask the client itself, not one of a transaction. */
	isOwn(processId: number): boolean {
		return this.#processes.has(processId);
	}

	override async acquireRawConnection(): Promise<PostgresClient.Connection> {
		const connection = await super.acquireRawConnection();
		// Clients of transactions, which knex makes without this class's constructor, open no connections of the pool.
		const { processID } = connection;
		if (#processes in this && processID !== null) {
			this.#processes.add(processID);
			// Also when the server ended it: it may give the same id to the process of another connection.
			connection.once('end', () => this.#processes.delete(processID));
		}
		return connection;
	}

	protected override async _query<Q extends PostgresClient.Statement>(
		connection: PostgresClient.Connection,
		statement: Q,
	): Promise<Q> {
		if (statement.sql === savepoint) {
			dueSavepoints.add(connection);
			return statement;
		}
		// Statements outside of transactions are rarer and mostly searches, for which planning with the actual values
		// pays. They are prepared only if they bring a name.
		const name = connection.__knexTxId === undefined ? statement.options?.name : preparedName(statement);
		if (name !== undefined) statement.options = { ...statement.options, name };
		const { stream } = connection.connection;
		// Everything that is written in this tick goes out in one packet.
		stream.cork();
		process.nextTick(() => stream.uncork());
		// If this fails, so does the statement after it, and whoever awaits that one hears of it.
		if (dueSavepoints.delete(connection)) connection.query(savepoint, () => {});
		const answered = super._query(connection, statement);
		return name === undefined ? answered : answered.catch((error: unknown) => rethrow(connection, error));
	}
}

/**
 * Whether a statement was prepared before the tables changed: another process, of a newer version, has migrated them
 * meanwhile. Connections that prepare it anew are not affected.
 */
export function isOutdatedPlan(error: Error & { readonly code?: unknown }): boolean {
	return error.code === '0A000' && error.message.includes('cached plan must not change result type');
}

/** Makes knex drop a connection whose prepared statements are outdated. */
function rethrow(connection: PostgresClient.Connection, error: unknown): never {
	if (error instanceof Error && isOutdatedPlan(error)) connection.__knex__disposed = error;
	throw error;
}

/**
 * The name to prepare a statement under; `undefined` for one that is not worth it, and for joins with a limit:
 * prepared, those would be planned without their values, and the server would then walk a table in the requested order
 * instead of using the index of what is looked for.
 */
function preparedName({ sql, bindings = [] }: PostgresClient.Statement): string | undefined {
	if (bindings.length === 0 || sql.length > maxNamedLength) return undefined;
	if (sql.includes(' join ') && sql.includes(' limit ')) return undefined;
	const known = names.get(sql);
	if (known !== undefined || names.size >= maxNamed) return known;
	if (!metOnce.has(sql)) {
		if (metOnce.size >= maxNamed) metOnce.clear();
		metOnce.add(sql);
		return undefined;
	}
	metOnce.delete(sql);
	const name = `regolith_${names.size}`;
	names.set(sql, name);
	return name;
}
