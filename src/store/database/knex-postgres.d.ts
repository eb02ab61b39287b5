/** knex's own dialect for PostgreSQL servers, which it declares no types for. */
declare module 'knex/lib/dialects/postgres/index.js' {
	import { Knex } from 'knex';

	/** The parts that are overridden here. */
	class PostgresClient extends Knex.Client {
		/** Opens a connection of `pg` for the pool. */
		override acquireRawConnection(): Promise<PostgresClient.Connection>;
		/** Sends a statement over a connection of `pg`. Resolves with the same object, its `response` filled. */
		protected _query<Q extends PostgresClient.Statement>(
			connection: PostgresClient.Connection,
			statement: Q,
		): Promise<Q>;
	}
	namespace PostgresClient {
		interface Statement {
			readonly sql: string;
			readonly bindings?: readonly unknown[];
			options?: { readonly name?: string };
			response?: unknown;
		}
		interface Connection {
			/** Set while a transaction of knex has the connection. */
			readonly __knexTxId?: string;
			/** Why the pool shall not hand the connection out any more. */
			__knex__disposed?: Error;
			/** The server's process that serves it; `null` before it is open. */
			readonly processID: number | null;
			query(text: string, done: (error: Error | null) => void): void;
			once(event: 'end', listener: () => void): void;
			readonly connection: { readonly stream: { cork(): void; uncork(): void } };
		}
	}
	export = PostgresClient;
}
