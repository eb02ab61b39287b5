/** The fields that are not undefined. A null stays, because it clears a field. */
export function definedFields<F extends object>(fields: F): { [K in keyof F]?: Exclude<F[K], undefined> } {
	const given = Object.entries(fields).filter(([, value]) => value !== undefined);
	// Only undefined members were removed, as the type says.
	return Object.fromEntries(given) as { [K in keyof F]?: Exclude<F[K], undefined> };
}
