import PostgresClient from 'knex/lib/dialects/postgres/index.js';

/** Statement that begins a section of a transaction. The section can be rolled back separately. */
export const savepoint = 'savepoint member';

/** Maximum length of a prepared statement, in characters. Longer statements contain many rows and rarely repeat. */
const maxNamedLength = 2_000;
/** Maximum number of prepared statements per connection. */
const maxNamed = 300;

/**
 * Connections whose savepoint was not sent yet. This is not a class member, because knex creates transaction clients
 * without calling the constructor.
 */
const dueSavepoints = new WeakSet<PostgresClient.Connection>();

/** Prepared statement names keyed by SQL, and the SQL for statements that ran only once so far. */
const names = new Map<string, string>();
const metOnce = new Set<string>();

/**
 * knex's dialect for PostgreSQL servers, tuned for many small transactions: a repeated statement is parsed and planned
 * once per connection, and a savepoint is sent together with the next statement.
 */
export class ServerClient extends PostgresClient {
	/** Server process ids of the open connections. */
	readonly #processes = new Set<number>();

	/**
	 * Returns true if the server process with this id serves a connection in this pool. Must be called on the client
	 * itself, not on a transaction's client.
	 */
	isOwn(processId: number): boolean {
		return this.#processes.has(processId);
	}

	override async acquireRawConnection(): Promise<PostgresClient.Connection> {
		const connection = await super.acquireRawConnection();
		// knex creates transaction clients without calling the constructor, so they lack `#processes`. They open no pool
		// connections.
		const { processID } = connection;
		if (#processes in this && processID !== null) {
			this.#processes.add(processID);
			// Also runs if the server ended the connection. The server may then reuse the id for a different connection.
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
		// Statements outside transactions are rarer and mostly searches, which benefit from planning with the actual
		// values. They are prepared only if they have a name.
		const name = connection.__knexTxId === undefined ? statement.options?.name : preparedName(statement);
		if (name !== undefined) statement.options = { ...statement.options, name };
		const { stream } = connection.connection;
		// Everything written in this tick is sent in a single packet.
		stream.cork();
		process.nextTick(() => stream.uncork());
		// If the savepoint fails, the next statement fails too and reports the failure.
		if (dueSavepoints.delete(connection)) connection.query(savepoint, () => {});
		const answered = super._query(connection, statement);
		return name === undefined ? answered : answered.catch((error: unknown) => rethrow(connection, error));
	}
}

/**
 * Returns true if a statement failed because a newer version, in a different process, has migrated the tables since the
 * statement was prepared. The statement succeeds on connections that prepare it again.
 */
export function isOutdatedPlan(error: Error & { readonly code?: unknown }): boolean {
	return error.code === '0A000' && error.message.includes('cached plan must not change result type');
}

/** Makes knex drop a connection with outdated prepared statements. */
function rethrow(connection: PostgresClient.Connection, error: unknown): never {
	if (error instanceof Error && isOutdatedPlan(error)) connection.__knex__disposed = error;
	throw error;
}

/**
 * Returns the name under which a statement is prepared, or `undefined` if preparing it is not worthwhile. Joins with a
 * limit are never prepared: the server would plan them without their values, and would then scan a table in the
 * requested order instead of using the index for the search.
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
