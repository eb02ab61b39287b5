/** Returns the fields that are not undefined. Keeps null, which clears a field. */
export function definedFields<F extends object>(fields: F): { [K in keyof F]?: Exclude<F[K], undefined> } {
	const given = Object.entries(fields).filter(([, value]) => value !== undefined);
	// Only undefined fields were removed, so the type is correct.
	return Object.fromEntries(given) as { [K in keyof F]?: Exclude<F[K], undefined> };
}
