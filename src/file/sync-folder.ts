import { closeSync, fsyncSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Syncs a folder to disk, so new and removed names in it are durable. Throws system errors. */
export function syncFolder(folder: string): void {
	sync(folder);
}

/** Syncs a folder to disk with all its contents. Throws system errors. */
export function syncTree(folder: string): void {
	for (const entry of readdirSync(folder, { withFileTypes: true })) {
		const path = join(folder, entry.name);
		if (entry.isDirectory()) syncTree(path);
		else if (entry.isFile()) sync(path);
	}
	sync(folder);
}

function sync(path: string): void {
	const descriptor = openSync(path, 'r');
	try {
		fsyncSync(descriptor);
	} finally {
		closeSync(descriptor);
	}
}
