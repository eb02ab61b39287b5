/**
 * Texts and their bytes, by Node.js. INVARIANT: `text-bytes-web.ts` does the same for runtimes without it, and takes the
 * place of this file there; nothing else of the engine knows where it runs.
 */

import { isUtf8 as isValid } from 'node:buffer';

/** The bytes of a text, as UTF-8. Lone surrogates become the replacement character. */
export function utf8Bytes(text: string): Uint8Array {
	return Buffer.from(text);
}

/** The same memory, in the form that is fastest to read texts from. */
export function textMemory(buffer: ArrayBufferLike, offset = 0, length?: number): Uint8Array {
	return Buffer.from(buffer, offset, length);
}

/** Whether bytes are UTF-8. */
export function isUtf8(bytes: Uint8Array): boolean {
	return isValid(bytes);
}

/** How many bytes a text takes as UTF-8. */
export function utf8Length(text: string): number {
	return Buffer.byteLength(text);
}

/** The text of the bytes from `from` up to `to`. What is not UTF-8 becomes the replacement character. */
export function utf8Text(bytes: Uint8Array, from: number, to: number): string {
	return nativeBytes(bytes).toString('utf8', from, to);
}

/** One character for each byte from `from` up to `to`. */
export function latin1Text(bytes: Uint8Array, from: number, to: number): string {
	return nativeBytes(bytes).toString('latin1', from, to);
}

/**
 * Writes a text as UTF-8 into what `textMemory` gave, and returns how many bytes it took, at most `limit`. The limit
 * matters: without it nothing is written at all when there are 2 GiB or more after the address.
 */
export function writeUtf8(bytes: Uint8Array, text: string, address: number, limit: number): number {
	// Every check comes here, so what it is given is not looked at.
	return (bytes as Buffer).write(text, address, limit, 'utf8');
}

function nativeBytes(bytes: Uint8Array): Buffer {
	return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
