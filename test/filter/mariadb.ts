import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually.js';
import { removeFolder, temporaryFolder } from '../support/temporary.js';
import { requireTool } from './sqlite.js';

/** A MariaDB server with an empty database. */
export interface Mariadb {
	/** Runs a statement. Returns the first column of all rows. */
	run(statement: string, parameters?: readonly unknown[]): Promise<readonly unknown[]>;
	stop(): Promise<void>;
}

/** Starts a server that listens only on a socket. `program` is the path of `mariadbd`. */
export async function startMariadb(program: string): Promise<Mariadb> {
	const folder = temporaryFolder();
	const [data, socketPath] = [join(folder, 'data'), join(folder, 'socket')];
	const own = ['--no-defaults', `--datadir=${data}`, `--user=${userInfo().username}`];
	await mkdir(data);
	// The data folder has no system tables, so the server must not look up users in them.
	const access = [`--socket=${socketPath}`, '--skip-networking', '--skip-grant-tables'];
	const texts = ['--character-set-server=utf8mb4', '--collation-server=utf8mb4_general_ci'];
	const server = spawn(program, [...own, ...access, ...texts], { stdio: 'ignore' });
	const ended = once(server, 'exit');
	const { createConnection } = requireTool('mysql2/promise');
	const connection = await eventually(() => createConnection({ socketPath, user: 'root', charset: 'utf8mb4' }));
	await connection.query('create database documents');
	await connection.query('use documents');
	return {
		run: async (sql, parameters = []) => {
			const [found] = await connection.execute({ sql, rowsAsArray: true }, parameters);
			return Array.isArray(found) ? found.flat() : [];
		},
		stop: async () => {
			await connection.end();
			server.kill('SIGTERM');
			await ended;
			removeFolder(folder);
		},
	};
}
