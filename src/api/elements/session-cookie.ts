import { cookieSeconds } from '../../store/session/element-sessions.js';
import type { Environment } from '../../store/table/account.js';
import { elementSettings } from '../../wire/general/environment.js';

/** The cookie of a sign-in to elements. */
export const sessionCookie = 'permit_session';

/**
 * The header that gives a browser the cookie. In a frame on another site a browser sends it only with `SameSite=None`;
 * `Partitioned` keeps it to that site. Written here, because Koa refuses to set a `Secure` cookie where a proxy ends TLS.
 */
export function cookieHeader(secret: string, { settings }: Pick<Environment, 'settings'>): string {
	const { sameSite } = elementSettings(settings);
	return attributes(secret, cookieSeconds, sameSite ? lax : partitioned);
}

/** The header that takes the cookie away. A browser keeps a partitioned cookie apart, so that it has to be named as such. */
export function clearingCookieHeader({ settings }: Pick<Environment, 'settings'>): string {
	return attributes('', 0, elementSettings(settings).sameSite ? lax : partitioned);
}

const partitioned = 'SameSite=None; Partitioned';
const lax = 'SameSite=Lax';

function attributes(value: string, seconds: number, site: string): string {
	return `${sessionCookie}=${value}; Max-Age=${seconds}; Path=/; HttpOnly; Secure; ${site}`;
}
