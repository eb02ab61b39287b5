/**
 * Converts strings to bytes and back with Node.js APIs. INVARIANT: `text-bytes-web.ts` does the same with web APIs and
 * replaces this file in other runtimes. No other file in the engine depends on the runtime.
 */

import { isUtf8 as isValid } from 'node:buffer';

/** Encodes a string in UTF-8. Lone surrogates become the replacement character. */
export function utf8Bytes(text: string): Uint8Array {
	return Buffer.from(text);
}

/** Returns a view on the same memory. Strings are read fastest from this view. */
export function textMemory(buffer: ArrayBufferLike, offset = 0, length?: number): Uint8Array {
	return Buffer.from(buffer, offset, length);
}

/** True if the bytes are UTF-8. */
export function isUtf8(bytes: Uint8Array): boolean {
	return isValid(bytes);
}

export function utf8Length(text: string): number {
	return Buffer.byteLength(text);
}

/** Decodes the bytes `from` to `to` (exclusive). Invalid UTF-8 becomes the replacement character. */
export function utf8Text(bytes: Uint8Array, from: number, to: number): string {
	return nativeBytes(bytes).toString('utf8', from, to);
}

/** Returns a character for each byte from `from` to `to` (exclusive). */
export function latin1Text(bytes: Uint8Array, from: number, to: number): string {
	return nativeBytes(bytes).toString('latin1', from, to);
}

/**
 * Writes a string in UTF-8 into a view created by `textMemory`, and returns the length in bytes, at most `limit`. The
 * limit is necessary: otherwise Node.js writes nothing if at least 2 GiB follow the address.
 */
export function writeUtf8(bytes: Uint8Array, text: string, address: number, limit: number): number {
	// The type is not checked, because every check calls this function.
	return (bytes as Buffer).write(text, address, limit, 'utf8');
}

function nativeBytes(bytes: Uint8Array): Buffer {
	return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
