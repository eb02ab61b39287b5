/** The decision point over HTTP: its table of endpoints, who may call them, and how it words failures. */

import { createHash, timingSafeEqual } from 'node:crypto';
import { Failure, forbidden, unprocessable } from '../failure.js';
import { declaring, type Endpoint, reply } from '../http/endpoint.js';
import type { AnyRequest, Surround } from '../http/mount.js';
import type { Logger } from '../log.js';
import {
	AuthorizationResult,
	BulkQuery,
	BulkResult,
	Health,
	PermissionsQuery,
	Query,
	UserPermissions,
} from '../wire/check.js';
import { type Deciding, decide } from './decide.js';
import { normalise, normalisePermissions } from './normalise.js';
import { permissions } from './permissions.js';
import type { Replica } from './replica.js';

/** What a decision point needs. */
export interface DecisionPointOptions {
	readonly replica: Replica;
	/** The key clients have to present: the environment's. */
	readonly apiKey: string;
	readonly log: Logger;
	/** How long a request with `X-Min-Revision` may wait for it, in milliseconds. */
	readonly revisionWait?: number;
}

/** What `createApplication` serves for a decision point. */
export interface DecisionPoint {
	readonly endpoints: readonly Endpoint<string, never>[];
	readonly surround: Surround;
	readonly renderFailure: (failure: Failure) => unknown;
	readonly failureHeaders: () => Readonly<Record<string, string>>;
}

/** What handlers are given. */
interface Contexts {
	/** Served to anyone. */
	open: undefined;
	/** Needs the key. Yields the engine of this moment, so that it and its revision belong together. */
	key: () => Deciding;
}

const endpoint = declaring<Contexts>();

/** Makes a decision point that answers from `replica`. */
export function createDecisionPoint(options: DecisionPointOptions): DecisionPoint {
	const { replica } = options;
	return {
		endpoints: [...decisionEndpoints(), ...healthEndpoints(replica)],
		surround: surrounding(options),
		renderFailure: ({ code, problems, message }) => ({ detail: code === 'unprocessable' ? problems : message }),
		failureHeaders: () => revisionHeader(replica.current()?.revision),
	};
}

/**
 * The most checks of one request that may ask for reasons. Reasons take a hundred times as long as a check, and all
 * checks of a request are decided in one go, so that one revision answers them.
 */
const mostExplained = 1_000;

function decisionEndpoints() {
	const tag = 'Decisions';
	const unavailable = { 503: 'No revision is loaded yet' };
	const example = { user: 'ann@example.com', action: 'read', resource: { type: 'document', tenant: 'acme' } };
	const explains = (query: Query, header: string | undefined) => query.use_debugger ?? flag(header);
	const decided = (query: Query, deciding: Deciding, header: string | undefined) =>
		decide(deciding, normalise(query), explains(query, header));
	return [
		endpoint({
			name: 'check',
			summary: 'Decide whether a user may do an action on a resource',
			description:
				'A denial is an answer like any other. `use_debugger` or the header `X-Debug: true` adds the reasons.',
			tag,
			method: 'post',
			path: '/allowed',
			access: 'key',
			body: Query,
			example,
			returns: { 200: AuthorizationResult },
			failures: unavailable,
			handle: ({ body, headers }, now) => {
				const deciding = now();
				return reply(200, decided(body, deciding, headers['x-debug']), revisionHeader(deciding.revision));
			},
		}),
		endpoint({
			name: 'checkMany',
			summary: 'Decide many checks at one revision',
			description: `At most ${mostExplained} of them may ask for their reasons.`,
			tag,
			method: 'post',
			path: '/allowed/bulk',
			access: 'key',
			body: BulkQuery,
			example: [example],
			returns: { 200: BulkResult },
			failures: unavailable,
			handle: ({ body, headers }, now) => {
				if (body.length > mostExplained) refuseManyReasons(body, (query) => explains(query, headers['x-debug']));
				const deciding = now();
				const allow = body.map((query) => decided(query, deciding, headers['x-debug']));
				return reply(200, { allow }, revisionHeader(deciding.revision));
			},
		}),
		endpoint({
			name: 'listUserPermissions',
			summary: 'List what a user may do, by tenant',
			tag,
			method: 'post',
			path: '/user-permissions',
			access: 'key',
			body: PermissionsQuery,
			example: { user: { key: 'ann@example.com' }, tenants: ['acme'] },
			returns: { 200: UserPermissions },
			failures: unavailable,
			handle: ({ body }, now) => {
				const { engine, revision } = now();
				return reply(200, permissions(engine, normalisePermissions(body)), revisionHeader(revision));
			},
		}),
	];
}

function refuseManyReasons(queries: readonly Query[], explains: (query: Query) => boolean): void {
	const asked = queries.filter(explains).length;
	if (asked <= mostExplained) return;
	const msg = `at most ${mostExplained} checks of one request may ask for their reasons, and ${asked} do`;
	throw unprocessable([{ loc: ['body'], msg, type: 'too_many_reasons' }]);
}

function healthEndpoints(replica: Replica) {
	const health = (): Health => {
		// What stands in the way is in the log: the control plane's words are not for those who have no key.
		const { kind } = replica.state;
		const revision = replica.current()?.revision ?? null;
		return { status: revision === null ? 'unavailable' : 'ok', online: kind === 'ready', state: kind, revision };
	};
	const headers = () => revisionHeader(replica.current()?.revision);
	const alive = (name: string, path: string) =>
		endpoint({
			name,
			summary: 'Tell that the process runs, and how it is',
			tag: 'Health',
			method: 'get',
			path,
			access: 'open',
			returns: { 200: Health },
			handle: () => reply(200, health(), headers()),
		});
	return [
		alive('healthy', '/healthy'),
		alive('health', '/health'),
		endpoint({
			name: 'ready',
			summary: 'Tell whether checks can be answered: a complete revision is loaded',
			tag: 'Health',
			method: 'get',
			path: '/ready',
			access: 'open',
			returns: { 200: Health, 503: Health },
			handle: () => {
				const body = health();
				return body.status === 'ok' ? reply(200, body, headers()) : reply(503, body, headers());
			},
		}),
	];
}

function surrounding({ replica, apiKey, log, revisionWait = 10_000 }: DecisionPointOptions): Surround {
	const expected = digest(apiKey);
	const now = (): Deciding => {
		const held = replica.current();
		if (held === undefined) throw new Failure('unavailable', `no revision is loaded: ${replica.state.detail}`);
		return { engine: held.engine, revision: held.revision, log };
	};
	return async ({ access }, request, run) => {
		if (access === 'open') return run(undefined);
		authorize(request.headers['authorization'], expected);
		const wanted = request.headers['x-min-revision'];
		if (wanted !== undefined) await untilRevision(replica, wanted, revisionWait, request);
		return run(now);
	};
}

function authorize(header: string | undefined, expected: Buffer): void {
	if (header === undefined) throw new Failure('unauthorized', 'Missing Authorization header');
	const [, token] = /^bearer (.*)$/i.exec(header) ?? [];
	if (token === undefined || !timingSafeEqual(digest(token), expected)) {
		throw forbidden('this API key is not the one of the environment that this decision point serves');
	}
}

/** Digests have one length, so comparing them takes the same time whatever was sent. */
function digest(text: string): Buffer {
	return createHash('sha256').update(text).digest();
}

async function untilRevision(replica: Replica, wanted: string, wait: number, request: AnyRequest): Promise<void> {
	if (!/^\d{1,15}$/.test(wanted)) {
		throw new Failure('invalid', `header X-Min-Revision must be a revision number, got \`${wanted}\``);
	}
	const revision = Number(wanted);
	if ((replica.current()?.revision ?? -1) >= revision) return;
	try {
		await replica.reached(revision, AbortSignal.any([request.closed, AbortSignal.timeout(wait)]));
	} catch {
		throw new Failure('unavailable', `revision ${wanted} has not been reached`);
	}
}

function revisionHeader(revision: number | undefined): Readonly<Record<string, string>> {
	return revision === undefined ? {} : { 'x-revision': String(revision) };
}

function flag(header: string | undefined): boolean {
	return header !== undefined && header.toLowerCase() === 'true';
}
