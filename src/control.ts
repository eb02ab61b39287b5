import { createHash } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ConfigError } from './config.js';

/** The longest path a socket may have on every system we run on, in bytes. */
const longestSocketPath = 100;

/** Answers commands that other processes of the same user send to the one that holds a data directory. */
export type Commands = (command: unknown) => Promise<unknown>;

/** The hold on a data directory. */
export interface Hold {
	/** Begins to answer commands. */
	answer(commands: Commands): void;
	release(): Promise<void>;
}

/**
 * Takes a data directory for this process alone, with a socket that only its owner can use; a process that died holds
 * nothing. Throws `ConfigError` when a running process has it.
 */
export async function holdDataDirectory(directory: string): Promise<Hold> {
	mkdirSync(directory, { recursive: true, mode: 0o700 });
	const path = socketPath(directory);
	const own = `${path}.${process.pid}`;
	let commands: Commands | undefined;
	const server = await listenOn(own, (command) => {
		if (commands === undefined) throw new Error('the server is starting: try again in a moment');
		return commands(command);
	});
	if (!(await becomeHolder(own, path))) {
		server.close();
		rmSync(own, { force: true });
		throw new ConfigError(
			`another Regolith process is running on the data directory ${directory}: stop it first, or set DATA_DIR to another`,
		);
	}
	rmSync(own, { force: true });
	return {
		answer: (next) => {
			commands = next;
		},
		release: async () => {
			rmSync(path, { force: true });
			await new Promise<void>((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			});
		},
	};
}

/** Sends a command to the process that holds a data directory; `null` when none does. Rejects with its refusal. */
export async function command(directory: string, content: unknown): Promise<unknown> {
	const path = socketPath(directory);
	if (!(await isAlive(path))) return null;
	return new Promise((resolve, reject) => {
		const sent = request({ socketPath: path, method: 'POST', path: '/' }, async (answer) => {
			let text = '';
			for await (const chunk of answer) text += chunk;
			const { value, problem } = JSON.parse(text) as { readonly value?: unknown; readonly problem?: string };
			if (problem === undefined) resolve(value);
			else reject(new ConfigError(problem));
		});
		sent.on('error', reject);
		sent.end(JSON.stringify(content));
	});
}

function socketPath(directory: string): string {
	mkdirSync(directory, { recursive: true, mode: 0o700 });
	const path = join(realpathSync(directory), 'control.sock');
	if (Buffer.byteLength(path) <= longestSocketPath) return path;
	const name = createHash('sha256').update(path).digest('hex').slice(0, 16);
	const short = join(tmpdir(), `regolith-${process.getuid?.() ?? 'user'}`, `${name}.sock`);
	mkdirSync(dirname(short), { recursive: true, mode: 0o700 });
	return short;
}

function listenOn(path: string, commands: Commands): Promise<Server> {
	const server = createServer(async (incoming, answer) => {
		try {
			let text = '';
			for await (const chunk of incoming) text += chunk;
			answer.end(JSON.stringify({ value: await commands(JSON.parse(text)) }));
		} catch (error) {
			answer.end(JSON.stringify({ problem: error instanceof Error ? error.message : String(error) }));
		}
	});
	rmSync(path, { force: true });
	return new Promise((resolve, reject) => {
		server.once('error', reject);
		server.listen(path, () => {
			chmodSync(path, 0o600);
			resolve(server);
		});
	});
}

/** Puts the socket at the name everyone knows, unless a living one is there. */
async function becomeHolder(own: string, path: string): Promise<boolean> {
	for (;;) {
		try {
			linkSync(own, path);
			return true;
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
		}
		if (await isAlive(path)) return false;
		// Moved aside before it goes: of two processes that find a dead socket, neither removes the other's new one.
		const aside = `${path}.${process.pid}.dead`;
		try {
			renameSync(path, aside);
		} catch {
			continue;
		}
		if (await isAlive(aside)) renameSync(aside, path);
		else rmSync(aside, { force: true });
	}
}

function isAlive(path: string): Promise<boolean> {
	return new Promise((resolve) => {
		const socket = connect(path);
		socket.once('connect', () => {
			socket.destroy();
			resolve(true);
		});
		socket.once('error', () => resolve(false));
	});
}
