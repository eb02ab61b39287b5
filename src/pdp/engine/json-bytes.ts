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

/** True if the byte begins an object or an array. */
export function opens(byte: number): boolean {
	return byte === openingBrace || byte === openingBracket;
}

/** True if the byte ends an object or an array. */
export function closes(byte: number): boolean {
	return byte === closingBrace || byte === closingBracket;
}
