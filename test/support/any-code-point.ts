import fc from 'fast-check';

/**
 * Any code point but surrogates, as text: a `unit` of fast-check's strings. It stands for their own unit `binary`, which
 * generates the same and builds a table of all of Unicode first, in more than a second of each process.
 */
export const anyCodePoint: fc.Arbitrary<string> = fc
	.integer({ min: 0, max: 0x10ffff - 0x800 })
	.map((index) => String.fromCodePoint(index < 0xd800 ? index : index + 0x800));
