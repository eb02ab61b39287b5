import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Removes group and other permissions from a file, or from a folder and its contents. Skips files with a different
 * owner and symbolic link targets. Throws system errors.
 */
export function restrictToOwner(path: string): void {
	const found = lstatSync(path, { throwIfNoEntry: false });
	if (found === undefined || found.isSymbolicLink() || found.uid !== process.getuid?.()) return;
	if ((found.mode & 0o077) !== 0) chmodSync(path, found.mode & 0o700);
	if (found.isDirectory()) for (const name of readdirSync(path)) restrictToOwner(join(path, name));
}
