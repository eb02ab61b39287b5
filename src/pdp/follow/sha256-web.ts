import type { Run } from '../engine/engine.js';

/** Like `sha256.ts`, but with Web Crypto, which every runtime has. Hashes off the event loop. */
export async function sha256(bytes: Uint8Array, _run: Run): Promise<string> {
	const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>));
	return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
