/** Until when facts hold. A fact whose time has come is absent; what combines facts holds as long as they do. */

import type { Expiring } from '../model.js';

/** A time in milliseconds since 1970, or `null` for what holds for good. Tables of facts say it of each fact. */
export type Until = number | null;

/** Until when a fact holds, as tables say it. */
export function factExpiry({ expires_at }: Expiring): Until {
	return expires_at ?? null;
}

/** Until when one of two facts holds. */
export function later(one: Until, other: Until): Until {
	return one === null || other === null ? null : Math.max(one, other);
}

/** Until when one of these facts holds. Throws `TypeError` when there are none. */
export function latestExpiry(facts: readonly Expiring[]): Until {
	return facts.map(factExpiry).reduce(later);
}

/** Until when both of two facts hold. */
export function earlier(one: Until, other: Until): Until {
	if (one === null) return other;
	return other === null ? one : Math.min(one, other);
}

/** The order of facts by how long they hold, the longest first. */
export function byDuration(left: Until, right: Until): number {
	return outlasts(left, right) ? -1 : outlasts(right, left) ? 1 : 0;
}

/** Whether the first holds longer than the second. */
export function outlasts(one: Until, other: Until): boolean {
	return other !== null && (one === null || one > other);
}
