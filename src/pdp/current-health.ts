import type { Health } from '../wire/check.js';
import type { Replica } from './replica.js';

/**
 * The health of a decision point. What stands in the way is only in the log: callers without a key must not see the
 * control plane's messages.
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
