/** Returns the fields without undefined members. Keeps null, which clears a field. */
export function definedFields<F extends object>(fields: F): { [K in keyof F]?: Exclude<F[K], undefined> } {
	const given = Object.entries(fields).filter(([, value]) => value !== undefined);
	// Only undefined members were removed, so the type is correct.
	return Object.fromEntries(given) as { [K in keyof F]?: Exclude<F[K], undefined> };
}
