import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { publicLookup, requirePublicHost } from './public-address.js';

/** Default timeout for a request in milliseconds, from the DNS lookup to the end of the response. */
const requestMilliseconds = 5_000;

export interface OutboundRequest {
	readonly method: 'GET' | 'POST';
	readonly url: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body?: string | Uint8Array;
	/** Aborts the request. */
	readonly signal?: AbortSignal;
}

/**
 * Sends a request. Resolves to the response when its status arrives. Does not follow redirects. Rejects on a timeout,
 * and with `PrivateAddressError` if the sender requires a public address. After the timeout, reads from the response
 * fail too.
 */
export type Sender = (request: OutboundRequest) => Promise<IncomingMessage>;

/** Settings of a sender, each with a default. */
interface SenderOptions {
	readonly lookup?: LookupFunction;
	/** Timeout for a request in milliseconds. */
	readonly milliseconds?: number;
	/** Uses a connection for several requests. By default, each request uses a separate connection. */
	readonly keepsConnections?: boolean;
}

/** Creates a sender for public addresses; with `allowPrivate`, for any address. */
export function createSender(
	allowPrivate: boolean,
	{ lookup = publicLookup(), milliseconds = requestMilliseconds, keepsConnections = false }: SenderOptions = {},
): Sender {
	const guarded = allowPrivate ? {} : { lookup };
	const plain = { request: requestHttp, agent: keepsConnections && new HttpAgent({ keepAlive: true }) };
	const secure = { request: requestHttps, agent: keepsConnections && new HttpsAgent({ keepAlive: true }) };
	return async ({ method, url, headers, body, signal: given }) => {
		const target = new URL(url);
		if (!allowPrivate) requirePublicHost(target.hostname);
		const { request, agent } = target.protocol === 'https:' ? secure : plain;
		return new Promise<IncomingMessage>((resolve, reject) => {
			const late = AbortSignal.timeout(milliseconds);
			const sent = request(target, { method, headers, agent, signal: late, ...guarded }, resolve);
			const abort = () => sent.destroy(new Error('no caller is waiting', { cause: given?.reason }));
			// `AbortSignal.any` does not work, because Node 20 may garbage-collect the timeout signal, which then never aborts.
			given?.addEventListener('abort', abort, { once: true });
			sent.on('close', () => given?.removeEventListener('abort', abort));
			// Keep this handler: a truncated response also fails the request, even after the promise has settled.
			sent.on('error', reject);
			sent.end(body);
			if (given?.aborted) abort();
		});
	};
}
