import { EventEmitter } from 'node:events';
import type { Knex } from 'knex';
import type { Schema } from '../../compiler/model.js';
import type { Clock } from '../clock.js';
import { Failure, notFound } from '../failure.js';
import type { Logger } from '../log.js';
import { AccountUnit, environmentScope } from './account/account.js';
import type { Caller } from './account/caller.js';
import { CopyTasks } from './account/copy-task.js';
import { findDeletedEnvironment, forgetOldKeys } from './account/deleted-environments.js';
import { type AccessRequest, type EnvironmentAccess, findAccess } from './account/environment-access.js';
import { environmentsWithExpired } from './account/expired-grants.js';
import { KeyUses } from './account/key-uses.js';
import { type Cipher, hashSecret, sameHash } from './account/secret.js';
import { SecretRotation } from './account/secret-rotation.js';
import { type InstallationCounts, installationCounts } from './account/statistics.js';
import { WebhookOutbox } from './account/webhook-outbox.js';
import { WritingAccountUnit } from './account/writing-account.js';
import { AuditLogIntake } from './audit-log/audit-log-intake.js';
import { type AuditLogLimits, type AuditLogUpkeep, keepAuditLogs } from './audit-log/audit-log-upkeep.js';
import type { Database } from './database/database.js';
import { SingleFlight } from './database/single-flight.js';
import { SchemaCache } from './model/schema-cache.js';
import { isConflict, runTrial } from './run-trial.js';
import { ConsoleSessions } from './session/console-sessions.js';
import { ConsoleTickets } from './session/console-tickets.js';
import { ElementEntrance } from './session/element-entrance.js';
import { ApiKey, Environment, Organization } from './table/account.js';
import { PdpInstances } from './table/pdp-state.js';
import { type BatchMember, runBatch } from './unit/batch.js';
import { type Actor, actorId, callerOf, checkCaller, LostAccess, type Root } from './unit/caller-check.js';
import { type EnvironmentCounters, readCounters, tokenAt } from './unit/counters.js';
import { KeyedQueue, type TakeNext } from './unit/keyed-queue.js';
import { type Lineage, Lineages } from './unit/lineage.js';
import { type Committed, QueuedWrite } from './unit/queued-write.js';
import { ReadingUnit, type Scope } from './unit/reading-unit.js';
import { type SchemaChange, schemaChangeAfter } from './unit/schema-change.js';
import type { WritingUnit } from './unit/writing-unit.js';

/** Part of an environment that a commit changed: only facts, or possibly also the schema. */
export type CommittedPart = 'schema' | 'facts';

/** Access to element sessions and the environments they belong to. */
export type SessionSource = Pick<Store, 'reading' | 'entrance'>;

/** Store events and their parameters. */
interface StoreEvents {
	environment: [id: string, part: CommittedPart];
	key: [id: string];
	outbox: [];
	lineage: [begun: Lineage];
	full: [];
}

/** Access to all rows: identifies callers and opens units of work. Does not depend on HTTP or on compiled policies. */
export class Store {
	/**
	 * Queues each environment's writers. If writers waited for the environment's lock instead, each of them would occupy
	 * a connection.
	 */
	readonly #writers = new KeyedQueue<BatchMember>((environmentId, next) => this.#together(environmentId, next));
	/** Queues each environment's trials, so trials do not use up the connections. */
	readonly #trials = new KeyedQueue();
	readonly #accessLookups = new SingleFlight<EnvironmentAccess | null>();
	readonly #upkeeps = new SingleFlight<AuditLogUpkeep>();
	readonly #uses: KeyUses;
	readonly #schemas = new SchemaCache();
	readonly lineages: Lineages;
	#fullAuditLogs = 0;
	#committedUnits = 0;
	#failedUnits = 0;

	/**
	 * Events:
	 * - `environment`: a unit of work was committed in the environment, the environment was deleted, or its policy was
	 *   published or failed. The second parameter is `schema` if the schema may have changed.
	 * - `key`: the API key's current secret is no longer accepted.
	 * - `outbox`: a unit in this process added entries to the outbox.
	 * - `lineage`: this process began a lineage.
	 * - `full`: the decision log rejects an environment's decisions.
	 */
	readonly committed = new EventEmitter<StoreEvents>().setMaxListeners(0);

	constructor(
		readonly database: Database,
		readonly clock: Clock,
		private readonly cipher: Cipher,
		private readonly auditLogLimits: AuditLogLimits = { days: 7, bytes: 2 ** 30 },
	) {
		this.#uses = new KeyUses(database.knex, clock);
		this.lineages = new Lineages(database.knex, database.origin, clock, (lineage) =>
			this.committed.emit('lineage', lineage),
		);
	}

	/** Numbers of units in this process: committed, failed, and waiting for their turn. */
	get units(): { readonly committed: number; readonly failed: number; readonly waiting: number } {
		return { committed: this.#committedUnits, failed: this.#failedUnits, waiting: this.#writers.waiting };
	}

	/** Number of environments that had used up their share of the decision log at the last upkeep. */
	get fullAuditLogs(): number {
		return this.#fullAuditLogs;
	}

	/** See `installationCounts`. */
	installationCounts(): Promise<InstallationCounts> {
		return installationCounts(this.database.knex);
	}

	/** Returns the caller with this secret, or `null` if no key has it. */
	async caller(secret: string): Promise<Caller | null> {
		const hash = hashSecret(secret);
		const row = await ApiKey.query(this.database.knex).where({ secret_hash: hash }).first();
		if (row === undefined || !sameHash(row.secret_hash, hash)) return null;
		this.#uses.note(row);
		return readCaller(row);
	}

	/** Returns the caller with this API key, or `null` if the key was deleted or its secret's hash has changed. */
	async callerById(keyId: string, secretHash: Uint8Array): Promise<Caller | null> {
		const row = await ApiKey.query(this.database.knex).findById(keyId);
		return row !== undefined && sameHash(row.secret_hash, secretHash) ? readCaller(row) : null;
	}

	/** See `findDeletedEnvironment`. */
	findDeletedEnvironment(secret: string): Promise<string | null> {
		return findDeletedEnvironment(this.database.knex, secret);
	}

	/**
	 * Removes old keys of deleted environments, and old console sessions and tickets. Releases webhook deliveries that
	 * were delayed because the clock was set back.
	 */
	async forgetOld(): Promise<void> {
		await forgetOldKeys(this.database.knex, this.clock.now());
		await this.consoleSessions.forgetOld();
		await this.consoleTickets.forgetOld();
		await this.outbox.releaseAhead();
	}

	/** See `findAccess`. Concurrent calls with the same arguments share a statement. */
	findAccess(request: AccessRequest): Promise<EnvironmentAccess | null> {
		const { secret, project, environment } = request;
		const name = JSON.stringify([secret, project, environment]);
		return this.#accessLookups.share(name, () => findAccess(this.database.knex, this.#uses, request));
	}

	/** Returns an environment's counters, or `null` if it does not exist. */
	counters(environmentId: string): Promise<EnvironmentCounters | null> {
		return this.lineages.run(() => readCounters(this.database.knex, this.lineages, environmentId));
	}

	/** See `tokenAt`. */
	tokenAt(environmentId: string, revision: number): Promise<string | null> {
		return tokenAt(this.database.knex, environmentId, revision);
	}

	/**
	 * Ends a lineage that has lost revisions: this revision is missing, or differs from the revision that this server
	 * issued. Has no effect if the lineage has already ended. Returns the result of `Lineages.renew`.
	 */
	async endLineage(lineage: string, environmentId: string, revision: number): Promise<boolean> {
		const reason = `history was truncated: revision ${revision} of environment ${environmentId} is missing or was replaced`;
		return this.lineages.renew({ ended: lineage, reason });
	}

	/** Returns the first schema change after a revision, or `null` if there is none. */
	schemaChangeAfter(environmentId: string, revision: number): Promise<SchemaChange | null> {
		return schemaChangeAfter(this.database.knex, environmentId, revision);
	}

	/** Returns a unit that reads an environment without a transaction. */
	reading(scope: Scope): ReadingUnit {
		return new ReadingUnit(scope, this.database.knex, this.clock, this.cipher);
	}

	/** An environment's decision points, with the state they reported. */
	pdpInstances(scope: Pick<Scope, 'environment_id'>): PdpInstances {
		return new PdpInstances(scope, this.database.knex);
	}

	/** Accepts decision logs from an environment's decision points. */
	auditLogIntake(scope: Pick<Scope, 'environment_id'>): AuditLogIntake {
		const { bytes } = this.auditLogLimits;
		return new AuditLogIntake(scope, this.database.knex, { bytes, full: () => this.committed.emit('full') });
	}

	/** See `keepAuditLogs`. Concurrent calls share a round. */
	keepAuditLogs(): Promise<AuditLogUpkeep> {
		return this.#upkeeps.share('', async () => {
			let upkeep: AuditLogUpkeep = { dropped: [], full: [] };
			await this.alone('audit log upkeep', async () => {
				upkeep = await keepAuditLogs(this.database.knex, this.clock.now(), this.auditLogLimits);
			});
			this.#fullAuditLogs = upkeep.full.length;
			return upkeep;
		});
	}

	/** Entry for element users, who have no API key. */
	get entrance(): ElementEntrance {
		return new ElementEntrance(this.database.knex, this.clock);
	}

	/** Console sessions of all environments. */
	get consoleSessions(): ConsoleSessions {
		return new ConsoleSessions(this.database.knex, this.clock, this.#uses);
	}

	/** Tickets for signing in to the console. */
	get consoleTickets(): ConsoleTickets {
		return new ConsoleTickets(this.database.knex, this.clock);
	}

	/** Pending webhook deliveries of all environments. */
	get outbox(): WebhookOutbox {
		return new WebhookOutbox(this.database.knex, this.cipher);
	}

	/** Reads an environment in a snapshot: all statements in `work` see the same revision. */
	async snapshot<T>(
		environmentId: string,
		work: (unit: ReadingUnit, environment: Environment, counters: EnvironmentCounters) => Promise<T>,
	): Promise<T> {
		const read = async (transaction: Knex.Transaction): Promise<T> => {
			const [counters, environment] = await Promise.all([
				readCounters(transaction, this.lineages, environmentId),
				Environment.query(transaction).findById(environmentId),
			]);
			if (counters === null || environment === undefined) throw notFound('Environment', environmentId);
			const version = { ...counters, id: environmentId };
			const schema = (readSchema: () => Promise<Schema>) => this.#schemas.schemaAt(version, readSchema);
			const scope = environmentScope(environment);
			return work(new ReadingUnit(scope, transaction, this.clock, this.cipher, schema), environment, counters);
		};
		return this.lineages.run(() =>
			this.database.knex.transaction(read, { isolationLevel: 'repeatable read', readOnly: true }),
		);
	}

	/**
	 * Reads an environment at a single revision, like `snapshot`. On the embedded store, a transaction would block all
	 * other statements, so `work` first runs without a transaction. If the revision has changed in the meantime, `work`
	 * runs again while the environment's writers wait, and if necessary a third time in a snapshot.
	 */
	async readAtRevision<T>(
		environmentId: string,
		work: (unit: ReadingUnit, environment: Environment, counters: EnvironmentCounters) => Promise<T>,
	): Promise<T> {
		if (this.database.url !== null) return this.snapshot(environmentId, work);
		const read = () => this.#readUnchanged(environmentId, work);
		const found = (await read()) ?? (await this.#writers.runAlone(environmentId, read));
		return found === null ? this.snapshot(environmentId, work) : found.value;
	}

	/**
	 * Runs `work` without a transaction. Returns `null` if the revision has changed in the meantime. Rejects with
	 * `not_found`.
	 */
	async #readUnchanged<T>(
		environmentId: string,
		work: (unit: ReadingUnit, environment: Environment, counters: EnvironmentCounters) => Promise<T>,
	): Promise<{ readonly value: T } | null> {
		const counters = await this.counters(environmentId);
		const environment = await Environment.query(this.database.knex).findById(environmentId);
		if (counters === null || environment === undefined) throw notFound('Environment', environmentId);
		const [outcome] = await Promise.allSettled([
			work(this.reading(environmentScope(environment)), environment, counters),
		]);
		// A concurrent write may have caused the failure, so check the revision before reporting it.
		if ((await this.counters(environmentId))?.token !== counters.token) return null;
		if (outcome.status === 'rejected') throw outcome.reason;
		return { value: outcome.value };
	}

	/**
	 * Runs `work` as an atomic unit, committed under the next revision. Waiting units of an environment share a
	 * transaction. `heavy` units do not, because they would delay the other units. If `work` abandons the unit, the unit
	 * is rolled back and the revision does not change. Rejects with `LostAccess` if the actor has lost access: see
	 * `checkCaller`.
	 */
	write<T>(
		scope: Scope,
		actor: Actor,
		work: (unit: WritingUnit) => Promise<T>,
		{ heavy = false } = {},
	): Promise<Committed<T>> {
		const { environment_id } = scope;
		const write = new QueuedWrite(scope, actor, work);
		if (!heavy) this.#writers.enqueue(environment_id, write);
		else void this.#writers.runAlone(environment_id, () => this.#together(environment_id, once(write)));
		write.outcome.then(
			() => {
				this.#committedUnits += 1;
			},
			() => {
				this.#failedUnits += 1;
			},
		);
		return write.outcome;
	}

	/**
	 * Runs `work` in a unit that is always rolled back. On a PostgreSQL server, this trial runs concurrently with the
	 * environment's writers. If a writer interferes, and always on the embedded store, the trial queues with the
	 * writers. Returns the result of `work` and the revision seen by the trial. Rejects like `write`.
	 */
	async tryOut<T>(scope: Scope, actor: Actor, work: (unit: WritingUnit) => Promise<T>): Promise<Committed<T>> {
		const trial = (unit: WritingUnit) => {
			unit.abandon();
			return work(unit);
		};
		const beside = () => this.#tryBeside(scope, actor, trial);
		const tried = this.database.url === null ? null : await this.#trials.runAlone(scope.environment_id, beside);
		return tried ?? this.write(scope, actor, trial, { heavy: true });
	}

	/** Like `runTrial`, but returns `null` if a writer interfered. */
	async #tryBeside<T>(
		scope: Scope,
		actor: Actor,
		work: (unit: WritingUnit) => Promise<T>,
	): Promise<Committed<T> | null> {
		const { clock, cipher, database } = this;
		const before = await this.counters(scope.environment_id);
		try {
			return await runTrial({ database: database.knex, clock, cipher }, scope, actor, work);
		} catch (error) {
			// If the environment has changed since the snapshot, the failure may be outdated: try again.
			const moved = (await this.counters(scope.environment_id))?.token !== before?.token;
			const takesTooLong = error instanceof Failure && error.code === 'limit_reached';
			if (isConflict(error) || (moved && !takesTooLong)) return null;
			throw error;
		}
	}

	async #together(environmentId: string, next: TakeNext<BatchMember>): Promise<void> {
		const { changes, schema, outbox } = await runBatch(
			this.database.knex,
			this.clock,
			this.cipher,
			this.lineages,
			next,
		);
		if (outbox) this.committed.emit('outbox');
		if (changes === 0) return;
		this.database.committed(changes);
		this.committed.emit('environment', environmentId, schema ? 'schema' : 'facts');
	}

	/**
	 * Returns true if this process's server key can decrypt the store's secrets. If the store contains no check value
	 * for a server key yet, stores one for this key.
	 */
	async opensSecrets(): Promise<boolean> {
		const check = () => this.database.knex<{ sealed: Uint8Array }>('server_key_check');
		const sealed = { sealed: this.cipher.encrypt('regolith') };
		// Read first, to avoid a needless write at startup, when the disk may be full.
		if ((await check().first('sealed')) === undefined) await check().insert(sealed).onConflict().ignore();
		const row = await check().first('sealed');
		try {
			return row !== undefined && this.cipher.decrypt(row.sealed) === 'regolith';
		} catch {
			return false;
		}
	}

	/** See `Cipher.derive`. */
	deriveKeys(purpose: string): readonly [Buffer, ...Buffer[]] {
		return this.cipher.derive(purpose);
	}

	/** Re-encrypts this store's secrets while the server has a previous key. */
	secretRotation(log: Logger): SecretRotation {
		return new SecretRotation(this.database.knex, this.cipher, log);
	}

	/** Returns the oldest organization's id, or `null` if the store is empty. */
	async firstOrganization(): Promise<string | null> {
		const row = await Organization.query(this.database.knex).orderBy('id').first();
		return row?.id ?? null;
	}

	/** Reads an organization's projects, environments and keys. */
	account(organizationId: string): AccountUnit {
		return new AccountUnit(organizationId, this.database.knex, this.clock, this.cipher);
	}

	/**
	 * Runs `work` as a transaction over an organization's projects, environments and keys. With `environmentId`, the
	 * transaction also writes to that environment and queues with the environment's writers. Transactions by callers run
	 * in sequence, which avoids deadlocks between their key locks. `long` transactions run concurrently: they write only
	 * within environments, and each environment's unit checks the caller. Rejects like `write`.
	 */
	async writeAccount<T>(
		organizationId: string,
		actor: Actor,
		work: (unit: WritingAccountUnit) => Promise<T>,
		{ environmentId = null, long = false }: { readonly environmentId?: string | null; readonly long?: boolean } = {},
	): Promise<T> {
		let done: WritingAccountUnit | undefined;
		const transact = () =>
			this.lineages.run(() =>
				this.database.knex.transaction(async (transaction) => {
					const lineage = await this.lineages.require(transaction);
					const now = this.clock.now();
					const caller = callerOf(actor);
					const root: Root = { table: 'organizations', id: organizationId };
					const atOnce = caller !== null && !long;
					if (atOnce && !(await checkCaller(transaction, caller, root)).hasAccess) throw new LostAccess();
					const { clock, cipher } = this;
					const writer = { id: actorId(actor), unchecked: long ? caller : null };
					const unit = new WritingAccountUnit(organizationId, transaction, clock, cipher, writer, now, lineage);
					done = unit;
					return work(unit);
				}),
			);
		const value = await (environmentId === null ? transact() : this.#writers.runAlone(environmentId, transact));
		for (const id of done?.ended ?? []) this.committed.emit('key', id);
		for (const id of done?.touched ?? []) this.committed.emit('environment', id, 'schema');
		return value;
	}

	/**
	 * Runs `work` in a transaction that commits only if the caller still has access: see `checkCaller`. Rejects like
	 * `write`.
	 */
	async withValidCaller<T>(caller: Caller, work: (within: SessionSource) => Promise<T>): Promise<T> {
		return this.database.knex.transaction(async (transaction) => {
			if (!(await checkCaller(transaction, caller, null)).hasAccess) throw new LostAccess();
			return work({
				reading: (scope) => new ReadingUnit(scope, transaction, this.clock, this.cipher),
				entrance: new ElementEntrance(transaction, this.clock),
			});
		});
	}

	/** Copy tasks of an environment, which continue after the response was sent. */
	copyTasks(environmentId: string): CopyTasks {
		return new CopyTasks(this.database.knex, environmentId);
	}

	/** Returns the environments that still store expired grants or invites. */
	environmentsWithExpired(): Promise<readonly Scope[]> {
		return environmentsWithExpired(this.database.knex);
	}

	/** Runs `work` under a lock on this name, shared by all processes on this database. */
	async alone(name: string, work: () => Promise<void>): Promise<void> {
		// Only one process uses an embedded database, and `work` needs the only connection.
		if (this.database.url === null) return work();
		await this.database.knex.transaction(async (transaction) => {
			await transaction.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [name]);
			await work();
		});
	}

	/** Closes the database. The caller must ensure that no work is running. */
	async close(): Promise<void> {
		await this.#uses.settled();
		await this.database.close();
	}
}

function readCaller(row: ApiKey): Caller {
	const { id, organization_id, project_id, environment_id, object_type, access_level, secret_hash } = row;
	const { refresh_id, refresh_revision } = row;
	const refresh = refresh_id === null ? null : { id: refresh_id, revision: refresh_revision ?? 0 };
	return { key_id: id, organization_id, project_id, environment_id, object_type, access_level, secret_hash, refresh };
}

/** Returns a function that yields the value on its first call only. */
function once<T>(value: T): () => T | undefined {
	let left: T | undefined = value;
	return () => {
		const given = left;
		left = undefined;
		return given;
	};
}
