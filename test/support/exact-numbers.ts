/** Replaces numbers that JSON parsers may round with 0.5, because attributes must not contain such numbers. */
export function exactNumbers(value: unknown): unknown {
	return JSON.parse(JSON.stringify(value), (_, inner) => (isInexact(inner) ? 0.5 : inner));
}

function isInexact(value: unknown): boolean {
	return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;
}
