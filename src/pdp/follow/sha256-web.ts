import type { Run } from '../engine/engine.js';

/** Like `sha256.ts`, but uses Web Crypto, which every runtime provides. Does not block the event loop. */
export async function sha256(bytes: Uint8Array, _run: Run): Promise<string> {
	const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>));
	return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
