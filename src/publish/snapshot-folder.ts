import { createHash, webcrypto } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../log.js';

/** File system functions for the folder. */
const nodeFiles = { mkdir, open, readdir, readFile, rename, rm };

/** Subset of `node:fs/promises` for the folder. */
export type Files = typeof nodeFiles;

/** `<label>.<seal>.tar.gz` */
const sealedName = /^([^/]+)\.([0-9a-f]{64})\.tar\.gz$/;
/** Matches any snapshot name from this or an earlier version, complete or not. */
const snapshotName = /^r\d+-.*\.tar\.gz(\.unfinished)?$/;
const unfinished = '.unfinished';

/**
 * Stores snapshots as files, each in its environment's folder under a label. A file name contains a seal, which is a
 * SHA-256 over the environment, the label and the bytes, so files cannot be confused. Storing is best effort: no method
 * throws, and after the first logged failure, no further failure is logged until storing works again.
 */
export class SnapshotFolder {
	#failing = false;

	constructor(
		/** Path of the folder, which is created if missing. */
		private readonly path: string,
		private readonly log: Logger,
		private readonly files: Files = nodeFiles,
	) {}

	/** Returns the ids of environments with stored snapshots. Other names in the folder are also returned. */
	async environments(): Promise<readonly string[]> {
		return this.files.readdir(this.path).catch(() => []);
	}

	/** Returns the labels of an environment's stored snapshots. */
	async labels(environmentId: string): Promise<readonly string[]> {
		return (await this.#names(environmentId)).flatMap((name) => sealedName.exec(name)?.[1] ?? []);
	}

	/** Returns the verified bytes for a label, or `null`. Deletes files that do not match their seal. */
	async read(environmentId: string, label: string): Promise<Uint8Array | null> {
		for (const name of await this.#namesUnder(environmentId, label)) {
			const path = join(this.path, environmentId, name);
			const bytes = await this.files.readFile(path).catch(() => null);
			if (bytes !== null && name === sealedFileName(label, await seal(environmentId, label, bytes))) return bytes;
			this.log.warn({ path }, 'deleting a damaged stored snapshot');
			await this.#try('delete', () => this.files.rm(path, { recursive: true, force: true }));
		}
		return null;
	}

	/**
	 * Stores bytes under a label. The bytes are synced to disk before the file gets its final name, so a power cut
	 * leaves no partial file with this name. Returns true on success.
	 */
	async write(environmentId: string, label: string, bytes: Uint8Array): Promise<boolean> {
		const folder = join(this.path, environmentId);
		const name = sealedFileName(label, await seal(environmentId, label, bytes));
		const aside = join(folder, name + unfinished);
		const written = await this.#try('write', async () => {
			await this.files.mkdir(folder, { recursive: true, mode: 0o700 });
			await this.#writeThrough(aside, bytes);
			await this.files.rename(aside, join(folder, name));
			await this.#flush(folder);
		});
		if (written) this.#failing = false;
		else await this.files.rm(aside, { force: true }).catch(() => undefined);
		return written;
	}

	/** Deletes all files under a label. */
	async drop(environmentId: string, label: string): Promise<void> {
		for (const name of await this.#namesUnder(environmentId, label)) {
			const path = join(this.path, environmentId, name);
			await this.#try('delete', () => this.files.rm(path, { recursive: true, force: true }));
		}
	}

	/** Deletes an environment's incomplete files, and snapshots without a seal in their name. */
	async sweep(environmentId: string): Promise<void> {
		for (const name of await this.#names(environmentId)) {
			if (sealedName.test(name) || !snapshotName.test(name)) continue;
			const path = join(this.path, environmentId, name);
			await this.#try('delete', () => this.files.rm(path, { recursive: true, force: true }));
		}
	}

	/** Deletes all files for an environment. */
	async forget(environmentId: string): Promise<void> {
		await this.#try('delete', () => this.files.rm(join(this.path, environmentId), { recursive: true, force: true }));
	}

	async #names(environmentId: string): Promise<readonly string[]> {
		return this.files.readdir(join(this.path, environmentId)).catch(() => []);
	}

	async #namesUnder(environmentId: string, label: string): Promise<readonly string[]> {
		return (await this.#names(environmentId)).filter((name) => sealedName.exec(name)?.[1] === label);
	}

	async #writeThrough(path: string, bytes: Uint8Array): Promise<void> {
		const file = await this.files.open(path, 'w', 0o600);
		try {
			await file.writeFile(bytes);
			await file.sync();
		} finally {
			await file.close();
		}
	}

	/** Syncs a folder, because a new file name is on disk only after its folder was synced. */
	async #flush(folder: string): Promise<void> {
		const handle = await this.files.open(folder, 'r');
		try {
			await handle.sync();
		} finally {
			await handle.close();
		}
	}

	/** Runs `work`. Returns true on success. */
	async #try(what: 'write' | 'delete', work: () => Promise<void>): Promise<boolean> {
		try {
			await work();
			return true;
		} catch (error) {
			if (!this.#failing)
				this.log.error({ error, folder: this.path }, `cannot ${what} stored snapshots: continuing without`);
			this.#failing = true;
			return false;
		}
	}
}

function sealedFileName(label: string, value: string): string {
	return `${label}.${value}.tar.gz`;
}

/** Returns the seal. Hashes the bytes outside the event loop, because snapshots may be large. */
async function seal(environmentId: string, label: string, bytes: Uint8Array): Promise<string> {
	const content = await webcrypto.subtle.digest('SHA-256', bytes);
	return createHash('sha256').update(`${environmentId}/${label}\n`).update(Buffer.from(content)).digest('hex');
}
