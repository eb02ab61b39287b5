/** Decision point metrics for Prometheus. */

import { methods, Raw } from '../../http/endpoint.js';
import { endpoint } from './endpoint.js';

/** Source and access settings for metrics. */
export interface MetricsSource {
	/** Renders the metrics as text with content type `type`. */
	readonly render: () => Promise<string>;
	readonly type: string;
	/** True if metrics are served without a key. */
	readonly open: boolean;
}

export function metricsEndpoint({ render, type, open }: MetricsSource) {
	return endpoint({
		...methods({ tag: 'Health', path: '/metrics' }).get,
		name: 'metrics',
		summary: 'Get process metrics for Prometheus',
		description:
			'Prometheus text format. With workers, a response combines the metrics of all workers. Labels never contain ' +
			'request values. `docs/operate/operation.md` explains each metric.',
		access: open ? 'open' : 'key',
		returns: { 200: null },
		answerTypes: { 200: type },
		handle: async () => new Raw(200, { 'content-type': type, 'cache-control': 'no-store' }, await render()),
	});
}
