/** Fact expiry. An expired fact is treated as absent. A combination of facts is valid while all its facts are valid. */

import type { Expiring } from '../model.js';

/** An expiry in milliseconds since 1970, or `null` for a fact without expiry. Tables store this value for each fact. */
export type Until = number | null;

/** Returns a fact's expiry, as stored in tables. */
export function factExpiry({ expires_at }: Expiring): Until {
	return expires_at ?? null;
}

/** Returns the later expiry. Until then, at least one of the two facts is valid. */
export function later(one: Until, other: Until): Until {
	return one === null || other === null ? null : Math.max(one, other);
}

/** Returns the latest expiry among these facts. Throws `TypeError` if there are none. */
export function latestExpiry(facts: readonly Expiring[]): Until {
	return facts.map(factExpiry).reduce(later);
}

/** Returns the earlier expiry. Until then, both facts are valid. */
export function earlier(one: Until, other: Until): Until {
	if (one === null) return other;
	return other === null ? one : Math.min(one, other);
}

/** Compares two expiries to sort facts with the latest expiry first. */
export function byDuration(left: Until, right: Until): number {
	return outlasts(left, right) ? -1 : outlasts(right, left) ? 1 : 0;
}

/** True if the first expiry is later than the second. */
export function outlasts(one: Until, other: Until): boolean {
	return other !== null && (one === null || one > other);
}
