import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { root } from './root.js';

/** Command and environment variables for a process. */
export interface Launch {
	/** Arguments after `regolith`: `['serve']`, `['keys', 'create', ...]`. */
	readonly command: readonly string[];
	/** Environment variables in addition to PATH, HOME, TMPDIR, OPA_PATH and GOCACHE. */
	readonly env?: Readonly<Record<string, string>>;
	/** Program file; defaults to the build in dist/. */
	readonly program?: string;
	/** Set if WebAssembly is optimized as in production. */
	readonly optimized?: true;
}

const builtProgram = join(root, 'dist/program/main.js');

/** A process exit. Exactly one field is not null. */
export interface Exit {
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
}

/** A real process under test. */
export interface Running {
	readonly pid: number;
	/** Returns the output so far. */
	stdout(): string;
	stderr(): string;
	/** Sends a signal and waits for the exit. */
	kill(signal: NodeJS.Signals): Promise<Exit>;
	/** Resolves at the exit. Rejects if the process could not be started. */
	readonly exited: Promise<Exit>;
	/** Waits until a GET of this URL returns 200. Throws with the output if the process exits first. */
	answering(url: string): Promise<void>;
}

const children = new Set<ChildProcess>();

/**
 * Starts the compiled program as a separate process. `env` names ports and folders (see `freePort`, `temporary`). The
 * program ends when this process ends for any reason.
 */
export function launch({ command, env = {}, program = builtProgram, optimized }: Launch): Running {
	const child = spawn(
		process.execPath,
		// Optimizing WebAssembly does not pay off in a short run. Without optimization, a start takes a quarter less
		// CPU time.
		['--enable-source-maps', ...(optimized ? [] : ['--liftoff-only']), '--import', tether, program, ...command],
		{
			cwd: root,
			env: { ...surroundings(), ...env },
			stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
		},
	);
	children.add(child);
	const output = collect(child);
	const exited = new Promise<Exit>((resolve, reject) => {
		child.once('error', reject);
		child.once('close', (code, signal) => {
			children.delete(child);
			resolve({ code, signal });
		});
	});
	const running: Running = {
		// A process that could not be started has no id. In that case, `exited` rejects.
		pid: child.pid ?? -1,
		...output,
		get exited() {
			hold(child, true);
			return exited;
		},
		kill(signal) {
			child.kill(signal);
			return running.exited;
		},
		answering: (url) => answering(url, exited, output),
	};
	hold(child, false);
	return running;
}

/**
 * Sets whether the child keeps the test process alive. The child does this only while a test waits for its exit.
 * Otherwise, after a failed test, the test file would never end.
 */
function hold(child: ChildProcess, held: boolean): void {
	const streams = [child.stdout, child.stderr].filter((stream) => stream instanceof Socket);
	for (const handle of [child, child.channel, ...streams]) {
		if (held) handle?.ref();
		else handle?.unref();
	}
}

/**
 * Runs in the child before the program. Kills the child as soon as the channel to the test process is closed, even if
 * the test process was killed. The channel does not keep the child alive.
 */
const tether = `data:text/javascript,${encodeURIComponent(
	"process.on('disconnect', () => process.kill(process.pid, 'SIGKILL')); process.channel?.unref();",
)}`;

process.once('exit', () => {
	for (const child of children) child.kill('SIGKILL');
});

function surroundings(): Record<string, string> {
	const passed = ['PATH', 'HOME', 'TMPDIR', 'OPA_PATH', 'GOCACHE'];
	return Object.fromEntries(
		passed.flatMap((name) => [[name, process.env[name] ?? ''] as const]).filter(([, value]) => value !== ''),
	);
}

function collect(child: ChildProcess): Pick<Running, 'stdout' | 'stderr'> {
	let stdout = '';
	let stderr = '';
	child.stdout?.setEncoding('utf8').on('data', (text: string) => {
		stdout += text;
	});
	child.stderr?.setEncoding('utf8').on('data', (text: string) => {
		stderr += text;
	});
	return { stdout: () => stdout, stderr: () => stderr };
}

async function answering(
	url: string,
	exited: Promise<Exit>,
	output: Pick<Running, 'stdout' | 'stderr'>,
): Promise<void> {
	const looking = new AbortController();
	const ended = exited.then((exit) => {
		throw new Error(
			`ended with ${exit.signal ?? exit.code} before ${url} answered\n${output.stdout()}\n${output.stderr()}`,
		);
	});
	const answered = eventually(
		() => {
			// The losing side of the race must stop polling, because a different test may get the port.
			if (looking.signal.aborted) return 200;
			return fetch(url, { signal: looking.signal }).then((response) => response.status);
		},
		(status) => status === 200,
	);
	try {
		await Promise.race([answered, ended]);
	} finally {
		looking.abort();
		answered.catch(() => undefined);
		ended.catch(() => undefined);
	}
}
