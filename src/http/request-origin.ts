import type { Request } from './endpoint.js';

/**
 * Returns this server's origin as the client sees it. The scheme comes from the proxy's header, and the host from
 * `Host`. The origin is only sent back to the same client.
 */
export function requestOrigin(headers: Request<unknown, unknown, unknown>['headers']): string {
	const scheme = /^https\b/i.test(headers['x-forwarded-proto'] ?? '') ? 'https' : 'http';
	const url = `${scheme}://${headers['host'] ?? ''}`;
	return URL.canParse(url) ? new URL(url).origin : `${scheme}://localhost`;
}
