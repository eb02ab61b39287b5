import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import test from 'ava';
import type { BundlePacker } from '../../src/publish/bundle-packer.js';
import { FeedServer } from '../../src/publish/feed-server.js';
import type { Publisher } from '../../src/publish/publisher.js';
import type { Snapshots } from '../../src/publish/snapshots.js';
import type { PolicyStore } from '../../src/store/policy/policy-store.js';
import type { Store } from '../../src/store/store.js';

test('when an environment holds too many requests, further requests get immediate responses and do not block others', async (t) => {
	const state = { lineage: 'l', revision: 7, token: 't', digest: 'd', pending: null };
	const head = { ...state, policy_revision: 7, failure: null, degraded: null };
	const committed = new EventEmitter();
	// A request that waits because nothing has changed uses no further dependency.
	const feed = new FeedServer(
		{ committed } as unknown as Store,
		{} as PolicyStore,
		{ head: async () => head } as unknown as Publisher,
		{} as Snapshots,
		{} as BundlePacker,
		undefined,
		2,
	);
	const ask = (environment: string) =>
		feed.next({
			environment,
			flavour: 'wasm',
			held: { ...state, verified: true },
			modes: new Set(['delta']),
			wait: 60_000,
			closed: new AbortController().signal,
			key: 'k',
			refreshed: null,
			refresh: null,
			authorize: async () => null,
		});
	const held = [ask('loud'), ask('loud')];
	await nextTurn();
	t.is((await ask('loud')).bytes, null);
	held.push(ask('quiet'));
	await nextTurn();
	t.is(feed.waiting, 3);
	feed.stop();
	await Promise.all(held);
	t.is(feed.waiting, 0);
});
