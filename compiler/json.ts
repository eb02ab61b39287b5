/** Tells the kinds of JSON values apart for the type checker. */
import type { Json } from './model.js';

/** Whether it is an array: `Array.isArray` does not narrow readonly arrays. */
export function isArray(value: Json): value is readonly Json[] {
	return Array.isArray(value);
}

/** Whether it is what JSON calls an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
