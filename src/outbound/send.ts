import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { publicLookup, requirePublicHost } from './public-address.js';

/** How long a request may take unless it is said, from the look-up of the name to the end of the answer, in milliseconds. */
const requestMilliseconds = 5_000;

/** What is sent where. */
export interface OutboundRequest {
	readonly method: 'GET' | 'POST';
	readonly url: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body?: string | Uint8Array;
	/** Ends it before its time. */
	readonly signal?: AbortSignal;
}

/**
 * Sends a request to an address that users of the API named, and gives the answer as soon as its status is there.
 * Redirections are answers like any other. Rejects with `PrivateAddressError`, and without an answer in time; then what
 * is read from the answer fails too.
 */
export type Sender = (request: OutboundRequest) => Promise<IncomingMessage>;

/**
 * What sends to public addresses alone, or to any with `allowPrivate`. Each request has a connection of its own, and may
 * take `milliseconds`.
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
			// Stays: an answer that is cut short fails the request as well, when nobody waits for that any more.
			sent.on('error', reject);
			sent.end(body);
		});
	};
}
