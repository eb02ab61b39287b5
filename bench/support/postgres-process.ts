import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { eventually } from '../../test/support/eventually.js';

/** A local PostgreSQL server that can be killed, and restarted with the same settings. Works only on Linux. */
export interface PostgresProcess {
	/** Kills the server like `kill -9`, and restarts it after `pause` milliseconds. */
	killAndStart(pause: number): Promise<void>;
}

/** Finds the process of the server at a URL. The URL's user must be a superuser. */
export async function postgresProcess(url: string): Promise<PostgresProcess> {
	const [pid = 0] = (await ask(
		url,
		`select split_part(pg_read_file('postmaster.pid'), chr(10), 1)::int as value`,
	)) as number[];
	const [program = '', ...parameters] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
	const { uid, gid } = statSync(`/proc/${pid}`);
	let current = pid;
	return {
		async killAndStart(pause) {
			process.kill(current, 'SIGKILL');
			await sleep(pause);
			// PostgreSQL does not start until all processes of the killed server have ended.
			await eventually(
				async () => {
					const child = spawn(program, parameters, { uid, gid, cwd: '/', stdio: 'ignore', detached: true });
					child.unref();
					current = child.pid ?? 0;
					await sleep(500);
					return child.exitCode === null;
				},
				Boolean,
				{ deadline: 60_000, interval: 250 },
			);
			await eventually(() => ask(url, 'select 1 as value'), Boolean, { deadline: 60_000, interval: 100 });
		},
	};
}

async function ask(url: string, sql: string): Promise<readonly unknown[]> {
	const connection = new pg.Client({ connectionString: url });
	// The server may be killed during this query.
	connection.on('error', () => undefined);
	await connection.connect();
	try {
		const { rows } = await connection.query<{ readonly value: unknown }>(sql);
		return rows.map(({ value }) => value);
	} finally {
		await connection.end().catch(() => undefined);
	}
}
