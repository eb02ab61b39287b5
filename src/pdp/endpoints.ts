/** The decision point over HTTP: its endpoints, who may call them, and how failures are worded. */

import { randomUUID, timingSafeEqual } from 'node:crypto';
import { type Clock, systemClock } from '../clock.js';
import { Failure, forbidden } from '../failure.js';
import type { Endpoint } from '../http/endpoint.js';
import type { LeanAccess } from '../http/lean-path.js';
import type { Surround } from '../http/mount.js';
import type { AnyRequest } from '../http/received-request.js';
import type { Logger } from '../log.js';
import { parseRevision, type RevisionToken } from '../wire/revision-token.js';
import { type AuthzenSettings, authzenEndpoints, usualAuthzen } from './authzen/endpoints.js';
import { asAuthzenFailure, isAuthzenPath, requireJson } from './authzen/failures.js';
import { type CountDecision, type DecisionContext, dataOutdated } from './decide/decide.js';
import type { Mode } from './decide/normalise.js';
import { createRevisionReader } from './decide/revision-reader.js';
import { allTenantsEndpoints, authorizationInBody, maxNamingBody } from './endpoint/all-tenants-endpoint.js';
import type { ConsumeApproval } from './endpoint/approval-client.js';
import { approvalEndpoints } from './endpoint/approval-endpoints.js';
import { controlEndpoints } from './endpoint/control-endpoints.js';
import { dataEndpoints, renderDataFailure } from './endpoint/data-endpoints.js';
import { decisionEndpoints } from './endpoint/decision-endpoints.js';
import { type AnswerContext, revisionHeader } from './endpoint/endpoint.js';
import { factsEndpoints } from './endpoint/facts-endpoints.js';
import type { FactsWait } from './endpoint/facts-wait.js';
import { healthEndpoints } from './endpoint/health-endpoints.js';
import { listingEndpoints } from './endpoint/listing-endpoints.js';
import { type MetricsSource, metricsEndpoint } from './endpoint/metrics-endpoint.js';
import type { FindFacts } from './follow/control-plane.js';
import { deadline } from './follow/deadline.js';
import { environmentDeleted } from './follow/deleted-environment.js';
import { isPast, LineageEnded, type Progress } from './follow/progress.js';
import type { LoadedRevision, Replica, ReplicaState } from './follow/replica.js';
import { gatewayEndpoints } from './gateway/gateway-endpoints.js';
import { type GatewaySettings, noGateways } from './gateway/gateway-settings.js';
import { urlEndpoints } from './gateway/url-endpoint.js';
import type { DecisionLog } from './log/decision-log.js';

/** What a decision point needs. */
export interface DecisionPointOptions {
	readonly replica: Replica;
	/** What a wait for a revision waits for; the replica, unless given. */
	readonly progress?: Progress;
	/** Fetches everything anew, soon; `refetch` of the replica, unless given. */
	readonly fetchAnew?: () => void;
	/** The key clients have to present: the environment's. */
	readonly apiKey: string;
	readonly log: Logger;
	/** Says when grants expire; the machine's, unless given. */
	readonly clock?: Pick<Clock, 'now'>;
	/** `edge`, unless given. */
	readonly mode?: Mode;
	/** How long a request may wait for a revision, in milliseconds. */
	readonly revisionWait?: number;
	/** Consumes operation approvals; without it, the decision point does not serve that. */
	readonly consume?: ConsumeApproval;
	/** Where the control plane has the facts, and how writes wait; without it, the decision point does not serve facts. */
	readonly facts?: { readonly find: FindFacts; readonly wait: FactsWait };
	/** The decision log; none, unless given. */
	readonly decisions?: Pick<DecisionLog, 'add'>;
	/** Counts decisions. Without it, they are not counted. */
	readonly count?: CountDecision;
	/** The metrics of the process. Without it, `/metrics` is not served. */
	readonly metrics?: MetricsSource;
	/** How old data may be to answer from, in milliseconds; any age, unless given. */
	readonly maxDataAge?: number;
	/** How much processor time one answer may take, in milliseconds. */
	readonly budget?: number;
	/** What AuthZEN needs to know; the usual, unless given. */
	readonly authzen?: AuthzenSettings;
	/** What gateways need; nothing, unless given. */
	readonly gateways?: GatewaySettings;
	/** As in `UrlEndpointOptions`. */
	readonly patternLimit?: number;
}

/** What `createApplication` needs to serve a table of endpoints. */
interface ServedTable {
	readonly endpoints: readonly Endpoint<string, never>[];
	readonly surround: Surround;
	readonly renderFailure: (failure: Failure, requestId: string, path: string) => unknown;
	readonly failureHeaders: () => Readonly<Record<string, string>>;
	readonly echoesRequestId?: (path: string) => boolean;
	readonly lean?: LeanAccess;
}

/** A decision point. */
export interface DecisionPoint extends ServedTable {
	/** Those that pass calls on: they are described where these go. */
	readonly forwarding: readonly Endpoint<string, never>[];
	/** What a second listener serves to clients of OPA's Data API. */
	readonly dataApi: ServedTable;
}

/** How long a request may wait for a revision unless it is said, in milliseconds. */
const longestWait = 10_000;

/** Makes a decision point that answers from `replica`. */
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
			...authzenEndpoints(mode, authzen),
			...approvals,
			...healthEndpoints(replica),
			...(metrics === undefined ? [] : [metricsEndpoint(metrics)]),
			...controlEndpoints({ refetch: fetchAnew }),
		],
		forwarding: facts === undefined ? [] : factsEndpoints(progress, facts.find, facts.wait),
		surround,
		renderFailure,
		failureHeaders,
		echoesRequestId: isAuthzenPath,
		lean: { open: leanOpener(options) },
		dataApi: { endpoints: dataEndpoints(mode), surround, renderFailure: renderDataFailure, failureHeaders },
	};
}

/** The body of a failure (contract of decision points: Errors). */
function renderFailure({ code, problems, message }: Failure, _: string, path: string): unknown {
	return isAuthzenPath(path) ? message : { detail: code === 'unprocessable' ? problems : message };
}

/** What the handler of a request answers from. */
function answering(options: DecisionPointOptions, request: AnyRequest): AnswerContext {
	const { replica, budget = 10_000 } = options;
	const now = () => decisionContext(options, request);
	const { leases, scheduler } = replica;
	return { now, read: createRevisionReader({ now, leases, scheduler, budget }) };
}

/** Opens what is called with the key alone. Throws where the key or the content type is refused. */
function leanOpener(options: DecisionPointOptions): LeanAccess['open'] {
	const expected = Buffer.from(options.apiKey);
	return ({ access }, request) => {
		if (access !== 'key' && access !== 'authzen') return undefined;
		authorize(request.headers['authorization'], expected, options.replica);
		if (access === 'authzen') requireJson(request.headers);
		return answering(options, request);
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

/** The most characters of what a client's library calls itself. */
const maxSdkLength = 256;

/** What one request is decided with. Throws `unavailable` without a revision. */
function decisionContext(options: DecisionPointOptions, request: AnyRequest): DecisionContext {
	const { replica, log, clock = systemClock, decisions, count, maxDataAge = Number.POSITIVE_INFINITY } = options;
	const held = replica.current();
	if (held === undefined) throw new Failure('unavailable', `no revision is loaded: ${replica.state.detail}`);
	const { engine, facts, lineage, token, revision, policyRevision } = held;
	const age = replica.dataAge;
	const context = {
		engine,
		facts,
		lineage,
		revision,
		policyRevision,
		time: clock.now().getTime(),
		log,
		count,
		requestId: request.id,
		dataAge: Math.floor(age / 1_000),
		denial: replica.state.kind === 'deleted' ? environmentDeleted : age > maxDataAge ? dataOutdated : undefined,
	};
	if (decisions === undefined) return context;
	const { id: requestId, headers } = request;
	// Not the request's id, which clients of AuthZEN choose.
	const ownId = randomUUID();
	const sdk = (headers['x-permit-sdk-version'] ?? headers['x-permit-sdk-language'])?.slice(0, maxSdkLength);
	return {
		...context,
		decisionId: ownId,
		record: (input, code, duration, index) => {
			const decisionId = index === undefined ? ownId : `${ownId}/${index}`;
			decisions.add({ decisionId, requestId, sdk, input, code, duration, lineage, token, revision, policyRevision });
		},
	};
}

/** Throws `unauthorized` without a key; with a wrong one `forbidden`, or `unavailable` while nothing is loaded. */
function authorize(header: string | undefined, expected: Buffer, replica: Replica): void {
	if (header === undefined) throw new Failure('unauthorized', 'Missing Authorization header');
	const [, token] = /^bearer (.*)$/i.exec(header) ?? [];
	if (token !== undefined && isSameKey(Buffer.from(token), expected)) return;
	// While nothing is loaded, the API has not confirmed that the key of this decision point is right.
	if (replica.current() === undefined) throw new Failure('unavailable', whyNothingIsLoaded(replica.state));
	throw forbidden('this API key is not the one that this decision point accepts');
}

/** Why nothing is loaded, in words that anyone may read. Only callers with the key see messages of the control plane. */
function whyNothingIsLoaded({ kind }: ReplicaState): string {
	return kind === 'refused'
		? 'no revision is loaded: the API refuses the key that this decision point was started with'
		: 'no revision is loaded: this decision point has not had its environment from the API yet';
}

/** Compares two keys in a time that depends on their lengths alone: these are no secret, for all keys have the same. */
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
		// A worker that has just started may be behind the progress of all.
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

/** Why a revision was not reached in time. */
function whyNotReached(held: LoadedRevision | undefined, { lineage, revision: wanted }: RevisionToken): string {
	if (held === undefined || !isPast(held, { lineage, revision: wanted }) || held.degraded === null) {
		const of = lineage === null ? '' : ` of lineage ${lineage}`;
		return `revision ${wanted}${of} has not been reached`;
	}
	const { reason, since, detail } = held.degraded;
	const doing = reason === 'failed' ? `cannot be compiled: ${detail}` : 'is being compiled';
	return `the policy of revision ${wanted} is not in force: since ${since} it ${doing}`;
}
