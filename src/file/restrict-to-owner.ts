import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Takes the permissions of group and others from a file, or from a folder and everything in it. Leaves files of other
 * users and the targets of symbolic links alone. Throws as the system does.
 */
export function restrictToOwner(path: string): void {
	const found = lstatSync(path, { throwIfNoEntry: false });
	if (found === undefined || found.isSymbolicLink() || found.uid !== process.getuid?.()) return;
	if ((found.mode & 0o077) !== 0) chmodSync(path, found.mode & 0o700);
	if (found.isDirectory()) for (const name of readdirSync(path)) restrictToOwner(join(path, name));
}
