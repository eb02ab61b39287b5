/** The fields that were given; a null stays, because it clears. */
export function defined<F extends object>(fields: F): { [K in keyof F]?: Exclude<F[K], undefined> } {
	const given = Object.entries(fields).filter(([, value]) => value !== undefined);
	// Only members that are undefined went, which is what the type says.
	return Object.fromEntries(given) as { [K in keyof F]?: Exclude<F[K], undefined> };
}
