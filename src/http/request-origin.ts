import type { Request } from './endpoint.js';

/**
 * The origin at which a client reached this server, according to its own request: the scheme that a proxy reports, and the
 * `Host` header. It is only ever told to that same client.
 */
export function requestOrigin(headers: Request<unknown, unknown, unknown>['headers']): string {
	const scheme = /^https\b/i.test(headers['x-forwarded-proto'] ?? '') ? 'https' : 'http';
	const url = `${scheme}://${headers['host'] ?? ''}`;
	return URL.canParse(url) ? new URL(url).origin : `${scheme}://localhost`;
}
