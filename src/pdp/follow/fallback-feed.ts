/** Feed that starts from the offline copy if the control plane cannot be reached. */

import { deadline } from './deadline.js';
import { type FeedClient, type FeedRequest, type FeedResponse, Refusal } from './feed-client.js';
import type { CopiedEnvironment, OfflineCopy } from './offline-copy.js';

/** Time that a starting decision point waits for the control plane before it uses the copy, in milliseconds. */
const startWait = 5_000;

/**
 * Follows `primary`. If `primary` cannot be reached at the first request for the environment, the feed first replays
 * the copy and then polls `primary` for later bundles. If the control plane rejects the key, the feed does not use the
 * copy.
 */
export class FallbackFeed implements FeedClient {
	/** Copy being replayed; `undefined` if there is no copy, and after the replay. */
	#replayed: CopiedEnvironment | undefined;
	/** Number of bundles replayed. */
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
		// A repeated request means that the client could not use the copied bundle, so ask the control plane.
		return next === undefined
			? { kind: 'unchanged', waits: true, asOf, offline: true }
			: this.primary.poll(request, signal);
	}
}
