import type { IncomingHttpHeaders } from 'node:http';
import { readText } from './read-text.js';
import { createSender } from './send.js';

/** How long a call may take, in milliseconds: longer than a decision point waits for a revision. */
const relayMilliseconds = 12_000;

/** The most bytes of an answer. */
const maxRelayedBytes = 16 * 1024 * 1024;

/** A call to an address of the operator. */
export interface RelayedCall {
	readonly method: 'GET' | 'POST';
	readonly url: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: Uint8Array | null;
	/** Aborts when nobody waits for the answer any more. */
	readonly signal: AbortSignal;
}

/** What was answered, read to its end. */
export interface RelayedAnswer {
	readonly status: number;
	readonly headers: IncomingHttpHeaders;
	readonly text: string;
}

/**
 * Sends a call to an address that the operator has set, wherever that is, and reads the answer. Redirections are answers
 * like any other. Rejects without a whole answer of at most 16 MiB within twelve seconds.
 */
export async function relay({ body, ...call }: RelayedCall): Promise<RelayedAnswer> {
	const answer = await send(body === null ? call : { ...call, body });
	return { status: answer.statusCode ?? 0, headers: answer.headers, text: await readText(answer, maxRelayedBytes) };
}

const send = createSender(true, undefined, relayMilliseconds);
