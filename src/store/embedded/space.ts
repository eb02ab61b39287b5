import { statfsSync } from 'node:fs';
import type { Logger } from '../../log.js';

/** Reads how many bytes of a folder's file system this process may still use. Throws where that cannot be read. */
export type FreeSpace = (folder: string) => number;

/** As the file system says. */
export const freeSpace: FreeSpace = (folder) => {
	const { bavail, bsize } = statfsSync(folder);
	return bavail * bsize;
};

/** A statement was refused, or failed, because there is no room for what it writes. */
export class NoSpaceError extends Error {
	override readonly name = 'NoSpaceError';
	/** As PostgreSQL says it: `disk_full`. */
	readonly code = '53100';
}

/** What a statement writes for each byte that it is given: the row, the change log, and both again in the log. */
const writtenForEach = 4;

/**
 * Watches the space that is left for the embedded database: it must never run out, because PostgreSQL ends when it
 * cannot write its log. So there is a reserve that no write may touch; reads and what ends transactions may.
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

	/** Whether there is room for a statement that is given so many bytes. What changes is logged. */
	hasRoomFor(bytes: number): boolean {
		return this.hasRoom(writtenForEach * bytes);
	}

	/** Whether so many bytes fit beside the reserve. What changes is logged. */
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

	/** Whether there is room to open the database, which then may take no writes yet. */
	hasRoomToOpen(): boolean {
		return this.#free() >= this.reserve / 4;
	}

	/** What is missing, in a sentence for people. */
	shortage(): string {
		const [free, reserve] = [this.#free(), this.reserve].map((bytes) => Math.floor(bytes / 2 ** 20));
		return `there is no room to write: ${free} MiB are free on the disk of the database, and ${reserve} MiB are kept back`;
	}

	/** Where it cannot be read nothing is known, and nothing is refused. */
	#free(): number {
		try {
			return this.read(this.folder);
		} catch {
			return Number.POSITIVE_INFINITY;
		}
	}
}
