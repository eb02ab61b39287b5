import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A fake decision point, which records each query and returns a response chosen by the test. */
export interface FakeDecisionPoint {
	readonly port: number;
	/** Queries so far, oldest first. */
	readonly asked: readonly Question[];
	/** The response to future queries. */
	answer: FakeAnswer;
	stop(): Promise<void>;
}

export interface Question {
	readonly method: string;
	readonly path: string;
	readonly headers: IncomingHttpHeaders;
	readonly body: string;
}

export interface FakeAnswer {
	readonly status: number;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: string;
}

/** Starts a fake decision point on a free local port. */
export async function startFakeDecisionPoint(): Promise<FakeDecisionPoint> {
	const asked: Question[] = [];
	const server = createServer(async (request, response) => {
		const { method = '', url = '', headers } = request;
		asked.push({ method, path: url, headers, body: await text(request) });
		response.writeHead(fake.answer.status, fake.answer.headers).end(fake.answer.body);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const fake: FakeDecisionPoint = {
		port: (server.address() as AddressInfo).port,
		asked,
		answer: { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' },
		stop: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			}),
	};
	return fake;
}
