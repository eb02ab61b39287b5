import { statfsSync } from 'node:fs';
import type { Logger } from '../../../log.js';

/** Reads how many bytes of a folder's file system this process may still use. Throws when that cannot be read. */
export type FreeSpace = (folder: string) => number;

/** Asks the file system. */
export const freeSpace: FreeSpace = (folder) => {
	const { bavail, bsize } = statfsSync(folder);
	return bavail * bsize;
};

/** A statement was refused or failed, because there is no space for what it writes. */
export class NoSpaceError extends Error {
	override readonly name = 'NoSpaceError';
	/** As PostgreSQL says it: `disk_full`. */
	readonly code = '53100';
}

/**
 * How many bytes a statement writes for each byte it is given: the row, the change log, and both again in the
 * write-ahead log.
 */
const writtenForEach = 4;

/**
 * Watches the disk space of the embedded database. It must never run out, because PostgreSQL ends when it cannot write
 * its log. So writes must leave a reserve; reads and the ends of transactions may use it.
 */
export class Space {
	#low = false;

	constructor(
		private readonly folder: string,
		/** The reserve, in bytes; 0 watches nothing. */
		readonly reserve: number,
		private readonly log: Logger,
		private readonly read: FreeSpace = freeSpace,
	) {}

	/** Whether there is space for a statement that is given so many bytes. Logs when the answer changes. */
	hasRoomFor(bytes: number): boolean {
		return this.hasRoom(writtenForEach * bytes);
	}

	/** Whether so many bytes fit beside the reserve. Logs when the answer changes. */
	hasRoom(bytes: number): boolean {
		if (this.reserve === 0) return true;
		const free = this.#free();
		const low = free < this.reserve;
		const facts = { folder: this.folder, free, reserve: this.reserve };
		if (low && !this.#low) this.log.error(facts, 'the disk is nearly full: writes are refused, reads go on');
		if (!low && this.#low) this.log.warn(facts, 'there is space on the disk again: writes are taken');
		this.#low = low;
		return free >= this.reserve + bytes;
	}

	/** Whether there is space to open the database. It may still refuse writes then. */
	hasRoomToOpen(): boolean {
		return this.#free() >= this.reserve / 4;
	}

	/** How much space is missing, as a sentence. */
	shortage(): string {
		const [free, reserve] = [this.#free(), this.reserve].map((bytes) => Math.floor(bytes / 2 ** 20));
		return `there is no room to write: ${free} MiB are free on the disk of the database, and ${reserve} MiB are kept back`;
	}

	/** Free space in bytes. Where it cannot be read, nothing is refused. */
	#free(): number {
		try {
			return this.read(this.folder);
		} catch {
			return Number.POSITIVE_INFINITY;
		}
	}
}
