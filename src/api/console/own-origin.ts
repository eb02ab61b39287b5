import { Failure } from '../../failure.js';
import type { AnyRequest } from '../../http/received-request.js';
import { requestOrigin } from '../../http/request-origin.js';

type Headers = AnyRequest['headers'];

/**
 * Refuses requests with a foreign or missing `Origin` header, to stop forged browser requests. Throws `foreign_origin`.
 */
export function requireOwnOrigin(headers: Headers): void {
	const own = requestOrigin(headers);
	if (headers['origin'] === own) return;
	throw new Failure(
		'foreign_origin',
		`with a session of the console, writes have to come from a page of ${own}: a proxy that ends TLS has to say so by ` +
			'`X-Forwarded-Proto`',
	);
}

/** Like `requireOwnOrigin`, but accepts requests without `Origin`, which do not come from browsers. */
export function refuseForeignOrigin(headers: Headers): void {
	if (headers['origin'] !== undefined) requireOwnOrigin(headers);
}
