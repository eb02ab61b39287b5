import { EventEmitter, once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import test from 'ava';
import pg from 'pg';
import { createLogger } from '../../src/log.js';
import { listen } from '../../src/store/database/listener.js';
import type { Store } from '../../src/store/store.js';
import { createDatabase } from '../support/postgres.js';

/** The listener for database notifications, also with servers that reject LISTEN or do not respond. */

/** PostgreSQL messages that accept a client: authentication succeeded, and the server is ready for queries. */
const letIn = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

function refusal(): Buffer {
	const fields = Buffer.from('SERROR\0C55000\0Mno LISTEN here\0\0');
	const head = Buffer.from([0x45, 0, 0, 0, fields.length + 4]);
	return Buffer.concat([head, fields, Buffer.from([0x5a, 0, 0, 0, 5, 0x49])]);
}

async function serverWhere(speak: (socket: Socket) => void) {
	const open = new Set<Socket>();
	let connections = 0;
	const server = createServer((socket) => {
		connections += 1;
		open.add(socket);
		socket.on('error', () => undefined).on('close', () => open.delete(socket));
		speak(socket);
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
	const address = server.address();
	const port = typeof address === 'object' ? address?.port : undefined;
	// The listener only reads the database URL from the store.
	const store = { database: { url: `postgres://ann@127.0.0.1:${port}/x` } } as unknown as Store;
	const close = () => {
		for (const socket of open) socket.destroy();
		server.close();
	};
	return { server, store, close, open: () => open.size, connections: () => connections };
}

test('a connection whose LISTEN fails is closed', async (t) => {
	const answers = [letIn, refusal()];
	const { server, store, close, open, connections } = await serverWhere((socket) => {
		const left = [...answers];
		socket.on('data', (bytes: Buffer) => {
			// A query begins with Q, a termination message with X, and a startup message with its length.
			if (bytes[0] !== 0x58) socket.write(left.shift() ?? '');
		});
	});
	t.teardown(close);
	const listener = listen(store, createLogger('silent'));
	while (connections() < 4) await once(server, 'connection');
	t.true(open() <= 2, `${open()} connections are open`);
	await listener.stop();
});

test('notified revisions and keys are emitted as different events', async (t) => {
	const database = await createDatabase();
	t.teardown(() => database.drop());
	const committed = new EventEmitter();
	const own = new Set<number>();
	const isOwn = (processId: number) => own.has(processId);
	const store = { database: { url: database.url, isOwn }, committed } as unknown as Store;
	const listener = listen(store, createLogger('silent'));
	t.teardown(listener.stop);
	const speaker = new pg.Client({ connectionString: database.url });
	await speaker.connect();
	t.teardown(() => speaker.end());
	const cases = [
		{ channel: 'regolith_revision', event: 'environment', told: ['an id', 'schema'] },
		{ channel: 'regolith_key', event: 'key', told: ['an id'] },
	];
	for (const { channel, event, told } of cases) {
		const heard = once(committed, event);
		let done = false;
		// The notification is repeated until it is received, because the listener may not be ready yet.
		const saying = async () => {
			while (!done) await speaker.query('select pg_notify($1, $2), pg_sleep(0.02)', [channel, 'an id']);
		};
		const said = saying();
		t.deepEqual(await heard, told, channel);
		done = true;
		await said;
	}
	// The listener must ignore notifications from this process, because they were delivered at commit. Notifications
	// arrive in order.
	const itself = new pg.Client({ connectionString: database.url });
	await itself.connect();
	t.teardown(() => itself.end());
	own.add((await itself.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0);
	const heard = once(committed, 'key');
	await itself.query(`select pg_notify('regolith_key', 'its own')`);
	await speaker.query(`select pg_notify('regolith_key', 'of another')`);
	t.deepEqual(await heard, ['of another']);
});

test('stopping does not wait forever for a server that does not respond', async (t) => {
	const { server, store, close } = await serverWhere((socket) => socket.resume());
	t.teardown(close);
	const connected = once(server, 'connection');
	const listener = listen(store, createLogger('silent'));
	await connected;
	await listener.stop();
	t.pass();
});
