import type { Health } from '../wire/check.js';
import type { Replica } from './replica.js';

/**
 * How a decision point is that answers from a replica. What stands in the way is in the log: the words of the control
 * plane are not for those who have no key.
 */
export function currentHealth(replica: Replica): Health {
	const { kind } = replica.state;
	const online = kind === 'ready';
	const held = replica.current();
	if (held === undefined) {
		return { status: 'unavailable', online, state: kind, revision: null, policy_revision: null, degraded: null };
	}
	const { revision, policyRevision, degraded } = held;
	return {
		status: degraded === null ? 'ok' : 'degraded',
		online,
		state: kind,
		revision,
		policy_revision: policyRevision,
		degraded: degraded && {
			reason: degraded.reason,
			since: degraded.since,
			revisions_behind: revision - policyRevision,
		},
	};
}
