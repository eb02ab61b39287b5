/** Client for the control plane: looks up a key's environment, polls the bundle feed, and reports state. */

import { z } from 'zod';
import { maxBundleBytes } from '../../bundle/bundle.js';
import { catalogue } from '../../failure.js';
import type { ClockComparison } from './clock-comparison.js';
import { deadline } from './deadline.js';

/** A bundle and the feed's ETag for its revision. */
export interface FeedBundle {
	readonly kind: 'bundle';
	readonly bytes: Uint8Array;
	readonly etag: string;
	/** Last time this revision was confirmed current, in milliseconds since 1970; now by default. */
	readonly asOf?: number;
	/** True if the next bundle is already available, so this revision must not be used for decisions. */
	readonly isPassing?: boolean;
	/** Revision after applying the bundle, if the feed contains it. */
	readonly revision?: number;
	/** Refresh that requested this snapshot. */
	readonly updateId?: string;
	/** W3C `traceparent` for the trace that built the bundle. */
	readonly traceparent?: string;
}

export type FeedResponse =
	| FeedBundle
	/**
	 * `waits` is true if the server delays its responses until there is a new revision. Otherwise the client must pace
	 * its requests. `offline` marks a bundle from the offline copy, which is used while the control plane is unreachable.
	 */
	| { readonly kind: 'unchanged'; readonly waits: boolean; readonly asOf?: number; readonly offline?: true };

export interface FeedRequest {
	readonly environment: string;
	/** ETag for the client's current revision; `undefined` requests a snapshot. */
	readonly etag: string | undefined;
	/** Maximum delay of the response while there is no new revision, in seconds. */
	readonly wait: number;
}

/** The control plane rejects the key or environment. A retry fails until an operator fixes the problem. */
export class Refusal extends Error {
	override readonly name = 'Refusal';
}

/** The key's environment was deleted. */
export class EnvironmentGone extends Refusal {}

/**
 * Control plane client for a single key. Both methods reject with `Refusal`, or with an `Error` if a retry may help.
 */
export interface FeedClient {
	/** Returns the key's environment id. */
	environment(signal: AbortSignal): Promise<string>;
	poll(request: FeedRequest, signal: AbortSignal): Promise<FeedResponse>;
}

const bundleType = 'application/vnd.openpolicyagent.bundles';
const modes = 'modes=snapshot,delta,policy';
/** Time that the control plane may be silent beyond the requested wait, in milliseconds. */
const timeout = 60_000;

/** Maximum size for responses other than bundles, in bytes. */
const maxAnswerBytes = 64 * 1024;

const scope = z.object({ environment_id: z.string().nullish(), project_id: z.string().nullish() });

/** Reports this decision point's state to the control plane. Rejects if the report fails or is rejected. */
export async function reportState(
	origin: string,
	apiKey: string,
	told: { readonly pdp_instance_id: string; readonly state: Readonly<Record<string, unknown>> },
	signal: AbortSignal,
	clocks: ClockComparison,
): Promise<void> {
	await deadline(signal, timeout, async (limited) => {
		const response = await fetch(`${origin.replace(/\/+$/, '')}/v2/pdps/me/state`, {
			method: 'POST',
			headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
			body: JSON.stringify(told),
			signal: limited,
		});
		clocks.note(response);
		await response.arrayBuffer();
		if (!response.ok) throw new Error(`the control plane responded with ${response.status}`);
	});
}

/**
 * Creates a client for a control plane. `origin` is the control plane's URL without a path. Sends nothing before the
 * first call. A response may be slow, but fails if nothing arrives for `silence` milliseconds. Rejects a bundle larger
 * than `limit` bytes without reading the rest.
 */
export function connectFeed(origin: string, apiKey: string, silence = timeout, limit = maxBundleBytes): FeedClient {
	const authorization = `Bearer ${apiKey}`;
	const base = origin.replace(/\/+$/, '');
	return {
		environment: (signal) =>
			deadline(signal, timeout, async (limited) => {
				const response = await request(`${base}/v2/api-key/scope`, { authorization }, limited);
				if (!response.ok) throw await trouble(response);
				const { environment_id, project_id } = scope.parse(JSON.parse(await readText(response)));
				if (environment_id) return environment_id;
				throw new Refusal(
					`the key belongs to ${project_id ? 'a project' : 'an organization'}: a decision point needs an environment's key`,
				);
			}),
		poll: ({ environment, etag, wait }, signal) =>
			deadline(signal, wait * 1000 + silence, async (limited, restart) => {
				const headers = {
					authorization,
					prefer: wait > 0 ? `${modes};wait=${wait}` : modes,
					...(etag === undefined ? {} : { 'if-none-match': etag }),
				};
				const response = await request(`${base}/bundles/${encodeURIComponent(environment)}`, headers, limited);
				if (response.status === 304 && etag !== undefined) {
					return { kind: 'unchanged', waits: response.headers.get('content-type') === bundleType };
				}
				if (response.status !== 200) throw await trouble(response);
				const name = response.headers.get('etag');
				if (name === null) throw new Error('the control plane sent a bundle without an ETag');
				const bytes = await readBody(response, limit, () => restart(silence));
				if (bytes === null) throw new Error(`the control plane sent a bundle of more than ${limit} bytes`);
				const revision = Number(response.headers.get('x-revision') ?? Number.NaN);
				const updateId = response.headers.get('x-update-id');
				const traceparent = response.headers.get('traceparent');
				return {
					kind: 'bundle',
					bytes,
					etag: name,
					...(Number.isSafeInteger(revision) ? { revision } : {}),
					...(updateId === null ? {} : { updateId }),
					...(traceparent === null ? {} : { traceparent }),
				};
			}),
	};
}

/**
 * Reads a whole body and calls `tell` for each chunk. Returns `null` and stops reading if the body exceeds `limit`
 * bytes.
 */
async function readBody({ body }: Response, limit: number, tell: () => void): Promise<Uint8Array | null> {
	const chunks: Uint8Array[] = [];
	let length = 0;
	const reader = body?.getReader();
	for (let next = await reader?.read(); next !== undefined && !next.done; next = await reader?.read()) {
		length += next.value.length;
		if (length > limit) {
			await reader?.cancel();
			return null;
		}
		chunks.push(next.value);
		tell();
	}
	const bytes = new Uint8Array(length);
	let at = 0;
	for (const chunk of chunks) {
		bytes.set(chunk, at);
		at += chunk.length;
	}
	return bytes;
}

/** Reads a response other than a bundle. Returns an empty string if the response is too long. */
async function readText(response: Response): Promise<string> {
	const bytes = await readBody(response, maxAnswerBytes, () => undefined);
	return new TextDecoder().decode(bytes ?? new Uint8Array());
}

async function request(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response> {
	try {
		return await fetch(url, { headers, signal });
	} catch (error) {
		// The cause has the details; the error message is only "fetch failed".
		const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
		throw new Error(`the control plane cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`);
	}
}

async function trouble(response: Response): Promise<Error> {
	const { status } = response;
	const body = (await readText(response)).slice(0, 2000);
	const title = titleIn(body);
	if (status === 410 && title === catalogue.environment_deleted.title) {
		return new EnvironmentGone('the environment was deleted');
	}
	const message = `the control plane responded with ${status}: ${reasonIn(body)}`;
	if (status === 401) return new Refusal(`${message}; if the key was rotated or deleted, restart with the new key`);
	// A 404 without our title comes from an intermediary that cannot find the API. Such a response does not cause the
	// data to be dropped.
	if (status === 404 && title !== catalogue.not_found.title) {
		return new Error(
			`${message}. PDP_CONTROL_PLANE may not be the URL of the API, or a proxy in front of the API cannot find the API`,
		);
	}
	return [403, 404].includes(status) ? new Refusal(message) : new Error(message);
}

/** Returns the title in a control plane error body; `undefined` if the response comes from an intermediary. */
function titleIn(body: string): string | undefined {
	try {
		return z.object({ title: z.string() }).parse(JSON.parse(body)).title;
	} catch {
		return undefined;
	}
}

/** Returns an error body's message without the request id, so the same problem always has the same message. */
function reasonIn(body: string): string {
	try {
		const { message } = z.object({ message: z.string() }).parse(JSON.parse(body));
		return message;
	} catch {
		return body.slice(0, 300);
	}
}
