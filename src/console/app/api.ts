import { signal } from '@preact/signals';
import createClient, { defaultPathSerializer } from 'openapi-fetch';
import type { paths as DecisionPaths } from '#decision-api';
import type { paths as ManagementPaths } from '#management-api';
import { ApiFailure, failureMessage } from '../model/api-failure.js';
import type { RecordedCall } from '../model/check/curl-command.js';
import { apiTrouble, newestRevision, openSession, refreshRevision } from './session.js';

/** The calls of the screen that is open, the oldest first: "As curl" shows them. */
export const recordedCalls = signal<readonly RecordedCall[]>([]);

/** Why the decision point cannot be asked at the moment; `null` while it answers. */
export const decisionTrouble = signal<string | null>(null);

/** The management API, for the session that is open, or that of the environment which `environmentHeader` names. */
export const management = createManagement(recordCall);

/** The same for what belongs to no screen: its calls are not noted. */
export const shellManagement = createManagement(() => undefined);

/** The header that names the environment whose session a request shows, by its id. */
export const environmentHeader = 'x-console-environment';

function createManagement(record: (call: RecordedCall) => void) {
	return createClient<ManagementPaths>({
		baseUrl: location.origin,
		fetch: async (request) => {
			const path = new URL(request.url).pathname + new URL(request.url).search;
			const answer = await send(request, { path, decision: false, record });
			apiTrouble.value = answer.status >= 500 ? `The API answered ${answer.status}` : null;
			return answer;
		},
		pathSerializer: (pathname, parameters) => {
			// Browsers take these for steps of a path, and would ask for something else.
			const step = Object.values(parameters).find((value) => value === '.' || value === '..');
			if (step !== undefined) {
				throw new ApiFailure(400, `No address can hold the key “${step}”: use the API with the id in its place.`);
			}
			return defaultPathSerializer(pathname, parameters);
		},
	});
}

/** The decision point of the environment, reached through the relay. */
export const decisions = lazyDecisions();

function lazyDecisions(): () => ReturnType<typeof createDecisions> {
	let made: ReturnType<typeof createDecisions> | undefined;
	return () => {
		made ??= createDecisions();
		return made;
	};
}

function createDecisions() {
	const { project, environment } = openSession();
	const base = `/console/pdp/${[project.key, environment.key].map(encodeURIComponent).join('/')}`;
	return createClient<DecisionPaths>({
		baseUrl: location.origin + base,
		fetch: async (request) => {
			const path = new URL(request.url).pathname.slice(base.length);
			const answer = await send(request, { path, decision: true, record: recordCall });
			decisionTrouble.value = answer.status >= 502 ? await troubleText(answer.clone()) : null;
			return answer;
		},
	});
}

async function troubleText(answer: Response): Promise<string> {
	const said: unknown = await answer.json().catch(() => undefined);
	return failureMessage(answer.status, said);
}

interface SendOptions {
	/** As people would ask for it. */
	readonly path: string;
	/** Whether it goes to a decision point. */
	readonly decision: boolean;
	readonly record: (call: RecordedCall) => void;
}

/** Sends a request of a session, and notes it. Throws `ApiFailure` with the status 0 when nobody answers. */
async function send(request: Request, { path, decision, record }: SendOptions): Promise<Response> {
	const body = request.body === null && request.method === 'GET' ? null : await request.clone().text();
	record({ method: request.method, path, body: body === '' ? null : body, decision });
	const isElsewhere = request.headers.has(environmentHeader);
	if (!isElsewhere) request.headers.set(environmentHeader, openSession().environment.id);
	const answer = await fetch(request, { cache: 'no-store', credentials: 'same-origin' }).catch((error: unknown) => {
		if (request.signal.aborted) throw error;
		apiTrouble.value = 'The API cannot be reached';
		throw new ApiFailure(0, 'The API cannot be reached.');
	});
	// The reason why the session ended is told where it is read, not here.
	if (answer.status === 401) await refreshRevision();
	const revision = Number(answer.headers.get('x-revision') ?? 0);
	if (!decision && !isElsewhere && revision > newestRevision.value) newestRevision.value = revision;
	return answer;
}

const maxRecordedCalls = 20;

function recordCall(call: RecordedCall): void {
	const others = recordedCalls.value.filter(({ path, body }) => path !== call.path || body !== call.body);
	recordedCalls.value = [...others, call].slice(-maxRecordedCalls);
}

/** What a call of a client gives. */
interface CallResult {
	readonly data?: unknown;
	readonly error?: unknown;
	readonly response: Response;
}

/** The answer of a call. Throws `ApiFailure` for one that is no success. */
export async function answered<Result extends CallResult>(
	call: Promise<Result>,
): Promise<Exclude<Result['data'], undefined>> {
	const { data, error, response } = await call;
	if (!response.ok) throw new ApiFailure(response.status, failureMessage(response.status, error), error);
	// Clients give the data of every success that has a body.
	return data as Exclude<Result['data'], undefined>;
}

/**
 * The answer of a call that may be too much for the server. Throws `ApiFailure`, and another error where it was too much:
 * asking again by itself would be too much again.
 */
export async function answeredOnce<Result extends CallResult>(
	call: Promise<Result>,
): Promise<Exclude<Result['data'], undefined>> {
	try {
		return await answered(call);
	} catch (error) {
		if (error instanceof ApiFailure && error.status === 503) throw new Error(error.message);
		throw error;
	}
}
