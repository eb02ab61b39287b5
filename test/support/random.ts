/** Numbers that look random and follow from a seed, so that a failure can be run again. */
export interface Random {
	/** A whole number from 0 up to, and without, `end`. */
	below(end: number): number;
	/** True in this share of the cases. */
	chance(share: number): boolean;
	/** One of a list that is not empty. Throws on an empty one. */
	pick<T>(from: readonly T[]): T;
	/** Up to `most` different ones of a list, at least one of a list that is not empty. */
	some<T>(from: readonly T[], most: number): readonly T[];
	/** All of a list in some order. */
	shuffled<T>(from: readonly T[]): readonly T[];
	/** Another source, which goes its own way from here. */
	fork(): Random;
}

/** Makes a source from a seed, a 32-bit whole number. Equal seeds give equal numbers. */
export function createRandom(seed: number): Random {
	let state = seed >>> 0;
	// Mulberry32: every seed gives a full period and neighbouring seeds have nothing in common.
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

/** What `seeded` says a seed with; an `ExecutionContext` of AVA is one. */
export interface Teller {
	log(text: string): void;
}

/** Runs with a source of its own, from `TEST_SEED` where that is set; tells the seed when the run fails. */
export async function seeded(t: Teller, run: (random: Random) => Promise<void>): Promise<void> {
	const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
	try {
		await run(createRandom(seed));
	} catch (error) {
		t.log(`TEST_SEED=${seed} repeats the choices of this run`);
		throw error;
	}
}
