/** Share of random draws in this run, set by the test tier; 1 by default. */
const share = Number(process.env['TEST_DRAWS'] ?? 1);

/**
 * Scales a number to this test tier's share of random draws, but at least to 1. The number counts draws or expected
 * findings. `variable` names an environment variable that sets the number itself.
 */
export function draws(full: number, variable?: string): number {
	const chosen = variable === undefined ? undefined : process.env[variable];
	return chosen === undefined ? Math.max(1, Math.floor(full * share)) : Number(chosen);
}
