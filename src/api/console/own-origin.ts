import { Failure } from '../../failure.js';
import type { AnyRequest } from '../../http/received-request.js';
import { requestOrigin } from '../../http/request-origin.js';

type Headers = AnyRequest['headers'];

/** Refuses a request that a page of another origin made a browser send, or that names none. Throws `foreign_origin`. */
export function requireOwnOrigin(headers: Headers): void {
	const own = requestOrigin(headers);
	if (headers['origin'] === own) return;
	throw new Failure(
		'foreign_origin',
		`with a session of the console, writes have to come from a page of ${own}: a proxy that ends TLS has to say so by ` +
			'`X-Forwarded-Proto`',
	);
}

/** The same, but for clients that name no origin, which are no browsers. */
export function refuseForeignOrigin(headers: Headers): void {
	if (headers['origin'] !== undefined) requireOwnOrigin(headers);
}
