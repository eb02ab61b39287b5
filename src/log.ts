import { type Logger, pino, stdTimeFunctions } from 'pino';

export type { Logger };

/** What is logged of events, wherever that goes. */
export type EventLog = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>;

/** How many causes of an error are logged: a chain of causes may be cyclic. */
const maxCauses = 5;

/**
 * Creates the logger of the process: one JSON line per event on standard error. Standard output stays free for people
 * and pipes.
 */
export function createLogger(level: string): Logger {
	return pino(logOptions(level), pino.destination({ dest: 2, sync: true }));
}

/** How every event is written, whatever the destination. */
export function logOptions(level: string) {
	return {
		level,
		base: null,
		// People and log collectors expect words and ISO 8601. pino's default is numbers.
		formatters: { level: (label: string) => ({ level: label }) },
		timestamp: stdTimeFunctions.isoTime,
		redact: ['authorization', 'headers.authorization', '*.secret'],
		serializers: { error: (error: unknown) => loggedError(error, maxCauses) },
	};
}

/**
 * An error, reduced to these members. Database errors also carry the query and its values: e-mail addresses, digests,
 * ciphertexts. PostgreSQL quotes rows in `detail`, which is left out as well.
 */
function loggedError(error: unknown, causes: number): unknown {
	if (!(error instanceof Error)) return error;
	const { name, message, stack, cause } = error;
	const { code } = error as Error & { readonly code?: unknown };
	return {
		type: name,
		message,
		stack,
		...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
		...(cause instanceof Error && causes > 0 ? { cause: loggedError(cause, causes - 1) } : {}),
	};
}
