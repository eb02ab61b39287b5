import { type Logger, pino, stdTimeFunctions } from 'pino';

export type { Logger };

/** Event logger, for any destination. */
export type EventLog = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>;

/** Maximum number of causes that are logged for an error. A limit is needed because a chain of causes may be cyclic. */
const maxCauses = 5;

/**
 * Creates the process's logger. It writes a line of JSON for each event to standard error. Standard output is
 * reserved for the output of commands.
 */
export function createLogger(level: string): Logger {
	return pino(logOptions(level), pino.destination({ dest: 2, sync: true }));
}

/** Returns the logger's options, for any destination. */
export function logOptions(level: string) {
	return {
		level,
		base: null,
		// People and log collectors expect words and ISO 8601, but pino writes numbers by default.
		formatters: { level: (label: string) => ({ level: label }) },
		timestamp: stdTimeFunctions.isoTime,
		redact: ['authorization', 'headers.authorization', '*.secret'],
		serializers: { error: (error: unknown) => loggedError(error, maxCauses) },
	};
}

/**
 * Returns only the error's type, message, stack, code and causes. Database errors also contain the query and its
 * values: e-mail addresses, digests, ciphertexts. PostgreSQL quotes rows in `detail`, so `detail` is omitted too.
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
