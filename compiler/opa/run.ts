import { execFile } from 'node:child_process';
import { OpaFailure } from './failure.js';

/** What the tool printed. */
export interface Output {
	readonly stdout: string;
	readonly stderr: string;
}

/** How long compiling may take, in milliseconds. */
export const timeout = 120_000;
const maxOutputLength = 64 * 1024 * 1024;

/**
 * Settings of the Go garbage collector, which took a fifth of the tool's time. The heap may grow to five times what is
 * in use, but near a gigabyte it is collected as often as it must.
 */
export const env = { GOGC: '400', GOMEMLIMIT: '1GiB' } as const;

/**
 * Runs the tool at the path `opa` with these arguments in the folder `cwd`: no shell, nothing of this process's
 * environment, no standard input.
 * @throws OpaFailure when it does not start, does not end in two minutes or exits with a code other than 0.
 */
export function runOpa(opa: string, argv: readonly string[], cwd: string): Promise<Output> {
	return new Promise((resolve, reject) => {
		const options = { cwd, env, timeout, killSignal: 'SIGKILL', maxBuffer: maxOutputLength } as const;
		const child = execFile(opa, [...argv], options, (error, stdout, stderr) => {
			if (error === null) {
				resolve({ stdout, stderr });
				return;
			}
			const exitCode = typeof error.code === 'number' ? error.code : null;
			// Some commands, `build` among them, report errors on standard output.
			const said = stderr.trim() === '' ? stdout : stderr;
			reject(new OpaFailure(`\`opa ${argv[0] ?? ''}\` failed: ${cause(error, exitCode, said)}`, said, exitCode));
		});
		// It may end before its input is closed.
		child.stdin?.on('error', () => undefined).end();
	});
}

/** The cause of a failure, in one line. */
function cause(error: Error & { readonly killed?: boolean }, exitCode: number | null, said: string): string {
	if (error.killed === true) {
		return `it did not end within ${timeout / 1000} seconds`;
	}
	return exitCode === null ? error.message : (said.trim().split('\n', 1)[0] ?? '') || `exit code ${exitCode}`;
}
