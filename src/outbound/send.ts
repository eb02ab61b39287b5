import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
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
 * Sends a request to an address that came from API users. Resolves to the response when its status arrives. Does not
 * follow redirects. Rejects with `PrivateAddressError`, or on a timeout. After the timeout, reads from the response
 * fail too.
 */
export type Sender = (request: OutboundRequest) => Promise<IncomingMessage>;

/**
 * Creates a sender for public addresses; with `allowPrivate`, for any address. Each request uses a separate connection,
 * and `milliseconds` is its timeout.
 */
export function createSender(
	allowPrivate: boolean,
	lookup: LookupFunction = publicLookup(),
	milliseconds = requestMilliseconds,
): Sender {
	return async ({ method, url, headers, body, signal: given }) => {
		const target = new URL(url);
		if (!allowPrivate) requirePublicHost(target.hostname);
		const request = target.protocol === 'https:' ? requestHttps : requestHttp;
		const guarded = allowPrivate ? {} : { lookup };
		return new Promise<IncomingMessage>((resolve, reject) => {
			const late = AbortSignal.timeout(milliseconds);
			const signal = given === undefined ? late : AbortSignal.any([late, given]);
			const sent = request(target, { method, headers, agent: false, signal, ...guarded }, resolve);
			// Keep this handler: a truncated response also fails the request, even after the promise has settled.
			sent.on('error', reject);
			sent.end(body);
		});
	};
}
