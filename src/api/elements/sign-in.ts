import { z } from 'zod';
import { findElementMember, findTokenMember, readActor, readLogin } from '../../domain/element/session.js';
import { methods, type Request, reply } from '../../http/endpoint.js';
import { requestOrigin } from '../../http/request-origin.js';
import { environmentScope } from '../../store/account/account.js';
import { type ElementSession, signedOut } from '../../store/session/element-entrance.js';
import { environmentOfTicket } from '../../store/session/element-sessions.js';
import type { Environment } from '../../store/table/account.js';
import { Reference } from '../../wire/common.js';
import {
	ElementActor,
	ElementFrontendLogin,
	ElementLogin,
	ElementLoginQuery,
	ElementLoginRead,
	LoginResult,
} from '../../wire/element/element-session.js';
import { Jwks } from '../../wire/general/environment.js';
import { type Contexts, endpoint } from '../access.js';
import { refuseForeignPage, shownSecret } from './element-session.js';
import { presentToken } from './present-token.js';
import { clearingCookieHeader, cookieHeader, sessionCookie } from './session-cookie.js';
import { signInHeaders, signInPage } from './sign-in-page.js';

const tag = 'Elements';
const ticketPath = '/v2/auth/login_elements';
const tokenPath = '/v2/auth/:env_id/elements_fe_login_as';

const LoginPath = z.object({ env_id: Reference.describe('Environment id.') });

const refused = 'The ticket is used, expired or unknown; shown as a page unless the client requests JSON';
const noMember = 'The tenant does not exist (`Tenant not found`), or the user does not belong to it (`User not found`)';

/** Sign-in and sign-out for application users in elements (docs/develop/elements.md). */
export const elementSignIn = [
	endpoint({
		...methods({ tag, path: '/v2/auth/elements_login_as' }).post,
		name: 'elementsLoginAs',
		summary: 'Sign a tenant user in to elements',
		description:
			"Returns a URL and a bearer token. The URL sets the session cookie in the user's browser; it works once and " +
			'expires after a minute. The token expires after fifteen minutes. Both are valid only for this user in this ' +
			'tenant.',
		access: 'environment.sign_in',
		secret: true,
		body: ElementLogin,
		example: { user_id: 'alice@example.com', tenant_id: 'acme' },
		returns: { 200: ElementLoginRead },
		failures: { 404: noMember },
		handle: async ({ body, headers }, { environment, unit, entrance }) => {
			const member = await findElementMember(unit, body);
			const { secrets } = await entrance.sessionsOf(environment).begin(member, ['ticket', 'bearer']);
			const url = `${requestOrigin(headers)}${ticketPath}?token=${secrets.ticket}`;
			return reply(200, readStarted(url, secrets), signInHeaders);
		},
	}),
	endpoint({
		...methods({ tag, path: ticketPath }).get,
		name: 'loginElements',
		summary: 'Exchange a sign-in ticket for a session cookie',
		description:
			'Redirects a browser to the same URL without the ticket. The page there reports the result to the embedding ' +
			'page. A client that requests JSON gets the result directly.',
		withoutHead: true,
		access: 'element.enter',
		query: ElementLoginQuery,
		returns: { 200: LoginResult, 302: null },
		failures: { 401: refused },
		handle: async (request, context) => {
			const { token, env_id } = request.query;
			if (token === undefined) return finishSignIn(request, context, typeof env_id === 'string' ? env_id : null);
			return spendTicket(request, context, typeof token === 'string' ? token : '');
		},
	}),
	endpoint({
		...methods({ tag, path: tokenPath, params: LoginPath }).post,
		name: 'elementsFeLoginAs',
		summary: 'Sign a user in to elements with an application token',
		description:
			"The token is verified with the environment's `jwks`. It must have an asymmetric signature and an " +
			'expiry, with 30 seconds of tolerance. Sets the session cookie and also returns a bearer token.',
		access: 'element.enter',
		secret: true,
		body: ElementFrontendLogin,
		example: { tenant_id: 'acme', user_jwt: 'eyJhbGciOiJFUzI1NiJ9…' },
		returns: { 200: ElementLoginRead },
		failures: {
			400: "The request is malformed, or the environment's keys are unusable",
			401: 'The token is not valid for this environment',
			403: "The page's origin is not in the environment's `elements_origins`, or the environment uses a different claim",
			404: `No such environment. ${noMember}`,
		},
		handle: async (request, { entrance, tokens, reading }) => {
			const { params, body, headers } = request;
			const environment = await entrance.environment(params.env_id);
			refuseForeignPage(request, environment);
			const presented = presentToken(environment, body.user_jwt, body.user_key_claim);
			const key = await tokens.userKey(Jwks.safeParse(environment.jwks).data ?? null, presented);
			if (key === null) throw signedOut();
			const unit = reading(environmentScope(environment));
			const member = await findTokenMember(unit, { key, tenant_id: body.tenant_id });
			const { secrets } = await entrance.sessionsOf(environment).begin(member, ['cookie', 'bearer']);
			const url = `${requestOrigin(headers)}${tokenPath.replace(':env_id', environment.id)}`;
			const cookie = cookieHeader(secrets.cookie ?? '', environment);
			return reply(200, readStarted(url, secrets), { ...signInHeaders, 'set-cookie': cookie });
		},
	}),
	endpoint({
		...methods({ tag, path: tokenPath, params: LoginPath }).get,
		name: 'showElementsFeLogin',
		summary: 'Get the page that reports the sign-in status to the embedding page',
		access: 'element.enter',
		returns: { 200: LoginResult },
		failures: { 401: 'No user is signed in to this environment', 404: 'No such environment' },
		handle: async (request, context) => {
			const { id } = await context.entrance.environment(request.params.env_id);
			return finishSignIn(request, context, id);
		},
	}),
	...(['get', 'post'] as const).map((method) =>
		endpoint({
			name: method === 'get' ? 'logoutElements' : 'logoutElementsByPost',
			summary: 'Sign out, ending the session with its cookie and bearer token',
			description: 'Also succeeds if no user is signed in.',
			tag,
			method,
			path: '/v2/auth/logout',
			access: 'element.enter',
			returns: { 204: null },
			handle: async (request, { entrance }) => {
				const shown = shownSecret(request);
				const session = shown && (await entrance.find(shown.kind, shown.secret));
				if (shown) await entrance.end(shown.kind, shown.secret);
				const cookie = clearingCookieHeader(session?.environment ?? { settings: null });
				return reply(204, undefined, { ...signInHeaders, 'set-cookie': cookie });
			},
		}),
	),
	endpoint({
		...methods({ tag, path: '/v2/auth/me' }).get,
		name: 'getElementActor',
		summary: 'Get the signed-in elements user',
		access: 'element.session',
		returns: { 200: ElementActor },
		failures: { 401: 'No user is signed in' },
		handle: (_, { session }) => reply(200, readActor(session), signInHeaders),
	}),
];

type Enter = Contexts['element.enter'];
type Asked = Request<unknown, unknown, unknown>;

/**
 * Redeems a ticket. For an invalid ticket, throws `signed_out` if the client prefers JSON, or else returns a page with
 * the reason.
 */
async function spendTicket(request: Asked, { entrance }: Enter, ticket: string) {
	const held = await entrance.find('ticket', ticket);
	const spent = held && (await entrance.sessionsOf(held.environment).spend(ticket));
	if (held === null || spent === null) {
		return refuseSignIn(request, await entrance.findEnvironment(environmentOfTicket(ticket) ?? ''));
	}
	const headers = { ...signInHeaders, 'set-cookie': cookieHeader(spent.cookie, held.environment) };
	if (asksForJson(request)) return reply(200, readLogin(held, spent), headers);
	return reply(302, undefined, { ...headers, location: `${ticketPath}?env_id=${held.environment.id}` });
}

/**
 * Responds with the cookie's session, as JSON or as a page. A missing session, or a session for a different
 * environment, fails like an invalid ticket.
 */
async function finishSignIn(request: Asked, { entrance }: Enter, environmentId: string | null) {
	const cookie = request.cookie(sessionCookie);
	const session = cookie === undefined ? null : await entrance.find('cookie', cookie);
	const asked = environmentId === null ? null : await entrance.findEnvironment(environmentId);
	if (session === null || (environmentId !== null && asked?.id !== session.environment.id)) {
		return refuseSignIn(request, asked);
	}
	return asksForJson(request) ? reply(200, readLogin(session, session), signInHeaders) : welcome(session);
}

function welcome(session: ElementSession) {
	return signInPage({ success: true, me: readActor(session) }, session.environment);
}

function refuseSignIn(request: Asked, environment: Environment | null) {
	const failure = signedOut();
	if (asksForJson(request)) throw failure;
	return signInPage({ success: false, error: failure.message }, environment);
}

/** True if the client prefers JSON to a page. Browsers that follow a link prefer a page. */
function asksForJson({ headers }: Asked): boolean {
	const { accept = '' } = headers;
	return /\bapplication\/json\b/i.test(accept) && !/\btext\/html\b/i.test(accept);
}

function readStarted(url: string, secrets: { readonly ticket?: string; readonly bearer?: string }) {
	return {
		redirect_url: url,
		token: secrets.ticket ?? null,
		element_bearer_token: secrets.bearer ?? '',
	};
}
