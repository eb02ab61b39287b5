import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import type { Clock } from '../../clock.js';
import { type Origin, type OriginColumn, unknown } from '../database/origin.js';

/** The current lineage began in a different database. A new lineage must begin before the database can be used. */
export class LineageOutdated extends Error {
	override readonly name = 'LineageOutdated';
	/** PostgreSQL's `cannot_connect_now`. A standby cannot begin a lineage. */
	readonly code = '57P03';
}

export interface Lineage {
	/** 16 random hexadecimal digits. */
	readonly id: string;
	/** Human-readable reason why the lineage began. */
	readonly reason: string;
	readonly created_at: Date;
}

/** Request to end a lineage although the database shows no sign of an outdated lineage. */
export interface Renewal {
	/** Id of the lineage to end. If a different lineage is current, nothing changes. */
	readonly ended: string;
	readonly reason: string;
}

const idBytes = 8;
/** Maximum number of attempts. Each further attempt uses a new lineage. */
const maxAttempts = 3;

/** SQL for the current transaction's id, which rows written by the transaction have as `xmin`. */
const ownTransaction = 'pg_current_xact_id()::xid::text';

/** SQL for the current lineage, unchecked, for transactions that have already verified it. */
export const lineageInForce = '(select id from lineages where ended_at is null)';

/**
 * Lineages of a database. A lineage is a single history: within a lineage, each environment revision is committed once
 * and never lost. A promoted standby or a restored backup begins a new lineage before its first read or write.
 */
export class Lineages {
	/** SQL for the current lineage; null if it began in a different database or timeline. */
	readonly current: string;
	readonly #columns: readonly OriginColumn[];

	constructor(
		private readonly knex: Knex,
		private readonly origin: Origin,
		private readonly clock: Clock,
		/** Called with each lineage begun by this process. */
		private readonly began: (lineage: Lineage) => void,
	) {
		// `Object.keys` returns plain strings, so the column type is restored by a cast.
		this.#columns = Object.keys(origin) as OriginColumn[];
		// If either value is unknown, the column does not count as different.
		const same = this.#columns.map((column) => `coalesce(lineages.${column} = ${origin[column]}, true)`).join(' and ');
		this.current = `(select id from lineages where ended_at is null and ${same})`;
	}

	/** Returns the current lineage. Must be the first step in the transaction. Throws `LineageOutdated`. */
	async require(transaction: Knex): Promise<string> {
		const { rows } = await transaction.raw<{ rows: { readonly lineage: string | null }[] }>(
			`select ${this.current} as lineage`,
		);
		return requireLineage(rows[0]?.lineage ?? null);
	}

	/** Runs `work`. If the current lineage is outdated, begins a new lineage and runs `work` again. */
	async run<T>(work: () => Promise<T>): Promise<T> {
		for (let attempt = 1; ; attempt += 1) {
			try {
				return await work();
			} catch (error) {
				if (!(error instanceof LineageOutdated) || attempt === maxAttempts) throw error;
				await this.renew(null);
			}
		}
	}

	/**
	 * Begins a new lineage if the current lineage is outdated, or is the lineage that the renewal ends. Returns true if
	 * a lineage was begun. A standby keeps its lineage, because a different server writes its history.
	 */
	async renew(renewal: Renewal | null): Promise<boolean> {
		const begun = await this.knex.transaction(async (transaction) => {
			if (await this.#isStandby(transaction)) return null;
			await transaction.raw(`select pg_advisory_xact_lock(hashtextextended('regolith lineage', 0))`);
			const present = this.#columns.map((column) => `${column}, ${this.origin[column]} as present_${column}`);
			const { rows } = await transaction.raw<{ rows: Readonly<Record<string, string | null>>[] }>(
				`select id, ${present.join(', ')} from lineages where ended_at is null`,
			);
			const [known] = rows;
			const different = this.#columns.filter((column) => {
				const [recorded, present] = [known?.[column] ?? null, known?.[`present_${column}`] ?? null];
				return recorded !== null && present !== null && recorded !== present;
			});
			const isOutdated = known === undefined || different.length > 0;
			if (!isOutdated && known['id'] !== renewal?.ended) return null;
			const reason = isOutdated ? reasonFor(known, different) : (renewal?.reason ?? '');
			return this.#begin(transaction, reason);
		});
		if (begun !== null) this.began(begun);
		return begun !== null;
	}

	async #isStandby(transaction: Knex): Promise<boolean> {
		if (this.origin.timeline === unknown) return false;
		const { rows } = await transaction.raw<{ rows: { readonly standby: boolean }[] }>(
			'select pg_is_in_recovery() as standby',
		);
		return rows[0]?.standby === true;
	}

	async #begin(transaction: Knex, reason: string): Promise<Lineage> {
		const now = this.clock.now();
		const id = randomBytes(idBytes).toString('hex');
		await transaction.raw('update lineages set ended_at = ? where ended_at is null', [now]);
		await transaction.raw('insert into lineages (id, reason, created_at) values (?, ?, ?)', [id, reason, now]);
		const values = { ...this.origin, row_xid: this.origin.row_xid === unknown ? unknown : ownTransaction };
		const recorded = this.#columns.map((column) => `${column} = ${values[column]}`);
		await transaction.raw(`update lineages set ${recorded.join(', ')} where id = ?`, [id]);
		return { id, reason, created_at: now };
	}

	/** Returns lineages, newest first. */
	async list(limit: number): Promise<readonly Lineage[]> {
		return this.knex<Lineage>('lineages')
			.orderBy('created_at', 'desc')
			.limit(limit)
			.select('id', 'reason', 'created_at');
	}
}

/** Returns the lineage found by a statement. Throws `LineageOutdated` if it is null. */
export function requireLineage(lineage: string | null): string {
	if (lineage === null) throw new LineageOutdated('the lineage began in a different database');
	return lineage;
}

function reasonFor(known: object | undefined, different: readonly OriginColumn[]): string {
	if (known === undefined) return 'first lineage of this database';
	return different.every((column) => column === 'timeline')
		? 'a standby was promoted, or the database was restored to a point in time'
		: 'the database was restored or copied';
}
