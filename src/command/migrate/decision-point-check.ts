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
		if (healthy.status !== 200) return `/healthy answered ${healthy.status}`;
		const health = Health.safeParse(parseJsonBytes(healthy.body));
		if (!health.success) return '/healthy does not answer as a decision point of version 2 does';
		if (health.data.state !== 'ready') return `it is ${health.data.state}: see its log`;
		// Bulk checks are new in version 2.
		const checked = await exchange(`${base}/allowed/bulk`, key, { method: 'POST', body: [question], timeout });
		if (checked.status === 401 || checked.status === 403) return 'it serves another environment: it refused the key';
		if (checked.status !== 200) return `a check was answered ${checked.status}`;
		const answer = BulkResult.safeParse(parseJsonBytes(checked.body));
		return answer.success && answer.data.allow.length === 1 ? null : 'a check was not answered as version 2 does';
	} catch (error) {
		return `it cannot be reached: ${errorMessage(error)}`;
	}
}
