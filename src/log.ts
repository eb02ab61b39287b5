import { type Logger, pino } from 'pino';

export type { Logger };

/** Makes the process's logger: one JSON line an event on standard error, so standard output stays for people and pipes. */
export function createLogger(level: string): Logger {
	const options = {
		level,
		base: null,
		redact: ['authorization', 'headers.authorization', '*.secret'],
		serializers: { error: pino.stdSerializers.err },
	};
	return pino(options, pino.destination({ dest: 2, sync: true }));
}
