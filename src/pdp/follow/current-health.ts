import type { Health } from '../../wire/decision/check.js';
import type { Replica } from './replica.js';

/** The log contains the file or key at fault. */
const notTrusted = 'the newest bundle is not used, because it is not signed by a trusted key';

const deleted = 'the environment was deleted: every check is denied';

/**
 * Returns a decision point's health. Error details go only to the log, because callers without a key must not see the
 * control plane's messages.
 */
export function currentHealth(replica: Replica): Health {
	const { kind, untrusted } = replica.state;
	const detail = untrusted ? notTrusted : kind === 'deleted' ? deleted : null;
	const held = replica.current();
	const { degraded = null } = held ?? {};
	return {
		status: held === undefined ? 'unavailable' : degraded === null && kind !== 'deleted' ? 'ok' : 'degraded',
		online: kind === 'ready' || kind === 'deleted',
		state: kind,
		detail,
		lineage: held?.lineage || null,
		left_lineage: replica.left ?? null,
		update_id: held === undefined ? null : replica.updateId,
		revision: held?.revision ?? null,
		policy_revision: held?.policyRevision ?? null,
		degraded: degraded && {
			reason: degraded.reason,
			since: degraded.since,
			revisions_behind: replica.revision - replica.policyRevision,
		},
	};
}
