/** On-disk environment copy. A decision point starts from the copy if its control plane cannot be reached. */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { syncFolder } from '../../file/sync-folder.js';
import type { Logger } from '../../log.js';

/** A bundle in the copy: first a snapshot, then steps, each based on the previous bundle. */
export interface CopiedBundle {
	readonly environment: string;
	readonly etag: string;
	readonly bytes: Uint8Array;
}

export interface CopiedEnvironment {
	readonly bundles: readonly CopiedBundle[];
	/** Last time at which the control plane confirmed that there was no newer revision, in milliseconds since 1970. */
	readonly asOf: number;
}

const magic = Buffer.from('RGLCOPY1');
const saltBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;
const lengthBytes = 4;

const Header = z.object({
	as_of: z.number(),
	bundle: z.object({ environment: z.string(), etag: z.string() }).optional(),
});
type Header = z.output<typeof Header>;

/**
 * A file of records. Each record is encrypted and authenticated under a key derived from the API key, and bound to the
 * previous record. Without the key, the records cannot be read, changed or reordered. A truncated file ends with the
 * last complete record. Nothing prevents an older file from being restored as a whole, but `asOf` shows its age.
 */
export class OfflineCopy {
	#key: Buffer | undefined;
	#lastTag: Buffer = Buffer.alloc(0);
	/** Offset of the next record; `undefined` if the file must be rewritten. */
	#end: number | undefined;

	constructor(
		readonly path: string,
		private readonly apiKey: string,
		private readonly log: Logger,
	) {}

	/** Reads the copy. Returns `undefined` if there is no copy, or if this API key cannot decrypt it. */
	async read(): Promise<CopiedEnvironment | undefined> {
		const bytes = await readFile(this.path).catch(() => undefined);
		if (bytes === undefined) return undefined;
		const salt = bytes.subarray(magic.length, magic.length + saltBytes);
		if (!bytes.subarray(0, magic.length).equals(magic) || salt.length < saltBytes) return this.#unreadable();
		const key = this.#derive(salt);
		const bundles: CopiedBundle[] = [];
		let asOf = 0;
		let before: Buffer = salt;
		for (let at = magic.length + saltBytes; at < bytes.length; ) {
			const opened = openRecord(bytes.subarray(at), key, before);
			if (opened === undefined) break;
			const { header, content, tag, length } = opened;
			asOf = header.as_of;
			if (header.bundle !== undefined) bundles.push({ ...header.bundle, bytes: content });
			before = tag;
			at += length;
		}
		return bundles.length === 0 ? this.#unreadable() : { bundles, asOf };
	}

	/** Replaces the copy with a snapshot, atomically. */
	async replace(snapshot: CopiedBundle, asOf: number): Promise<void> {
		this.#end = undefined;
		const salt = randomBytes(saltBytes);
		const key = this.#derive(salt);
		const record = sealRecord(key, salt, { as_of: asOf, bundle: named(snapshot) }, snapshot.bytes);
		const bytes = Buffer.concat([magic, salt, record.bytes]);
		await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
		const temporary = `${this.path}.new`;
		await writeFile(temporary, bytes, { mode: 0o600, flush: true });
		await rename(temporary, this.path);
		syncFolder(dirname(this.path));
		this.#key = key;
		this.#lastTag = record.tag;
		this.#end = bytes.length;
	}

	/**
	 * Appends a step. If `step` is null, only records that there was no newer revision at `asOf`. Returns false if the
	 * copy must be rewritten, because this process did not write its current content.
	 */
	async append(step: CopiedBundle | null, asOf: number): Promise<boolean> {
		const [key, end] = [this.#key, this.#end];
		if (key === undefined || end === undefined) return false;
		this.#end = undefined;
		if ((await stat(this.path).catch(() => undefined))?.size !== end) return false;
		const header = step === null ? { as_of: asOf } : { as_of: asOf, bundle: named(step) };
		const record = sealRecord(key, this.#lastTag, header, step?.bytes ?? new Uint8Array());
		const file = await open(this.path, 'a');
		try {
			await file.appendFile(record.bytes);
			await file.datasync();
		} finally {
			await file.close();
		}
		this.#lastTag = record.tag;
		this.#end = end + record.bytes.length;
		return true;
	}

	async remove(): Promise<void> {
		this.#end = undefined;
		await rm(this.path, { force: true });
		await rm(`${this.path}.new`, { force: true });
	}

	#unreadable(): undefined {
		this.log.warn({ path: this.path }, 'the offline copy is damaged or belongs to a different API key');
	}

	#derive(salt: Uint8Array): Buffer {
		return Buffer.from(hkdfSync('sha256', this.apiKey, salt, 'regolith offline copy', 32));
	}
}

function named({ environment, etag }: CopiedBundle): Header['bundle'] {
	return { environment, etag };
}

/** Builds a record: its length, a nonce, the encrypted header line and content, and the tag. */
function sealRecord(key: Buffer, before: Uint8Array, header: Header, content: Uint8Array) {
	const nonce = randomBytes(nonceBytes);
	const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(before);
	const line = Buffer.from(`${JSON.stringify(header)}\n`);
	const sealed = Buffer.concat([cipher.update(line), cipher.update(content), cipher.final()]);
	const tag = cipher.getAuthTag();
	const length = Buffer.alloc(lengthBytes);
	length.writeUInt32BE(sealed.length);
	return { bytes: Buffer.concat([length, nonce, sealed, tag]), tag };
}

interface OpenedRecord {
	readonly header: Header;
	readonly content: Buffer;
	readonly tag: Buffer;
	/** Whole record size in bytes. */
	readonly length: number;
}

/** Opens the record at the beginning of `bytes`. Returns `undefined` if it is truncated, damaged or out of order. */
function openRecord(bytes: Buffer, key: Buffer, before: Uint8Array): OpenedRecord | undefined {
	if (bytes.length < lengthBytes) return undefined;
	const length = lengthBytes + nonceBytes + bytes.readUInt32BE() + tagBytes;
	if (bytes.length < length) return undefined;
	const [nonce, sealed, tag] = [
		bytes.subarray(lengthBytes, lengthBytes + nonceBytes),
		bytes.subarray(lengthBytes + nonceBytes, length - tagBytes),
		bytes.subarray(length - tagBytes, length),
	];
	try {
		const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(before).setAuthTag(tag);
		const plain = Buffer.concat([decipher.update(sealed), decipher.final()]);
		const line = plain.indexOf('\n');
		const header = Header.parse(JSON.parse(plain.subarray(0, line).toString()));
		return { header, content: plain.subarray(line + 1), tag, length };
	} catch {
		return undefined;
	}
}
