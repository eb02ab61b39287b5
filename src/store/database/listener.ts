import pg from 'pg';
import type { Logger } from '../../log.js';
import type { Database } from './database.js';

const firstPause = 100;
const maxPause = 5_000;
/** Timeout for connecting, and idle time before a connection is probed, in milliseconds. */
const connectPatience = 5_000;
const probeAfter = 10_000;

/** Notification channels. The payload is an id. */
const channels = ['regolith_revision', 'regolith_key'];

/** A background task that can be stopped. */
export interface Running {
	stop(): Promise<void>;
}

/** Receives the commits of other processes. `Store` is the implementation. */
interface CommitReceiver {
	readonly database: Pick<Database, 'url' | 'isOwn'>;
	readonly committed: {
		emit(event: 'environment', id: string, part: 'schema'): unknown;
		emit(event: 'key', id: string): unknown;
	};
}

/**
 * Listens for commits by other processes on the same server and emits them on `store.committed`. Reconnects after a
 * lost connection. Code that waits for a commit also polls from time to time, in case a notification was missed.
 */
export function listen(store: CommitReceiver, log: Logger): Running {
	const { url } = store.database;
	if (url === null) return { stop: async () => undefined };
	let stopped = false;
	let client: pg.Client | undefined;
	let timer: NodeJS.Timeout | undefined;

	const connect = async (after: number): Promise<void> => {
		let pause = after;
		const next = new pg.Client({
			connectionString: url,
			application_name: 'regolith listener',
			connectionTimeoutMillis: connectPatience,
			keepAlive: true,
			keepAliveInitialDelayMillis: probeAfter,
		});
		client = next;
		const lost = (error?: Error) => {
			if (stopped || client !== next) return;
			client = undefined;
			// Close the connection, because possibly only LISTEN failed.
			void next.end().catch(() => undefined);
			log.warn({ error }, 'lost the notification connection to the database');
			timer = setTimeout(() => void connect(Math.min(pause * 2, maxPause)), pause);
		};
		next.on('notification', (notification) => {
			const { channel, payload, processId } = notification;
			// This process has already emitted its own commits, with more detail.
			if (!payload || store.database.isOwn(processId)) return;
			if (channel === 'regolith_revision') store.committed.emit('environment', payload, 'schema');
			if (channel === 'regolith_key') store.committed.emit('key', payload);
		});
		next.on('error', lost);
		next.on('end', lost);
		try {
			await next.connect();
			for (const channel of channels) await next.query(`listen ${channel}`);
			pause = firstPause;
		} catch (error) {
			lost(error instanceof Error ? error : undefined);
		}
	};
	void connect(firstPause);

	return {
		async stop() {
			stopped = true;
			clearTimeout(timer);
			// Also ends a connection that is still being opened. Its promise may never settle, because a server may accept a
			// connection and then never respond.
			await client?.end().catch(() => undefined);
		},
	};
}
