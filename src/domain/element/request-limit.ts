import { Failure } from '../../failure.js';
import { hasRequested } from '../../store/table/element/element-request.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { ActingUser } from './level.js';

/** Maximum number of requests by a signed-in user per hour, across all elements in an environment. */
const maxRequestsInAnHour = 1_000;
const hour = 3_600_000;

/**
 * Rejects a signed-in user with too many requests. The limit is needed because each request is stored permanently, sent
 * to a webhook, and may create an instance. Throws `limit_reached`.
 */
export async function refuseManyRequests(unit: WritingUnit, { user_id }: ActingUser): Promise<void> {
	const since = new Date(unit.now.getTime() - hour);
	if (!(await hasRequested(unit, { user_id, since, count: maxRequestsInAnHour }))) return;
	throw new Failure('limit_reached', `a user can make at most ${maxRequestsInAnHour} requests per hour`);
}
