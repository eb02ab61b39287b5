import { signal } from '@preact/signals';
import createClient, {
	type Client,
	type ClientPathsWithMethod,
	defaultPathSerializer,
	type MaybeOptionalInit,
	type MethodResponse,
} from 'openapi-fetch';
import type { paths as DecisionPaths } from '#decision-api';
import type { paths as ManagementPaths } from '#management-api';
import { ApiFailure, failureMessage } from '../model/api-failure.js';
import type { RecordedCall } from '../model/check/curl-command.js';
import { apiTrouble, environmentPath, newestRevision, openSession, refreshRevision } from './session.js';

/** API calls made by the open screen, oldest first, for "As curl". */
export const recordedCalls = signal<readonly RecordedCall[]>([]);

/** Reason why the decision point cannot be reached; `null` while it responds. */
export const decisionTrouble = signal<string | null>(null);

/** Management API client. It uses the open session, or the session of the environment in `environmentHeader`. */
export const managementClient = createManagement(recordCall);

export const management = callsOf(managementClient);

/** Management API calls outside the screens. They are not recorded. */
export const shellManagement = callsOf(createManagement(() => undefined));

/** Header with the id of the environment whose session a request uses. */
export const environmentHeader = 'x-console-environment';

type ManagementClient = Client<ManagementPaths>;
type EnvironmentPath = ReturnType<typeof environmentPath>;

/** Options of a call: the parameters, the body and fetch options. */
type CallOptions<Init> = Init extends { params?: infer Params }
	? Omit<Init, 'params'> & Omit<Params, 'path'> & PathOption<Params>
	: never;

/** Path parameters. The project and the environment are optional; they default to the open environment. */
type PathOption<Params> = Params extends { path: infer Path }
	? Exclude<keyof Path, keyof EnvironmentPath> extends never
		? { path?: Partial<EnvironmentPath> }
		: { path: Omit<Path, keyof EnvironmentPath> & Partial<EnvironmentPath> }
	: unknown;

/** Calls an endpoint and returns its data. Throws `ApiFailure`. */
type Call<Method extends 'get' | 'put' | 'post' | 'patch' | 'delete'> = <
	Path extends ClientPathsWithMethod<ManagementClient, Method>,
>(
	path: Path,
	...options: Optional<CallOptions<MaybeOptionalInit<ManagementPaths[Path], Method>>>
) => Promise<MethodResponse<ManagementClient, Method, Path>>;

type Optional<Options> = Record<never, never> extends Options ? [options?: Options] : [options: Options];

function callsOf(client: ManagementClient) {
	const call =
		(method: 'get' | 'put' | 'post' | 'patch' | 'delete') =>
		(url: string, { path, query, header, ...init }: Readonly<Record<string, object>> = {}) => {
			const params = { path: { ...environmentPath(), ...path }, query, header };
			return answered(client.request(method, url as never, { params, ...init } as never));
		};
	return {
		get: call('get') as Call<'get'>,
		put: call('put') as Call<'put'>,
		post: call('post') as Call<'post'>,
		patch: call('patch') as Call<'patch'>,
		delete: call('delete') as Call<'delete'>,
	};
}

function createManagement(record: (call: RecordedCall) => void): ManagementClient {
	return createClient<ManagementPaths>({
		baseUrl: location.origin,
		fetch: async (request) => {
			const path = new URL(request.url).pathname + new URL(request.url).search;
			const answer = await send(request, { path, decision: false, record });
			apiTrouble.value = answer.status >= 500 ? `The API returned status ${answer.status}` : null;
			return answer;
		},
		pathSerializer: (pathname, parameters) => {
			// Browsers would treat `.` and `..` as path steps and request a different address.
			const step = Object.values(parameters).find((value) => value === '.' || value === '..');
			if (step !== undefined) {
				throw new ApiFailure(400, `The key “${step}” cannot be part of a URL. Use the API with the ID instead.`);
			}
			return defaultPathSerializer(pathname, parameters);
		},
	});
}

/** Client for the environment's decision point, through the relay. */
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
	/** Path that a direct client would request. */
	readonly path: string;
	/** True for a request to a decision point. */
	readonly decision: boolean;
	readonly record: (call: RecordedCall) => void;
}

/** Sends a session request and records it. Throws `ApiFailure` with status 0 if the server cannot be reached. */
async function send(request: Request, { path, decision, record }: SendOptions): Promise<Response> {
	const body = request.body === null && request.method === 'GET' ? null : await request.clone().text();
	record({ method: request.method, path, body: body === '' ? null : body, decision });
	const isElsewhere = request.headers.has(environmentHeader);
	if (!isElsewhere) request.headers.set(environmentHeader, openSession().environment.id);
	const answer = await fetch(request, { cache: 'no-store', credentials: 'same-origin' }).catch((error: unknown) => {
		if (request.signal.aborted) throw error;
		apiTrouble.value = 'Cannot reach the API';
		throw new ApiFailure(0, 'Cannot reach the API.');
	});
	// `refreshRevision` reports why the session ended.
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

/** Result of a client call. */
interface CallResult {
	readonly data?: unknown;
	readonly error?: unknown;
	readonly response: Response;
}

/** Returns a call's data. Throws `ApiFailure` if the call failed. */
export async function answered<Result extends CallResult>(
	call: Promise<Result>,
): Promise<Exclude<Result['data'], undefined>> {
	const { data, error, response } = await call;
	if (!response.ok) throw new ApiFailure(response.status, failureMessage(response.status, error), error);
	// Clients return `data` for every successful response that has a body.
	return data as Exclude<Result['data'], undefined>;
}

/**
 * Returns the data for a call that may overload the server. Throws `ApiFailure`. After an overload it throws a plain
 * error instead, because an automatic retry would overload the server again.
 */
export async function answeredOnce<Data>(call: Promise<Data>): Promise<Data> {
	try {
		return await call;
	} catch (error) {
		if (error instanceof ApiFailure && error.status === 503) throw new Error(error.message);
		throw error;
	}
}
