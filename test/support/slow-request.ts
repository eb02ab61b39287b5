import { once } from 'node:events';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import type { Loose } from './client.js';

/** A request in progress: the server has accepted the headers, and the first five body bytes have been sent. */
export interface SlowRequest {
	/** Sends the remaining body. Resolves to the response. */
	finish(): Promise<{ readonly status: number; readonly body: Loose }>;
}

/** Begins a request. Waits until the server has accepted the headers and expects the body. */
export async function beginRequest(
	url: string,
	method: string,
	path: string,
	headers: Readonly<Record<string, string>>,
	body: object,
): Promise<SlowRequest> {
	const text = JSON.stringify(body);
	const sent = { ...headers, 'content-length': String(Buffer.byteLength(text)), expect: '100-continue' };
	const outgoing = request(url + path, { method, headers: sent, agent: false });
	const answered = once(outgoing, 'response');
	outgoing.flushHeaders();
	await once(outgoing, 'continue');
	outgoing.write(text.slice(0, 5));
	return {
		async finish() {
			outgoing.end(text.slice(5));
			const [response] = await answered;
			return { status: response.statusCode, body: (await json(response)) as Loose };
		},
	};
}
