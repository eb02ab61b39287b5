import type { Knex } from 'knex';
import type { Clock } from '../../clock.js';
import type { Cipher } from '../account/secret.js';
import { savepoint } from '../database/server-client.js';
import { bumpRevision, type RevisionEntry } from './bump-revision.js';
import { schemaKinds } from './change.js';
import type { TakeNext } from './keyed-queue.js';
import { type Lineages, requireLineage } from './lineage.js';
import { lockEnvironment } from './lock-environment.js';
import type { Scope } from './reading-unit.js';
import { checkStanding, type KeyHolder, LostStanding, standingName } from './standing.js';
import { WritingUnit } from './writing-unit.js';

/**
 * PostgreSQL keeps up to 64 savepoints of a transaction where others look them up fast. With more, every transaction
 * slows down.
 */
const maxMembers = 48;
/** A batch accepts no further member after this time, in milliseconds: its first member waits for its last. */
const maxBatchMilliseconds = 25;

/** A unit of work that may share its transaction with other units of its environment. */
export interface BatchMember {
	readonly scope: Scope;
	/** The API key or the user of elements that writes; `null` for the server itself. */
	readonly actorId: string | null;
	/** The caller whose API key has to stand; `null` for writers without one. */
	readonly caller: KeyHolder | null;
	/** Does the work in its unit. */
	fill(unit: WritingUnit): Promise<void>;
	/** Called when it is committed, with the environment's revision after it and the lineage of that. */
	committed(revision: number, lineage: string): void;
	/** Called when nothing of it was committed, with the reason. */
	failed(error: unknown): void;
}

/** A member whose work is done, with its entry for the log. */
interface FilledMember extends RevisionEntry {
	readonly member: BatchMember;
	/** Whether it put something into the outbox. */
	readonly outbox: boolean;
}

/** What a batch has committed. */
export interface CommittedBatch {
	/** How many objects were changed. */
	readonly changes: number;
	/** Whether the schema was changed. */
	readonly schema: boolean;
	/** Whether something was put into the outbox. */
	readonly outbox: boolean;
}

/** A member whose work threw. */
interface RefusedMember {
	readonly member: BatchMember;
	readonly error: unknown;
}

/** What became of the members of a batch, before its commit. */
interface Filled {
	readonly filled: readonly FilledMember[];
	readonly refused: readonly RefusedMember[];
	/** For each filled member, the environment's revision after it. */
	readonly revisions: readonly number[];
	/** The lineage of the database. */
	readonly lineage: string;
}

/**
 * Runs units of one environment one after another in one transaction (group commit), so that they share its lock, its
 * log and its commit. Each is all or nothing by itself, sees what the ones before it left, and has a revision of its
 * own. Each is told when the transaction has ended, and also when it failed, which another member may have caused.
 * Takes members from `next` up to the bounds above. Never rejects.
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
		// If not even a transaction could be started, everybody who waits is told: otherwise they would be tried for
		// ever.
		for (const member of taken.length > 0 ? taken : takeAll(next)) member.failed(error);
		return { changes: 0, schema: false, outbox: false };
	}
}

/** Takes all members that are waiting now. */
function* takeAll(next: TakeNext<BatchMember>): Generator<BatchMember> {
	for (let member = next(); member !== undefined; member = next()) yield member;
}

/**
 * The members in `taken`, then the next ones, added to `taken`, while there are any and the batch has room. `taken` has
 * members when their transaction ended before any of them was filled.
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

/** Locks the environment, runs the members' work one after another, and bumps the revision for each that is done. */
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
			refused.push({ member, error: new LostStanding() });
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

/** Lets the members of a batch in whose callers stand. Its locks are outside of the members' savepoints. */
class Admission {
	/** The lineage of the database, once a member has come. */
	lineage: string | null = null;
	readonly #known = new Map<string, boolean>();

	constructor(
		private readonly transaction: Knex.Transaction,
		private readonly currentLineage: string,
	) {}

	/** Whether a member may write. Locks the environment with the first member. Throws `not_found` and `LineageOutdated`. */
	async admits({ scope, caller }: BatchMember): Promise<boolean> {
		const name = caller === null ? '' : standingName(caller);
		const known = this.#known.get(name);
		if (known !== undefined) return known;
		const stands =
			this.lineage === null
				? await this.#enter(scope, caller)
				: (await checkStanding(this.transaction, caller, null)).stands;
		this.#known.set(name, stands);
		return stands;
	}

	async #enter({ environment_id }: Scope, caller: KeyHolder | null): Promise<boolean> {
		const locked = await lockEnvironment(this.transaction, environment_id, caller, this.currentLineage);
		this.lineage = requireLineage(locked.lineage);
		return locked.stands;
	}
}

/** Runs a member's work after a savepoint. An abandoned unit is rolled back and counts as no change. */
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
		const kept = !unit.abandoned;
		return { member, actorId: unit.actorId, now, changes: kept ? unit.changes : [], outbox: kept && unit.outbox };
	} catch (error) {
		throw unit.failure(error);
	} finally {
		unit.close();
	}
}

const rollback = `rollback to ${savepoint}`;
