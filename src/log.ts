import { type Logger, pino } from 'pino';

export type { Logger };

/** How many causes of an error are told: a chain may be a ring. */
const mostCauses = 5;

/** Makes the process's logger: one JSON line an event on standard error, so standard output stays for people and pipes. */
export function createLogger(level: string): Logger {
	return pino(logOptions(level), pino.destination({ dest: 2, sync: true }));
}

/** How every event is written, whatever it is written to. */
export function logOptions(level: string) {
	return {
		level,
		base: null,
		redact: ['authorization', 'headers.authorization', '*.secret'],
		serializers: { error: (error: unknown) => loggedError(error, mostCauses) },
	};
}

/**
 * An error by these members only. Errors of databases also carry the query and the values it was asked with: addresses
 * of people, digests, ciphers. What PostgreSQL quotes of rows is in its `detail`, which is left out with the rest.
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
