import test from 'ava';
import type { FeedClient, FeedRequest, FeedResponse } from '../../src/pdp/follow/feed-client.js';
import { SharedFeed } from '../../src/workers/shared-feed.js';

/** All workers in a decision point share a single feed. */

/** Returns a feed that responds when the test tells it to, and records its requests. */
function fakeFeed() {
	const asked: { readonly request: FeedRequest; readonly signal: AbortSignal; answer(with_: FeedResponse): void }[] =
		[];
	const feed: FeedClient = {
		environment: async () => 'environment',
		poll: (request, signal) =>
			new Promise((resolve, reject) => {
				signal.addEventListener('abort', () => reject(new Error('aborted')));
				asked.push({ request, signal, answer: resolve });
			}),
	};
	return { asked, shared: new SharedFeed(feed) };
}

const request = (etag: string | undefined, wait = 30): FeedRequest => ({ environment: 'environment', etag, wait });
const bundle = (etag: string): FeedResponse => ({ kind: 'bundle', bytes: new Uint8Array([1]), etag });
const never = new AbortController().signal;

test('concurrent equal requests share one request, and a later equal request gets the cached delta', async (t) => {
	const { asked, shared } = fakeFeed();
	const both = [shared.poll(request('1'), never), shared.poll(request('1'), never)];
	t.is(asked.length, 1);
	asked[0]?.answer(bundle('2'));
	t.deepEqual(await Promise.all(both), [bundle('2'), bundle('2')]);
	const again = await shared.poll(request('1', 0), never);
	t.like(again, bundle('2'));
	t.is(typeof again.asOf, 'number', 'a cached response states its age');
	t.is(asked.length, 1);
});

test('no caller joins a request that is about to end', async (t) => {
	const { asked, shared } = fakeFeed();
	const leaving = new AbortController();
	const left = shared.poll(request('1'), leaving.signal);
	leaving.abort();
	const next = shared.poll(request('1'), never);
	t.is(asked.length, 2);
	asked[1]?.answer(bundle('2'));
	t.deepEqual(await next, bundle('2'));
	await t.throwsAsync(left);
});

test('different requests are separate, and snapshots and empty responses are not cached', async (t) => {
	const { asked, shared } = fakeFeed();
	for (const etag of [undefined, undefined, '1', '1']) {
		const answer = shared.poll(request(etag), never);
		asked.at(-1)?.answer(etag === undefined ? bundle('1') : { kind: 'unchanged', waits: true });
		await answer;
	}
	t.deepEqual(
		asked.map((each) => each.request.etag),
		[undefined, undefined, '1', '1'],
	);
});

test('a request ends when its last caller leaves', async (t) => {
	const { asked, shared } = fakeFeed();
	const [first, second] = [new AbortController(), new AbortController()];
	const one = shared.poll(request('1'), first.signal);
	const other = shared.poll(request('1'), second.signal);
	first.abort();
	await t.throwsAsync(one);
	t.false(asked[0]?.signal.aborted);
	second.abort();
	await t.throwsAsync(other);
	t.true(asked[0]?.signal.aborted);
});

test('a failure reaches all waiting callers, and the next call starts a new request', async (t) => {
	const failing = new SharedFeed({
		environment: async () => 'environment',
		poll: async () => {
			throw new Error('unreachable');
		},
	});
	for (const each of [failing.poll(request('1'), never), failing.poll(request('1'), never)]) {
		await t.throwsAsync(each, { message: 'unreachable' });
	}
	await t.throwsAsync(failing.poll(request('1'), never), { message: 'unreachable' });
});
