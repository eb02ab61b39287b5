import { errorMessage } from '../../failure.js';
import { BulkResult, Health } from '../../wire/decision/check.js';
import { exchange, parseJsonBytes } from '../server.js';

/** Decision point response timeout, in milliseconds. */
const timeout = 10_000;

/** A check that every policy denies. It only shows whether the decision point serves checks. */
const question = {
	user: 'regolith-migrate-check',
	action: 'read',
	resource: { type: 'regolith-migrate-check', tenant: 'default' },
};

/**
 * Queries a decision point with its environment's key. Returns the reason why its responses differ from version 2;
 * `null` if they do not.
 */
export async function diagnoseDecisionPoint(url: string, key: string): Promise<string | null> {
	const base = url.replace(/\/+$/, '');
	try {
		const healthy = await exchange(`${base}/healthy`, null, { timeout });
		if (healthy.status !== 200) return `/healthy returned status ${healthy.status}`;
		const health = Health.safeParse(parseJsonBytes(healthy.body));
		if (!health.success) return 'the /healthy response is not from a version 2 decision point';
		if (health.data.state !== 'ready') return `its state is ${health.data.state}; see its log`;
		// Bulk checks are new in version 2.
		const checked = await exchange(`${base}/allowed/bulk`, key, { method: 'POST', body: [question], timeout });
		if (checked.status === 401 || checked.status === 403)
			return 'it rejected the key, so it serves a different environment';
		if (checked.status !== 200) return `a check returned status ${checked.status}`;
		const answer = BulkResult.safeParse(parseJsonBytes(checked.body));
		return answer.success && answer.data.allow.length === 1
			? null
			: 'the check response is not in the version 2 format';
	} catch (error) {
		return `cannot connect: ${errorMessage(error)}`;
	}
}
