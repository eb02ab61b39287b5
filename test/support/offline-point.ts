import { createApplication, listen } from '../../src/http/server.js';
import { createLogger } from '../../src/log.js';
import { createDecisionPoint, type DecisionPointOptions } from '../../src/pdp/endpoints.js';
import type { VerifyBundle } from '../../src/pdp/follow/bundle-verifier.js';
import { FallbackFeed } from '../../src/pdp/follow/fallback-feed.js';
import { connectFeed } from '../../src/pdp/follow/feed-client.js';
import { OfflineCopier } from '../../src/pdp/follow/offline-copier.js';
import { OfflineCopy } from '../../src/pdp/follow/offline-copy.js';
import { Replica } from '../../src/pdp/follow/replica.js';
import { type Client, client } from './client.js';

/** A decision point over HTTP with an offline copy. */

export interface OfflinePoint {
	readonly replica: Replica;
	readonly http: Client;
	stop(): Promise<void>;
}

/** Control plane and copy path. */
export interface OfflinePlace {
	readonly controlPlane: string;
	readonly apiKey: string;
	readonly path: string;
}

export interface OfflinePointOptions extends Partial<DecisionPointOptions> {
	readonly verify?: VerifyBundle;
	readonly onUnexpected: (error: unknown) => void;
}

const pace = { first: 5, longest: 40, refused: 20 };

/** Starts a decision point that saves its copy every 5 ms. */
export async function startOfflinePoint(
	{ controlPlane, apiKey, path }: OfflinePlace,
	{ verify, onUnexpected, ...options }: OfflinePointOptions,
): Promise<OfflinePoint> {
	const log = createLogger('silent');
	const primary = connectFeed(controlPlane, apiKey);
	const copy = new OfflineCopy(path, apiKey, log);
	const feed = new FallbackFeed(primary, copy);
	const replica = new Replica({ controlPlane, apiKey, log, pace, verify, feed });
	const copier = new OfflineCopier({ copy, feed: primary, replica, log, interval: 5, verify });
	replica.start();
	copier.start();
	const point = createDecisionPoint({ replica, apiKey, log, ...options });
	const listening = await listen(createApplication({ ...point, onUnexpected }), '127.0.0.1', 0);
	return {
		replica,
		http: client(listening.url, apiKey),
		async stop() {
			await listening.close(0);
			await Promise.all([replica.stop(), copier.stop()]);
		},
	};
}
