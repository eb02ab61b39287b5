/** True if a value is an instance of a built-in class, even from a different realm. */
export function hasTag(value: unknown, tag: string): value is object {
	return Object.prototype.toString.call(value) === `[object ${tag}]`;
}

export function isBytes(value: unknown): value is Uint8Array | ArrayBuffer {
	return hasTag(value, 'Uint8Array') || hasTag(value, 'ArrayBuffer');
}
