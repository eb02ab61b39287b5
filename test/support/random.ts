/** Pseudorandom numbers from a seed, so failures can be reproduced. */
export interface Random {
	/** Integer from 0 (inclusive) to `end` (exclusive). */
	below(end: number): number;
	/** True with this probability. */
	chance(share: number): boolean;
	/** A random item. Throws on an empty list. */
	pick<T>(from: readonly T[]): T;
	/** Up to `most` different items; at least one if the list is not empty. */
	some<T>(from: readonly T[], most: number): readonly T[];
	/** All items in random order. */
	shuffled<T>(from: readonly T[]): readonly T[];
	/** A second, independent source. */
	fork(): Random;
}

/** Creates a source from a 32-bit integer seed. Equal seeds give equal numbers. */
export function createRandom(seed: number): Random {
	let state = seed >>> 0;
	// Mulberry32: each seed gives a full period, and sequences of neighbouring seeds are unrelated.
	const next = (): number => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
	const below = (end: number) => Math.floor(next() * end);
	const take = <T>(from: readonly T[], wanted: number): readonly T[] => {
		const left = [...from];
		return Array.from({ length: wanted }, () => left.splice(below(left.length), 1)).flat();
	};
	return {
		below,
		chance: (share) => next() < share,
		pick(from) {
			const picked = from[below(from.length)];
			if (picked === undefined) throw new Error('nothing to pick from');
			return picked;
		},
		some: (from, most) => take(from, Math.min(from.length, 1 + below(most))),
		shuffled: (from) => take(from, from.length),
		fork: () => createRandom(below(2 ** 32)),
	};
}

/** Log for the seed, such as AVA's `ExecutionContext`. */
export interface Teller {
	log(text: string): void;
}

/** Runs with a separate random source, seeded from `TEST_SEED` if set. Logs the seed if the run fails. */
export async function seeded(t: Teller, run: (random: Random) => Promise<void>): Promise<void> {
	const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
	try {
		await run(createRandom(seed));
	} catch (error) {
		t.log(`TEST_SEED=${seed} repeats the choices of this run`);
		throw error;
	}
}
