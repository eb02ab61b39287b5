import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { root } from './root.js';

/** What to start and with which surroundings. */
export interface Launch {
	/** The words after `regolith`: `['serve']`, `['keys', 'create', ...]`. */
	readonly command: readonly string[];
	/** Everything the program may learn from its environment, beside PATH, HOME and the opa that the tests run with. */
	readonly env?: Readonly<Record<string, string>>;
	/** The program's file: the one in dist/, unless given. */
	readonly program?: string;
}

const builtProgram = join(root, 'dist/program/main.js');

/** How a process ended; exactly one of the two is not null. */
export interface Exit {
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
}

/** A real process of the program under test. */
export interface Running {
	readonly pid: number;
	/** All it has printed so far. */
	stdout(): string;
	stderr(): string;
	/** Sends a signal and waits for the end. */
	kill(signal: NodeJS.Signals): Promise<Exit>;
	/** Settles at its end. Rejects when it could not be started. */
	readonly exited: Promise<Exit>;
	/** Waits until a GET of this URL is answered with 200; throws, with the output, when the process ends before that. */
	answering(url: string): Promise<void>;
}

const children = new Set<ChildProcess>();

/**
 * Starts the compiled program as its own process: ports and folders come from `env` (see `freePort`, `temporary`).
 * It dies with this process, however this one ends.
 */
export function launch({ command, env = {}, program = builtProgram }: Launch): Running {
	const child = spawn(
		process.execPath,
		// A program that lives for seconds is not worth optimized WebAssembly: a start takes a quarter less of a processor.
		['--enable-source-maps', '--liftoff-only', '--import', tether, program, ...command],
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
		// A process that could not be started has no id; `exited` rejects then.
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
 * Whether this child keeps the test's process alive. Not by itself, for a test that failed half-way must not leave a
 * file that never ends; but as soon as somebody waits for the child's end.
 */
function hold(child: ChildProcess, held: boolean): void {
	const streams = [child.stdout, child.stderr].filter((stream) => stream instanceof Socket);
	for (const handle of [child, child.channel, ...streams]) {
		if (held) handle?.ref();
		else handle?.unref();
	}
}

/**
 * Run by the child before the program: when the channel to the test's process breaks, which happens even if that was
 * killed outright, the child ends at once. The channel alone does not keep it alive.
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
			// The loser of the race below must not go on polling a port that another test may get.
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
