import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A webhook message as received. */
export interface Received {
	readonly method: string | undefined;
	readonly path: string | undefined;
	readonly headers: IncomingHttpHeaders;
	/** The raw text, as it was signed. */
	readonly body: string;
}

/** A webhook server. */
export interface Receiver {
	readonly url: string;
	/** Messages so far, in order. */
	readonly received: readonly Received[];
	/** Parsed bodies so far. */
	bodies(): readonly Readonly<Record<string, unknown>>[];
	stop(): Promise<void>;
}

/** Responds to a message. The default response is 204. */
export type Answering = (message: Received, response: ServerResponse, count: number) => void;

/** Starts a receiver on a free port. `answer` gets each message's number, counted from 1. */
export async function startReceiver(
	answer: Answering = (_, response) => response.writeHead(204).end(),
	host = '127.0.0.1',
): Promise<Receiver> {
	const received: Received[] = [];
	const server = createServer((request, response) => {
		void text(request).then((body) => {
			const { method, url: path, headers } = request;
			const message = { method, path, headers, body };
			received.push(message);
			answer(message, response, received.length);
		});
	});
	await new Promise<void>((resolve) => server.listen(0, host, resolve));
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/hook`,
		received,
		bodies: () => received.map(({ body }) => JSON.parse(body) as Readonly<Record<string, unknown>>),
		stop: () =>
			new Promise<void>((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			}),
	};
}
