import { ConfigError } from '../config.js';
import { Failure } from '../failure.js';
import { visibleLines } from './terminal.js';

/** How a command speaks to whoever started it. */

/**
 * Prints one line about a step of the start that may take seconds, on standard error: standard output is for what
 * people read afterwards.
 */
export function say(step: string): void {
	process.stderr.write(`regolith: ${step}\n`);
}

/** Prints what a command was asked for, on standard output. */
export function print(text: string): void {
	process.stdout.write(text);
}

/** The same; resolves when the text has left this process. Rejects when nobody reads it any more. */
export function printWhole(text: string): Promise<void> {
	return new Promise((resolve, reject) => {
		// Without a listener the failure would also end the process.
		process.stdout.once('error', () => {});
		process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
	});
}

/** A mistake of the operator that ends a command with an exit code of its own. */
export class ExitCodeError extends ConfigError {
	constructor(
		message: string,
		readonly exitCode: number,
	) {
		super(message);
	}
}

/** A mistake of the operator is one sentence; anything else is a bug and shows where it happened. */
export function fail(error: unknown, code = 1): never {
	const told = error instanceof ConfigError || error instanceof Failure || explainsItself(error);
	const text = told ? error.message : error instanceof Error ? error.stack : String(error);
	process.stderr.write(`${visibleLines(text ?? '')}\n`);
	process.exit(error instanceof ExitCodeError ? error.exitCode : code);
}

/** Whether the message of a failure of the system is enough for the operator: a port, a host, a permission. */
function explainsItself(error: unknown): error is Error {
	return (
		error instanceof Error &&
		['EADDRINUSE', 'EACCES', 'ECONNREFUSED', 'ENOTFOUND'].includes(String((error as NodeJS.ErrnoException).code))
	);
}
