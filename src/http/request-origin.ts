import type { Request } from './endpoint.js';

/**
 * Returns the origin of this server as the client sees it: scheme from the proxy header, host from `Host`. It is only
 * ever sent back to the same client.
 */
export function requestOrigin(headers: Request<unknown, unknown, unknown>['headers']): string {
	const scheme = /^https\b/i.test(headers['x-forwarded-proto'] ?? '') ? 'https' : 'http';
	const url = `${scheme}://${headers['host'] ?? ''}`;
	return URL.canParse(url) ? new URL(url).origin : `${scheme}://localhost`;
}
