/** Step in a path into a JSON value: a field name or an item index. */
export type Step = string | number;

const escapedSurrogate = /\\u[dD][89a-fA-F]/;
const loneSurrogate = /\p{Surrogate}/u;

/** True if a JSON text may contain ill-formed Unicode after decoding, because of an escape such as `\ud800`. */
export function mayBeIllFormed(text: string): boolean {
	return text.includes('\\u') && escapedSurrogate.test(text);
}

/**
 * Returns the path to the first string or name with a lone surrogate; `null` if there is none. The value must not be
 * nested deeply.
 */
export function firstIllFormed(value: unknown): readonly Step[] | null {
	if (typeof value === 'string') return loneSurrogate.test(value) ? [] : null;
	if (typeof value !== 'object' || value === null) return null;
	for (const [name, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
		if (typeof name === 'string' && loneSurrogate.test(name)) return [name];
		const inner = firstIllFormed(member);
		if (inner !== null) return [name, ...inner];
	}
	return null;
}
