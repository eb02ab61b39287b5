/** Decision point metrics for Prometheus. */

import { Raw } from '../../http/endpoint.js';
import { endpoint } from './endpoint.js';

/** Source and access settings for metrics. */
export interface MetricsSource {
	/** Renders the metrics as text with content type `type`. */
	readonly render: () => Promise<string>;
	readonly type: string;
	/** True if metrics are served without a key. */
	readonly open: boolean;
}

/** Declares the metrics endpoint. */
export function metricsEndpoint({ render, type, open }: MetricsSource) {
	return endpoint({
		name: 'metrics',
		summary: 'The numbers of the process, for Prometheus',
		description:
			'Text in the format of Prometheus. With workers, one answer has the numbers of all. No label has a value from a ' +
			'request. `docs/operate/operation.md` says what each number is.',
		tag: 'Health',
		method: 'get',
		path: '/metrics',
		access: open ? 'open' : 'key',
		returns: { 200: null },
		answerTypes: { 200: type },
		handle: async () => new Raw(200, { 'content-type': type, 'cache-control': 'no-store' }, await render()),
	});
}
