/** Returns the defined fields. Keeps null, which clears a field. */
export function definedFields<F extends object>(fields: F): { [K in keyof F]?: Exclude<F[K], undefined> } {
	const given = Object.entries(fields).filter(([, value]) => value !== undefined);
	// Removes only undefined members, as the type says.
	return Object.fromEntries(given) as { [K in keyof F]?: Exclude<F[K], undefined> };
}
