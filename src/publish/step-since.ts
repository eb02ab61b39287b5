import { delta, type Patch } from '../../compiler/index.js';
import { readNeighbourhood } from '../store/model/neighbourhood.js';
import { touchedSince } from '../store/unit/change-log.js';
import type { EnvironmentCounters } from '../store/unit/counters.js';
import type { ReadingUnit } from '../store/unit/reading-unit.js';
import { type Head, headIn, type LiveHead } from './head.js';

/** With more changes than this a snapshot is sent: it is then smaller, or nearly. */
const maxChanges = 20_000;

/** The state of data that a step begins at. */
interface StepBase {
	readonly lineage: string;
	readonly revision: number;
	readonly token: string;
	/** As `Head.pending`. */
	readonly pending: string | null;
}

/** The patches of a step, and the head that it leads to. */
export interface StepPatches {
	readonly head: LiveHead;
	readonly patches: readonly Patch[];
}

/**
 * The step from a state of the data to the head that a unit sees. `moved` when that has another policy or lineage than
 * the head that the caller saw, `snapshot` when a step would be too large, and `cut` when the state is not of the history
 * of this database.
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
	// What is suspended can change without an entry in the log: when a policy arrives, or turns out not to compile.
	const moved = base.pending !== head.pending;
	const touched = { ...logged, pending: moved, derivations: moved || logged.derivations };
	const now = await readNeighbourhood(unit, touched, inForce);
	if (now === null) return 'snapshot';
	return { head, patches: delta(touched, now) };
}
