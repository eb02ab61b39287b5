/** A value of JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Whether a value of JSON is an object, and no array. */
export function isJsonObject(value: Json): value is { readonly [name: string]: Json } {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
