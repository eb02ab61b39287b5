import test from 'ava';

/**
 * Functions that divide a file with the tag `@both` between the push tier and the rest tier. Without a tier, the whole
 * file runs.
 */

const tier = process.env['TEST_TIER'];

/** Declares a test for the push tier only. */
export const inPush = tier === 'rest' ? test.serial.skip : test.serial;

/** Declares a test for the rest tier only. */
export const inRest = tier === 'push' ? test.serial.skip : test.serial;

/** Selects the cases for this tier: the first case for the push tier, the other cases for the rest tier. */
export function casesOfTier<T>(cases: readonly T[]): readonly T[] {
	if (tier === 'push') return cases.slice(0, 1);
	return tier === 'rest' ? cases.slice(1) : cases;
}

/**
 * Selects some of the values for one of many cases: a third, at least one, for the push tier, and the other values for
 * the rest tier. `turn` numbers the cases, so that successive cases get different values.
 */
export function valuesOfTier<T>(values: readonly T[], turn: number): readonly T[] {
	if (tier !== 'push' && tier !== 'rest') return values;
	const start = turn % Math.max(1, values.length);
	const turned = [...values.slice(start), ...values.slice(0, start)];
	const count = Math.ceil(values.length / 3);
	return tier === 'push' ? turned.slice(0, count) : turned.slice(count);
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
 * Scales the minimum number of findings to this run's draws. With only a share of the draws, a frequent finding (at
 * least 20) must occur once, and a rare finding may be absent. Otherwise, a property could fail by chance.
 */
export function leastDrawn(full: number): number {
	if (share >= 1) return Math.floor(full * share);
	return full >= 20 ? 1 : 0;
}
