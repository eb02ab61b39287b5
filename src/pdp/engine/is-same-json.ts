/** True if two values are the same JSON; field order does not matter. */
export function isSameJson(one: unknown, other: unknown): boolean {
	if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
	if (Array.isArray(one) !== Array.isArray(other)) return false;
	const members = Object.entries(one);
	return (
		members.length === Object.keys(other).length &&
		members.every(
			([key, value]) => Object.hasOwn(other, key) && isSameJson(value, (other as Record<string, unknown>)[key]),
		)
	);
}
