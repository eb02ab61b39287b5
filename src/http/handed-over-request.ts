/** Requests handed over from the lean path to the declared path. */

import type { IncomingMessage } from 'node:http';

/** State from the lean path. The lean path has read the body, and a body cannot be read twice. */
export type HandedOver =
	/** The lean path rejected the body. The declared path rejects it again, with the reason. */
	| { readonly kind: 'refused'; readonly bytes: Buffer }
	/** The body is valid, and the handler has not run. */
	| { readonly kind: 'valid'; readonly body: unknown }
	/** The handler failed. Its error determines the response. */
	| { readonly kind: 'failed'; readonly body: unknown; readonly error: unknown };

const handedOver = new WeakMap<IncomingMessage, HandedOver>();

/** Hands a request over to the declared path. */
export function handOver(request: IncomingMessage, known: HandedOver): void {
	handedOver.set(request, known);
}

/** Returns the rejected body of a handed-over request; `undefined` for any other request. */
export function refusedBody(request: IncomingMessage): Buffer | undefined {
	const known = handedOver.get(request);
	return known?.kind === 'refused' ? known.bytes : undefined;
}

/**
 * Returns the validated body of a handed-over request; `undefined` for any other request. Throws the handler's error
 * again, so the handler does not run twice.
 */
export function validatedBody(request: IncomingMessage): { readonly body: unknown } | undefined {
	const known = handedOver.get(request);
	if (known?.kind === 'failed') throw known.error;
	return known?.kind === 'valid' ? known : undefined;
}
