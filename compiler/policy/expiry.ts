/** Fact expiry. An expired fact is absent; a combination holds while all its facts hold. */

import type { Expiring } from '../model.js';

/** A time in milliseconds since 1970, or `null` for a fact without expiry. Tables store it for each fact. */
export type Until = number | null;

/** Returns a fact's expiry, as stored in tables. */
export function factExpiry({ expires_at }: Expiring): Until {
	return expires_at ?? null;
}

/** Returns the later expiry: until then at least one of the facts holds. */
export function later(one: Until, other: Until): Until {
	return one === null || other === null ? null : Math.max(one, other);
}

/** Returns the latest expiry among these facts. Throws `TypeError` if there are none. */
export function latestExpiry(facts: readonly Expiring[]): Until {
	return facts.map(factExpiry).reduce(later);
}

/** Returns the earlier expiry: until then both facts hold. */
export function earlier(one: Until, other: Until): Until {
	if (one === null) return other;
	return other === null ? one : Math.min(one, other);
}

/** Orders facts by expiry, the latest first. */
export function byDuration(left: Until, right: Until): number {
	return outlasts(left, right) ? -1 : outlasts(right, left) ? 1 : 0;
}

/** True if the first expiry is later than the second. */
export function outlasts(one: Until, other: Until): boolean {
	return other !== null && (one === null || one > other);
}
