import type { AnyRequest } from '../../http/received-request.js';
import type { Credentials } from '../../store/account/authenticate.js';
import { signedOut } from '../../store/session/console-sessions.js';
import { asId } from '../../wire/common.js';
import { sessionCookieName } from './session-cookie.js';

/** Header with the environment of the session. */
export const environmentHeader = 'x-console-environment';

/**
 * Extracts the credentials from a request. An `Authorization` header takes precedence. Cookies count only with the
 * environment header, which foreign pages cannot send. Throws `signed_out` if the header holds no id.
 */
export function readCredentials({ headers, cookie }: Pick<AnyRequest, 'headers' | 'cookie'>): Credentials {
	const { authorization, [environmentHeader]: named } = headers;
	if (authorization !== undefined || named === undefined) return { authorization };
	const environment_id = asId(named);
	if (environment_id === null) throw signedOut('SIGNED_OUT');
	const secret = cookie(sessionCookieName(headers, environment_id)) ?? '';
	return { authorization, session: { environment_id, secret } };
}
