import { v7 as uuidv7 } from 'uuid';

/** Sources of time and ids, injected so that tests can control both. */
export interface Clock {
	now(): Date;
	/** Monotonic milliseconds, for measuring waits. Changes to the system clock do not affect them. */
	monotonic(): number;
	/** Returns a new id: a UUID version 7 with dashes, in lowercase. Later ids sort after earlier ids. */
	newId(): string;
}

export const systemClock: Clock = {
	now: () => new Date(),
	monotonic: () => performance.now(),
	newId: nextId,
};

/** Random bytes for the next ids. Calling the random generator for each id would take longer than all other steps. */
const pool = new Uint8Array(16 * 256);
let used = pool.length;
/** Time and counter in the newest id. Ids in the same millisecond count up from a random number. */
let milliseconds = Number.NEGATIVE_INFINITY;
let counter = 0;

function nextId(): string {
	if (used === pool.length) {
		crypto.getRandomValues(pool);
		used = 0;
	}
	const random = pool.subarray(used, used + 16);
	used += 16;
	const now = Date.now();
	if (now > milliseconds) {
		milliseconds = now;
		counter = new DataView(random.buffer, random.byteOffset).getUint32(6) >>> 1;
	} else {
		counter = (counter + 1) | 0;
		if (counter === 0) milliseconds += 1;
	}
	return uuidv7({ random, msecs: milliseconds, seq: counter });
}
