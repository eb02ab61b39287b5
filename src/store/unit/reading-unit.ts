import type { Knex } from 'knex';
import type { QueryBuilder } from 'objection';
import type { Schema } from '../../../compiler/model.js';
import type { Clock } from '../../clock.js';
import { notFound } from '../../failure.js';
import { asId } from '../../wire/common.js';
import type { Cipher } from '../account/secret.js';
import { AuditLogs } from '../audit-log/audit-logs.js';
import { type Publications, readPublications, schemaInForce } from '../policy/publications.js';
import type { EnvironmentModel, KeyedModel } from '../table/environment-model.js';
import { countersIn, type EnvironmentCounters, tokenAt } from './counters.js';
import { holdsNow } from './holds-now.js';
import { lookUp } from './look-up.js';
import { idsAmong, rowsByReference, whereReferred } from './reference.js';
import { type SchemaChange, schemaChangeAfter } from './schema-change.js';
import { asModel, type TableModel, type Within } from './table-model.js';

/** The environment that a caller's key and path name. Every statement of a unit is bound to it. */
export interface Scope {
	readonly organization_id: string;
	readonly project_id: string;
	readonly environment_id: string;
}

/** How many lineages that have ended are told to decision points. */
const maxFormerLineages = 100;

/** Reads one environment. INVARIANT: no statement leaves a unit without its environment's id. */
export class ReadingUnit {
	readonly #database: Knex;

	constructor(
		readonly scope: Scope,
		database: Knex,
		readonly clock: Clock,
		/** Encrypts what must be shown again and may not be stored in the clear. */
		readonly cipher: Cipher,
		/**
		 * Gives the environment's schema as this unit sees it, from the cache or else by `read`. By default it is read
		 * each time.
		 */
		readonly cachedSchema: (read: () => Promise<Schema>) => Promise<Schema> = (read) => read(),
	) {
		this.#database = database;
	}

	/** What the unit's statements run on. */
	protected get database(): Knex {
		return this.#database;
	}

	/** A query over the environment's rows of a table, but for expired ones, to be narrowed further. */
	query<M extends EnvironmentModel>(table: TableModel<M>): QueryBuilder<M, M[]> {
		const query = this.queryStored(table);
		return table.expires ? query.whereRaw(holdsNow(table.tableName)) : query;
	}

	/** A query over all of the environment's rows of a table, expired ones among them, to be narrowed further. */
	queryStored<M extends EnvironmentModel>(table: TableModel<M>): QueryBuilder<M, M[]> {
		const query = asModel(table)
			.query(this.database)
			.where(`${table.tableName}.environment_id`, this.scope.environment_id);
		// Objection types `query` by the model's own builder type, which our models leave at its default.
		return query as unknown as QueryBuilder<M, M[]>;
	}

	/** The counters of the environment, without what the unit's own transaction has yet to log. Throws `not_found`. */
	async counters(): Promise<EnvironmentCounters> {
		const counters = await countersIn(this.database, this.scope.environment_id);
		if (counters === null) throw notFound('Environment', this.scope.environment_id);
		return counters;
	}

	/** As `tokenAt`, of the environment as this unit sees it. */
	tokenAt(revision: number): Promise<string | null> {
		return tokenAt(this.database, this.scope.environment_id, revision);
	}

	/** The newest lineages that have ended. */
	async formerLineages(): Promise<readonly string[]> {
		const ended = this.database('lineages').whereNotNull('ended_at').orderBy('ended_at', 'desc');
		const rows: readonly { readonly id: string }[] = await ended.limit(maxFormerLineages).select('id');
		return rows.map(({ id }) => id);
	}

	/** The decisions that decision points of the environment have logged. */
	auditLogs(): AuditLogs {
		return new AuditLogs(this.scope, this.database);
	}

	/** The publications of the environment, as this unit sees them. */
	publications(): Promise<Publications> {
		return readPublications(this.database, this.scope.environment_id);
	}

	/** The schema that the policy in force was compiled from; `null` where that is not known. */
	schemaInForce(): Promise<Schema | null> {
		return schemaInForce(this.database, this.scope.environment_id);
	}

	/** The first change of the schema after a revision; `null` when there is none. */
	schemaChangeAfter(revision: number): Promise<SchemaChange | null> {
		return schemaChangeAfter(this.database, this.scope.environment_id, revision);
	}

	/** Runs a statement in SQL, which must narrow by `:environment_id`. Other names are bound from `bindings`. */
	async raw<R>(sql: string, bindings: Readonly<Record<string, Knex.Value>>): Promise<{ readonly rows: readonly R[] }> {
		if (!sql.includes(':environment_id')) throw new Error(`a statement is not bound to its environment: ${sql}`);
		return this.database.raw(sql, { ...bindings, environment_id: this.scope.environment_id });
	}

	/** As `raw`, for a statement of many requests: it stays prepared under this name, which stands for it alone. */
	async prepared<R>(
		name: string,
		sql: string,
		bindings: Readonly<Record<string, Knex.Value>>,
	): Promise<{ readonly rows: readonly R[] }> {
		const bound = { ...bindings, environment_id: this.scope.environment_id };
		return this.database.raw<{ rows: R[] }>(sql, bound).options({ name });
	}

	/**
	 * The row that an id or key names, among those of `within`. Throws `not_found` naming the kind and the reference.
	 */
	async find<M extends KeyedModel>(table: TableModel<M>, reference: string, within: Within = {}): Promise<M> {
		const row = (await this.findMany(table, [reference], within)).get(reference);
		if (row === undefined) throw notFound(table.title, reference);
		return row;
	}

	/** The rows of `within` that the references name, by reference; references that name nothing are absent. */
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

	/** The rows of `within` that the references name, by reference. Throws `not_found` for the first that names nothing. */
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
	 * All rows that the references name: a key that is unique only within a resource may name several. INVARIANT: an id
	 * match wins, as in `findMany`.
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

	/** The keys among these that rows of a table have. */
	async keysTaken<M extends KeyedModel>(table: TableModel<M>, keys: readonly string[]): Promise<ReadonlySet<string>> {
		const rows = await this.query(table).whereRaw('?? = any(?::text[])', [`${table.tableName}.key`, keys]);
		return new Set(rows.map((row) => row.key));
	}

	/** The rows that the references name, each once, however often it is named. Throws as `findAll`. */
	async findEach<M extends KeyedModel>(table: TableModel<M>, references: Iterable<string>): Promise<readonly M[]> {
		const found = await this.findAll(table, references);
		return [...new Map([...found.values()].map((row) => [row.id, row])).values()];
	}
}
