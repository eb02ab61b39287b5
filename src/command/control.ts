import { createHash } from 'node:crypto';
import { chmodSync, constants, linkSync, lstatSync, mkdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataDirectoryError, prepareDataDirectory } from '../compose/data-directory.js';
import { ConfigError } from '../config.js';
import { errorMessage } from '../failure.js';

/** Maximum socket path length on all supported systems, in bytes. */
const maxSocketPathLength = 100;

/** Handles commands from other processes of the same user, in the process that holds a data directory. */
type Commands = (content: unknown) => Promise<unknown>;

/** Lock on a data directory. */
export interface DirectoryLock {
	/** Starts to serve commands. */
	answer(commands: Commands): void;
	release(): Promise<void>;
}

/**
 * Prepares a data directory and locks it for this process, through a socket that only its owner can use. The lock ends
 * with the process. Throws `ConfigError` if this user cannot use the directory, or if a running process holds the lock.
 */
export async function lockDataDirectory(directory: string): Promise<DirectoryLock> {
	prepareDataDirectory(directory);
	try {
		return await lock(directory);
	} catch (error) {
		throw dataDirectoryError(directory, error);
	}
}

async function lock(directory: string): Promise<DirectoryLock> {
	const path = socketPath(directory);
	const own = `${path}.${process.pid}`;
	let commands: Commands | undefined;
	const server = await listenOn(own, (content) => {
		if (commands === undefined) throw new Error('The server is starting. Try again in a moment.');
		return commands(content);
	});
	const leave = () => {
		server.close();
		rmSync(own, { force: true });
	};
	const became = await becomeHolder(own, path).catch((error: unknown) => {
		leave();
		throw error;
	});
	if (!became) {
		leave();
		throw new ConfigError(
			`Another Regolith process is using the data directory ${directory}. Stop it, or set DATA_DIR to a different directory.`,
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

/**
 * Sends a command to the process that holds a data directory. Resolves to `null` if no process holds it. Rejects if the
 * process rejects the command.
 */
export async function sendCommand(directory: string, content: unknown): Promise<unknown> {
	const path = socketPath(directory);
	if (!(await isAlive(path))) return null;
	const text = await send(path, JSON.stringify(content)).catch((error: unknown) => {
		throw new ConfigError(`The server that is using ${directory} stopped before it responded.`, { cause: error });
	});
	const { value, problem } = parseAnswer(text);
	if (problem !== undefined) throw new ConfigError(problem);
	return value;
}

/** Sends a body and returns the response body. Rejects if the connection ends before the body is complete. */
function send(path: string, body: string): Promise<string> {
	return new Promise((resolve, reject) => {
		const sent = request({ socketPath: path, method: 'POST', path: '/' }, (answer) => {
			readAll(answer).then(resolve, reject);
		});
		sent.on('error', reject);
		sent.end(body);
	});
}

async function readAll(incoming: AsyncIterable<Buffer>): Promise<string> {
	const chunks: Buffer[] = [];
	// Rejects if the connection breaks.
	for await (const chunk of incoming) chunks.push(chunk);
	return Buffer.concat(chunks).toString('utf8');
}

function parseAnswer(text: string): { readonly value?: unknown; readonly problem?: string } {
	try {
		return JSON.parse(text) as { readonly value?: unknown; readonly problem?: string };
	} catch {
		return { problem: 'The server that is using the data directory sent an invalid response.' };
	}
}

function socketPath(directory: string): string {
	mkdirSync(directory, { recursive: true, mode: 0o700 });
	const path = join(realpathSync(directory), 'control.sock');
	if (Buffer.byteLength(path) <= maxSocketPathLength) return path;
	const name = createHash('sha256').update(path).digest('hex').slice(0, 16);
	return join(ownFolder(join(tmpdir(), `regolith-${process.getuid?.() ?? 'user'}`)), `${name}.sock`);
}

/**
 * Creates a folder if needed and checks that only this user can use it. In a shared temporary folder, a different user
 * could have created it.
 */
function ownFolder(folder: string): string {
	mkdirSync(folder, { recursive: true, mode: 0o700 });
	// The folder must not be a symbolic link, because a link could lead anywhere.
	const { mode, uid } = lstatSync(folder);
	const closed = (mode & constants.S_IFMT) === constants.S_IFDIR && (mode & 0o777) === 0o700;
	if (!closed || uid !== (process.getuid?.() ?? uid)) {
		throw new ConfigError(
			`${folder} must be accessible only to you. Remove it, change TMPDIR, or choose a shorter DATA_DIR.`,
		);
	}
	return folder;
}

function listenOn(path: string, commands: Commands): Promise<Server> {
	const server = createServer(async (incoming, answer) => {
		try {
			answer.end(JSON.stringify({ value: await commands(JSON.parse(await readAll(incoming))) }));
		} catch (error) {
			answer.end(JSON.stringify({ problem: errorMessage(error) }));
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

/** Links this process's socket at the well-known path unless a live socket is there. */
async function becomeHolder(own: string, path: string): Promise<boolean> {
	for (;;) {
		try {
			linkSync(own, path);
			return true;
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
		}
		if (await isAlive(path)) return false;
		// Move the dead socket aside before deleting it. If two processes find the dead socket, neither process can
		// then delete the other's new socket.
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

/**
 * True if a process listens on a socket. Rejects with `ConfigError` if this is uncertain, so a live process is never
 * replaced.
 */
function isAlive(path: string): Promise<boolean> {
	return new Promise((resolve, reject) => {
		const socket = connect(path);
		socket.once('connect', () => {
			socket.destroy();
			resolve(true);
		});
		socket.once('error', (error: NodeJS.ErrnoException) => {
			if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(false);
			else
				reject(
					new ConfigError(`Cannot check whether another process is using ${path}: ${error.message}`, { cause: error }),
				);
		});
	});
}
