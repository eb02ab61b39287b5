import { isDeepStrictEqual } from 'node:util';
import type { Knex } from 'knex';
import { type ModelClass, type PartialModelObject, type QueryBuilder, UniqueViolationError } from 'objection';
import type { Schema } from '../../compiler/model.js';
import type { Clock } from '../clock.js';
import { duplicate, notFound } from '../failure.js';
import { asId } from '../wire/common.js';
import { advance } from './advance.js';
import { type Change, type ChangedRecord, type ChangeKind, netChanges } from './change.js';
import { type Publications, publicationsOf, schemaInForce } from './policy.js';
import { idsAmong, pairUp, whereReferred } from './ref.js';
import { type SchemaChange, schemaChangeAfter } from './schema-change.js';
import type { Cipher } from './secret.js';
import type { EnvironmentModel, KeyedModel } from './table/environment-model.js';

/**
 * Rows of one statement: far below PostgreSQL's 65,535 parameters for our widest table, and few enough that what is
 * done with them at a stretch, in JavaScript or in the embedded database, keeps nobody waiting for long.
 */
export const rowsAtOnce = 500;

/** Rows inserted by one unit that make it worth while to count them: more than any bulk call has. */
const leastCounted = 10_000;

/** The environment that a caller's key and path name. Every statement of a unit is bound to it. */
export interface Scope {
	readonly organization_id: string;
	readonly project_id: string;
	readonly environment_id: string;
}

/** A table of environments' objects: an objection model that says what its rows are called in changes and messages. */
export interface Table<M extends EnvironmentModel> {
	new (): M;
	readonly tableName: string;
	readonly kind: ChangeKind;
	readonly title: string;
}

/** Objection finds a model's row type through a type that TypeScript cannot infer it back from. */
function asModel<M extends EnvironmentModel>(table: Table<M>): ModelClass<M> {
	return table as unknown as ModelClass<M>;
}

/** The columns of one row as a writer gives them; the unit adds `environment_id`. */
export type Columns<M extends EnvironmentModel> = Omit<PartialModelObject<M>, 'environment_id' | 'QueryBuilderType'>;

/** What rows must have in common to be named by one key, as the actions of one resource: columns and their values. */
export type Within = Readonly<Record<string, string | boolean | null>>;

/** A row and the columns that shall become other ones. */
export interface RowChange<M extends EnvironmentModel> {
	readonly row: M;
	readonly columns: Columns<M>;
}

/** Reads one environment. INVARIANT: no statement leaves a unit without its environment's id. */
export class ReadingUnit {
	readonly #database: Knex;

	constructor(
		readonly scope: Scope,
		database: Knex,
		readonly clock: Clock,
		/** Seals what must be shown again and may not lie in the store in the clear. */
		readonly cipher: Cipher,
	) {
		this.#database = database;
	}

	/** What the unit's statements run on. */
	protected get database(): Knex {
		return this.#database;
	}

	/** A query over the environment's rows of a table, to be narrowed further. */
	query<M extends EnvironmentModel>(table: Table<M>): QueryBuilder<M, M[]> {
		const query = asModel(table)
			.query(this.database)
			.where(`${table.tableName}.environment_id`, this.scope.environment_id);
		// Objection types `query` by the model's own builder type, which our models leave at its default.
		return query as unknown as QueryBuilder<M, M[]>;
	}

	/** What became of the environment's schema, as this unit sees it. */
	publications(): Promise<Publications> {
		return publicationsOf(this.database, this.scope.environment_id);
	}

	/** The schema that the policy in force was compiled from; `null` where that is not known. */
	schemaInForce(): Promise<Schema | null> {
		return schemaInForce(this.database, this.scope.environment_id);
	}

	/** The first change of the schema after a revision; `null` when there is none. */
	schemaChangeAfter(revision: number): Promise<SchemaChange | null> {
		return schemaChangeAfter(this.database, this.scope.environment_id, revision);
	}

	/** Rows of a statement in SQL, which must narrow by `:environment_id`; other names are bound from `bindings`. */
	async raw<R>(sql: string, bindings: Readonly<Record<string, Knex.Value>>): Promise<{ readonly rows: readonly R[] }> {
		if (!sql.includes(':environment_id')) throw new Error(`a statement is not bound to its environment: ${sql}`);
		return this.database.raw(sql, { ...bindings, environment_id: this.scope.environment_id });
	}

	/**
	 * The row that an id or key names, among those of `within`. Throws `not_found` naming the kind and the reference.
	 */
	async find<M extends KeyedModel>(table: Table<M>, reference: string, within: Within = {}): Promise<M> {
		const row = (await this.findMany(table, [reference], within)).get(reference);
		if (row === undefined) throw notFound(table.title, reference);
		return row;
	}

	/** The rows of `within` that the references name, by reference; references that name nothing are absent. */
	async findMany<M extends KeyedModel>(
		table: Table<M>,
		references: Iterable<string>,
		within: Within = {},
	): Promise<ReadonlyMap<string, M>> {
		const wanted = [...new Set(references)];
		if (wanted.length === 0) return new Map();
		const query = this.query(table);
		for (const [column, value] of Object.entries(within)) query.where(`${table.tableName}.${column}`, value);
		return pairUp(await whereReferred(query, table.tableName, wanted), wanted);
	}

	/** The rows of `within` that the references name, by reference. Throws `not_found` for the first that names nothing. */
	async findAll<M extends KeyedModel>(
		table: Table<M>,
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
	 * All rows that the references name: a key that every resource may have once names several. INVARIANT: an id match
	 * wins, as in `findMany`.
	 */
	async findNamed<M extends KeyedModel>(table: Table<M>, references: Iterable<string>): Promise<readonly M[]> {
		const wanted = [...new Set(references)];
		if (wanted.length === 0) return [];
		const rows = await whereReferred(this.query(table), table.tableName, wanted);
		const found = new Set(rows.map(({ id }) => id));
		const ids = new Set(idsAmong(wanted).filter((id) => found.has(id)));
		const keys = new Set(wanted.filter((reference) => !ids.has(asId(reference) ?? '')));
		return rows.filter(({ id, key }) => ids.has(id) || keys.has(key));
	}

	/** Those of the keys that rows of a table have. */
	async keysTaken<M extends KeyedModel>(table: Table<M>, keys: readonly string[]): Promise<ReadonlySet<string>> {
		const rows = await this.query(table).whereRaw('?? = any(?::text[])', [`${table.tableName}.key`, keys]);
		return new Set(rows.map((row) => row.key));
	}

	/** The rows that the references name, each once, however often it is named. Throws as `findAll`. */
	async findEach<M extends KeyedModel>(table: Table<M>, references: Iterable<string>): Promise<readonly M[]> {
		const found = await this.findAll(table, references);
		return [...new Map([...found.values()].map((row) => [row.id, row])).values()];
	}
}

/**
 * Writes one environment, inside one transaction that holds the environment's lock: so writers of one environment
 * follow each other, and what a unit has read stays true until it commits.
 */
export class WritingUnit extends ReadingUnit {
	readonly #changes: Change[] = [];
	/** How many rows were inserted into each table, and how many of them when it was analyzed last. */
	readonly #inserted = new Map<string, { rows: number; analyzed: number }>();
	#abandoned = false;
	#closed = false;

	constructor(
		scope: Scope,
		database: Knex.Transaction,
		clock: Clock,
		cipher: Cipher,
		/** The API key that writes; `null` for the server itself. */
		readonly actorId: string | null,
		/** The instant every row of this unit is stamped with. */
		readonly now: Date,
	) {
		super(scope, database, clock, cipher);
	}

	/** What this unit has changed so far, each object once. */
	get changes(): readonly Change[] {
		return netChanges(this.#changes);
	}

	/** Whether nothing of this unit shall stay. */
	get abandoned(): boolean {
		return this.#abandoned;
	}

	/** Gives up what this unit has done: it ends as others do, and then everything is as it was before. */
	abandon(): void {
		this.#abandoned = true;
	}

	/** Inserts one row and records its creation. Throws `duplicate` when its key is taken. */
	async create<M extends KeyedModel>(table: Table<M>, columns: Columns<M>, key: string): Promise<M> {
		const [row] = await this.createMany(table, [columns], () => key);
		if (row === undefined) throw new Error(`inserting into ${table.tableName} returned no row`);
		return row;
	}

	/** Inserts rows and records their creations; ids and times are added. `keyOf` names a row for the change log. */
	async createMany<M extends KeyedModel>(
		table: Table<M>,
		rows: readonly Columns<M>[],
		keyOf: (row: M) => string,
	): Promise<readonly M[]> {
		const created: M[] = [];
		for (const [, chunk] of chunksOf(rows)) {
			const stamped = chunk.map((columns) => ({ ...columns, ...this.stamp() }));
			const inserted = await this.insert(table, stamped, (columns) => String((columns as { key?: unknown }).key));
			for (const row of inserted) this.record(table.kind, 'create', keyOf(row), null, recordOf(row));
			created.push(...inserted);
		}
		return created;
	}

	/** The id and times of a new row. */
	stamp(): { readonly id: string; readonly created_at: Date; readonly updated_at: Date } {
		return { id: this.clock.newId(), created_at: this.now, updated_at: this.now };
	}

	/** Inserts the rows that no other row stands in the way of, recording nothing. Returns those. */
	async insertMissing<M extends EnvironmentModel>(table: Table<M>, rows: readonly Columns<M>[]): Promise<readonly M[]> {
		const inserted: M[] = [];
		for (const [, chunk] of chunksOf(rows)) {
			const bound = chunk.map((columns) => ({ ...columns, environment_id: this.scope.environment_id }));
			// Not through the model, which returns what it was given, also rows that were left out.
			const kept = await this.database(table.tableName).insert(bound).onConflict().ignore().returning('*');
			inserted.push(...kept.map((row) => asModel(table).fromDatabaseJson(row)));
			await this.#count(table, kept.length);
		}
		return inserted;
	}

	/** Inserts rows as they are, recording nothing. Throws `duplicate`, naming the first row when there are several. */
	async insert<M extends EnvironmentModel>(
		table: Table<M>,
		rows: readonly Columns<M>[],
		keyOf: (columns: Columns<M>) => string,
	): Promise<readonly M[]> {
		const inserted: M[] = [];
		for (const [, chunk] of chunksOf(rows)) {
			try {
				inserted.push(...(await this.#inserting(table, chunk)));
				await this.#count(table, chunk.length);
			} catch (error) {
				const [first] = chunk;
				if (error instanceof UniqueViolationError && first !== undefined) throw duplicate(table.kind, keyOf(first));
				throw error;
			}
		}
		return inserted;
	}

	/**
	 * Nobody else counts rows that are not committed: so a unit that inserts very many has them counted, each time that
	 * there are twice as many. A table that somebody else is counting is skipped.
	 */
	async #count<M extends EnvironmentModel>({ tableName }: Table<M>, rows: number): Promise<void> {
		const counted = this.#inserted.get(tableName) ?? { rows: 0, analyzed: leastCounted / 2 };
		this.#inserted.set(tableName, counted);
		counted.rows += rows;
		if (counted.rows < 2 * counted.analyzed) return;
		counted.analyzed = counted.rows;
		await this.database.raw('analyze (skip_locked) ??', [tableName]);
	}

	#inserting<M extends EnvironmentModel>(table: Table<M>, rows: readonly Columns<M>[]): QueryBuilder<M, M[]> {
		const bound = rows.map((columns) => ({ ...columns, environment_id: this.scope.environment_id }));
		const query = asModel(table)
			.query(this.database)
			// The environment's id completes `Columns` to what the model's table takes.
			.insert(bound as unknown as PartialModelObject<M>[])
			.returning('*');
		// Objection types `query` by the model's own builder type, which our models leave at its default.
		return query as unknown as QueryBuilder<M, M[]>;
	}

	/**
	 * Changes columns of one row and records it; `updated_at` moves. Columns that already are so change nothing and
	 * leave no record. Returns the row as it is now.
	 */
	async update<M extends KeyedModel>(table: Table<M>, row: M, columns: Columns<M>, key: string): Promise<M> {
		if (holds(row, columns)) return row;
		const after = await this.change(table, row, columns);
		this.record(table.kind, 'update', key, recordOf(row), recordOf(after));
		return after;
	}

	/** Changes columns of one row, recording nothing; `updated_at` moves. Returns the row as it is now. */
	async change<M extends KeyedModel>(table: Table<M>, row: M, columns: Columns<M>): Promise<M> {
		const patch = { ...columns, updated_at: this.now } as unknown as PartialModelObject<M>;
		const [after] = await this.query(table).where(`${table.tableName}.id`, row.id).patch(patch).returning('*');
		if (after === undefined) throw notFound(table.title, row.key);
		return after as unknown as M;
	}

	/** Changes columns of many rows, each row once, as `update` does of one; records name a row by its key. */
	async updateMany<M extends KeyedModel>(table: Table<M>, changes: readonly RowChange<M>[]): Promise<void> {
		for (const { before, after } of await this.changeMany(table, changes)) {
			this.record(table.kind, 'update', before.key, recordOf(before), recordOf(after));
		}
	}

	/** Changes columns of many rows, each row once, recording nothing; rows that already are so stay and are left out. */
	async changeMany<M extends KeyedModel>(
		table: Table<M>,
		changes: readonly RowChange<M>[],
	): Promise<readonly { readonly before: M; readonly after: M }[]> {
		const needed = changes.filter(({ row, columns }) => !holds(row, columns));
		const changed: { readonly before: M; readonly after: M }[] = [];
		for (const [, chunk] of chunksOf(needed)) {
			const rows = new Map(chunk.map(({ row }) => [row.id, row]));
			for (const after of await this.#overwriting(table, chunk)) {
				const before = rows.get(after.id);
				if (before !== undefined) changed.push({ before, after });
			}
		}
		return changed;
	}

	/** One statement for many rows with other values each: whole rows whose insertion meets the rows that are there. */
	async #overwriting<M extends KeyedModel>(table: Table<M>, changes: readonly RowChange<M>[]): Promise<readonly M[]> {
		const names = new Set(changes.flatMap(({ columns }) => Object.keys(columns)));
		const rows = changes.map(({ row, columns }) =>
			asModel(table)
				.fromJson({ ...row.toJSON(), ...columns, updated_at: this.now }, { skipValidation: true })
				.$toDatabaseJson(),
		);
		const written = await this.database(table.tableName)
			.insert(rows)
			.onConflict(['environment_id', 'id'])
			.merge([...names, 'updated_at'])
			.returning('*');
		return written.map((row) => asModel(table).fromDatabaseJson(row));
	}

	/** Deletes one row and records it. What refers to it goes by the tables' own cascades: record that first. */
	async remove<M extends KeyedModel>(table: Table<M>, row: M, key: string): Promise<void> {
		await this.removeMany(table, [row], () => key);
	}

	/** Deletes rows as `remove` does one. `keyOf` names a row for the change log. */
	async removeMany<M extends KeyedModel>(
		table: Table<M>,
		rows: readonly M[],
		keyOf: (row: M) => string,
	): Promise<void> {
		for (const [, chunk] of chunksOf(rows)) {
			const ids = chunk.map((row) => row.id);
			await this.query(table)
				.whereRaw('?? = any(?::uuid[])', [`${table.tableName}.id`, ids])
				.delete();
			for (const row of chunk) this.record(table.kind, 'delete', keyOf(row), recordOf(row), null);
		}
	}

	/** Appends one step to what this unit commits under its revision: several of one object become one change. */
	record(
		kind: ChangeKind,
		operation: Change['operation'],
		key: string,
		before: ChangedRecord | null,
		after: ChangedRecord | null,
	): void {
		this.#changes.push({ kind, operation, key, before, after });
	}

	/** Ends the unit: work of it that runs on by mistake must not write into the unit that follows in its transaction. */
	close(): void {
		this.#closed = true;
	}

	protected override get database(): Knex {
		if (this.#closed) throw new Error('a unit of work went on after its end');
		return super.database;
	}

	/**
	 * Writes the change log and advances the revision, once, as the last thing before the commit; a unit that changed
	 * nothing leaves the revision alone. Returns the environment's revision after the unit.
	 */
	async finish(): Promise<number> {
		const [revision = Number.NaN] = await advance(this.database, this.scope.environment_id, [this]);
		return revision;
	}
}

/** Rows in the portions that one statement takes, each with the index it begins at. */
export function* chunksOf<R>(rows: readonly R[]): Generator<readonly [start: number, chunk: readonly R[]]> {
	for (let start = 0; start < rows.length; start += rowsAtOnce) yield [start, rows.slice(start, start + rowsAtOnce)];
}

/** Whether a row or record has these values in these columns already. */
export function holds(row: object, columns: object): boolean {
	const current = new Map(Object.entries(row));
	return Object.entries(columns).every(([name, value]) => isDeepStrictEqual(current.get(name), value));
}

/**
 * A row as the change log keeps it: without the environment's id, which the log's own row has.
 * INVARIANT: columns whose names begin with `secret` never get into the log, encrypted or not.
 */
export function recordOf(row: EnvironmentModel): ChangedRecord {
	const { environment_id: _, ...record } = row.toJSON();
	return Object.fromEntries(Object.entries(record).filter(([name]) => !name.startsWith('secret')));
}
