import type { AnyRequest } from '../../http/received-request.js';
import type { Credentials } from '../../store/account/authenticate.js';
import { signedOut } from '../../store/session/console-sessions.js';
import { asId } from '../../wire/common.js';
import { sessionCookieName } from './session-cookie.js';

/** The header that names the environment whose session counts. */
export const environmentHeader = 'x-console-environment';

/**
 * What of a request says who asks. A request with an `Authorization` header is judged by that alone, and cookies count
 * only for the environment that the request names by a header, which pages of other origins cannot send. Throws
 * `signed_out` for a header that names none.
 */
export function readCredentials({ headers, cookie }: Pick<AnyRequest, 'headers' | 'cookie'>): Credentials {
	const { authorization, [environmentHeader]: named } = headers;
	if (authorization !== undefined || named === undefined) return { authorization };
	const environment_id = asId(named);
	if (environment_id === null) throw signedOut('SIGNED_OUT');
	const secret = cookie(sessionCookieName(headers, environment_id)) ?? '';
	return { authorization, session: { environment_id, secret } };
}
