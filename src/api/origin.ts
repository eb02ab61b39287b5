import type { Request } from '../http/endpoint.js';

/**
 * The origin by which a client reached this API, as its request tells: what a proxy in front says of the scheme, and
 * the `Host` header. Only ever told to that same client.
 */
export function originOf(headers: Request<unknown, unknown, unknown>['headers']): string {
	const scheme = /^https\b/i.test(headers['x-forwarded-proto'] ?? '') ? 'https' : 'http';
	const url = `${scheme}://${headers['host'] ?? ''}`;
	return URL.canParse(url) ? new URL(url).origin : `${scheme}://localhost`;
}
