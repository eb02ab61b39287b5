/** Logs, counts and traces requests to all servers. */

import type { Served } from '../http/server.js';
import type { Logger } from '../log.js';
import type { RequestTally } from '../telemetry/request-tally.js';
import type { Tracing } from '../telemetry/tracing.js';

/** Request hooks for a server. */
export type Monitored = Pick<Served, 'onUnexpected' | 'onAnswered' | 'within' | 'leanTracing'>;

/** Logs, counts and traces server requests. All log lines for a request have its id. */
export function monitored(log: Logger, requests: RequestTally, tracing: Tracing | null): Monitored {
	return {
		onUnexpected: (error, request_id) => log.error({ error, request_id }, 'an unexpected error'),
		onAnswered: (answered) => {
			const { endpoint, method, path, status, seconds, id: request_id } = answered;
			requests.add(endpoint, status, seconds);
			tracing?.answered(answered);
			if (!log.isLevelEnabled('debug')) return;
			log.debug({ request_id, endpoint, method, path, status, seconds }, 'answered');
		},
		within: tracing?.request,
		leanTracing: tracing?.lean,
	};
}
