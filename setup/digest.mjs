import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the SHA-256 hash over file names and contents, in hexadecimal.
 * @param {string} root the repository's folder
 * @param {readonly string[]} files relative to `root`, always in the same order
 * @returns {string}
 */
export function digestFiles(root, files) {
	const hash = createHash('sha256');
	for (const file of files) {
		hash
			.update(`${file}\0`)
			.update(readFileSync(join(root, file)))
			.update('\0');
	}
	return hash.digest('hex');
}
