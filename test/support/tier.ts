import test from 'ava';

/** Functions that divide a file with the tag `@both` between the push tier and the rest. Without a tier, all of it runs. */

const tier = process.env['TEST_TIER'];

/** Declares a test for the push tier only. */
export const inPush = tier === 'rest' ? test.serial.skip : test.serial;

/** Declares a test for the second tier only. */
export const inRest = tier === 'push' ? test.serial.skip : test.serial;

/** Selects the cases for this tier: the first case for the push tier, the other cases for the second tier. */
export function casesOfTier<T>(cases: readonly T[]): readonly T[] {
	if (tier === 'push') return cases.slice(0, 1);
	return tier === 'rest' ? cases.slice(1) : cases;
}

/** Share of the random draws in this run. The test tier sets it; the default is 1. */
const share = Number(process.env['TEST_DRAWS'] ?? 1);

/**
 * Scales a number of draws to this run's share. The result is at least 1. `variable` names an environment variable to
 * override the result.
 */
export function draws(full: number, variable?: string): number {
	const chosen = variable === undefined ? undefined : process.env[variable];
	return chosen === undefined ? Math.max(1, Math.floor(full * share)) : Number(chosen);
}

/**
 * Scales the minimum number of findings to this run's share of the draws. In a part of the draws, a frequent finding
 * occurs once, and a rare finding may be absent, so no day's seed makes a law fail by chance.
 */
export function leastDrawn(full: number): number {
	if (share >= 1) return Math.floor(full * share);
	return full >= 20 ? 1 : 0;
}
