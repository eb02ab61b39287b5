import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Removes all permissions for other users from a file, or from a folder and its contents. Skips files with a different
 * owner, and does not follow symbolic links. Throws system errors.
 */
export function restrictToOwner(path: string): void {
	const found = lstatSync(path, { throwIfNoEntry: false });
	if (found === undefined || found.isSymbolicLink() || found.uid !== process.getuid?.()) return;
	if ((found.mode & 0o077) !== 0) chmodSync(path, found.mode & 0o700);
	if (found.isDirectory()) for (const name of readdirSync(path)) restrictToOwner(join(path, name));
}
