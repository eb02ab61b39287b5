import type { Knex } from 'knex';
import type { Clock } from '../clock.js';
import { advance, type Entry } from './advance.js';
import { lock } from './lock.js';
import type { Cipher } from './secret.js';
import { savepoint } from './server-client.js';
import type { Next } from './turns.js';
import { type Scope, WritingUnit } from './unit.js';

/** PostgreSQL keeps up to 64 savepoints of a transaction where others look them up fast; more would slow down everybody. */
const mostMembers = 48;
/** A transaction that is this old, in milliseconds, takes no further member: its first member waits for its last. */
const oldest = 25;

/** A unit of work that may share its transaction with others of its environment. */
export interface Member {
	readonly scope: Scope;
	/** The API key that writes; `null` for the server itself. */
	readonly actorId: string | null;
	/** Fills the unit. Returns what to do when it has been committed, given the environment's revision after it. */
	readonly work: (unit: WritingUnit) => Promise<(revision: number) => void>;
	/** Told that nothing of it was committed, and why. */
	readonly failed: (error: unknown) => void;
}

/** A member that was filled, and what it says of itself in the log. */
interface Filled extends Entry {
	readonly committed: (revision: number) => void;
}

/**
 * Runs units of one environment one after another in one transaction (group commit), so that they share its lock, its
 * log, its commit and the way to the disk. Each is all or nothing by itself, sees what the one before it left, and has
 * a revision of its own. Each is told when the transaction has ended, also of its failure: the reason may lie in what
 * another left there. Takes members from `next` up to the bounds above. Returns how many objects were changed. Never
 * rejects.
 */
export async function runTogether(database: Knex, clock: Clock, cipher: Cipher, next: Next<Member>): Promise<number> {
	const taken: Member[] = [];
	const refused = new Map<Member, unknown>();
	const run = async (transaction: Knex.Transaction) => {
		const filled: Filled[] = [];
		for (const member of members(next, taken, clock)) {
			const { environment_id } = member.scope;
			if (taken.length === 1) await lock(transaction, environment_id);
			await transaction.raw(savepoint);
			try {
				filled.push(await fill(transaction, clock, cipher, member));
			} catch (error) {
				await transaction.raw(undoing);
				refused.set(member, error);
			}
		}
		const [first] = taken;
		return { filled, revisions: first && (await advance(transaction, first.scope.environment_id, filled)) };
	};
	try {
		const { filled, revisions = [] } = await database.transaction(run);
		for (const [index, { committed }] of filled.entries()) committed(revisions[index] ?? Number.NaN);
		for (const [member, error] of refused) member.failed(error);
		return filled.reduce((sum, { changes }) => sum + changes.length, 0);
	} catch (error) {
		// Where not even a transaction could be had, all who wait for it are told: else they would be tried for ever.
		for (const member of taken.length > 0 ? taken : waiting(next)) member.failed(error);
		return 0;
	}
}

/** All members that wait now, taken. */
function* waiting(next: Next<Member>): Generator<Member> {
	for (let member = next(); member !== undefined; member = next()) yield member;
}

/** The next members, noted in `taken`, while there are some and the transaction has room for them. */
function* members(next: Next<Member>, taken: Member[], clock: Clock): Generator<Member> {
	const end = clock.now().getTime() + oldest;
	while (taken.length < mostMembers && (taken.length === 0 || clock.now().getTime() < end)) {
		const member = next();
		if (member === undefined) return;
		taken.push(member);
		yield member;
	}
}

/** Runs a member's work after a savepoint. One that was abandoned is undone, and has changed nothing. */
async function fill(
	transaction: Knex.Transaction,
	clock: Clock,
	cipher: Cipher,
	{ scope, actorId, work }: Member,
): Promise<Filled> {
	const now = clock.now();
	const unit = new WritingUnit(scope, transaction, clock, cipher, actorId, now);
	try {
		const committed = await work(unit);
		if (unit.abandoned) await transaction.raw(undoing);
		return { committed, actorId, now, changes: unit.abandoned ? [] : unit.changes };
	} finally {
		unit.close();
	}
}

const undoing = `rollback to ${savepoint}`;
