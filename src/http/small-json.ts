import { JsonLimitError, parseJson } from './json-builder.js';

/** Maximum JSON nesting depth. Real policies nest only a few levels. The limit makes recursion safe. */
export const maxDepth = 100;

/**
 * Maximum size in bytes for parsing a text in a single step, which is always fast. INVARIANT: a text this small cannot
 * exceed `maxBodyMembers`, because each field takes at least five bytes. It cannot exceed any value limit either.
 */
export const smallBytes = 64 * 1024;

/** Parses a text of at most `smallBytes`. Throws if it is not JSON, not valid Unicode, or nested too deeply. */
export function parseSmallText(text: string): unknown {
	const value = parseJson(text);
	// Each level takes at least two characters, so a short text cannot be too deep.
	if (text.length > 2 * maxDepth && depthExceeds(value, maxDepth)) throw new JsonLimitError('depth');
	return value;
}

function depthExceeds(value: unknown, limit: number): boolean {
	if (typeof value !== 'object' || value === null) return false;
	if (limit === 0) return true;
	if (Array.isArray(value)) return value.some((inner) => depthExceeds(inner, limit - 1));
	// Listing the members would take longer than the rest of this test.
	for (const name in value) if (depthExceeds(Reflect.get(value, name), limit - 1)) return true;
	return false;
}
