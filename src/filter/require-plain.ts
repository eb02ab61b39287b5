import type { PredicateTest } from './predicate.js';
import { FilterRefusal } from './residual.js';

/**
 * Throws `FilterRefusal` for a search text with a wildcard of LIKE: many clients of a target pass the text to LIKE
 * unchanged.
 */
export function requirePlain(test: Extract<PredicateTest, { readonly kind: 'search' }>, target: string): void {
	if (!/[%_\\]/.test(test.text)) return;
	throw new FilterRefusal(test.name, target, 'its clients read `%`, `_` and `\\` in a searched text as wildcards');
}
