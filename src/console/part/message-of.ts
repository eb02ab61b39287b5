/** What an error tells a person. */
export function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : 'Something went wrong.';
}
