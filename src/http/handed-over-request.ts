/** Requests that the lean path has begun and hands over to the usual one. */

import type { IncomingMessage } from 'node:http';

/** What the lean path knows by then. */
interface HandedOver {
	/** The body, which cannot be read again. */
	readonly body: Buffer;
	/** What the handler threw, which is the answer; `null` when it was not called. */
	readonly failure: { readonly error: unknown } | null;
}

const handedOver = new WeakMap<IncomingMessage, HandedOver>();

/** Hands a request over to the usual path. */
export function handOver(request: IncomingMessage, known: HandedOver): void {
	handedOver.set(request, known);
}

/** The body of a request that was handed over; `undefined` for any other. */
export function bodyReadAhead(request: IncomingMessage): Buffer | undefined {
	return handedOver.get(request)?.body;
}

/** Throws what the handler of a request threw that was handed over, so that it is not called twice. */
export function rethrowFailure(request: IncomingMessage): void {
	const failure = handedOver.get(request)?.failure;
	if (failure) throw failure.error;
}
