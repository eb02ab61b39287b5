import { delta, type Patch } from '../../compiler/index.js';
import { touchedSince } from '../store/history/touched-since.js';
import { readNeighbourhood } from '../store/model/neighbourhood.js';
import type { EnvironmentCounters } from '../store/unit/counters.js';
import type { ReadingUnit } from '../store/unit/reading-unit.js';
import { type Head, headIn, type LiveHead } from './head.js';

/**
 * Maximum number of changes in a step. Above this number, a snapshot is not much larger than a step, or is even
 * smaller.
 */
const maxChanges = 20_000;

/** State at which a step begins. */
type StepBase = Pick<Head, 'lineage' | 'revision' | 'token' | 'pending'>;

/** Patches in a step, with the resulting head. */
export interface StepPatches {
	readonly head: LiveHead;
	readonly patches: readonly Patch[];
}

/**
 * Returns the step from a state to the head as seen by a unit. Returns `moved` if the head's policy or lineage differs
 * from `seen`, `snapshot` if the step would be too large, and `cut` if this database's history does not contain the
 * state.
 */
export async function stepSince(
	unit: ReadingUnit,
	counters: EnvironmentCounters,
	base: StepBase,
	seen: Head,
): Promise<StepPatches | 'moved' | 'snapshot' | 'cut'> {
	const head = await headIn(unit, counters, seen);
	if (head === null) return 'moved';
	if (base.lineage !== head.lineage || (await unit.tokenAt(base.revision)) !== base.token) return 'cut';
	const logged = await touchedSince(unit, base.revision, maxChanges);
	if (logged === null) return 'snapshot';
	const inForce = head.pending === null ? null : await unit.schemaInForce();
	// The suspension can change without a log entry: when a policy becomes active, or when a schema turns out not to
	// compile.
	const moved = base.pending !== head.pending;
	const touched = { ...logged, pending: moved, derivations: moved || logged.derivations };
	const now = await readNeighbourhood(unit, touched, inForce);
	if (now === null) return 'snapshot';
	return { head, patches: delta(touched, now) };
}
