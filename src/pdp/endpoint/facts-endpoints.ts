/**
 * The management API's facts, served by a decision point. The response to a write waits until checks see the write, or
 * until a timeout.
 */

import type { Readable } from 'node:stream';
import { Failure } from '../../failure.js';
import { type Endpoint, Raw } from '../../http/endpoint.js';
import { writtenRevision } from '../../wire/revision-token.js';
import type { FindFacts } from '../follow/control-plane.js';
import { deadline } from '../follow/deadline.js';
import type { Progress } from '../follow/progress.js';
import { awaitArrival } from './arrival.js';
import { endpoint } from './endpoint.js';
import { type FactsWait, readFactsWait } from './facts-wait.js';

/** Timeout for calls to the control plane, in milliseconds. */
const timeout = 75_000;

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Base paths for the facts. Project and environment in a path are ignored, because the key determines both. */
const places = [
	{ name: 'facts', path: '/facts/*rest', prefix: /^\/facts(?=\/)/ },
	{ name: 'envFacts', path: '/v2/facts/:proj_id/:env_id/*rest', prefix: /^\/v2\/facts\/[^/]+\/[^/]+(?=\/)/ },
] as const;

/** Prefix before the path in an absolute-form target (RFC 9112, section 3.2.2). */
const authority = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i;

/** Request headers forwarded to the control plane. */
const forwarded = ['authorization', 'content-type', 'content-encoding'] as const;
/** Response headers returned to the client. */
const returned = ['content-type', 'x-revision', 'x-revision-token', 'retry-after', 'deprecation', 'link'] as const;

/**
 * Declares the endpoints that forward calls to the control plane's facts API. The management API documents these
 * endpoints. `fallback` is the wait for requests without wait headers.
 */
export function factsEndpoints(
	progress: Progress,
	findFacts: FindFacts,
	fallback: FactsWait,
): readonly Endpoint<'key', never>[] {
	return places.flatMap(({ name, path, prefix }) =>
		methods.map((method) =>
			endpoint({
				name: `${method}${name}`,
				summary: 'Forward a facts request to the management API',
				tag: 'Facts',
				method,
				path,
				access: 'key',
				returns: {},
				handle: async ({ headers, target, stream, closed }) => {
					const wait = readFactsWait(headers, fallback);
					const rest = target.replace(authority, '').replace(prefix, '');
					refuseOtherPath(rest);
					const body = hasBody(method, headers) ? stream() : null;
					const answer = await forward(findFacts, { method, rest, headers, body }, closed);
					const revision = writtenRevision((header) => answer.headers[header]);
					if (method !== 'get' && answer.status < 300 && revision !== null) {
						await awaitArrival(progress, revision, wait, closed);
					}
					return answer;
				},
			}),
		),
	);
}

interface ForwardedCall {
	readonly method: (typeof methods)[number];
	readonly rest: string;
	readonly headers: Readonly<Record<string, string | undefined>>;
	readonly body: Readable | null;
}

/** Forwards a call. Throws `unreachable` if there is no response. The write may have been committed anyway. */
async function forward(findFacts: FindFacts, call: ForwardedCall, closed: AbortSignal): Promise<Raw> {
	const { method, rest, headers, body } = call;
	try {
		return await deadline(closed, timeout, async (signal) => {
			const sent = chosen(forwarded, (name) => headers[name]);
			const content = body === null ? {} : { body, duplex: 'half' as const };
			const url = (await findFacts(signal)) + rest;
			const init = { method: method.toUpperCase(), headers: sent, redirect: 'manual', signal } as const;
			const response = await fetch(url, { ...init, ...content });
			const bytes = new Uint8Array(await response.arrayBuffer());
			return new Raw(
				response.status,
				chosen(returned, (name) => response.headers.get(name) ?? undefined),
				bytes,
			);
		});
	} catch (error) {
		if (error instanceof Failure) throw error;
		const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
		const reason = cause instanceof Error ? cause.message : String(cause);
		throw new Failure('unreachable', `the control plane did not respond: ${reason}`);
	}
}

/** Returns the named headers, without missing headers. */
function chosen(
	names: readonly string[],
	find: (name: string) => string | undefined,
): Readonly<Record<string, string>> {
	return Object.fromEntries(
		names.flatMap((name) => {
			const value = find(name);
			return value === undefined ? [] : [[name, value]];
		}),
	);
}

/** True if there is a body to forward. A GET or HEAD body has no meaning, and `fetch` does not send such a body. */
function hasBody(method: string, headers: ForwardedCall['headers']): boolean {
	if (method === 'get') return false;
	return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/**
 * Characters with a different meaning in a URL than in a request path: `\` becomes a slash, whitespace is dropped, and
 * `#` ends the path.
 */
const rewritten = /[\\#\s]/;

/** Rejects dot segments, which would leave the facts API, and characters that a URL might turn into dot segments. */
function refuseOtherPath(rest: string): void {
	const [path = ''] = rest.split('?');
	const leaves = path.split('/').some((segment) => /^(\.|%2e){1,2}$/i.test(segment));
	if (leaves || rewritten.test(path)) throw new Failure('not_found', `no endpoint is served on \`${rest}\``);
}
