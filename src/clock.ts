import { v7 as uuidv7 } from 'uuid';

/** The process's sources of time and identity, injected so that tests decide both. */
export interface Clock {
	/** The current instant. */
	now(): Date;
	/** Milliseconds since some moment, for waits: a changed wall clock leaves them alone. */
	monotonic(): number;
	/** A new identifier: a UUID of version 7, dashed, lower case, growing with time. */
	newId(): string;
}

/** The real clock of the machine. */
export const systemClock: Clock = {
	now: () => new Date(),
	monotonic: () => performance.now(),
	newId: () => uuidv7(),
};
