import { v7 as uuidv7 } from 'uuid';

/** Sources of time and identity, injected to let tests control both. */
export interface Clock {
	now(): Date;
	/** Monotonic milliseconds, for waits: a changed wall clock does not affect them. */
	monotonic(): number;
	/** Returns a new id: a UUID version 7, dashed, lower case, growing with time. */
	newId(): string;
}

/** System clock. */
export const systemClock: Clock = {
	now: () => new Date(),
	monotonic: () => performance.now(),
	newId: () => uuidv7(),
};
