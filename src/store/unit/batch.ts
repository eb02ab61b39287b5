import type { Knex } from 'knex';
import type { Clock } from '../../clock.js';
import type { Cipher } from '../account/secret.js';
import { savepoint } from '../database/server-client.js';
import { bumpRevision, type RevisionEntry } from './bump-revision.js';
import { callerCheckKey, checkCaller, type KeyHolder, LostAccess } from './caller-check.js';
import { schemaKinds } from './change.js';
import type { TakeNext } from './keyed-queue.js';
import { type Lineages, requireLineage } from './lineage.js';
import { lockEnvironment } from './lock-environment.js';
import type { Scope } from './reading-unit.js';
import { WritingUnit } from './writing-unit.js';

/**
 * PostgreSQL caches up to 64 savepoints per transaction for fast lookups. More savepoints slow down every transaction.
 */
const maxMembers = 48;
/**
 * Time until a batch stops accepting members, in milliseconds. It is short, because the first member waits for the
 * last.
 */
const maxBatchMilliseconds = 25;

/** A unit of work that may share a transaction with other units in its environment. */
export interface BatchMember {
	readonly scope: Scope;
	/** API key or element user that writes; `null` for the server itself. */
	readonly actorId: string | null;
	/** Caller whose API key must still have access; `null` for writers without a key. */
	readonly caller: KeyHolder | null;
	/** Runs the member's work in this unit. */
	fill(unit: WritingUnit): Promise<void>;
	/** Called after the commit, with the environment's new revision and its lineage. */
	committed(revision: number, lineage: string): void;
	/** Called with the error if nothing was committed. */
	failed(error: unknown): void;
}

/** A member whose work is completed, and its entry for the change log. */
interface FilledMember extends RevisionEntry {
	readonly member: BatchMember;
	/** True if the member added entries to the outbox. */
	readonly outbox: boolean;
}

export interface CommittedBatch {
	readonly changes: number;
	readonly schema: boolean;
	/** True if the batch added entries to the outbox. */
	readonly outbox: boolean;
}

/** A member whose work threw. */
interface RefusedMember {
	readonly member: BatchMember;
	readonly error: unknown;
}

/** Results of the members before the commit. */
interface Filled {
	readonly filled: readonly FilledMember[];
	readonly refused: readonly RefusedMember[];
	/** The environment's revision after each filled member. */
	readonly revisions: readonly number[];
	readonly lineage: string;
}

/**
 * Runs an environment's units in sequence in a shared transaction (group commit). The units share the environment's
 * lock, the log statements and the commit. Each unit is atomic, sees earlier units' writes, and has a separate
 * revision. When the transaction ends, every member is notified. If the transaction failed, a different member may have
 * caused the failure. Takes members from `next` up to the limits above. Never rejects.
 */
export async function runBatch(
	database: Knex,
	clock: Clock,
	cipher: Cipher,
	lineages: Lineages,
	next: TakeNext<BatchMember>,
): Promise<CommittedBatch> {
	const taken: BatchMember[] = [];
	try {
		const { filled, refused, revisions, lineage } = await lineages.run(() =>
			database.transaction((transaction) =>
				fillAll(transaction, clock, cipher, lineages.current, takeMembers(next, taken, clock)),
			),
		);
		for (const [index, { member }] of filled.entries()) member.committed(revisions[index] ?? Number.NaN, lineage);
		for (const { member, error } of refused) member.failed(error);
		return {
			changes: filled.reduce((sum, { changes }) => sum + changes.length, 0),
			schema: filled.some(({ changes }) => changes.some(({ kind }) => schemaKinds.has(kind))),
			outbox: filled.some(({ outbox }) => outbox),
		};
	} catch (error) {
		// If no transaction could be started, fail all waiting members. Otherwise they would be tried again forever.
		for (const member of taken.length > 0 ? taken : takeAll(next)) member.failed(error);
		return { changes: 0, schema: false, outbox: false };
	}
}

/** Takes all waiting members. */
function* takeAll(next: TakeNext<BatchMember>): Generator<BatchMember> {
	for (let member = next(); member !== undefined; member = next()) yield member;
}

/**
 * Yields the members in `taken`, then takes members from `next` while the batch has room. `taken` already contains
 * members if this is a second attempt, after the first transaction ended before any member was filled.
 */
function* takeMembers(next: TakeNext<BatchMember>, taken: BatchMember[], clock: Clock): Generator<BatchMember> {
	const end = clock.monotonic() + maxBatchMilliseconds;
	yield* [...taken];
	while (taken.length < maxMembers && (taken.length === 0 || clock.monotonic() < end)) {
		const member = next();
		if (member === undefined) return;
		taken.push(member);
		yield member;
	}
}

/** Locks the environment, runs the members in sequence, and bumps the revision for each completed member. */
async function fillAll(
	transaction: Knex.Transaction,
	clock: Clock,
	cipher: Cipher,
	currentLineage: string,
	members: Iterable<BatchMember>,
): Promise<Filled> {
	const filled: FilledMember[] = [];
	const refused: RefusedMember[] = [];
	const admission = new Admission(transaction, currentLineage);
	let environmentId: string | null = null;
	for (const member of members) {
		environmentId ??= member.scope.environment_id;
		if (!(await admission.admits(member))) {
			refused.push({ member, error: new LostAccess() });
			continue;
		}
		await transaction.raw(savepoint);
		try {
			filled.push(await fill(transaction, clock, cipher, member));
		} catch (error) {
			await transaction.raw(rollback);
			refused.push({ member, error });
		}
	}
	const revisions = environmentId === null ? [] : await bumpRevision(transaction, environmentId, filled);
	return { filled, refused, revisions, lineage: admission.lineage ?? '' };
}

/** Admits members whose callers still have access. It takes its locks outside the members' savepoints. */
class Admission {
	/** Database lineage; `null` before the first member. */
	lineage: string | null = null;
	readonly #known = new Map<string, boolean>();

	constructor(
		private readonly transaction: Knex.Transaction,
		private readonly currentLineage: string,
	) {}

	/**
	 * Returns true if a member may write. The first call locks the environment. Throws `not_found` and
	 * `LineageOutdated`.
	 */
	async admits({ scope, caller }: BatchMember): Promise<boolean> {
		const key = caller === null ? '' : callerCheckKey(caller);
		const known = this.#known.get(key);
		if (known !== undefined) return known;
		const hasAccess =
			this.lineage === null
				? await this.#enter(scope, caller)
				: (await checkCaller(this.transaction, caller, null)).hasAccess;
		this.#known.set(key, hasAccess);
		return hasAccess;
	}

	async #enter({ environment_id }: Scope, caller: KeyHolder | null): Promise<boolean> {
		const locked = await lockEnvironment(this.transaction, environment_id, caller, this.currentLineage);
		this.lineage = requireLineage(locked.lineage);
		return locked.hasAccess;
	}
}

/** Runs a member's work after a savepoint. Rolls back an abandoned unit, and treats it as a unit without changes. */
async function fill(
	transaction: Knex.Transaction,
	clock: Clock,
	cipher: Cipher,
	member: BatchMember,
): Promise<FilledMember> {
	const { scope, actorId } = member;
	const now = clock.now();
	const unit = new WritingUnit(scope, transaction, clock, cipher, actorId, now);
	try {
		await member.fill(unit);
		if (unit.abandoned) await transaction.raw(rollback);
		else await unit.refreshStatistics();
		const kept = !unit.abandoned;
		return { member, actorId: unit.actorId, now, changes: kept ? unit.changes : [], outbox: kept && unit.outbox };
	} catch (error) {
		throw unit.failure(error);
	} finally {
		unit.close();
	}
}

const rollback = `rollback to ${savepoint}`;
