import { Failure } from '../failure.js';
import { declaring, type Endpoint, methods, type Request } from './endpoint.js';

type Headers = Request<unknown, unknown, unknown>['headers'];

/** True for requests for a page. Browsers accept `text/html`, while programs accept JSON or name no type. */
export function wantsPage({ accept = '' }: Headers): boolean {
	return /\btext\/html\b/i.test(accept);
}

/** Returns a response that redirects a browser to a page on the same server. The response varies by `Accept`. */
export function sendTo(path: string) {
	return { status: 302, headers: { location: path, vary: 'accept' } } as const;
}

/**
 * Returns an endpoint that redirects browsers from `/` to a page. Other clients receive a 404. The OpenAPI document
 * omits this endpoint.
 */
export function rootRedirect<Access extends string>(page: string, access: Access): Endpoint<Access> {
	return declaring<Record<Access, never>>()({
		...methods({ tag: 'Documentation', path: '/' }).get,
		name: 'getRoot',
		summary: 'Redirect browsers to a page',
		access,
		returns: { 302: null },
		failures: { 404: 'No page at this path' },
		handle: ({ headers }) => {
			if (wantsPage(headers)) return sendTo(page);
			throw new Failure('not_found', 'no endpoint is served on `/`');
		},
	});
}
