/** JSON type guards. */
import type { Json } from './model.js';

/** Narrows to a readonly array, which `Array.isArray` does not. */
export function isArray(value: Json): value is readonly Json[] {
	return Array.isArray(value);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
