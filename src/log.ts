import { type Logger, pino, stdTimeFunctions } from 'pino';

export type { Logger };

/** Event logger, for any destination. */
export type EventLog = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>;

/** Maximum logged causes per error: a chain of causes may be cyclic. */
const maxCauses = 5;

/**
 * Creates the process logger: a JSON line per event on standard error. Standard output stays free for people and pipes.
 */
export function createLogger(level: string): Logger {
	return pino(logOptions(level), pino.destination({ dest: 2, sync: true }));
}

/** Returns the logger options, for any destination. */
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
 * Reduces an error to these members. Database errors also carry the query and its values: e-mail addresses, digests,
 * ciphertexts. PostgreSQL quotes rows in `detail`, which is omitted too.
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
