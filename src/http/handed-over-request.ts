/** Requests handed over from the lean path to the usual path. */

import type { IncomingMessage } from 'node:http';

/** State from the lean path. */
interface HandedOver {
	/** The body, because it cannot be read twice. */
	readonly body: Buffer;
	/** Error from the handler, which determines the response; `null` if the handler did not run. */
	readonly failure: { readonly error: unknown } | null;
}

const handedOver = new WeakMap<IncomingMessage, HandedOver>();

/** Hands a request over to the usual path. */
export function handOver(request: IncomingMessage, known: HandedOver): void {
	handedOver.set(request, known);
}

/** Returns the body of a handed-over request; `undefined` for any other request. */
export function bodyReadAhead(request: IncomingMessage): Buffer | undefined {
	return handedOver.get(request)?.body;
}

/** Throws the handler's error again for a handed-over request, so the handler does not run twice. */
export function rethrowFailure(request: IncomingMessage): void {
	const failure = handedOver.get(request)?.failure;
	if (failure) throw failure.error;
}
