import type { Health } from '../../wire/decision/check.js';
import type { Replica } from './replica.js';

/** The log names the file or key at fault. */
const notTrusted = 'the newest bundle is not used: it is not signed by a key that is trusted here';

const deleted = 'the environment was deleted: every check is denied';

/**
 * Returns a decision point's health. Error details go only to the log, because callers without a key must not see the
 * control plane's messages.
 */
export function currentHealth(replica: Replica): Health {
	const { kind, untrusted } = replica.state;
	const detail = untrusted ? notTrusted : kind === 'deleted' ? deleted : null;
	const online = kind === 'ready' || kind === 'deleted';
	const left_lineage = replica.left ?? null;
	const held = replica.current();
	if (held === undefined) {
		return {
			status: 'unavailable',
			online,
			state: kind,
			detail,
			lineage: null,
			left_lineage,
			update_id: null,
			revision: null,
			policy_revision: null,
			degraded: null,
		};
	}
	const { lineage, revision, policyRevision, degraded } = held;
	return {
		status: degraded === null && kind !== 'deleted' ? 'ok' : 'degraded',
		online,
		state: kind,
		detail,
		lineage: lineage === '' ? null : lineage,
		left_lineage,
		update_id: replica.updateId,
		revision,
		policy_revision: policyRevision,
		degraded: degraded && {
			reason: degraded.reason,
			since: degraded.since,
			revisions_behind: revision - policyRevision,
		},
	};
}
