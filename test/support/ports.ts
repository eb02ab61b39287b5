import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below what systems hand out to those who ask for any port, so that other tests do not come by it meanwhile. */
const range = { first: 20_000, last: 32_000 } as const;

/** A loopback port that was free a moment ago; nothing holds it until the caller listens there. */
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
