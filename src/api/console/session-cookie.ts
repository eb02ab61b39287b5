import type { AnyRequest } from '../../http/received-request.js';
import { requestOrigin } from '../../http/request-origin.js';
import type { ShownConsoleSession } from '../../store/session/console-sessions.js';
import { asId } from '../../wire/common.js';

type Headers = AnyRequest['headers'];

const insecurePrefix = 'regolith_console_';
/** Browsers accept this prefix only if the host itself sets the cookie, with `Secure`. */
const securePrefix = `__Host-${insecurePrefix}`;

/** Maximum number of session cookies to read from a request. */
const maxShown = 100;

/** Returns the cookie name for a session. Each environment has its own cookie, so sessions do not mix. */
export function sessionCookieName(headers: Headers, environmentId: string): string {
	return prefixFor(headers) + environmentId;
}

function prefixFor(headers: Headers): string {
	return isLoopback(requestOrigin(headers)) ? insecurePrefix : securePrefix;
}

/**
 * Returns the header to set the session cookie. The cookie lasts until the browser is closed, and no script can read
 * it.
 */
export function sessionCookieHeader(headers: Headers, { environment_id, secret }: ShownConsoleSession): string {
	return `${sessionCookieName(headers, environment_id)}=${secret}; ${attributes(headers)}`;
}

export function clearingCookieHeader(headers: Headers, environmentId: string): string {
	return `${sessionCookieName(headers, environmentId)}=; Max-Age=0; ${attributes(headers)}`;
}

/** Returns the sessions in the request cookies. */
export function shownSessions(headers: Headers): readonly ShownConsoleSession[] {
	const { cookie = '' } = headers;
	const prefix = prefixFor(headers);
	const shown = cookie.split(';').flatMap((part) => {
		const [name = '', secret = ''] = part.trim().split('=', 2);
		const environment_id = name.startsWith(prefix) ? asId(name.slice(prefix.length)) : null;
		return environment_id === null || prefix + environment_id !== name ? [] : [{ environment_id, secret }];
	});
	return shown.slice(0, maxShown);
}

function attributes(headers: Headers): string {
	const common = 'Path=/; HttpOnly; SameSite=Strict';
	return isLoopback(requestOrigin(headers)) ? common : `${common}; Secure`;
}

/** True for plain HTTP to the local machine, where some browsers reject `Secure` cookies. */
function isLoopback(origin: string): boolean {
	const { protocol, hostname } = new URL(origin);
	return protocol === 'http:' && /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
