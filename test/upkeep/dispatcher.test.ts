import test from 'ava';
import { systemClock } from '../../src/clock.js';
import { createLogger } from '../../src/log.js';
import type { DeliveryOutcome, TakenDelivery } from '../../src/store/account/webhook-outbox.js';
import { maxAttempts, pauseAfter, WebhookDispatcher } from '../../src/upkeep/webhook/dispatcher.js';
import type { Post } from '../../src/upkeep/webhook/post.js';
import { eventually } from '../support/eventually.js';

/** Attempt results, and the dispatcher's behavior when it is woken or stopped. */

const delivery = (id: string, more: Partial<TakenDelivery> = {}): TakenDelivery => ({
	environment_id: 'e',
	config_id: 'c',
	id,
	payload: { type: 'create_user' },
	attempts: 1,
	webhook: { url: 'https://example.com/hook', bearer_token: null, signing_keys: [Buffer.alloc(32)] },
	...more,
});

/** Returns a dispatcher whose deliveries are in memory. */
function dispatching(waiting: TakenDelivery[], post: (sent: Post) => Promise<number>) {
	const outcomes = new Map<string, DeliveryOutcome>();
	let takes = 0;
	const outbox = {
		take: async (most: number) => {
			takes += 1;
			return waiting.splice(0, most);
		},
		finish: async ({ id }: TakenDelivery, outcome: DeliveryOutcome) => {
			outcomes.set(id, outcome);
		},
	};
	const dispatcher = new WebhookDispatcher({ outbox, post, clock: systemClock, log: createLogger('silent') });
	return { dispatcher, outcomes, takes: () => takes };
}

const refusing = (code: string) => async (): Promise<number> => {
	throw Object.assign(new Error('connect 10.1.2.3'), { code });
};

test('an attempt ends according to the receiver’s response', async (t) => {
	const cases: readonly (readonly [post: () => Promise<number>, given: Partial<TakenDelivery>, outcome: object])[] = [
		[async () => 200, {}, { delivered: true, response_status: 200 }],
		[async () => 299, {}, { delivered: true, response_status: 299 }],
		[async () => 302, {}, { delivered: false, response_status: 302, error: 'got status 302' }],
		[async () => 500, {}, { delivered: false, response_status: 500, error: 'got status 500' }],
		[async () => 500, { attempts: maxAttempts }, { delivered: false, retry_after: null }],
		[refusing('ECONNREFUSED'), {}, { delivered: false, response_status: null, error: 'no response: ECONNREFUSED' }],
		[async () => 200, { webhook: null }, { delivered: false, retry_after: null }],
		[
			async () => 200,
			{ webhook: 'unreadable' },
			{
				delivered: false,
				response_status: null,
				error: "the webhook's bearer token cannot be decrypted: set the webhook again",
			},
		],
	];
	const waiting = cases.map(([, given], index) => delivery(String(index), given));
	let next = 0;
	const { dispatcher, outcomes } = dispatching(waiting, async () => {
		const [post] = cases[next++] ?? [async () => 0];
		return post();
	});
	dispatcher.start();
	await eventually(() => outcomes.size === cases.length);
	await dispatcher.stop();
	for (const [index, [, , outcome]] of cases.entries()) t.like(outcomes.get(String(index)), outcome, String(index));
});

test('each pause is four times as long as the previous pause, and the number of pauses is limited', (t) => {
	const pauses = Array.from({ length: maxAttempts - 1 }, (_, index) => pauseAfter(index + 1));
	for (const [index, pause] of pauses.entries()) {
		const wanted = 1_000 * 4 ** index;
		t.true(pause >= 0.9 * wanted && pause <= 1.1 * wanted, `${index}: ${pause}`);
	}
});

test('a stop starts no new deliveries, and waits for running deliveries', async (t) => {
	let answer: (status: number) => void = () => {};
	const waiting = [delivery('a')];
	const { dispatcher, outcomes } = dispatching(waiting, () => new Promise((resolve) => (answer = resolve)));
	dispatcher.start();
	await eventually(() => waiting.length === 0);
	let stopped = false;
	const stopping = dispatcher.stop().then(() => (stopped = true));
	waiting.push(delivery('b'));
	dispatcher.wake();
	t.false(stopped);
	answer(200);
	await stopping;
	t.deepEqual([...outcomes.keys()], ['a']);
	t.is(waiting.length, 1);
});
