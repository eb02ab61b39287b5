/** True if two JSON values are equal. Ignores field order. `undefined` represents an absent value. */
export function isEqualJson(left: unknown, right: unknown): boolean {
	if (left === right) return true;
	if (Array.isArray(left) && Array.isArray(right)) {
		return left.length === right.length && left.every((item, index) => isEqualJson(item, right[index]));
	}
	if (!isRecord(left) || !isRecord(right)) return false;
	const names = Object.keys(left);
	return (
		names.length === Object.keys(right).length &&
		names.every((name) => Object.hasOwn(right, name) && isEqualJson(left[name], right[name]))
	);
}

/** True for a JSON object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
