import type { Knex } from 'knex';
import type { QueryBuilder } from 'objection';
import type { Schema } from '../../../compiler/model.js';
import type { Clock } from '../../clock.js';
import { notFound } from '../../failure.js';
import { asId } from '../../wire/common.js';
import type { Cipher } from '../account/secret.js';
import { AuditLogs } from '../audit-log/audit-logs.js';
import { type Publications, readPublications, schemaInForce } from '../policy/publications.js';
import { holdsNow } from '../query/holds-now.js';
import { idsAmong, rowsByReference, whereReferred } from '../query/reference.js';
import type { EnvironmentModel, KeyedModel } from '../table/environment-model.js';
import { countersIn, type EnvironmentCounters, tokenAt } from './counters.js';
import { lookUp } from './look-up.js';
import { type SchemaChange, schemaChangeAfter } from './schema-change.js';
import { asModel, type TableModel, type Within } from './table-model.js';

/** Ids of the environment to which all statements in a unit are bound. */
export interface Scope {
	readonly organization_id: string;
	readonly project_id: string;
	readonly environment_id: string;
}

/** Maximum number of ended lineages sent to decision points. */
const maxFormerLineages = 100;

/** Reads an environment. INVARIANT: every statement in a unit is bound to the unit's environment id. */
export class ReadingUnit {
	readonly #database: Knex;

	constructor(
		readonly scope: Scope,
		database: Knex,
		readonly clock: Clock,
		/** Encrypts secrets that the API must be able to return later. */
		readonly cipher: Cipher,
		/**
		 * Returns the environment's schema as seen by this unit, from a cache or from `read`. By default, calls `read`
		 * each time.
		 */
		readonly cachedSchema: (read: () => Promise<Schema>) => Promise<Schema> = (read) => read(),
	) {
		this.#database = database;
	}

	/** Connection or transaction for the unit's statements. */
	protected get database(): Knex {
		return this.#database;
	}

	/** Returns a query over the environment's rows in a table, without expired and hidden rows. */
	query<M extends EnvironmentModel>(table: TableModel<M>): QueryBuilder<M, M[]> {
		const query = this.queryStored(table);
		if (table.expires) query.whereRaw(holdsNow(table.tableName));
		return table.shown === undefined ? query : query.whereRaw(table.shown);
	}

	/** Returns a query over all the environment's rows in a table, including expired and hidden rows. */
	queryStored<M extends EnvironmentModel>(table: TableModel<M>): QueryBuilder<M, M[]> {
		const query = asModel(table)
			.query(this.database)
			.where(`${table.tableName}.environment_id`, this.scope.environment_id);
		// Objection gives `query` the builder type declared by the model. Our models use the default type.
		return query as unknown as QueryBuilder<M, M[]>;
	}

	/** True if the environment has no row in a table, not even an expired or hidden row. */
	async isEmpty<M extends EnvironmentModel>(table: TableModel<M>): Promise<boolean> {
		return (await this.queryStored(table).select(`${table.tableName}.environment_id`).limit(1)).length === 0;
	}

	/**
	 * Returns the environment's counters. They do not include changes by this transaction that are not logged yet.
	 * Throws `not_found`.
	 */
	async counters(): Promise<EnvironmentCounters> {
		const counters = await countersIn(this.database, this.scope.environment_id);
		if (counters === null) throw notFound('Environment', this.scope.environment_id);
		return counters;
	}

	/** See `tokenAt`. Reads the environment as seen by this unit. */
	tokenAt(revision: number): Promise<string | null> {
		return tokenAt(this.database, this.scope.environment_id, revision);
	}

	/** Returns the newest ended lineages. */
	async formerLineages(): Promise<readonly string[]> {
		const ended = this.database('lineages').whereNotNull('ended_at').orderBy('ended_at', 'desc');
		const rows: readonly { readonly id: string }[] = await ended.limit(maxFormerLineages).select('id');
		return rows.map(({ id }) => id);
	}

	/** Decisions logged by the environment's decision points. */
	auditLogs(): AuditLogs {
		return new AuditLogs(this.scope, this.database);
	}

	/** Returns the environment's publications as seen by this unit. */
	publications(): Promise<Publications> {
		return readPublications(this.database, this.scope.environment_id);
	}

	/** Returns the active policy's schema, or `null` if it is unknown. */
	schemaInForce(): Promise<Schema | null> {
		return schemaInForce(this.database, this.scope.environment_id);
	}

	/** Returns the first schema change after a revision, or `null` if there is none. */
	schemaChangeAfter(revision: number): Promise<SchemaChange | null> {
		return schemaChangeAfter(this.database, this.scope.environment_id, revision);
	}

	/** Runs an SQL statement, which must filter by `:environment_id`. All other names are bound from `bindings`. */
	async raw<R>(sql: string, bindings: Readonly<Record<string, Knex.Value>>): Promise<{ readonly rows: readonly R[] }> {
		if (!sql.includes(':environment_id')) throw new Error(`a statement is not bound to its environment: ${sql}`);
		return this.database.raw(sql, { ...bindings, environment_id: this.scope.environment_id });
	}

	/** Like `raw`, for frequent statements. Prepares the statement under this name, which no other statement may use. */
	async prepared<R>(
		name: string,
		sql: string,
		bindings: Readonly<Record<string, Knex.Value>>,
	): Promise<{ readonly rows: readonly R[] }> {
		const bound = { ...bindings, environment_id: this.scope.environment_id };
		return this.database.raw<{ rows: R[] }>(sql, bound).options({ name });
	}

	/** Returns the row in `within` with this id or key. Throws `not_found` with the kind and the reference. */
	async find<M extends KeyedModel>(table: TableModel<M>, reference: string, within: Within = {}): Promise<M> {
		const row = (await this.findMany(table, [reference], within)).get(reference);
		if (row === undefined) throw notFound(table.title, reference);
		return row;
	}

	/** Returns rows in `within`, keyed by reference, omitting unknown references. */
	async findMany<M extends KeyedModel>(
		table: TableModel<M>,
		references: Iterable<string>,
		within: Within = {},
	): Promise<ReadonlyMap<string, M>> {
		const wanted = [...new Set(references)];
		if (wanted.length === 0) return new Map();
		const ids = idsAmong(wanted);
		const bindings = [this.scope.environment_id, wanted, ...(ids.length === 0 ? [] : [ids])];
		const narrowed = Object.values(within).filter((value) => value !== null);
		const { name, sql } = lookUp(table, within, ids.length > 0);
		const { rows } = await this.database.raw<{ rows: object[] }>(sql, [...bindings, ...narrowed]).options({ name });
		return rowsByReference(
			rows.map((row) => asModel(table).fromDatabaseJson(row)),
			wanted,
		);
	}

	/** Returns rows in `within`, keyed by reference. Throws `not_found` for the first unknown reference. */
	async findAll<M extends KeyedModel>(
		table: TableModel<M>,
		references: Iterable<string>,
		within: Within = {},
	): Promise<ReadonlyMap<string, M>> {
		const wanted = [...new Set(references)];
		const found = await this.findMany(table, wanted, within);
		const missing = wanted.find((reference) => !found.has(reference));
		if (missing !== undefined) throw notFound(table.title, missing);
		return found;
	}

	/**
	 * Returns all rows that the references match. A key that is unique only within a resource may name several rows.
	 * INVARIANT: if a reference matches both an id and a key, the id match is used, as in `findMany`.
	 */
	async findNamed<M extends KeyedModel>(table: TableModel<M>, references: Iterable<string>): Promise<readonly M[]> {
		const wanted = [...new Set(references)];
		if (wanted.length === 0) return [];
		const rows = await whereReferred(this.query(table), table.tableName, wanted);
		const found = new Set(rows.map(({ id }) => id));
		const ids = new Set(idsAmong(wanted).filter((id) => found.has(id)));
		const keys = new Set(wanted.filter((reference) => !ids.has(asId(reference) ?? '')));
		return rows.filter(({ id, key }) => ids.has(id) || keys.has(key));
	}

	/** Returns the keys that existing rows already use. */
	async keysTaken<M extends KeyedModel>(table: TableModel<M>, keys: readonly string[]): Promise<ReadonlySet<string>> {
		const rows = await this.query(table).whereRaw('?? = any(?::text[])', [`${table.tableName}.key`, keys]);
		return new Set(rows.map((row) => row.key));
	}

	/** Returns the rows that the references match, each row once. Throws like `findAll`. */
	async findEach<M extends KeyedModel>(table: TableModel<M>, references: Iterable<string>): Promise<readonly M[]> {
		const found = await this.findAll(table, references);
		return [...new Map([...found.values()].map((row) => [row.id, row])).values()];
	}
}
