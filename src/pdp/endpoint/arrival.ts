/** Waits until a decision point has received a write that was made through this decision point. */

import { Failure } from '../../failure.js';
import { deadline } from '../follow/deadline.js';
import type { Progress, WantedRevision } from '../follow/progress.js';
import type { FactsWait } from './facts-wait.js';

/**
 * Waits until decisions use the revision of a write, or until the client disconnects. On timeout, throws `not_synced`
 * if the policy is `fail`, and returns otherwise. The write has been committed in both cases.
 */
export async function awaitArrival(
	progress: Pick<Progress, 'reached'>,
	revision: WantedRevision,
	{ milliseconds, policy }: FactsWait,
	closed: AbortSignal,
): Promise<void> {
	if (milliseconds === 0) return;
	try {
		if (milliseconds === null) await progress.reached(revision, closed);
		else await deadline(closed, milliseconds, (limited) => progress.reached(revision, limited));
	} catch {
		if (policy === 'fail') throw new Failure('not_synced', 'Timeout waiting for update to be received');
	}
}
