import type { ExecutionContext } from 'ava';
import { createApplication, type Listening, listen } from '../../src/http/server.js';
import { createDecisionPoint, type DecisionPointOptions } from '../../src/pdp/endpoints.js';
import type { VerifyBundle } from '../../src/pdp/follow/bundle-verifier.js';
import { Replica } from '../../src/pdp/follow/replica.js';
import { type Client, client } from '../support/client.js';
import { quiet } from './environment.js';
import { FakeFeed } from './fake-feed.js';

/** A decision point over HTTP, following a feed over HTTP. */

/** Environment API key. */
export const key = 'permit_key_of_the_environment';

/** A decision point, its feed, and a client. */
export interface Served {
	readonly feed: FakeFeed;
	readonly replica: Replica;
	readonly url: string;
	readonly http: Client;
}

/** Decision point options. `refetch` is the pause between two full reloads, in milliseconds. */
export type ServeOptions = Partial<DecisionPointOptions> & {
	readonly refetch?: number;
	readonly verify?: VerifyBundle;
	/** Starts a proxy between the decision point and this feed URL, and returns the proxy URL. */
	readonly line?: (url: string) => Promise<string>;
};

/** Serves a decision point until the end of the test. It follows a feed that has no revisions yet. */
export async function serve(
	t: ExecutionContext,
	{ refetch = 50, verify, line, ...options }: ServeOptions = {},
): Promise<Served> {
	const feed = new FakeFeed();
	await feed.start();
	const replica = new Replica({
		controlPlane: line === undefined ? feed.url : await line(feed.url),
		apiKey: key,
		log: quiet,
		verify,
		pace: { first: 5, longest: 40, refused: 20, refetch },
	});
	replica.start();
	// The policy corrects wrong listings from the facts index, so tests of listings would not notice them.
	const countDifference = () => t.fail('a listing from the facts index differs from the policy');
	const point = createDecisionPoint({ replica, apiKey: key, log: quiet, countDifference, ...options });
	const endpoints = [...point.endpoints, ...point.forwarding];
	const application = createApplication({ ...point, endpoints, onUnexpected: (error) => t.fail(String(error)) });
	const listening: Listening = await listen(application, '127.0.0.1', 0);
	t.teardown(async () => {
		await listening.close(0);
		await replica.stop();
		await feed.stop();
	});
	return { feed, replica, url: listening.url, http: client(listening.url, key) };
}
