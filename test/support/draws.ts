/** Share of the random draws in this run. The test tier sets it; the default is 1. */
const share = Number(process.env['TEST_DRAWS'] ?? 1);

/**
 * Scales a number of draws, or of expected findings, to this test tier's share. The result is at least 1. `variable`
 * names an environment variable to override the result.
 */
export function draws(full: number, variable?: string): number {
	const chosen = variable === undefined ? undefined : process.env[variable];
	return chosen === undefined ? Math.max(1, Math.floor(full * share)) : Number(chosen);
}
