import { v7 as uuidv7 } from 'uuid';

/** The process's sources of time and identity, injected so that tests decide both. */
export interface Clock {
	/** The current instant. */
	now(): Date;
	/** A new identifier: a UUID of version 7, dashed, lower case, growing with time. */
	newId(): string;
}

/** The real clock of the machine. */
export const systemClock: Clock = {
	now: () => new Date(),
	newId: () => uuidv7(),
};
