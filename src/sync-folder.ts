import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Syncs a folder to disk: a name that was made or removed in it is lasting only then. Throws as the system does. */
export function syncFolder(folder: string): void {
	const descriptor = openSync(folder, 'r');
	try {
		fsyncSync(descriptor);
	} finally {
		closeSync(descriptor);
	}
}
