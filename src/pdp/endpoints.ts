/** The decision point over HTTP: endpoints, access checks, and failure bodies. */

import { timingSafeEqual } from 'node:crypto';
import { type Clock, systemClock } from '../clock.js';
import { Failure, forbidden } from '../failure.js';
import { declaredPath, type Endpoint, Raw } from '../http/endpoint.js';
import type { LeanAccess } from '../http/lean-path.js';
import type { Surround } from '../http/mount.js';
import type { AnyRequest } from '../http/received-request.js';
import type { Served } from '../http/server.js';
import type { Logger } from '../log.js';
import { parseRevision, type RevisionToken } from '../wire/revision-token.js';
import { type AuthzenSettings, authzenEndpoints, usualAuthzen } from './authzen/endpoints.js';
import { asAuthzenFailure, isAuthzenPath, isJson, requireJson } from './authzen/failures.js';
import type { CountDecision } from './decide/decide.js';
import type { Mode } from './decide/normalise.js';
import { createRevisionReader } from './decide/revision-reader.js';
import { allTenantsEndpoints, authorizationInBody, maxNamingBody } from './endpoint/all-tenants-endpoint.js';
import type { ConsumeApproval } from './endpoint/approval-client.js';
import { approvalEndpoints } from './endpoint/approval-endpoints.js';
import { cerbosEndpoints } from './endpoint/cerbos-endpoints.js';
import { isCerbosPath, renderCerbosFailure } from './endpoint/cerbos-failures.js';
import { compileEndpoint } from './endpoint/compile-endpoint.js';
import { controlEndpoints } from './endpoint/control-endpoints.js';
import { dataEndpoints, renderDataFailure } from './endpoint/data-endpoints.js';
import { decisionEndpoints } from './endpoint/decision-endpoints.js';
import { type AnswerContext, revisionHeader } from './endpoint/endpoint.js';
import { factsEndpoints } from './endpoint/facts-endpoints.js';
import type { FactsWait } from './endpoint/facts-wait.js';
import { filterEndpoints } from './endpoint/filter-endpoints.js';
import { healthEndpoints } from './endpoint/health-endpoints.js';
import { listingEndpoints } from './endpoint/listing-endpoints.js';
import { type MetricsSource, metricsEndpoint } from './endpoint/metrics-endpoint.js';
import type { FindFacts } from './follow/control-plane.js';
import { deadline } from './follow/deadline.js';
import { isPast, LineageEnded, type Progress } from './follow/progress.js';
import type { LoadedRevision, Replica, ReplicaState } from './follow/replica.js';
import { gatewayEndpoints } from './gateway/gateway-endpoints.js';
import { type GatewaySettings, noGateways } from './gateway/gateway-settings.js';
import { urlEndpoints } from './gateway/url-endpoint.js';
import type { DecisionLog } from './log/decision-log.js';
import { type ContextOptions, RequestContext } from './request-context.js';
import { SharedContext } from './shared-context.js';

export interface DecisionPointOptions {
	readonly replica: Replica;
	/** Progress to wait for; the replica by default. */
	readonly progress?: Progress;
	/** Triggers a full fetch; the replica's `refetch` by default. */
	readonly fetchAnew?: () => void;
	/** API key that clients must send: the environment's key. */
	readonly apiKey: string;
	readonly log: Logger;
	/** Clock for grant expiry; the system clock by default. */
	readonly clock?: Pick<Clock, 'now'>;
	/** `edge` by default. */
	readonly mode?: Mode;
	/** Maximum wait for a revision, in milliseconds. */
	readonly revisionWait?: number;
	/** Consumes operation approvals. Without this callback, the approval endpoint is not served. */
	readonly consume?: ConsumeApproval;
	/**
	 * Location of the control plane's facts, and the default wait for writes. Without this option, facts are not served.
	 */
	readonly facts?: { readonly find: FindFacts; readonly wait: FactsWait };
	/** Decision log; none by default. */
	readonly decisions?: Pick<DecisionLog, 'add'>;
	/** Counts decisions. Without this callback, decisions are not counted. */
	readonly count?: CountDecision;
	/** Counts listings in which the facts index differs from the engine. */
	readonly countDifference?: () => void;
	/** Process metrics. Without this option, `/metrics` is not served. */
	readonly metrics?: MetricsSource;
	/** Maximum age of the data for decisions, in milliseconds; unlimited by default. */
	readonly maxDataAge?: number;
	/** Maximum CPU time per request, in milliseconds. */
	readonly budget?: number;
	/** AuthZEN settings; `usualAuthzen` by default. */
	readonly authzen?: AuthzenSettings;
	/** Gateway settings; `noGateways` by default. */
	readonly gateways?: GatewaySettings;
	/** As in `UrlEndpointOptions`. */
	readonly patternLimit?: number;
	/** Version of the program, for Cerbos clients. */
	readonly version?: string;
}

/** A table of endpoints, as required by `createApplication`. */
interface ServedTable
	extends Pick<Served, 'endpoints' | 'surround' | 'renderFailure' | 'echoesRequestId' | 'lean'>,
		Required<Pick<Served, 'failureHeaders'>> {}

export interface DecisionPoint extends ServedTable {
	/** Endpoints that forward calls to the management API, which also documents these endpoints. */
	readonly forwarding: readonly Endpoint<string, never>[];
	/** Endpoints for OPA Data API clients, on a second listener. */
	readonly dataApi: ServedTable;
}

/** Default maximum wait for a revision, in milliseconds. */
const longestWait = 10_000;

/** Default maximum CPU time per response, in milliseconds. */
const usualBudget = 10_000;

/** Creates a decision point that serves checks from `replica`. */
export function createDecisionPoint(options: DecisionPointOptions): DecisionPoint {
	const {
		replica,
		progress = replica,
		fetchAnew = () => replica.refetch(),
		mode = 'edge',
		consume,
		facts,
		revisionWait = longestWait,
		authzen = usualAuthzen,
		log,
		patternLimit,
		gateways = noGateways,
		metrics,
		version = '',
	} = options;
	const approvals = consume === undefined ? [] : approvalEndpoints(progress, consume, revisionWait);
	const surround = createSurround(options);
	const failureHeaders = () => revisionHeader(replica.current());
	return {
		endpoints: [
			...decisionEndpoints(mode),
			...allTenantsEndpoints(mode),
			...urlEndpoints({ mode, log, ...(patternLimit === undefined ? {} : { patternLimit }) }),
			...gatewayEndpoints(mode, gateways),
			...listingEndpoints(mode),
			...filterEndpoints(mode),
			...authzenEndpoints(mode, authzen),
			...approvals,
			...cerbosEndpoints(mode, version),
			...healthEndpoints(replica),
			...(metrics === undefined ? [] : [metricsEndpoint(metrics)]),
			...controlEndpoints({ refetch: fetchAnew }),
		],
		forwarding: facts === undefined ? [] : factsEndpoints(progress, facts.find, facts.wait),
		surround,
		renderFailure,
		failureHeaders,
		echoesRequestId: isAuthzenPath,
		lean: leanAccess(options),
		dataApi: {
			endpoints: [...dataEndpoints(mode), compileEndpoint(mode)],
			surround,
			renderFailure: renderDataFailure,
			failureHeaders,
		},
	};
}

function renderFailure(failure: Failure, _: string, path: string): unknown {
	if (isCerbosPath(path)) return renderCerbosFailure(failure);
	const { code, problems, message } = failure;
	return isAuthzenPath(path) ? message : { detail: code === 'unprocessable' ? problems : message };
}

/** Returns the parts of a decision point that decisions need. */
function contextOptions(options: DecisionPointOptions): ContextOptions {
	const { replica, log, clock = systemClock, decisions, count, countDifference } = options;
	const { maxDataAge = Number.POSITIVE_INFINITY } = options;
	return { replica, log, now: () => clock.now().getTime(), decisions, count, countDifference, maxDataAge };
}

/** Returns the handler context for a request. */
function answering(options: DecisionPointOptions, request: AnyRequest): AnswerContext {
	const { replica, budget = usualBudget } = options;
	const now = () => {
		const held = replica.current();
		if (held === undefined) throw new Failure('unavailable', `no revision is loaded: ${replica.state.detail}`);
		return new RequestContext(contextOptions(options), held).begin(request);
	};
	const { leases, scheduler } = replica;
	return { now, read: createRevisionReader({ now, leases, scheduler, budget }) };
}

/** Creates the lean path, for requests to endpoints that only need the key. */
function leanAccess(options: DecisionPointOptions): LeanAccess {
	const { replica, apiKey, budget = usualBudget } = options;
	const expected = Buffer.from(apiKey);
	const contexts = contextOptions(options);
	let held: LoadedRevision | undefined;
	let context: SharedContext | undefined;
	return {
		admits: ({ access }, { authorization, 'content-type': type }) =>
			(access === 'key' || (access === 'authzen' && isJson(type))) && isAccepted(authorization, expected),
		handle: (request) => {
			const current = replica.current();
			if (current === undefined) return declaredPath;
			if (context === undefined || held !== current) {
				held = current;
				context = new SharedContext(new RequestContext(contexts, current), { scheduler: replica.scheduler, budget });
			}
			context.current.begin(request);
			const body = request.endpoint.lean?.(request.body, context as never) ?? declaredPath;
			if (body === declaredPath || body instanceof Raw) return body;
			return { status: 200, body, headers: context.headers() };
		},
	};
}

function createSurround(options: DecisionPointOptions): Surround {
	const { apiKey, revisionWait = longestWait } = options;
	const { openTrino } = options.gateways ?? noGateways;
	const expected = Buffer.from(apiKey);
	const surround: Surround = async ({ access }, request, run) => {
		if (access === 'open' || access === 'authzen_open') return run(undefined);
		const { authorization } = request.headers;
		if (authorization === undefined && access === 'key_or_body') {
			authorize(authorizationInBody(await run.readBody(maxNamingBody)), expected, options.replica);
		} else if (access !== 'trino' || !openTrino) authorize(authorization, expected, options.replica);
		if (access === 'authzen') requireJson(request.headers);
		const wanted = request.headers['x-min-revision'];
		if (wanted !== undefined) {
			await run.validate();
			await untilRevision(options, wanted, revisionWait, request);
		}
		return run(answering(options, request));
	};
	return async (endpoint, request, run) => {
		try {
			return await surround(endpoint, request, run);
		} catch (error) {
			throw endpoint.access.startsWith('authzen') ? asAuthzenFailure(error) : error;
		}
	};
}

/** Throws `unauthorized` without a key. With a wrong key, throws `forbidden`, or `unavailable` if nothing is loaded. */
function authorize(header: string | undefined, expected: Buffer, replica: Replica): void {
	if (header === undefined) throw new Failure('unauthorized', 'Missing Authorization header');
	if (isAccepted(header, expected)) return;
	// While nothing is loaded, the API has not yet accepted this decision point's key.
	if (replica.current() === undefined) throw new Failure('unavailable', whyNothingIsLoaded(replica.state));
	throw forbidden("this API key does not match the decision point's key");
}

/** True if the header contains the key. */
function isAccepted(header: string | undefined, expected: Buffer): boolean {
	const [, token] = /^bearer (.*)$/i.exec(header ?? '') ?? [];
	return token !== undefined && isSameKey(Buffer.from(token), expected);
}

/**
 * Explains why nothing is loaded, in a message that is safe for everyone. Only callers with the key may see control
 * plane messages.
 */
function whyNothingIsLoaded({ kind }: ReplicaState): string {
	return kind === 'refused'
		? "no revision is loaded: the API rejected this decision point's key"
		: 'no revision is loaded: this decision point has not received its environment from the API yet';
}

/**
 * Compares two keys in time that depends only on their lengths. Lengths are not secret: all keys have the same length.
 */
function isSameKey(given: Buffer, expected: Buffer): boolean {
	return given.length === expected.length && timingSafeEqual(given, expected);
}

async function untilRevision(
	{ replica, progress = replica }: DecisionPointOptions,
	wanted: string,
	wait: number,
	request: AnyRequest,
): Promise<void> {
	const revision = parseRevision(wanted);
	if (revision === null) {
		throw new Failure('invalid', `header X-Min-Revision must be a revision number or a token, got \`${wanted}\``);
	}
	const isReached = ({ lineage, policyRevision }: Progress) => isPast({ lineage, revision: policyRevision }, revision);
	const isDecided = () => replica.state.kind === 'deleted' || (isReached(progress) && isReached(replica));
	if (isDecided()) return;
	try {
		// A newly started worker may be behind the overall progress.
		await deadline(request.closed, wait, async (limited) => {
			await replica.policyReached(revision, limited);
			await progress.policyReached(revision, limited);
			await replica.policyReached(revision, limited);
		});
	} catch (error) {
		if (isDecided()) return;
		if (error instanceof LineageEnded) throw new Failure('conflict', error.message);
		throw new Failure('unavailable', whyNotReached(replica.current(), revision));
	}
}

/** Explains why a revision was not reached in time. */
function whyNotReached(held: LoadedRevision | undefined, { lineage, revision: wanted }: RevisionToken): string {
	if (held === undefined || !isPast(held, { lineage, revision: wanted }) || held.degraded === null) {
		const of = lineage === null ? '' : ` of lineage ${lineage}`;
		return `revision ${wanted}${of} has not arrived yet`;
	}
	const { reason, since, detail } = held.degraded;
	const doing = reason === 'failed' ? `cannot be compiled: ${detail}` : 'is being compiled';
	return `the policy of revision ${wanted} is not active: since ${since} it ${doing}`;
}
