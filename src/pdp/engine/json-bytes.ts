/** The bytes of JSON's syntax. */
export const jsonByte = {
	quote: 0x22,
	comma: 0x2c,
	colon: 0x3a,
	openingBracket: 0x5b,
	backslash: 0x5c,
	closingBracket: 0x5d,
	false: 0x66,
	null: 0x6e,
	true: 0x74,
	openingBrace: 0x7b,
	closingBrace: 0x7d,
} as const;

const { openingBracket, closingBracket, openingBrace, closingBrace } = jsonByte;

/** Whether an object or an array begins with this byte. */
export function opens(byte: number): boolean {
	return byte === openingBrace || byte === openingBracket;
}

/** Whether an object or an array ends with this byte. */
export function closes(byte: number): boolean {
	return byte === closingBrace || byte === closingBracket;
}
