/**
 * Memory layout for values in OPA modules. No other file depends on this layout. Values written by this code have
 * addresses divisible by four, so memory is read in words of four bytes. Values written by a module may be anywhere.
 *
 * Every block that a module may free has a header: its size and two words, both zero until the block is freed.
 */

/** First byte of a value. A string in the policy text is never freed, and may be shared. */
export const kind = {
	null: 1,
	boolean: 2,
	number: 3,
	string: 4,
	array: 5,
	object: 6,
	set: 7,
	lastingString: 8,
} as const;

/** Words before a block: its size in bytes, and the links used while the block is free. */
export const headerWords = 3;

/** Block sizes in bytes, as allocated by the module. Small blocks have four sizes. */
export const blockBytes = { constant: 4, element: 16, object: 16, number: 64 } as const;

/** Returns a boolean as a word: kind in the first byte, value in the second. */
export function booleanWord(value: boolean): number {
	return kind.boolean | (value ? 0x100 : 0);
}

/**
 * A number, stored as text: kind and representation, padding, text address, text length, and a flag for text in a
 * separate block. This code never sets the flag: the text follows in the number's block, from word `text`.
 */
export const number = { first: kind.number | 0x200, address: 2, length: 3, text: 6, maxText: 40 } as const;

/** A string: kind, length in bytes, address of the bytes. In strings written by this code, the bytes follow. */
export const string = { length: 1, address: 2, text: 3 } as const;

/** An object or a set: kind, table address, bucket count, entry count. */
export const collection = { table: 1, buckets: 2, size: 3, words: 4 } as const;

/**
 * An object entry: key, value, next entry in the same bucket. Modules do not use the block's last word, so this code
 * keeps the key hash there.
 */
export const element = { key: 0, value: 1, next: 2, hash: 3 } as const;

/** An array: kind, item address, length. Each item has its index, then its value. */
export const array = { itemBytes: 8, value: 1 } as const;

/** Returns the block size for a table. */
export function tableBytes(buckets: number): number {
	const bytes = buckets * 4;
	if (bytes <= 4) return 4;
	if (bytes <= 8) return 8;
	if (bytes <= 16) return 16;
	return Math.max(64, bytes);
}

/**
 * Returns the number of buckets for a table: a power of two. Tables are sparse, because most lookups find nothing.
 * Tables with a single entry are very common and have a single bucket.
 */
export function bucketsFor(members: number): number {
	if (members < 2) return 1;
	return 2 ** (32 - Math.clz32(members * (members < 9 ? 4 : 2) - 1));
}

/** Hash for an empty string. Strings are hashed by FNV-1a. */
export const emptyHash = 0x811c9dc5 | 0;

/** Extends a hash by a byte. The bucket is the unsigned hash modulo the number of buckets. */
export function extendHash(hash: number, byte: number): number {
	return Math.imul(hash, 0x01000193) ^ byte;
}
