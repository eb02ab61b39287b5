import type { AnyRequest } from '../../http/received-request.js';
import type { Credentials } from '../../store/account/authenticate.js';
import { signedOut } from '../../store/session/console-sessions.js';
import { asId } from '../../wire/common.js';
import { sessionCookieName } from './session-cookie.js';

/** Header with the id of the session's environment. */
export const environmentHeader = 'x-console-environment';

/** Header with the key of a project or organization, to confirm a change to it. */
const confirmationHeader = 'x-console-confirm';

/**
 * Extracts the credentials from a request. An `Authorization` header takes precedence. Cookies are read only if the
 * environment header is present, because pages from other sites cannot send it. Throws `signed_out` if this header is
 * not an id.
 */
export function readCredentials({ headers, cookie }: Pick<AnyRequest, 'headers' | 'cookie'>): Credentials {
	const { authorization, [environmentHeader]: named, [confirmationHeader]: confirmation } = headers;
	if (authorization !== undefined || named === undefined) return { authorization };
	const environment_id = asId(named);
	if (environment_id === null) throw signedOut('SIGNED_OUT');
	const secret = cookie(sessionCookieName(headers, environment_id)) ?? '';
	return { authorization, session: { environment_id, secret }, confirmation };
}
