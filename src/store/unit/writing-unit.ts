import type { Knex } from 'knex';
import type { PartialModelObject, QueryBuilder } from 'objection';
import type { Clock } from '../../clock.js';
import { duplicate, Failure, notFound } from '../../failure.js';
import type { Cipher } from '../account/secret.js';
import { hasCode } from '../database/error-code.js';
import { rowChunks, rowsPerStatement } from '../query/row-chunks.js';
import type { EnvironmentModel, KeyedModel } from '../table/environment-model.js';
import { bumpRevision } from './bump-revision.js';
import { type Change, type ChangedRecord, type ChangeKind, NetChanges } from './change.js';
import { changeRecord, hasValues } from './change-record.js';
import { isUniqueViolation } from './insert-or-duplicate.js';
import { change, insertion, jsonColumns, type OnConflict, rowsWritten } from './json-rows.js';
import { ReadingUnit, type Scope } from './reading-unit.js';
import { asModel, type Columns, type TableModel } from './table-model.js';
import { writeAhead } from './write-ahead.js';

/** SQL that is true if a table has more than twice as many pages as when its statistics were collected. */
const hasDoubled = `select pg_relation_size(oid) > 2 * relpages * current_setting('block_size')::bigint as doubled
	from pg_class where oid = ?::regclass`;

/** Maximum number of inserted rows per row that the planner expects in the environment. */
const rowsPerExpected = 4;

/** A row of `explain (format json)`. */
interface Explained {
	readonly 'QUERY PLAN': readonly { readonly Plan: { readonly 'Plan Rows': number } }[];
}

/** Reads a query's rows in portions, in their state when the cursor was opened. */
export interface RowCursor<R> {
	/** Reads the next rows, at most `count`; fewer at the end. */
	fetch(count: number): Promise<readonly R[]>;
	close(): Promise<void>;
}

/** A row and new values for some columns. */
export interface RowChange<M extends EnvironmentModel> {
	readonly row: M;
	readonly columns: Columns<M>;
}

/**
 * Writes an environment, in a transaction with the environment's lock. The lock serializes writers, so all rows that a
 * unit reads stay current until its commit. A trial on a snapshot (see `runTrial`) has no lock and never commits.
 */
export class WritingUnit extends ReadingUnit {
	readonly #changes = new NetChanges();
	/** Number of rows inserted into each table. */
	readonly #inserted = new Map<string, number>();
	#actorId: string | null;
	#abandoned = false;
	#cursors = 0;
	#outbox = false;
	#closed = false;
	#deadline = Number.POSITIVE_INFINITY;

	constructor(
		scope: Scope,
		database: Knex.Transaction,
		clock: Clock,
		cipher: Cipher,
		actorId: string | null,
		/** Timestamp for all rows written by this unit. */
		readonly now: Date,
	) {
		super(scope, database, clock, cipher);
		this.#actorId = actorId;
	}

	/** API key or element user that writes; `null` for the server itself. */
	get actorId(): string | null {
		return this.#actorId;
	}

	/** Makes a user the author of this unit's changes. For a user that the unit itself has created. */
	actAs(userId: string): void {
		this.#actorId = userId;
	}

	/** This unit's net changes so far. */
	get changes(): readonly Change[] {
		return this.#changes.list();
	}

	/** True if this unit must be rolled back. */
	get abandoned(): boolean {
		return this.#abandoned;
	}

	/** Marks this unit for rollback. The unit ends normally but has no effect. */
	abandon(): void {
		this.#abandoned = true;
	}

	/** True if this unit added entries to the outbox. The store announces them after the commit. */
	get outbox(): boolean {
		return this.#outbox;
	}

	/** Notes that this unit added entries to the outbox. */
	noteOutbox(): void {
		this.#outbox = true;
	}

	/** Inserts a row and records its creation. Throws `duplicate` if its key is taken. */
	async create<M extends KeyedModel>(table: TableModel<M>, columns: Columns<M>, key: string): Promise<M> {
		const [row] = await this.createMany(table, [columns], () => key);
		if (row === undefined) throw new Error(`inserting into ${table.tableName} returned no row`);
		return row;
	}

	/** Inserts rows and records their creation. Adds ids and times. `toKey` returns a row's key in the change log. */
	async createMany<M extends KeyedModel>(
		table: TableModel<M>,
		rows: readonly Columns<M>[],
		toKey: (row: M) => string,
	): Promise<readonly M[]> {
		const created: M[] = [];
		// Create all ids first. Otherwise concurrent calls would alternate, and the ids would not be in call order.
		const stamped = rows.map((columns) => ({ ...columns, ...this.stamp() }));
		for await (const inserted of this.#insertOrRefuse(table, stamped, rowKey)) {
			for (const row of inserted) this.record(table.kind, 'create', toKey(row), null, changeRecord(row));
			created.push(...inserted);
		}
		return created;
	}

	/** Returns the id and the timestamps for a new row. */
	stamp(): { readonly id: string; readonly created_at: Date; readonly updated_at: Date } {
		return { id: this.clock.newId(), created_at: this.now, updated_at: this.now };
	}

	/**
	 * Inserts rows not conflicting with existing rows. Returns the inserted rows as passed, so callers pass every column,
	 * with the values the database would return. Does not write to the change log.
	 */
	async insertMissing<M extends EnvironmentModel>(
		table: TableModel<M>,
		rows: readonly Columns<M>[],
	): Promise<readonly M[]> {
		const inserted: M[] = [];
		const chunks = writeAhead(rowChunks(rows), ([, chunk]) => this.#insertion(table, chunk, 'ignore'));
		for await (const kept of chunks) inserted.push(...kept);
		return inserted;
	}

	/**
	 * Inserts rows unchanged. Does not write to the change log. Throws `duplicate` with the first row in the failed
	 * statement.
	 */
	async insert<M extends EnvironmentModel>(
		table: TableModel<M>,
		rows: readonly Columns<M>[],
		toKey: (columns: Columns<M>) => string,
	): Promise<readonly M[]> {
		const inserted: M[] = [];
		for await (const chunk of this.#insertOrRefuse(table, rows, toKey)) inserted.push(...chunk);
		return inserted;
	}

	/** Like `insert`, but yields the rows chunk by chunk. */
	#insertOrRefuse<M extends EnvironmentModel>(
		table: TableModel<M>,
		rows: readonly Columns<M>[],
		toKey: (columns: Columns<M>) => string,
	): AsyncGenerator<readonly M[]> {
		return writeAhead(rowChunks(rows), ([, chunk]) => {
			const send = this.#insertion(table, chunk, 'fail');
			return async () => {
				try {
					return await send();
				} catch (error) {
					const [first] = chunk;
					if (isUniqueViolation(error) && first !== undefined) throw duplicate(table.kind, toKey(first));
					throw error;
				}
			};
		});
	}

	/**
	 * Refreshes a table's statistics if the table has doubled in size since they were collected. Uncommitted rows are
	 * invisible to autovacuum, so a unit with many insertions must do this itself. Otherwise foreign key checks scan the
	 * whole table for each row, because they were planned when the table had a single page. Skips a table that is
	 * already being analyzed.
	 */
	async #count<M extends EnvironmentModel>({ tableName }: TableModel<M>, rows: number): Promise<void> {
		const before = this.#inserted.get(tableName) ?? 0;
		const inserted = before + rows;
		this.#inserted.set(tableName, inserted);
		if (Math.floor(inserted / rowsPerStatement) === Math.floor(before / rowsPerStatement)) return;
		const { rows: found } = await this.database.raw<{ rows: { readonly doubled: boolean }[] }>(hasDoubled, [tableName]);
		if (found[0]?.doubled) await this.database.raw('analyze (skip_locked) ??', [tableName]);
	}

	/**
	 * Refreshes the planner's statistics about the environment after many insertions. If a table's statistics lack the
	 * environment, the planner expects a single row for any condition, and may read all rows in the environment by an
	 * unsuitable index. Autovacuum analyzes a table only after changes to a tenth of its rows, in all environments.
	 */
	async refreshStatistics(): Promise<void> {
		for (const [tableName, inserted] of this.#inserted) {
			if (inserted < rowsPerStatement) continue;
			const { rows } = await this.database.raw<{ rows: readonly Explained[] }>(
				'explain (format json) select from ?? where environment_id = ?::uuid',
				[tableName, this.scope.environment_id],
			);
			const expected = rows[0]?.['QUERY PLAN'][0]?.Plan['Plan Rows'] ?? 0;
			if (expected >= inserted / rowsPerExpected) continue;
			await this.database.raw('analyze (skip_locked) ?? (environment_id)', [tableName]);
		}
	}

	/** Prepares the statement that inserts rows. The returned function sends it and returns the written rows. */
	#insertion<M extends EnvironmentModel>(
		table: TableModel<M>,
		rows: readonly object[],
		conflict: OnConflict,
	): () => Promise<readonly M[]> {
		const columns = jsonColumns(rows);
		const text = columns === null ? '' : JSON.stringify(rows);
		const { environment_id } = this.scope;
		const insertText = async (names: readonly string[]) => {
			const statement = insertion(table, names, conflict);
			const { rows: returned } = await this.database.raw<{ rows: object[] }>(statement, [environment_id, text]);
			if (conflict !== 'ignore') return returned;
			return rowsWritten(table, rows, returned).map((row) => ({ environment_id, ...row }));
		};
		return async () => {
			const written = await (columns === null ? this.#insertValues(table, rows, conflict) : insertText(columns));
			await this.#count(table, written.length);
			return written.map((row) => asModel(table).fromDatabaseJson(row));
		};
	}

	/** Inserts rows with values that JSON cannot represent. */
	async #insertValues<M extends EnvironmentModel>(
		table: TableModel<M>,
		rows: readonly object[],
		conflict: OnConflict,
	): Promise<readonly object[]> {
		const model = asModel(table);
		const insert = this.database(table.tableName).insert(
			rows.map((row) => {
				const bound = { ...row, environment_id: this.scope.environment_id };
				return model.fromJson(bound, { skipValidation: true }).$toDatabaseJson();
			}),
		);
		if (conflict === 'fail') return insert.returning('*');
		if (conflict === 'ignore') return insert.onConflict().ignore().returning('*');
		return insert
			.onConflict(['environment_id', 'id'])
			.merge([...conflict.overwrite])
			.returning('*');
	}

	/**
	 * Updates columns in a row, sets `updated_at`, and records the change. Unchanged values cause no write and no
	 * record. Returns the current row.
	 */
	async update<M extends KeyedModel>(table: TableModel<M>, row: M, columns: Columns<M>, key: string): Promise<M> {
		if (hasValues(row, columns)) return row;
		const after = await this.change(table, row, columns);
		this.record(table.kind, 'update', key, changeRecord(row), changeRecord(after));
		return after;
	}

	/** Updates columns in a row and sets `updated_at`. Does not write to the change log. Returns the current row. */
	async change<M extends KeyedModel>(table: TableModel<M>, row: M, columns: Columns<M>): Promise<M> {
		const [after] = await this.#changed(table, row.id, { ...columns, updated_at: this.now });
		if (after === undefined) throw notFound(table.title, row.key);
		return after;
	}

	async #changed<M extends KeyedModel>(table: TableModel<M>, id: string, columns: Columns<M>): Promise<readonly M[]> {
		const names = jsonColumns([columns]);
		if (names === null) {
			const query = this.query(table).where(`${table.tableName}.id`, id);
			return query.patch(columns as unknown as PartialModelObject<M>).returning('*') as unknown as Promise<M[]>;
		}
		const bindings = [JSON.stringify(columns), this.scope.environment_id, id];
		const { rows } = await this.database.raw<{ rows: object[] }>(change(table, names), bindings);
		return rows.map((row) => asModel(table).fromDatabaseJson(row));
	}

	/** Updates columns in many distinct rows, like `update`. In the change log, each row is identified by its key. */
	async updateMany<M extends KeyedModel>(table: TableModel<M>, changes: readonly RowChange<M>[]): Promise<void> {
		for (const { before, after } of await this.changeMany(table, changes)) {
			this.record(table.kind, 'update', before.key, changeRecord(before), changeRecord(after));
		}
	}

	/** Updates columns in many distinct rows. Does not write to the change log. Skips and omits unchanged rows. */
	async changeMany<M extends KeyedModel>(
		table: TableModel<M>,
		changes: readonly RowChange<M>[],
	): Promise<readonly { readonly before: M; readonly after: M }[]> {
		const needed = changes.filter(({ row, columns }) => !hasValues(row, columns));
		const changed: { readonly before: M; readonly after: M }[] = [];
		for (const [, chunk] of rowChunks(needed)) {
			const rows = new Map(chunk.map(({ row }) => [row.id, row]));
			for (const after of await this.#overwriting(table, chunk)) {
				const before = rows.get(after.id);
				if (before !== undefined) changed.push({ before, after });
			}
		}
		return changed;
	}

	/** Updates many rows with different values in a single statement: upserts whole rows. */
	async #overwriting<M extends KeyedModel>(
		table: TableModel<M>,
		changes: readonly RowChange<M>[],
	): Promise<readonly M[]> {
		const names = new Set(changes.flatMap(({ columns }) => Object.keys(columns)));
		const rows = changes.map(({ row, columns }) => ({ ...row.toJSON(), ...columns, updated_at: this.now }));
		return this.#insertion<M>(table, rows, { overwrite: [...names, 'updated_at'] })();
	}

	/** Opens a cursor over a query in this unit. The cursor lasts until it is closed or the unit is rolled back. */
	async openCursor<M extends EnvironmentModel, R>(
		table: TableModel<M>,
		query: QueryBuilder<M, R[]>,
	): Promise<RowCursor<R>> {
		this.#cursors += 1;
		const name = `cursor_${this.#cursors}`;
		const { sql, bindings } = query.toKnexQuery().toSQL();
		await this.database.raw(`declare ${name} no scroll cursor for ${sql}`, bindings);
		return {
			fetch: async (count) => {
				const { rows } = await this.database.raw(`fetch ${count} from ${name}`);
				// Convert to model instances plus joined columns, as the query would return them.
				return rows.map((row: object) => asModel(table).fromDatabaseJson(row));
			},
			close: async () => this.database.raw(`close ${name}`),
		};
	}

	/**
	 * Deletes a row and records it. The database also deletes rows that refer to it, so the caller must record these
	 * rows first.
	 */
	async remove<M extends KeyedModel>(table: TableModel<M>, row: M, key: string): Promise<void> {
		await this.removeMany(table, [row], () => key);
	}

	/** Deletes rows, like `remove`. `toKey` returns a row's key in the change log. */
	async removeMany<M extends KeyedModel>(
		table: TableModel<M>,
		rows: readonly M[],
		toKey: (row: M) => string,
	): Promise<void> {
		for (const [, chunk] of rowChunks(rows)) {
			const ids = chunk.map((row) => row.id);
			// This statement may take long, because it also deletes the rows that refer to these rows.
			await this.#limitStatements();
			await this.query(table)
				.whereRaw('?? = any(?::uuid[])', [`${table.tableName}.id`, ids])
				.delete();
			for (const row of chunk) this.record(table.kind, 'delete', toKey(row), changeRecord(row), null);
		}
	}

	/** Records a step in this unit. Several steps on the same object become a single change. */
	record(
		kind: ChangeKind,
		operation: Change['operation'],
		key: string,
		before: ChangedRecord | null,
		after: ChangedRecord | null,
	): void {
		this.#changes.add({ kind, operation, key, before, after });
	}

	/**
	 * Sets a deadline, because other writers wait for the unit. After this many seconds, rejects statements with
	 * `limit_reached`. The database also cancels a statement that is running at the deadline, except on the embedded
	 * store, which cannot be interrupted.
	 */
	async endWithin(seconds: number): Promise<void> {
		this.#deadline = performance.now() + seconds * 1000;
		if (seconds > 0) await this.#limitStatements();
	}

	/** Maps a failure: `limit_reached` if the database canceled a statement at the deadline. */
	failure(error: unknown): unknown {
		return this.#deadline < Number.POSITIVE_INFINITY && hasCode(error, queryCanceled) ? takesTooLong() : error;
	}

	/**
	 * Limits each following statement to the remaining time. The limit ends when the unit's savepoint is rolled back, or
	 * when the transaction ends.
	 */
	async #limitStatements(): Promise<void> {
		if (this.#deadline === Number.POSITIVE_INFINITY) return;
		// 0 would mean no limit.
		const left = Math.max(1, Math.ceil(this.#deadline - performance.now()));
		await this.database.raw(`select set_config('statement_timeout', ?, true)`, [String(left)]);
	}

	/** Ends the unit. Code that still runs by mistake must not write into the transaction's next unit. */
	close(): void {
		this.#closed = true;
	}

	protected override get database(): Knex {
		if (this.#closed) throw new Error('a unit of work continued after its end');
		if (performance.now() > this.#deadline) throw takesTooLong();
		return super.database;
	}

	/**
	 * Writes the change log and bumps the revision. Must be called once, as the last step before the commit. Without
	 * changes, the revision stays the same. Returns the environment's revision after the unit.
	 */
	async finish(): Promise<number> {
		const [revision = Number.NaN] = await bumpRevision(this.database, this.scope.environment_id, [this]);
		return revision;
	}
}

/** PostgreSQL's code for a canceled statement, by its time limit or by an operator. */
const queryCanceled = /^57014$/;

function takesTooLong(): Failure {
	return new Failure('limit_reached', 'the request takes too long while other requests are waiting', {
		code: 'TAKES_TOO_LONG',
	});
}

function rowKey(columns: object): string {
	return String((columns as { readonly key?: unknown }).key);
}
