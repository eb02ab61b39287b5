import type { PredicateTest } from './predicate.js';
import { FilterRefusal } from './residual.js';

/**
 * Throws `FilterRefusal` for a search text that LIKE compares differently: many clients of a target pass the text to
 * LIKE unchanged. LIKE has wildcards, and in SQLite, it ignores the case of English letters.
 */
export function requirePlain(test: Extract<PredicateTest, { readonly kind: 'search' }>, target: string): void {
	if (!/[A-Za-z%_\\]/.test(test.text)) return;
	throw new FilterRefusal(test.name, target, 'its clients use LIKE, which may ignore case and has wildcards');
}
