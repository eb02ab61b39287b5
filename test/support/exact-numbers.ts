/** A JSON value with 0.5 in place of numbers that readers of JSON may round, which attributes must not hold. */
export function exactNumbers(value: unknown): unknown {
	return JSON.parse(JSON.stringify(value), (_, inner) => (isInexact(inner) ? 0.5 : inner));
}

function isInexact(value: unknown): boolean {
	return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;
}
