import { Failure } from '../../failure.js';
import type { AnyRequest } from '../../http/received-request.js';
import { requestOrigin } from '../../http/request-origin.js';

type Headers = AnyRequest['headers'];

/**
 * Rejects requests with a foreign or missing `Origin` header, to stop forged browser requests. Throws `foreign_origin`.
 */
export function requireOwnOrigin(headers: Headers): void {
	const own = requestOrigin(headers);
	if (headers['origin'] === own) return;
	throw new Failure(
		'foreign_origin',
		`writes with a console session must come from a page on ${own}: a proxy that terminates TLS must set ` +
			'`X-Forwarded-Proto`',
	);
}

/** Like `requireOwnOrigin`, but accepts requests without `Origin`, which do not come from browsers. */
export function refuseForeignOrigin(headers: Headers): void {
	if (headers['origin'] !== undefined) requireOwnOrigin(headers);
}
