/** Returns true if the code of an error, or of a database error wrapped in it, matches. */
export function hasCode(error: unknown, code: RegExp): boolean {
	return nestedErrors(error).some((nested) => code.test(String((nested as { readonly code?: unknown }).code)));
}

/** Returns an error and the database errors wrapped in it: objection wraps the driver's errors. */
export function nestedErrors(error: unknown): readonly Error[] {
	if (!(error instanceof Error)) return [];
	return [error, ...nestedErrors((error as { readonly nativeError?: unknown }).nativeError)];
}
