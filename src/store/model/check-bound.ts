import type { ReadingUnit } from '../unit/reading-unit.js';
import type { WritingUnit } from '../unit/writing-unit.js';

/**
 * Upper bound for the cost of a check in the environment. The bound is stored, so writes need not scan all
 * relationships.
 */
export interface CheckBound {
	readonly steps: number;
	/** Number of closures read by a check. */
	readonly closures: number;
}

/** Returns the environment's stored bound, or `null` if there is none. */
export async function storedCheckBound(unit: ReadingUnit): Promise<CheckBound | null> {
	const { rows } = await unit.raw<CheckBound>(
		'select steps, closures from check_bounds where environment_id = :environment_id',
		{},
	);
	return rows[0] ?? null;
}

/** Replaces the stored bound. */
export async function storeCheckBound(unit: WritingUnit, { steps, closures }: CheckBound): Promise<void> {
	await unit.raw(
		`insert into check_bounds (environment_id, steps, closures) values (:environment_id, :steps, :closures)
		on conflict (environment_id) do update set steps = excluded.steps, closures = excluded.closures`,
		{ steps, closures },
	);
}
