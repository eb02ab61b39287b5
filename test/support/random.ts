/** Pseudorandom numbers from a seed, so failures can be reproduced. */
export interface Random {
	/** Returns an integer from 0 (inclusive) to `end` (exclusive). */
	below(end: number): number;
	/** Returns true with this probability. */
	chance(share: number): boolean;
	/** Returns a random item. Throws if the list is empty. */
	pick<T>(from: readonly T[]): T;
	/** Returns up to `most` different items, and at least one item if the list is not empty. */
	some<T>(from: readonly T[], most: number): readonly T[];
	/** Returns all items in random order. */
	shuffled<T>(from: readonly T[]): readonly T[];
	/** Returns a second, independent source. */
	fork(): Random;
}

/** Creates a source from a 32-bit integer seed. Equal seeds give equal numbers. */
export function createRandom(seed: number): Random {
	let state = seed >>> 0;
	// Mulberry32: each seed gives a full period, and sequences for adjacent seeds are unrelated.
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

/** The part of AVA's `ExecutionContext` for logging. */
export interface Teller {
	log(text: string): void;
}

/** Calls `run` with a separate random source, whose seed is `TEST_SEED` if set. Logs the seed if the run fails. */
export async function seeded(t: Teller, run: (random: Random) => Promise<void>): Promise<void> {
	const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
	try {
		await run(createRandom(seed));
	} catch (error) {
		t.log(`TEST_SEED=${seed} repeats the choices of this run`);
		throw error;
	}
}
