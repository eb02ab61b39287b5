/**
 * How OPA's modules lay out values in memory; nothing else knows. Whatever is written by this code has addresses that
 * are multiples of four, so memory is read as words of four bytes; what a module wrote itself may be anywhere.
 *
 * Every block that a module may free has a header: its size and two words that are zero until it is free.
 */

/** The first byte of a value. A string in a policy's text is never freed, and may be shared. */
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

/** The words before a block: its size in bytes, and the links of a free one. */
export const headerWords = 3;

/** Sizes of blocks in bytes, as the module would allocate them: small ones have four sizes. */
export const blockBytes = { constant: 4, element: 16, object: 16, number: 64 } as const;

/** A boolean: its kind, then its value, in the first two bytes of a word. */
export function booleanWord(value: boolean): number {
	return kind.boolean | (value ? 0x100 : 0);
}

/**
 * A number, kept as text: kind and representation, padding, the address of its text, the text's length, and whether the
 * text is a block of its own. Here it is not: the text follows within the number's block, from word `text` on.
 */
export const number = { first: kind.number | 0x200, address: 2, length: 3, text: 6, maxText: 40 } as const;

/** A string: kind, length in bytes, address of the bytes; here the bytes follow. */
export const string = { length: 1, address: 2, text: 3 } as const;

/** An object or a set: kind, address of the table, its number of buckets, number of members. */
export const collection = { table: 1, buckets: 2, size: 3, words: 4 } as const;

/**
 * A member of an object: its key, its value, the next one in the same bucket. Modules do not use the last word of the
 * block, so this code keeps the hash of the key there.
 */
export const element = { key: 0, value: 1, next: 2, hash: 3 } as const;

/** An array: kind, address of the items, how many there are. Of each item its index, then its value. */
export const array = { itemBytes: 8, value: 1 } as const;

/** The bytes of the block for a table. */
export function tableBytes(buckets: number): number {
	const bytes = buckets * 4;
	if (bytes <= 4) return 4;
	if (bytes <= 8) return 8;
	if (bytes <= 16) return 16;
	return Math.max(64, bytes);
}

/**
 * How many buckets a table of so many members gets: a power of two. Tables are sparse, because most lookups find
 * nothing; but tables with one member, of which there are very many, have one bucket.
 */
export function bucketsFor(members: number): number {
	if (members < 2) return 1;
	return 2 ** (32 - Math.clz32(members * (members < 9 ? 4 : 2) - 1));
}

/** The hash of no bytes. Strings are hashed by FNV-1a. */
export const emptyHash = 0x811c9dc5 | 0;

/** Extends a hash by one byte. A bucket is the unsigned hash modulo the number of buckets. */
export function extendHash(hash: number, byte: number): number {
	return Math.imul(hash, 0x01000193) ^ byte;
}
