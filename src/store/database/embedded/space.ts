import { statfsSync } from 'node:fs';
import type { Logger } from '../../../log.js';

/** Returns the number of bytes available to this process on a folder's file system. Throws if unknown. */
export type FreeSpace = (folder: string) => number;

export const freeSpace: FreeSpace = (folder) => {
	const { bavail, bsize } = statfsSync(folder);
	return bavail * bsize;
};

/** A statement was rejected or failed because the disk is full. */
export class NoSpaceError extends Error {
	override readonly name = 'NoSpaceError';
	/** PostgreSQL's `disk_full`. */
	readonly code = '53100';
}

/** Bytes written per byte in a statement: the row, the change log, and both again in the write-ahead log. */
const writtenForEach = 4;

/**
 * Watches the embedded database's disk space. The space must never run out, because PostgreSQL exits if it cannot write
 * its log. Writes must leave a reserve, which reads and ending transactions may use.
 */
export class Space {
	#low = false;

	constructor(
		private readonly folder: string,
		/** Reserve in bytes; 0 disables the watch. */
		readonly reserve: number,
		private readonly log: Logger,
		private readonly read: FreeSpace = freeSpace,
	) {}

	/** Returns true if there is space for a statement with this many bytes. Logs like `hasRoom`. */
	hasRoomFor(bytes: number): boolean {
		return this.hasRoom(writtenForEach * bytes);
	}

	/**
	 * Returns true if this number of bytes is free in addition to the reserve. Logs when the free space falls below the
	 * reserve, and when it is sufficient again.
	 */
	hasRoom(bytes: number): boolean {
		if (this.reserve === 0) return true;
		const free = this.#free();
		const low = free < this.reserve;
		const facts = { folder: this.folder, free, reserve: this.reserve };
		if (low && !this.#low) this.log.error(facts, 'the disk is nearly full: rejecting writes');
		if (!low && this.#low) this.log.warn(facts, 'enough disk space again: accepting writes');
		this.#low = low;
		return free >= this.reserve + bytes;
	}

	/** Returns true if there is space to open the database. The opened database may still reject writes. */
	hasRoomToOpen(): boolean {
		return this.#free() >= this.reserve / 4;
	}

	/** Returns a human-readable sentence about the lack of space. */
	shortage(): string {
		const [free, reserve] = [this.#free(), this.reserve].map((bytes) => Math.floor(bytes / 2 ** 20));
		return `not enough disk space: the database disk has ${free} MiB free, and ${reserve} MiB are reserved`;
	}

	/** Free space in bytes. Infinity if it is unknown, so nothing is rejected. */
	#free(): number {
		try {
			return this.read(this.folder);
		} catch {
			return Number.POSITIVE_INFINITY;
		}
	}
}
