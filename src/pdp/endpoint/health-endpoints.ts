/** Decision point health, for probes and for humans. */

import { methods, reply } from '../../http/endpoint.js';
import { sendTo, wantsPage } from '../../http/root-redirect.js';
import { Health } from '../../wire/decision/check.js';
import { LoadedAnswer } from '../../wire/headers.js';
import { currentHealth } from '../follow/current-health.js';
import type { Replica } from '../follow/replica.js';
import { endpoint, revisionHeader } from './endpoint.js';

export function healthEndpoints(replica: Replica) {
	const health = () => currentHealth(replica);
	const headers = () => revisionHeader(replica.current());
	const alive = (name: string, path: string) =>
		endpoint({
			...methods({ tag: 'Health', path }).get,
			name,
			summary: 'Get the state of the decision point',
			access: 'open',
			returns: { 200: Health },
			answerHeaders: LoadedAnswer,
			handle: () => reply(200, health(), headers()),
		});
	return [
		endpoint({
			...methods({ tag: 'Health', path: '/' }).get,
			name: 'root',
			summary: 'Get the state, or redirect browsers to the API reference',
			access: 'open',
			returns: { 200: Health, 302: null },
			handle: (request) => (wantsPage(request.headers) ? sendTo('/docs') : reply(200, health(), headers())),
		}),
		alive('healthy', '/healthy'),
		alive('health', '/health'),
		alive('healthcheck', '/healthcheck'),
		endpoint({
			...methods({ tag: 'Health', path: '/ready' }).get,
			name: 'ready',
			summary: 'Check whether a complete revision is loaded',
			access: 'open',
			returns: { 200: Health, 503: Health },
			answerHeaders: LoadedAnswer,
			handle: () => {
				const body = health();
				return body.status === 'unavailable' ? reply(503, body, headers()) : reply(200, body, headers());
			},
		}),
	];
}
