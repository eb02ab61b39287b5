import { cookieSeconds } from '../../store/session/element-sessions.js';
import type { Environment } from '../../store/table/account.js';
import { elementSettings } from '../../wire/general/environment.js';

/** Cookie name for element sessions. */
export const sessionCookie = 'permit_session';

/**
 * Returns the header to set the session cookie. In a cross-site frame, browsers send the cookie only with
 * `SameSite=None`; `Partitioned` limits it to the embedding site. The header is built by hand because Koa rejects
 * `Secure` cookies behind a TLS proxy.
 */
export function cookieHeader(secret: string, { settings }: Pick<Environment, 'settings'>): string {
	const { sameSite } = elementSettings(settings);
	return attributes(secret, cookieSeconds, sameSite ? lax : partitioned);
}

/**
 * Returns the header to clear the session cookie. Browsers store partitioned cookies separately, so the attribute must
 * match.
 */
export function clearingCookieHeader({ settings }: Pick<Environment, 'settings'>): string {
	return attributes('', 0, elementSettings(settings).sameSite ? lax : partitioned);
}

const partitioned = 'SameSite=None; Partitioned';
const lax = 'SameSite=Lax';

function attributes(value: string, seconds: number, site: string): string {
	return `${sessionCookie}=${value}; Max-Age=${seconds}; Path=/; HttpOnly; Secure; ${site}`;
}
