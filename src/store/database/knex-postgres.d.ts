/** knex's dialect for PostgreSQL servers, which has no published types. */
declare module 'knex/lib/dialects/postgres/index.js' {
	import { Knex } from 'knex';

	/** Members overridden by Regolith. */
	class PostgresClient extends Knex.Client {
		/** Opens a `pg` connection for the pool. */
		override acquireRawConnection(): Promise<PostgresClient.Connection>;
		/** Sends a statement over a `pg` connection. Resolves with the same object, with `response` set. */
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
			/** Set while a knex transaction uses the connection. */
			readonly __knexTxId?: string;
			/** Reason why the pool must not reuse the connection. */
			__knex__disposed?: Error;
			/** Server process of the connection; `null` before it is open. */
			readonly processID: number | null;
			query(text: string, done: (error: Error | null) => void): void;
			once(event: 'end', listener: () => void): void;
			readonly connection: { readonly stream: { cork(): void; uncork(): void } };
		}
	}
	export = PostgresClient;
}
