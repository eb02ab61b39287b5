import { createHmac } from 'node:crypto';

/** Headers that prove who sent a message and when (Standard Webhooks 1.0.0). */
export interface SignatureHeaders {
	readonly 'webhook-id': string;
	/** Signing time, in seconds since 1970. */
	readonly 'webhook-timestamp': string;
	readonly 'webhook-signature': string;
}

/**
 * Signs a body with each key. A receiver can verify the signature with any one of the keys. The id is the same for each
 * attempt, so a receiver can recognize repeated deliveries.
 */
export function sign(keys: readonly Buffer[], id: string, now: Date, body: string): SignatureHeaders {
	const timestamp = String(Math.floor(now.getTime() / 1_000));
	const signed = `${id}.${timestamp}.${body}`;
	const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
	return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}
