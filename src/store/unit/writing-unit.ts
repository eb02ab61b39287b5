import type { Knex } from 'knex';
import type { PartialModelObject, QueryBuilder } from 'objection';
import type { Clock } from '../../clock.js';
import { duplicate, Failure, notFound } from '../../failure.js';
import type { Cipher } from '../account/secret.js';
import type { EnvironmentModel, KeyedModel } from '../table/environment-model.js';
import { bumpRevision } from './bump-revision.js';
import { type Change, type ChangedRecord, type ChangeKind, NetChanges } from './change.js';
import { changeRecord, hasValues } from './change-record.js';
import { isUniqueViolation } from './insert-or-duplicate.js';
import { change, insertion, jsonColumns, type OnConflict } from './json-rows.js';
import { ReadingUnit, type Scope } from './reading-unit.js';
import { rowChunks, rowsPerStatement } from './row-chunks.js';
import { asModel, type Columns, type TableModel } from './table-model.js';
import { writeAhead } from './write-ahead.js';

/** Whether a table has twice as many pages as when its statistics were made. */
const hasDoubled = `select pg_relation_size(oid) > 2 * relpages * current_setting('block_size')::bigint as doubled
	from pg_class where oid = ?::regclass`;

/** Rows of a query that are read bit by bit, as they were when it was opened. */
export interface RowCursor<R> {
	/** Reads the next rows, at most `count`; fewer when there are no more. */
	fetch(count: number): Promise<readonly R[]>;
	close(): Promise<void>;
}

/** A row and its new values for some columns. */
export interface RowChange<M extends EnvironmentModel> {
	readonly row: M;
	readonly columns: Columns<M>;
}

/**
 * Writes one environment, inside a transaction that holds the environment's lock: writers of one environment follow
 * each other, so what a unit has read stays true until it commits.
 */
export class WritingUnit extends ReadingUnit {
	readonly #changes = new NetChanges();
	/** For each table, how many rows were inserted since it was last looked at, fewer than one statement takes. */
	readonly #uncounted = new Map<string, number>();
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
		/** The instant every row of this unit is stamped with. */
		readonly now: Date,
	) {
		super(scope, database, clock, cipher);
		this.#actorId = actorId;
	}

	/** The API key or the user of elements that writes; `null` for the server itself. */
	get actorId(): string | null {
		return this.#actorId;
	}

	/** Says that the writer is this user, whom the unit itself has made. */
	actAs(userId: string): void {
		this.#actorId = userId;
	}

	/** What this unit has changed so far, each object once. */
	get changes(): readonly Change[] {
		return this.#changes.list();
	}

	/** Whether this unit is to be rolled back. */
	get abandoned(): boolean {
		return this.#abandoned;
	}

	/** Marks this unit to be rolled back: it ends like others, and leaves everything as it was before. */
	abandon(): void {
		this.#abandoned = true;
	}

	/** Whether this unit has put something into the outbox, which is looked into after the commit. */
	get outbox(): boolean {
		return this.#outbox;
	}

	/** Notes that this unit has put something into the outbox. */
	noteOutbox(): void {
		this.#outbox = true;
	}

	/** Inserts one row and records its creation. Throws `duplicate` when its key is taken. */
	async create<M extends KeyedModel>(table: TableModel<M>, columns: Columns<M>, key: string): Promise<M> {
		const [row] = await this.createMany(table, [columns], () => key);
		if (row === undefined) throw new Error(`inserting into ${table.tableName} returned no row`);
		return row;
	}

	/** Inserts rows and records their creations. Ids and times are added. `toKey` names a row for the change log. */
	async createMany<M extends KeyedModel>(
		table: TableModel<M>,
		rows: readonly Columns<M>[],
		toKey: (row: M) => string,
	): Promise<readonly M[]> {
		const created: M[] = [];
		const stamped = (chunk: readonly Columns<M>[]) => chunk.map((columns) => ({ ...columns, ...this.stamp() }));
		for await (const inserted of this.#insertOrRefuse(table, rows, rowKey, stamped)) {
			for (const row of inserted) this.record(table.kind, 'create', toKey(row), null, changeRecord(row));
			created.push(...inserted);
		}
		return created;
	}

	/** The id and times of a new row. */
	stamp(): { readonly id: string; readonly created_at: Date; readonly updated_at: Date } {
		return { id: this.clock.newId(), created_at: this.now, updated_at: this.now };
	}

	/** Inserts the rows that conflict with no other row and returns them. Records nothing. */
	async insertMissing<M extends EnvironmentModel>(
		table: TableModel<M>,
		rows: readonly Columns<M>[],
	): Promise<readonly M[]> {
		const inserted: M[] = [];
		const chunks = writeAhead(rowChunks(rows), ([, chunk]) => this.#insertion(table, chunk, 'ignore'));
		for await (const kept of chunks) inserted.push(...kept);
		return inserted;
	}

	/** Inserts rows as they are, recording nothing. Throws `duplicate`, naming the first row when there are several. */
	async insert<M extends EnvironmentModel>(
		table: TableModel<M>,
		rows: readonly Columns<M>[],
		toKey: (columns: Columns<M>) => string,
	): Promise<readonly M[]> {
		const inserted: M[] = [];
		for await (const chunk of this.#insertOrRefuse(table, rows, toKey)) inserted.push(...chunk);
		return inserted;
	}

	/** As `insert`, of what `complete` makes of the rows, in chunks. */
	#insertOrRefuse<M extends EnvironmentModel>(
		table: TableModel<M>,
		rows: readonly Columns<M>[],
		toKey: (columns: Columns<M>) => string,
		complete: (chunk: readonly Columns<M>[]) => readonly Columns<M>[] = (chunk) => chunk,
	): AsyncGenerator<readonly M[]> {
		return writeAhead(rowChunks(rows), ([, chunk]) => {
			const send = this.#insertion(table, complete(chunk), 'fail');
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
	 * Refreshes the statistics of a table that has doubled since they were made. Others do not see rows that are not
	 * committed, so a unit that inserts many does it itself, and often enough: checks of foreign keys that were planned
	 * when a table had one page read all of it for each row, until its statistics are made again. A table that is being
	 * analyzed already is skipped.
	 */
	async #count<M extends EnvironmentModel>({ tableName }: TableModel<M>, rows: number): Promise<void> {
		const uncounted = (this.#uncounted.get(tableName) ?? 0) + rows;
		this.#uncounted.set(tableName, uncounted % rowsPerStatement);
		if (uncounted < rowsPerStatement) return;
		const { rows: found } = await this.database.raw<{ rows: { readonly doubled: boolean }[] }>(hasDoubled, [tableName]);
		if (found[0]?.doubled) await this.database.raw('analyze (skip_locked) ??', [tableName]);
	}

	/** Prepares the statement that inserts rows. What it returns sends the statement, and gives the rows that it wrote. */
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
			return (await this.database.raw<{ rows: object[] }>(statement, [environment_id, text])).rows;
		};
		return async () => {
			const written = await (columns === null ? this.#insertValues(table, rows, conflict) : insertText(columns));
			await this.#count(table, written.length);
			return written.map((row) => asModel(table).fromDatabaseJson(row));
		};
	}

	/** Inserts rows whose values JSON cannot hold. */
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
	 * Changes columns of one row and records it; `updated_at` moves. Columns that already are so change nothing and
	 * leave no record. Returns the row as it is now.
	 */
	async update<M extends KeyedModel>(table: TableModel<M>, row: M, columns: Columns<M>, key: string): Promise<M> {
		if (hasValues(row, columns)) return row;
		const after = await this.change(table, row, columns);
		this.record(table.kind, 'update', key, changeRecord(row), changeRecord(after));
		return after;
	}

	/** Changes columns of one row, recording nothing; `updated_at` moves. Returns the row as it is now. */
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

	/** Changes columns of many rows, each row once, as `update` does of one; records name a row by its key. */
	async updateMany<M extends KeyedModel>(table: TableModel<M>, changes: readonly RowChange<M>[]): Promise<void> {
		for (const { before, after } of await this.changeMany(table, changes)) {
			this.record(table.kind, 'update', before.key, changeRecord(before), changeRecord(after));
		}
	}

	/** Changes columns of many rows, each row once, recording nothing; rows that already are so stay and are left out. */
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

	/** One statement for many rows with other values each: whole rows whose insertion meets the rows that are there. */
	async #overwriting<M extends KeyedModel>(
		table: TableModel<M>,
		changes: readonly RowChange<M>[],
	): Promise<readonly M[]> {
		const names = new Set(changes.flatMap(({ columns }) => Object.keys(columns)));
		const rows = changes.map(({ row, columns }) => ({ ...row.toJSON(), ...columns, updated_at: this.now }));
		return this.#insertion<M>(table, rows, { overwrite: [...names, 'updated_at'] })();
	}

	/** Opens a cursor over a query of this unit. It lasts until it is closed, or until the unit is rolled back. */
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
				// Rows as the query itself would have given them: the model of the table, and the columns of what it joins.
				return rows.map((row: object) => asModel(table).fromDatabaseJson(row));
			},
			close: async () => this.database.raw(`close ${name}`),
		};
	}

	/** Deletes one row and records it. What refers to it goes by the tables' own cascades: record that first. */
	async remove<M extends KeyedModel>(table: TableModel<M>, row: M, key: string): Promise<void> {
		await this.removeMany(table, [row], () => key);
	}

	/** Deletes rows as `remove` does one. `toKey` names a row for the change log. */
	async removeMany<M extends KeyedModel>(
		table: TableModel<M>,
		rows: readonly M[],
		toKey: (row: M) => string,
	): Promise<void> {
		for (const [, chunk] of rowChunks(rows)) {
			const ids = chunk.map((row) => row.id);
			// Whatever goes by cascade goes in this statement, so it is the one that can take long.
			await this.#limitStatements();
			await this.query(table)
				.whereRaw('?? = any(?::uuid[])', [`${table.tableName}.id`, ids])
				.delete();
			for (const row of chunk) this.record(table.kind, 'delete', toKey(row), changeRecord(row), null);
		}
	}

	/** Records one step of what this unit commits under its revision. Several steps of one object become one change. */
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
	 * Refuses statements after so many seconds from now, with `limit_reached`: others wait until the unit ends. The
	 * database ends a statement that runs too long itself, but for the embedded one, which cannot be interrupted.
	 */
	async endWithin(seconds: number): Promise<void> {
		this.#deadline = performance.now() + seconds * 1000;
		if (seconds > 0) await this.#limitStatements();
	}

	/** What a failure of the work is: `limit_reached` where the database has ended a statement at the deadline. */
	failure(error: unknown): unknown {
		return this.#deadline < Number.POSITIVE_INFINITY && isCanceled(error) ? takesTooLong() : error;
	}

	/**
	 * Gives each statement from here on as long as is left now. Undone with the unit's savepoint, and with the
	 * transaction at the latest.
	 */
	async #limitStatements(): Promise<void> {
		if (this.#deadline === Number.POSITIVE_INFINITY) return;
		// 0 would be no limit.
		const left = Math.max(1, Math.ceil(this.#deadline - performance.now()));
		await this.database.raw(`select set_config('statement_timeout', ?, true)`, [String(left)]);
	}

	/** Ends the unit: work that continues by mistake must not write into the next unit of its transaction. */
	close(): void {
		this.#closed = true;
	}

	protected override get database(): Knex {
		if (this.#closed) throw new Error('a unit of work went on after its end');
		if (performance.now() > this.#deadline) throw takesTooLong();
		return super.database;
	}

	/**
	 * Writes the change log and bumps the revision, once, as the last thing before the commit. A unit that changed
	 * nothing leaves the revision alone. Returns the environment's revision after the unit.
	 */
	async finish(): Promise<number> {
		const [revision = Number.NaN] = await bumpRevision(this.database, this.scope.environment_id, [this]);
		return revision;
	}
}

/** PostgreSQL's code for a statement that was ended, by its time limit or by somebody. */
const queryCanceled = '57014';

function isCanceled(error: unknown): boolean {
	if (!(error instanceof Error)) return false;
	const { code, nativeError } = error as Error & { readonly code?: unknown; readonly nativeError?: unknown };
	return code === queryCanceled || isCanceled(nativeError);
}

function takesTooLong(): Failure {
	return new Failure('limit_reached', 'this takes longer than others may be kept waiting', { code: 'TAKES_TOO_LONG' });
}

function rowKey(columns: object): string {
	return String((columns as { readonly key?: unknown }).key);
}
