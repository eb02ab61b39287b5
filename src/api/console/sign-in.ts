import { Failure, notFound, unprocessable } from '../../failure.js';
import { methods, type Request, reply } from '../../http/endpoint.js';
import type { AccountUnit } from '../../store/account/account.js';
import type { Caller } from '../../store/account/caller.js';
import type { ConsoleEntrance, ConsoleEntry } from '../../store/session/console-entrance.js';
import { type ConsoleSession, type ShownConsoleSession, signedOut } from '../../store/session/console-sessions.js';
import type { Environment } from '../../store/table/account.js';
import { asId } from '../../wire/common.js';
import {
	ConsoleSessionQuery,
	ConsoleSessionRead,
	ConsoleSessionRequest,
	ConsoleSignIn,
} from '../../wire/general/console-session.js';
import { isProduction } from '../../wire/general/environment.js';
import { type Contexts, endpoint } from '../access.js';
import { readCredentials } from './credentials.js';
import { refuseForeignOrigin, requireOwnOrigin } from './own-origin.js';
import { clearingCookieHeader, sessionCookieHeader, sessionCookieName, shownSessions } from './session-cookie.js';

const tag = 'Console';
const path = '/v2/auth/console';

/** Headers to forbid caching of session responses. */
const unkept = { 'cache-control': 'no-store' } as const;

type Enter = Contexts['console.enter'];
type Asked = Pick<Request<unknown, unknown, unknown>, 'headers' | 'cookie'>;

/** Console sign-in and sign-out (docs/policy/console.md: Signing in). */
export const consoleSignIn = [
	endpoint({
		...methods({ tag, path }).post,
		name: 'signInToConsole',
		summary: 'Sign in to the console, or switch environments',
		description:
			'Signs in with a ticket, an API key, or the session for a different environment, selected by ' +
			"`X-Console-Environment`. The session's key must also have access to the requested environment. Sets the " +
			'session cookie. Requests with the cookie and the header `X-Console-Environment` have the rights of the key, ' +
			'in this environment and its project and organization.',
		access: 'console.enter',
		body: ConsoleSignIn,
		example: { ticket: 'R8v1…' },
		requestHeaders: ConsoleSessionRequest,
		returns: { 200: ConsoleSessionRead },
		failures: {
			401: 'The ticket is used, expired or unknown; the API key is unknown; or the session has ended',
			403: 'The API key has no access to the environment, or the request comes from a page on a different origin',
			404: 'No such project or environment, or the API key has access to none',
		},
		handle: async (request, context) => {
			const { headers, body } = request;
			refuseForeignOrigin(headers);
			const entry = await enter(request, body, context.entrance);
			const account = context.account(entry.caller.organization_id);
			const environment = await chooseEnvironment(body, entry.caller, account);
			const { id: environment_id } = environment;
			const replaced = request.cookie(sessionCookieName(headers, environment_id));
			const secret = await context.entrance.begin(entry, environment, replaced);
			const cookie = sessionCookieHeader(headers, { environment_id, secret });
			const session = await readSession(context, entry.caller, environment);
			return reply(200, session, { ...unkept, 'set-cookie': cookie });
		},
	}),
	endpoint({
		...methods({ tag, path }).get,
		name: 'getConsoleSession',
		summary: 'Get the console session and the newest revision',
		description:
			'Finds the session for an environment by its cookie. This call does not count as use: a session without other ' +
			'calls ends after eight hours. Without a valid session, `additional_info.code` gives the reason: ' +
			'`SIGNED_OUT`, `IDLE`, `EXPIRED`, `API_KEY_REVOKED`, `API_KEY_ROTATED`, or, if the request contains ' +
			"the environment's id, `ENVIRONMENT_DELETED`.",
		access: 'console.enter',
		query: ConsoleSessionQuery,
		returns: { 200: ConsoleSessionRead },
		failures: { 401: 'No valid session for this environment' },
		handle: async ({ query, headers }, context) => {
			const { signedIn, environment_id } = await findSession(query, shownSessions(headers), context.entrance);
			if (typeof signedIn === 'string') throw signedOut(signedIn);
			const account = context.account(signedIn.organization_id);
			const environment = await account.environmentById(signedIn, environment_id);
			return reply(200, await readSession(context, signedIn, environment), unkept);
		},
	}),
	endpoint({
		...methods({ tag, path }).delete,
		name: 'signOutOfConsole',
		summary: 'Sign out of the console for one environment',
		description: 'Also succeeds if the session has already ended.',
		access: 'console.enter',
		requestHeaders: ConsoleSessionRequest,
		returns: { 204: null },
		failures: {
			401: 'The request contains no environment',
			403: 'The request comes from a page on a different origin',
		},
		handle: async ({ headers, cookie }, { entrance }) => {
			requireOwnOrigin(headers);
			const { session } = readCredentials({ headers: { ...headers, authorization: undefined }, cookie });
			if (session === undefined) throw signedOut('SIGNED_OUT');
			await entrance.end(session);
			const cleared = clearingCookieHeader(headers, session.environment_id);
			return reply(204, undefined, { ...unkept, 'set-cookie': cleared });
		},
	}),
];

/** Authenticates a sign-in. Throws `unauthorized`, `signed_out`, `forbidden` or `foreign_origin`. */
function enter(request: Asked, { ticket, api_key }: ConsoleSignIn, entrance: ConsoleEntrance): Promise<ConsoleEntry> {
	if (ticket !== undefined) return entrance.byTicket(ticket);
	if (api_key !== undefined) return entrance.byKey(api_key);
	// The browser adds the cookie automatically, so the request must come from our own page.
	requireOwnOrigin(request.headers);
	const { session } = readCredentials(request);
	if (session === undefined) throw signedOut('SIGNED_OUT');
	return entrance.bySession(session);
}

/**
 * Chooses the environment to sign in to. Throws `not_found`, `forbidden`, or `unprocessable` if the project is missing.
 */
async function chooseEnvironment(
	{ project, environment }: ConsoleSignIn,
	caller: Caller,
	account: AccountUnit,
): Promise<Environment> {
	const inProject = project ?? caller.project_id ?? undefined;
	if (environment !== undefined) {
		if (inProject !== undefined) return account.environment(caller, inProject, environment);
		if (asId(environment) !== null) return account.environmentById(caller, environment);
		const msg = 'field required if `environment` is a key and the API key has access to several projects';
		throw unprocessable([{ loc: ['body', 'project'], msg, type: 'missing' }]);
	}
	const oldest = await account.oldestEnvironment(caller, project);
	if (oldest === null)
		throw new Failure('not_found', 'this API key has access to no environment: create an environment, then sign in');
	return oldest;
}

/** Finds the session for a request. Throws `signed_out` if no cookie matches. */
async function findSession(
	{ project, environment }: ConsoleSessionQuery,
	shown: readonly ShownConsoleSession[],
	entrance: ConsoleEntrance,
): Promise<ConsoleSession> {
	const named = (reference: string | undefined, id: string, key: string) =>
		reference === undefined || reference === key || asId(reference) === id;
	const sessions = (await entrance.find(shown)).filter(
		(session) =>
			named(project, session.project_id, session.project_key) &&
			named(environment, session.environment_id, session.environment_key),
	);
	const found = sessions.find(({ signedIn }) => typeof signedIn !== 'string') ?? sessions[0];
	if (found !== undefined) return found;
	const id = asId(environment ?? '');
	throw await entrance.refusal(shown.find(({ environment_id }) => environment_id === id));
}

/** Builds the session response. */
async function readSession(
	{ account: open, relayTarget }: Enter,
	caller: Caller,
	environment: Environment,
): Promise<ConsoleSessionRead> {
	const account = open(caller.organization_id);
	const [organization] = await account.organizations().all();
	if (organization === undefined) throw notFound('Organization', caller.organization_id);
	const project = await account.project(caller, environment.project_id);
	const key = await account.keys.find(caller, caller.key_id);
	const { id, key: environmentKey, name, revision } = environment;
	const place = { environment_id: id, environment_key: environmentKey, project_key: project.key };
	return {
		organization,
		project,
		environment: { id, key: environmentKey, name, production: isProduction(environment) },
		key,
		revision,
		lineage: await account.lineageInForce(),
		decision_point: relayTarget(place) !== null,
	};
}
