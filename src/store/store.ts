import { EventEmitter } from 'node:events';
import type { Clock } from '../clock.js';
import { notFound } from '../failure.js';
import { AccountUnit, scopeOf } from './account.js';
import { type Member, runTogether } from './batch.js';
import type { Caller } from './caller.js';
import { CopyTasks } from './copy-task.js';
import type { Database } from './database.js';
import { type Entrance, entranceOf, type Visit } from './entrance.js';
import { KeyUses } from './key-uses.js';
import { type SchemaChange, schemaChangeAfter } from './schema-change.js';
import { type Cipher, hashSecret, sameHash } from './secret.js';
import { Shared } from './shared.js';
import { ApiKey, Environment, Organization } from './table/account.js';
import { PdpInstances } from './table/pdp-state.js';
import { type Next, Turns } from './turns.js';
import { ReadingUnit, type Scope, type WritingUnit } from './unit.js';
import { WritingAccountUnit } from './writing-account.js';

/** What a unit of work came to. */
export interface Committed<T> {
	readonly value: T;
	/** The environment's revision after it. */
	readonly revision: number;
}

/** The door to the rows: finds out who calls and opens units of work. Knows no HTTP and no policy. */
export class Store {
	/** Writers of one environment wait here: one that waited for the lock itself would keep a connection from others. */
	readonly #writers = new Turns<Member>((environmentId, next) => this.#together(environmentId, next));
	readonly #entrances = new Shared<Entrance | null>();
	readonly #uses: KeyUses;

	/**
	 * `environment` is emitted with an environment's id after every unit that was committed there, and when it was
	 * deleted; `key` with the id of an API key whose secret, the one that it had, is refused from now on.
	 */
	readonly committed = new EventEmitter<{ environment: [id: string]; key: [id: string] }>().setMaxListeners(0);

	constructor(
		readonly database: Database,
		readonly clock: Clock,
		private readonly cipher: Cipher,
	) {
		this.#uses = new KeyUses(database.knex, clock);
	}

	/** The caller that a secret stands for, or `null` when no key has it. */
	async caller(secret: string): Promise<Caller | null> {
		const hash = hashSecret(secret);
		const row = await ApiKey.query(this.database.knex).where({ secret_hash: hash }).first();
		if (row === undefined || !sameHash(row.secret_hash, hash)) return null;
		this.#uses.note(row);
		const { id, organization_id, project_id, environment_id, object_type, access_level } = row;
		return { key_id: id, organization_id, project_id, environment_id, object_type, access_level };
	}

	/** As `entranceOf`; those who ask the same at once share a statement. */
	entrance(visit: Visit): Promise<Entrance | null> {
		const { secret, project, environment } = visit;
		const name = JSON.stringify([secret, project, environment]);
		return this.#entrances.ask(name, () => entranceOf(this.database.knex, this.#uses, visit));
	}

	/** How far an environment is, or `null` when it does not exist (any more). */
	async counters(environmentId: string): Promise<Pick<Environment, 'revision' | 'schema_revision'> | null> {
		const row = await Environment.query(this.database.knex)
			.findById(environmentId)
			.select('environments.revision', 'environments.schema_revision');
		return row ?? null;
	}

	/** The first change of an environment's schema after a revision; `null` when there is none. */
	schemaChangeAfter(environmentId: string, revision: number): Promise<SchemaChange | null> {
		return schemaChangeAfter(this.database.knex, environmentId, revision);
	}

	/** Reads an environment, statement by statement. */
	reading(scope: Scope): ReadingUnit {
		return new ReadingUnit(scope, this.database.knex, this.clock, this.cipher);
	}

	/** The decision points of an environment, as they have told. */
	pdpInstances(scope: Pick<Scope, 'environment_id'>): PdpInstances {
		return new PdpInstances(scope, this.database.knex);
	}

	/** Reads an environment at one instant: all statements of `work` see the same revision, which it is given. */
	async snapshot<T>(
		environmentId: string,
		work: (unit: ReadingUnit, environment: Environment) => Promise<T>,
	): Promise<T> {
		return this.database.knex.transaction(
			async (transaction) => {
				const environment = await Environment.query(transaction).findById(environmentId);
				if (environment === undefined) throw notFound('Environment', environmentId);
				return work(new ReadingUnit(scopeOf(environment), transaction, this.clock, this.cipher), environment);
			},
			{ isolationLevel: 'repeatable read', readOnly: true },
		);
	}

	/**
	 * Runs `work` as one unit: it commits whole under the next revision, or nothing of it happens. Units of one
	 * environment that wait for each other share a transaction, but for `heavy` ones, which would keep the others waiting.
	 * One that `work` has abandoned is undone, and its revision is the one that was.
	 */
	write<T>(
		scope: Scope,
		actorId: string | null,
		work: (unit: WritingUnit) => Promise<T>,
		{ heavy = false } = {},
	): Promise<Committed<T>> {
		const { environment_id } = scope;
		return new Promise<Committed<T>>((resolve, reject) => {
			const fill = async (unit: WritingUnit) => {
				const value = await work(unit);
				return (revision: number) => resolve({ value, revision });
			};
			const member: Member = { scope, actorId, work: fill, failed: reject };
			if (!heavy) this.#writers.join(environment_id, member);
			else void this.#writers.take(environment_id, () => this.#together(environment_id, once(member)));
		});
	}

	async #together(environmentId: string, next: Next<Member>): Promise<void> {
		const changes = await runTogether(this.database.knex, this.clock, this.cipher, next);
		if (changes === 0) return;
		this.database.committed(changes);
		this.committed.emit('environment', environmentId);
	}

	/**
	 * Whether what is encrypted in this store opens under this process's server key. On a store that has nothing
	 * encrypted yet it does: from then on that is the store's key.
	 */
	async opensSecrets(): Promise<boolean> {
		const check = () => this.database.knex<{ sealed: Uint8Array }>('server_key_check');
		const sealed = { sealed: this.cipher.encrypt('regolith') };
		// Read first: a start writes nothing that is there, for there may be no room to write.
		if ((await check().first('sealed')) === undefined) await check().insert(sealed).onConflict().ignore();
		const row = await check().first('sealed');
		try {
			return row !== undefined && this.cipher.decrypt(row.sealed) === 'regolith';
		} catch {
			return false;
		}
	}

	/** The id of the oldest organization; `null` on an empty store. */
	async firstOrganization(): Promise<string | null> {
		const row = await Organization.query(this.database.knex).orderBy('id').first();
		return row?.id ?? null;
	}

	/** Reads an organization's projects, environments and keys. */
	account(organizationId: string): AccountUnit {
		return new AccountUnit(organizationId, this.database.knex, this.clock, this.cipher);
	}

	/**
	 * Runs `work` as one transaction over an organization's projects, environments and keys; in its turn among the
	 * writers of `environmentId`, where it writes to an environment that others write to.
	 */
	async writeAccount<T>(
		organizationId: string,
		actorId: string | null,
		work: (unit: WritingAccountUnit) => Promise<T>,
		environmentId: string | null = null,
	): Promise<T> {
		let done: WritingAccountUnit | undefined;
		const transact = () =>
			this.database.knex.transaction(async (transaction) => {
				const now = this.clock.now();
				const unit = new WritingAccountUnit(organizationId, transaction, this.clock, this.cipher, actorId, now);
				done = unit;
				return work(unit);
			});
		const value = await (environmentId === null ? transact() : this.#writers.take(environmentId, transact));
		for (const id of done?.ended ?? []) this.committed.emit('key', id);
		for (const id of done?.touched ?? []) this.committed.emit('environment', id);
		return value;
	}

	/** The copies out of an environment that go on after they were answered. */
	copyTasks(environmentId: string): CopyTasks {
		return new CopyTasks(this.database.knex, environmentId);
	}

	/** Runs `work` while no other process on this database runs any under the same name. */
	async alone(name: string, work: () => Promise<void>): Promise<void> {
		// An embedded database has one process; and one connection, which `work` needs itself.
		if (this.database.url === null) return work();
		await this.database.knex.transaction(async (transaction) => {
			await transaction.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [name]);
			await work();
		});
	}

	/** Stops using the database; nothing may be running. */
	async close(): Promise<void> {
		await this.#uses.settled();
		await this.database.close();
	}
}

function once<T>(value: T): () => T | undefined {
	let left: T | undefined = value;
	return () => {
		const given = left;
		left = undefined;
		return given;
	};
}
