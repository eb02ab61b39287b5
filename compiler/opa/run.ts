import { execFile } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { OpaFailure, OpaLate } from './failure.js';

export interface Output {
	readonly stdout: string;
	readonly stderr: string;
}

/** Compile timeout, in milliseconds. */
export const timeout = 120_000;
const maxOutputLength = 64 * 1024 * 1024;

/**
 * Settings for the Go garbage collector, which took a fifth of the tool's time. The heap may grow to five times the
 * memory in use. Near a gigabyte, the collector runs as often as necessary.
 */
export const env = { GOGC: '400', GOMEMLIMIT: '1GiB' } as const;

export interface RunOptions {
	/** Timeout in milliseconds; two minutes by default. */
	readonly milliseconds?: number;
	/** Exit codes that mean success; only 0 by default. */
	readonly exitCodes?: readonly number[];
	/** Stops the tool when aborted. */
	readonly signal?: AbortSignal;
	/** If true, the tool runs with a lower priority. */
	readonly background?: boolean;
}

/**
 * Runs the tool at the path `opa` with these arguments in the folder `cwd`. The tool has no shell and no standard
 * input, and does not inherit this process's environment.
 * @throws OpaFailure if it does not start, or exits with a code not in `exitCodes`; `OpaLate` after the timeout.
 */
export function runOpa(
	opa: string,
	argv: readonly string[],
	cwd: string,
	{ milliseconds = timeout, exitCodes = [0], signal, background = false }: RunOptions = {},
): Promise<Output> {
	return new Promise((resolve, reject) => {
		const limits = { timeout: milliseconds, killSignal: 'SIGKILL', maxBuffer: maxOutputLength, signal } as const;
		const child = execFile(opa, [...argv], { cwd, env, ...limits }, (error, stdout, stderr) => {
			const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
			if (error === null || (exitCode !== null && exitCodes.includes(exitCode))) {
				resolve({ stdout, stderr });
				return;
			}
			// Some commands, including `build`, report errors on standard output.
			const said = stderr.trim() === '' ? stdout : stderr;
			const what = `\`opa ${argv[0] ?? ''}\` failed`;
			if (error.killed === true) {
				reject(new OpaLate(`${what}: it did not end within ${milliseconds / 1000} seconds`, said, exitCode));
			} else {
				reject(new OpaFailure(`${what}: ${cause(error, exitCode, said)}`, said, exitCode));
			}
		});
		if (background && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
		// The tool may end before its input is closed.
		child.stdin?.on('error', () => undefined).end();
	});
}

/** Returns the failure's cause, in one line. */
function cause(error: Error, exitCode: number | null, said: string): string {
	return exitCode === null ? error.message : (said.trim().split('\n', 1)[0] ?? '') || `exit code ${exitCode}`;
}
