import type { Knex } from 'knex';
import type { Clock } from '../clock.js';
import { notFound } from '../failure.js';
import { advance } from './advance.js';
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

/** A member whose work is in the transaction. */
interface Filled {
	readonly unit: WritingUnit;
	readonly committed: (revision: number) => void;
}

/**
 * Runs units of one environment one after another in one transaction (group commit), so that they share its lock, its
 * log, its commit and the way to the disk. Each is all or nothing by itself, sees what the one before it left, and has
 * a revision of its own. Each is told when the transaction has ended, also of its failure: the reason may lie in what
 * another left there. Takes members from `next` up to the bounds above. Returns whether there is anything new. Never
 * rejects.
 */
export async function runTogether(database: Knex, clock: Clock, next: Next<Member>): Promise<boolean> {
	const first = next();
	if (first === undefined) return false;
	const taken = [first];
	const refused = new Map<Member, unknown>();
	const run = async (transaction: Knex.Transaction) => {
		await lock(transaction, first.scope.environment_id);
		// Without a savepoint: when it fails there is nothing else to keep.
		const filled = [await fill(transaction, clock, first)];
		for (const member of following(next, taken, clock)) {
			await transaction.raw(savepoint);
			try {
				filled.push(await fill(transaction, clock, member));
			} catch (error) {
				await transaction.raw(`rollback to ${savepoint}`);
				refused.set(member, error);
			}
		}
		const units = filled.map(({ unit }) => unit);
		return { filled, revisions: await advance(transaction, first.scope.environment_id, units) };
	};
	try {
		const { filled, revisions } = await database.transaction(run);
		for (const [index, { committed }] of filled.entries()) committed(revisions[index] ?? Number.NaN);
		for (const [member, error] of refused) member.failed(error);
		return filled.some(({ unit }) => unit.changes.length > 0);
	} catch (error) {
		for (const member of taken) member.failed(error);
		return false;
	}
}

/** The members after the first, noted in `taken`, while there are some and the transaction has room for them. */
function* following(next: Next<Member>, taken: Member[], clock: Clock): Generator<Member> {
	const end = clock.now().getTime() + oldest;
	while (taken.length < mostMembers && clock.now().getTime() < end) {
		const member = next();
		if (member === undefined) return;
		taken.push(member);
		yield member;
	}
}

async function fill(transaction: Knex.Transaction, clock: Clock, { scope, actorId, work }: Member): Promise<Filled> {
	const unit = new WritingUnit(scope, transaction, clock, actorId, clock.now());
	try {
		return { unit, committed: await work(unit) };
	} finally {
		unit.close();
	}
}

/** Makes the writers of one environment follow each other. Throws `not_found`. */
async function lock(transaction: Knex.Transaction, environmentId: string): Promise<void> {
	const locked = await transaction('environments').where({ id: environmentId }).forNoKeyUpdate().first('id');
	if (locked === undefined) throw notFound('Environment', environmentId);
}
