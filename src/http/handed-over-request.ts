/** Requests that were begun the short way and go on the usual one. */

import type { IncomingMessage } from 'node:http';

/** What the short way leaves. */
interface Begun {
	/** The body, which cannot be read again. */
	readonly body: Buffer;
	/** What the handler threw, which is the answer; `null` when it was not called. */
	readonly failure: { readonly error: unknown } | null;
}

const begun = new WeakMap<IncomingMessage, Begun>();

/** Leaves a request to the usual way. */
export function begin(request: IncomingMessage, left: Begun): void {
	begun.set(request, left);
}

/** The body of a request that was begun the short way; `undefined` for any other. */
export function readAhead(request: IncomingMessage): Buffer | undefined {
	return begun.get(request)?.body;
}

/** Throws what the handler of a request threw that was begun the short way, so that it is not called twice. */
export function throwBegun(request: IncomingMessage): void {
	const failure = begun.get(request)?.failure;
	if (failure) throw failure.error;
}
