import type { AnyRequest } from '../../http/received-request.js';
import { requestOrigin } from '../../http/request-origin.js';
import type { ShownConsoleSession } from '../../store/session/console-sessions.js';
import { asId } from '../../wire/common.js';

type Headers = AnyRequest['headers'];

const insecurePrefix = 'regolith_console_';
/** A browser takes a cookie with this prefix only from this very host, and only with `Secure`. */
const securePrefix = `__Host-${insecurePrefix}`;

/** The most cookies of a request that are looked at. */
const maxShown = 100;

/** The name of the cookie of a session: each environment has its own, so that sessions of several do not mix. */
export function sessionCookieName(headers: Headers, environmentId: string): string {
	return prefixFor(headers) + environmentId;
}

function prefixFor(headers: Headers): string {
	return isLoopback(requestOrigin(headers)) ? insecurePrefix : securePrefix;
}

/** The header that gives a browser the secret of a session. It keeps it until it is closed, and no page can read it. */
export function sessionCookieHeader(headers: Headers, { environment_id, secret }: ShownConsoleSession): string {
	return `${sessionCookieName(headers, environment_id)}=${secret}; ${attributes(headers)}`;
}

/** The header that takes it away. */
export function clearingCookieHeader(headers: Headers, environmentId: string): string {
	return `${sessionCookieName(headers, environmentId)}=; Max-Age=0; ${attributes(headers)}`;
}

/** The sessions that the cookies of a request stand for. */
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

/** Whether a browser reached this server on its own machine and without TLS: some refuse `Secure` there. */
function isLoopback(origin: string): boolean {
	const { protocol, hostname } = new URL(origin);
	return protocol === 'http:' && /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
