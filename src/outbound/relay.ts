import type { IncomingHttpHeaders } from 'node:http';
import { readText } from './read-text.js';
import { createSender } from './send.js';

/** Maximum time in milliseconds per call. This is longer than a decision point waits for a revision. */
const relayMilliseconds = 12_000;

/** Maximum response size in bytes. */
const maxRelayedBytes = 16 * 1024 * 1024;

/** A call to an address that the operator configured. */
export interface RelayedCall {
	readonly method: 'GET' | 'POST';
	readonly url: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: Uint8Array | null;
	/** Aborts when no client is waiting for the response. */
	readonly signal: AbortSignal;
}

/** Complete response from the address. */
export interface RelayedAnswer {
	readonly status: number;
	readonly headers: IncomingHttpHeaders;
	readonly text: string;
}

/**
 * Calls an address configured by the operator, whether it is public or not, and reads the response. Does not follow
 * redirects. Rejects unless a complete response of at most 16 MiB arrives within twelve seconds.
 */
export async function relay({ body, ...call }: RelayedCall): Promise<RelayedAnswer> {
	const answer = await send(body === null ? call : { ...call, body });
	return { status: answer.statusCode ?? 0, headers: answer.headers, text: await readText(answer, maxRelayedBytes) };
}

const send = createSender(true, { milliseconds: relayMilliseconds });
