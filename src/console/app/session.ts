import { computed, signal } from '@preact/signals';
import { ApiFailure, failureMessage } from '../model/api-failure.js';
import { readConsolePlace } from '../model/console-place.js';

interface Named {
	readonly id: string;
	readonly key: string;
	readonly name: string;
}

/** Key and environment with which the user is signed in (docs/policy/console.md: Signing in). */
export interface ConsoleSession {
	readonly organization: Named;
	readonly project: Named;
	readonly environment: Named & { readonly production: boolean };
	readonly key: {
		readonly id: string;
		readonly name: string | null;
		readonly object_type: 'org' | 'project' | 'env';
		readonly access_level: string;
	};
	/** Newest revision of the environment. */
	readonly revision: number;
	/** Database lineage to which `revision` belongs. */
	readonly lineage: string;
	/** True if the server knows a decision point for this environment. */
	readonly decision_point: boolean;
}

type SessionState =
	| { readonly state: 'opening' }
	| { readonly state: 'open'; readonly session: ConsoleSession }
	/** `reason` explains why the last session ended or a sign-in failed; `null` if neither happened. */
	| { readonly state: 'closed'; readonly reason: string | null };

const endpoint = '/v2/auth/console';

export const sessionState = signal<SessionState>({ state: 'opening' });

/** Lineage of the database. If the lineage changes, the displayed data may belong to a discarded history. */
export const lineage = signal('');

/** Newest environment revision that the page has seen. */
export const newestRevision = signal(0);

/** Minimum revision for each piece of displayed data, keyed by its `useLoaded` call. */
export const shownRevisions = signal<ReadonlyMap<object, number>>(new Map());

/** Oldest revision among the displayed data. While no data is displayed, this is the newest revision. */
export const seenRevision = computed(() => Math.min(newestRevision.value, ...shownRevisions.value.values()));

/** Message about an unreachable server; `null` while the API responds. */
export const apiTrouble = signal<string | null>(null);

/** True if the session's key has write access. */
export const mayWrite = computed(() => {
	const now = sessionState.value;
	return now.state === 'open' && ['write', 'admin'].includes(now.session.key.access_level);
});

/**
 * Returns the open session. Throws if no user is signed in. Screens can call it, because they are rendered only during
 * a session.
 */
export function openSession(): ConsoleSession {
	const now = sessionState.value;
	if (now.state !== 'open') throw new Error('not signed in');
	return now.session;
}

/** Returns the open environment's path parameters. */
export function environmentPath(): { readonly proj_id: string; readonly env_id: string } {
	const { project, environment } = openSession();
	return { proj_id: project.key, env_id: environment.key };
}

/** Starts the session with the ticket in the URL, or with the browser's existing session. */
export async function beginSession(): Promise<void> {
	const ticket = new URLSearchParams(location.hash.slice(1)).get('ticket');
	const place = readConsolePlace(location.pathname);
	const named = place === null ? {} : { project: place.project, environment: place.environment };
	if (ticket === null) return resumeSession();
	// The ticket is used up, so remove it from the address.
	history.replaceState(null, '', location.pathname + location.search);
	return signIn({ ticket, ...named });
}

/**
 * Signs in with an API key. Opens the environment in the URL, or else the oldest environment that the key can access.
 */
export async function signInByKey(apiKey: string): Promise<void> {
	const place = readConsolePlace(location.pathname);
	const named = place === null ? {} : { project: place.project, environment: place.environment };
	return signIn({ api_key: apiKey, ...named });
}

/**
 * Opens a session for a different environment. Uses the browser's existing session for it, or else creates a session
 * with the current key. An existing session is preferred, because a new session would replace it in every tab, possibly
 * with different rights. Throws `ApiFailure`.
 */
export async function openEnvironment(project: string, environment: string): Promise<ConsoleSession> {
	try {
		return await readSession(project, environment);
	} catch (error) {
		if (!(error instanceof ApiFailure) || error.status !== 401) throw error;
		return call('POST', endpoint, { project, environment }, openSession().environment.id);
	}
}

/** Signs out from this environment. */
export async function signOut(): Promise<void> {
	await call('DELETE', endpoint, undefined, openSession().environment.id).catch(() => undefined);
	endSession(null);
}

/** Shows the sign-in page. */
function endSession(reason: string | null): void {
	if (sessionState.value.state !== 'closed') sessionState.value = { state: 'closed', reason };
}

/** Reads the newest revision. Ends the local session if the session has ended on the server. */
export async function refreshRevision(): Promise<void> {
	const now = sessionState.value;
	if (now.state !== 'open') return;
	const { project, environment } = now.session;
	try {
		const session = await readSession(project.key, environment.key);
		const isSame = session.lineage === lineage.value;
		newestRevision.value = isSame ? Math.max(newestRevision.value, session.revision) : session.revision;
		lineage.value = session.lineage;
		// A different tab signed in with a different key. The rights of the new key apply from now on.
		if (session.key.id !== now.session.key.id) sessionState.value = { state: 'open', session };
	} catch (error) {
		if (error instanceof ApiFailure && error.status === 401) endSession(error.message);
	}
}

async function resumeSession(): Promise<void> {
	const place = readConsolePlace(location.pathname);
	if (place === null) {
		sessionState.value = { state: 'closed', reason: null };
		return;
	}
	try {
		open(await readSession(place.project, place.environment));
	} catch (error) {
		// A new visitor has no session yet and needs no message about it.
		const isNew = error instanceof ApiFailure && error.info['code'] === 'SIGNED_OUT';
		sessionState.value = { state: 'closed', reason: isNew ? null : reasonText(error) };
	}
}

async function signIn(body: object): Promise<void> {
	try {
		open(await call('POST', endpoint, body));
	} catch (error) {
		sessionState.value = { state: 'closed', reason: reasonText(error) };
	}
}

function open(session: ConsoleSession): void {
	lineage.value = session.lineage;
	newestRevision.value = session.revision;
	sessionState.value = { state: 'open', session };
}

async function readSession(project: string, environment: string): Promise<ConsoleSession> {
	return call('GET', `${endpoint}?${new URLSearchParams({ project, environment })}`);
}

async function call<Answer>(method: string, path: string, body?: object, environmentId?: string): Promise<Answer> {
	const headers = new Headers({ accept: 'application/json' });
	if (body !== undefined) headers.set('content-type', 'application/json');
	if (environmentId !== undefined) headers.set('x-console-environment', environmentId);
	const content = body === undefined ? null : JSON.stringify(body);
	const answer = await fetch(path, { method, headers, body: content, cache: 'no-store' }).catch(() => {
		apiTrouble.value = 'Cannot reach the API';
		throw new ApiFailure(0, 'Cannot reach the API.');
	});
	apiTrouble.value = answer.status >= 500 ? `The API returned status ${answer.status}` : null;
	const said: unknown = await answer.json().catch(() => undefined);
	if (!answer.ok) throw new ApiFailure(answer.status, failureMessage(answer.status, said), said);
	return said as Answer;
}

function reasonText(error: unknown): string {
	return error instanceof Error ? error.message : 'Something went wrong.';
}
