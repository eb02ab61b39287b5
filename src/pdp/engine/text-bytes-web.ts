/** Converts strings to bytes and back with web APIs. Replaces `text-bytes.ts` in browsers and edge runtimes. */

const encoder = new TextEncoder();
// Without `ignoreBOM`, a byte order mark at the beginning of a text would be lost.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
/** Number of bytes decoded per call when checking UTF-8. */
const chunk = 1024 * 1024;
/** Number of codes converted to characters per call. Each code is an argument of the call. */
const maxCodes = 4096;
/** Length up to which writing a string character by character is faster. */
const short = 256;

/** As in `text-bytes.ts`. */
export function utf8Bytes(text: string): Uint8Array {
	return encoder.encode(text);
}

/** As in `text-bytes.ts`. */
export function textMemory(buffer: ArrayBufferLike, offset = 0, length?: number): Uint8Array {
	return new Uint8Array(buffer, offset, length);
}

/** As in `text-bytes.ts`. */
export function isUtf8(bytes: Uint8Array): boolean {
	const strict = new TextDecoder('utf-8', { fatal: true });
	try {
		for (let from = 0; from < bytes.length; from += chunk) {
			strict.decode(bytes.subarray(from, from + chunk), { stream: true });
		}
		strict.decode();
		return true;
	} catch {
		return false;
	}
}

/** As in `text-bytes.ts`. */
export function utf8Length(text: string): number {
	return encoder.encode(text).length;
}

/** As in `text-bytes.ts`. */
export function utf8Text(bytes: Uint8Array, from: number, to: number): string {
	return decoder.decode(bytes.subarray(from, to));
}

/** As in `text-bytes.ts`. */
export function latin1Text(bytes: Uint8Array, from: number, to: number): string {
	let text = '';
	for (let at = from; at < to; at += maxCodes) {
		text += String.fromCharCode(...bytes.subarray(at, Math.min(to, at + maxCodes)));
	}
	return text;
}

/** As in `text-bytes.ts`. */
export function writeUtf8(bytes: Uint8Array, text: string, address: number, limit: number): number {
	if (text.length <= short && text.length <= limit && writeAscii(bytes, text, address)) return text.length;
	return encoder.encodeInto(text, bytes.subarray(address, address + limit)).written;
}

/** Writes an ASCII string, with a byte per character. Returns false if the string contains other characters. */
function writeAscii(bytes: Uint8Array, text: string, address: number): boolean {
	for (let index = 0; index < text.length; index += 1) {
		const code = text.charCodeAt(index);
		if (code > 0x7f) return false;
		bytes[address + index] = code;
	}
	return true;
}
