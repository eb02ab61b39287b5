import { Failure } from '../failure.js';
import { declaring, type Endpoint, type Request } from './endpoint.js';

type Headers = Request<unknown, unknown, unknown>['headers'];

/** Whether a request is for a page: browsers name its type, programs name none or JSON. */
export function wantsPage({ accept = '' }: Headers): boolean {
	return /\btext\/html\b/i.test(accept);
}

/** The answer that sends a browser to a page of the same server. It differs by the header `Accept`. */
export function sendTo(path: string) {
	return { status: 302, headers: { location: path, vary: 'accept' } } as const;
}

/** Sends browsers from `/` to a page. For anybody else nothing is served there. Not part of the document. */
export function rootRedirect<Access extends string>(page: string, access: Access): Endpoint<Access> {
	return declaring<Record<Access, never>>()({
		name: 'getRoot',
		summary: 'Sends browsers to a page',
		tag: 'Documentation',
		method: 'get',
		path: '/',
		access,
		returns: { 302: null },
		failures: { 404: 'Nothing is served here' },
		handle: ({ headers }) => {
			if (wantsPage(headers)) return sendTo(page);
			throw new Failure('not_found', 'no endpoint is served on `/`');
		},
	});
}
