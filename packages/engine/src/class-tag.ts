/** Whether a value is of a class of the runtime, also of another realm of it. */
export function hasTag(value: unknown, tag: string): value is object {
	return Object.prototype.toString.call(value) === `[object ${tag}]`;
}

/** Whether a value is bytes. */
export function isBytes(value: unknown): value is Uint8Array | ArrayBuffer {
	return hasTag(value, 'Uint8Array') || hasTag(value, 'ArrayBuffer');
}
