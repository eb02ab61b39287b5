import { z } from 'zod';
import { declaring, type Endpoint, methods, Raw } from '../http/endpoint.js';
import type { Surround } from '../http/mount.js';
import { authenticate, unlessDeleted } from '../store/account/authenticate.js';
import type { Store } from '../store/store.js';
import type { FeedQuery, FeedServer, RefreshedAnswer } from './feed-server.js';
import type { Flavour } from './flavour.js';
import { StateNames } from './state-name.js';

/** Content type by which OPA detects support for long polling, even in a 304 response. */
const bundleType = 'application/vnd.openpolicyagent.bundles';
/** Maximum time that a request waits for a new bundle, in seconds. */
const maxWait = 60;

interface Contexts {
	/** Result of the access check: the environment in the path, and the key that grants access to it. */
	feed: { readonly environment: string; readonly key: string } & Pick<FeedQuery, 'refresh' | 'authorize'>;
}

const endpoint = declaring<Contexts>();

const BundlePath = z.object({ environment_id: z.uuid().describe('Environment id.') });

/** Bundle endpoints, and the access check around them. */
export interface FeedEndpoints {
	readonly endpoints: readonly Endpoint<string, never>[];
	readonly surround: Surround;
}

/** Returns `GET /bundles/{environment}` for our decision points and `GET /bundles/{environment}/rego` for stock OPA. */
export function feedEndpoints(feed: FeedServer, store: Store): FeedEndpoints {
	// Lazy, because the OpenAPI document is built without a store.
	let known: StateNames | undefined;
	const names = () => {
		known ??= new StateNames(store.deriveKeys('names of states'));
		return known;
	};
	const serve = (flavour: Flavour, path: string, name: string, summary: string) =>
		endpoint({
			...methods({ tag: 'Bundles', path, params: BundlePath }).get,
			name,
			summary,
			description:
				'OPA bundle protocol with long polling: send `If-None-Match` with the ETag of the current bundle, and ' +
				'`Prefer: modes=snapshot,delta;wait=30`. Returns a bundle (tar.gz), or 304 if there is no newer bundle.',
			access: 'feed',
			returns: { 200: null, 304: null },
			answerTypes: { 200: bundleType },
			failures: {
				404: 'No such environment',
				410: "The API key's environment was deleted",
				503: 'The environment has no policy yet',
			},
			handle: async ({ headers, closed }, opened) => {
				const { modes, wait } = preferences(headers['prefer']);
				const { etag, refreshed } = withoutRefresh(headers['if-none-match']);
				const held = names().read(opened.environment, etag);
				const answer = await feed.next({ ...opened, flavour, held, refreshed, modes, wait: wait * 1000, closed });
				const named = withRefresh(names().name(opened.environment, answer), answer.refresh);
				return new Raw(answer.bytes === null ? 304 : 200, feedHeaders(answer, named, refreshed), answer.bytes ?? '');
			},
		});
	return {
		endpoints: [
			serve('wasm', '/bundles/:environment_id', 'getBundle', "Get the environment's bundle for a decision point"),
			serve('rego', '/bundles/:environment_id/rego', 'getRegoBundle', "Get the environment's bundle for a stock OPA"),
		],
		surround: async (_, request, run) => {
			const { environment_id } = request.params as { readonly environment_id: string };
			const { authorization } = request.headers;
			const authorize = () =>
				unlessDeleted(store, authorization, () => authenticate(store, { authorization }), environment_id.toLowerCase());
			const caller = await authorize();
			const id = BundlePath.safeParse({ environment_id });
			const { key_id, refresh = null } = caller;
			const opened = { key: key_id, refresh, authorize: async () => (await authorize()).refresh ?? null };
			if (!id.success) return run({ ...opened, environment: environment_id });
			const environment = await store.account(caller.organization_id).environmentById(caller, id.data.environment_id);
			const answer = await run({ ...opened, environment: environment.id });
			// Check again, because building the bundle may have taken long. A key that has been revoked in the meantime
			// must not receive it.
			await authorize();
			return answer;
		},
	};
}

function feedHeaders(answer: RefreshedAnswer, etag: string, refreshed: string | null): Record<string, string> {
	const { revision, refresh, traceparent } = answer;
	return {
		'content-type': bundleType,
		etag,
		...(refresh === null || refresh === refreshed ? {} : { 'x-update-id': refresh }),
		'x-revision': String(revision),
		'cache-control': 'no-store',
		...(traceparent === undefined ? {} : { traceparent }),
	};
}

/**
 * Parses a header such as `Prefer: modes=snapshot,delta;wait=30`. By default, the client accepts only snapshots and
 * does not wait.
 */
function preferences(prefer: string | undefined): { readonly modes: ReadonlySet<string>; readonly wait: number } {
	const given = new Map((prefer ?? '').split(';').map((part) => splitPair(part.trim())));
	const wait = Number(given.get('wait') ?? 0);
	return {
		modes: new Set((given.get('modes') ?? 'snapshot').split(',')),
		wait: Number.isFinite(wait) ? Math.min(Math.max(wait, 0), maxWait) : 0,
	};
}

function splitPair(part: string): readonly [string, string] {
	const [name = '', value = ''] = part.split('=', 2);
	return [name, value];
}

/** Adds the decision point's last refresh to the ETag. */
function withRefresh(etag: string, refresh: string | null): string {
	return refresh === null ? etag : `${etag.slice(0, -1)}+${refresh}"`;
}

/** Splits an ETag from `withRefresh` into the ETag and the refresh. */
function withoutRefresh(etag: string | undefined): {
	readonly etag: string | undefined;
	readonly refreshed: string | null;
} {
	const [, state, refreshed] = /^(.+)\+([0-9a-f-]{36})"$/.exec(etag ?? '') ?? [];
	return state && refreshed ? { etag: `${state}"`, refreshed } : { etag, refreshed: null };
}
