/** Step in a path into a JSON value: a member name or an item index. */
export type Step = string | number;

const escapedSurrogate = /\\u[dD][89a-fA-F]/;
const loneSurrogate = /\p{Surrogate}/u;

/** True if a JSON text may decode to ill-formed Unicode, by an escape such as `\ud800`. */
export function mayBeIllFormed(text: string): boolean {
	return text.includes('\\u') && escapedSurrogate.test(text);
}

/**
 * Returns the place of the first text or name with a lone surrogate; `null` if there is none. The value must not be
 * deep.
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
