import { v7 as uuidv7 } from 'uuid';

/** Sources of time and ids, injected so that tests can control both. */
export interface Clock {
	now(): Date;
	/** Monotonic milliseconds, for measuring waits. Changes to the system clock do not affect them. */
	monotonic(): number;
	/** Returns a new id: a UUID version 7 with dashes, in lowercase. Later ids sort after earlier ids. */
	newId(): string;
}

/** System clock. */
export const systemClock: Clock = {
	now: () => new Date(),
	monotonic: () => performance.now(),
	newId: () => uuidv7(),
};
