/** JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** True for a JSON object. False for an array. */
export function isJsonObject(value: Json): value is { readonly [name: string]: Json } {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
