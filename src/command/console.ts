import { ConfigError } from '../config.js';
import { Failure } from '../failure.js';
import { visibleLines } from './terminal.js';

/** Output of commands. */

/** Prints a progress message to standard error, because standard output contains the result. */
export function say(step: string): void {
	process.stderr.write(`regolith: ${step}\n`);
}

/** Prints a command's result to standard output. */
export function print(text: string): void {
	process.stdout.write(text);
}

/** Prints like `print`, and resolves when the text has left this process. Rejects if the reader has closed the pipe. */
export function printWhole(text: string): Promise<void> {
	return new Promise((resolve, reject) => {
		// Without a listener, the failure would also end the process.
		process.stdout.once('error', () => {});
		process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
	});
}

/** Operator mistake with a specific exit code. */
export class ExitCodeError extends ConfigError {
	constructor(
		message: string,
		readonly exitCode: number,
	) {
		super(message);
	}
}

/**
 * Prints an error and exits. For an operator mistake it prints the message. Any other error is a bug, so it prints the
 * stack.
 */
export function fail(error: unknown, code = 1): never {
	const told = error instanceof ConfigError || error instanceof Failure || explainsItself(error);
	const text = told ? error.message : error instanceof Error ? error.stack : String(error);
	process.stderr.write(`${visibleLines(text ?? '')}\n`);
	process.exit(error instanceof ExitCodeError ? error.exitCode : code);
}

/**
 * True if the operator can understand the system error from its message alone: it contains a port, a host or a
 * permission.
 */
function explainsItself(error: unknown): error is Error {
	return (
		error instanceof Error &&
		['EADDRINUSE', 'EACCES', 'ECONNREFUSED', 'ENOTFOUND'].includes(String((error as NodeJS.ErrnoException).code))
	);
}
