/** Follows an environment's newest revision, like a decision point. */

import { errorMessage } from '../../../src/failure.js';
import type { VerifyBundle } from '../../../src/pdp/follow/bundle-verifier.js';
import { deadline } from '../../../src/pdp/follow/deadline.js';
import { connectFeed, type FeedClient, Refusal } from '../../../src/pdp/follow/feed-client.js';
import { Replica } from '../../../src/pdp/follow/replica.js';
import { possibleDelay } from '../../../src/pdp/follow/timer.js';
import { type ControlPlaneSource, RegolithError } from './api.js';
import { type RevisionHolder, silent } from './held-revision.js';

/** Default wait for the first revision, in milliseconds. */
const defaultTimeout = 30_000;

/**
 * Starts following an environment, and resolves when the newest revision is in use. Rejects with `refused` if the API
 * rejects the key, and with `unavailable` if no revision arrives in time.
 */
export async function followControlPlane(
	source: ControlPlaneSource,
	verify: VerifyBundle | undefined,
): Promise<RevisionHolder> {
	const { controlPlane, apiKey, timeout = defaultTimeout } = source;
	const refused = new AbortController();
	const feed = noticingRefusal(connectFeed(controlPlane, apiKey), (refusal) => refused.abort(refusal));
	const replica = new Replica({ controlPlane, apiKey, feed, log: silent, verify });
	replica.start();
	try {
		await deadline(refused.signal, possibleDelay(timeout), (signal) => replica.reached(0, signal));
		return replica;
	} catch (error) {
		const { detail } = replica.state;
		await replica.stop();
		if (refused.signal.aborted) throw new RegolithError('refused', errorMessage(refused.signal.reason), error);
		throw new RegolithError('unavailable', `no revision arrived within ${timeout} ms: ${detail}`, error);
	}
}

/** Wraps a feed. Calls `notice` with each `Refusal` from the API, then rejects with it. */
function noticingRefusal(feed: FeedClient, notice: (refusal: Refusal) => void): FeedClient {
	const noticing = async <T>(answer: Promise<T>): Promise<T> => {
		try {
			return await answer;
		} catch (error) {
			if (error instanceof Refusal) notice(error);
			throw error;
		}
	};
	return {
		environment: (signal) => noticing(feed.environment(signal)),
		poll: (request, signal) => noticing(feed.poll(request, signal)),
	};
}
