import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports below the ephemeral range, so the operating system does not assign them to concurrent tests. */
const range = { first: 20_000, last: 32_000 } as const;

/** Returns a loopback port that is currently free. The port is not reserved until the caller listens. */
export async function freePort(): Promise<number> {
	for (;;) {
		const port = range.first + Math.floor(Math.random() * (range.last - range.first));
		if (await canListen(port)) return port;
	}
}

async function canListen(port: number): Promise<boolean> {
	const server = createServer();
	const listening = once(server, 'listening').then(
		() => true,
		() => false,
	);
	server.listen(port, '127.0.0.1');
	if (!(await listening)) return false;
	server.close();
	await once(server, 'close');
	return true;
}
