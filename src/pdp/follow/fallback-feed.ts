/** A feed that begins from the offline copy when the control plane cannot be reached at a start. */

import { deadline } from './deadline.js';
import { type FeedClient, type FeedRequest, type FeedResponse, Refusal } from './feed-client.js';
import type { CopiedEnvironment, OfflineCopy } from './offline-copy.js';

/** How long a start waits for the control plane before it turns to the copy, in milliseconds. */
const startWait = 5_000;

/**
 * Follows `primary`. If that cannot be reached when the environment is first asked for, the bundles of the copy come
 * first, and the control plane is asked for what follows them. A key that it refuses is refused, copy or not.
 */
export class FallbackFeed implements FeedClient {
	/** What is replayed; `undefined` when there is nothing to replay, or no more. */
	#replayed: CopiedEnvironment | undefined;
	/** How many bundles of the copy were given away. */
	#given = 0;
	#asked = false;

	constructor(
		private readonly primary: FeedClient,
		private readonly copy: Pick<OfflineCopy, 'read'>,
	) {}

	async environment(signal: AbortSignal): Promise<string> {
		if (this.#asked) return this.primary.environment(signal);
		try {
			const environment = await deadline(signal, startWait, (limited) => this.primary.environment(limited));
			this.#asked = true;
			return environment;
		} catch (error) {
			if (error instanceof Refusal || signal.aborted) throw error;
			this.#replayed = await this.copy.read();
			const [first] = this.#replayed?.bundles ?? [];
			if (first === undefined) throw error;
			this.#asked = true;
			return first.environment;
		}
	}

	async poll(request: FeedRequest, signal: AbortSignal): Promise<FeedResponse> {
		const replayed = this.#replayed;
		if (replayed === undefined) return this.primary.poll(request, signal);
		const { bundles, asOf } = replayed;
		const index = bundles.findIndex(({ etag }) => etag === request.etag) + 1;
		const next = bundles[index];
		if (next !== undefined && index === this.#given) {
			this.#given += 1;
			const isPassing = index + 1 < bundles.length;
			return { kind: 'bundle', bytes: next.bytes, etag: next.etag, asOf, isPassing };
		}
		this.#replayed = undefined;
		// Who asks for the same again could not use it: only the control plane can help.
		return next === undefined
			? { kind: 'unchanged', waits: true, asOf, offline: true }
			: this.primary.poll(request, signal);
	}
}
