import { createHash } from 'node:crypto';
import type { Steps } from '../../../compiler/steps.js';
import type { Run } from '../engine/engine.js';

/** Number of bytes hashed between two pauses. */
const stride = 256 * 1024;

/** Returns the SHA-256 in hexadecimal, computed by Node.js in slices. Other runtimes use `sha256-web.ts`. */
export function sha256(bytes: Uint8Array, run: Run): Promise<string> {
	return run(hashing(bytes));
}

function* hashing(bytes: Uint8Array): Steps<string> {
	const hash = createHash('sha256');
	for (let from = 0; from < bytes.length; from += stride) {
		hash.update(bytes.subarray(from, from + stride));
		yield;
	}
	return hash.digest('hex');
}
