import test, { type ExecutionContext } from 'ava';
import { bootstrap } from '../../src/compose/bootstrap.js';
import { readServerKeys } from '../../src/compose/server-key.js';
import { openStore } from '../../src/compose/store.js';
import { readConfig } from '../../src/config.js';
import { createCipher } from '../../src/store/account/secret.js';
import type { TakenDelivery } from '../../src/store/account/webhook-outbox.js';
import type { Store } from '../../src/store/store.js';
import { provideDatabase } from '../support/postgres.js';
import { settings } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/** Deliveries that dispatchers take from the outbox. */

const delivered = { delivered: true, response_status: 200 } as const;
const failed = (retry_after: number | null) => ({
	delivered: false as const,
	response_status: 500,
	error: 'answered 500',
	retry_after,
});

/** Creates a store with webhook elements. `add` puts a delivery into the outbox and returns the delivery's id. */
async function outboxOf(t: ExecutionContext) {
	const folder = temporary(t);
	const database = await provideDatabase('server', folder);
	const config = readConfig({ ...settings(folder, 'test'), DATABASE_URL: database.url });
	const store = await openStore(config);
	t.teardown(async () => {
		await store.close();
		await database.drop();
	});
	await bootstrap(store, config.bootstrap);
	const { knex } = store.database;
	const environment = await knex('environments').where({ key: 'dev' }).first<{ readonly id: string }>('id');
	const environment_id = environment?.id ?? '';
	const now = store.clock.now();
	const element = async (key: string, columns: object = {}) => {
		const id = store.clock.newId();
		await knex('elements_configs').insert({
			environment_id,
			id,
			key,
			name: key,
			elements_type: 'user_management',
			settings: '{}',
			is_active: true,
			email_notifications: false,
			webhook_id: store.clock.newId(),
			webhook_url: 'https://example.com/hook',
			created_at: now,
			updated_at: now,
			...columns,
		});
		return id;
	};
	const add = async (config_id: string) => {
		const id = store.clock.newId();
		const row = { environment_id, config_id, id, event: 'probe', payload: '{"b":1,"a":2}', status: 'pending' };
		await knex('webhook_deliveries').insert({ ...row, attempts: 0, created_at: now });
		return id;
	};
	const change = (id: string, columns: object) =>
		knex('webhook_deliveries').where({ environment_id, id }).update(columns);
	const row = (id: string) => knex('webhook_deliveries').where({ environment_id, id }).first();
	const seal = (secret: string) => createCipher(readServerKeys(config, config.data_directory).current).encrypt(secret);
	return { store, element, add, change, row, seal };
}

const signingKey = ({ webhook }: TakenDelivery) =>
	webhook === null || webhook === 'unreadable'
		? null
		: webhook.signing_keys.map((key) => key.toString('hex')).join(' ');
const idsTaken = async ({ outbox }: Pick<Store, 'outbox'>, most = 8) => (await outbox.take(most)).map(({ id }) => id);

test('the oldest due delivery of each element is taken, one at a time', async (t) => {
	const { store, element, add, row } = await outboxOf(t);
	const { outbox } = store;
	const [first, second] = [await element('first'), await element('second')];
	const [a, b, c] = [await add(first), await add(first), await add(second)];
	const taken = await outbox.take(8);
	t.deepEqual(new Set(taken.map(({ id }) => id)), new Set([a, c]));
	t.like(taken[0], {
		attempts: 1,
		payload: { b: 1, a: 2 },
		webhook: { url: 'https://example.com/hook', bearer_token: null },
	});
	t.is(new Set(taken.map(signingKey)).size, 2);
	t.deepEqual(await idsTaken(store), [], 'no later delivery during a delivery');
	for (const one of taken) await outbox.finish(one, one.id === a ? failed(3_600_000) : delivered);
	t.like(await row(a), { status: 'pending', response_status: 500, error: 'answered 500', lease_until: null });
	t.like(await row(c), { status: 'delivered', response_status: 200, error: null });
	const [next] = await outbox.take(8);
	t.is(next?.id, b, 'a failed delivery delays no other delivery');
	if (next !== undefined) await outbox.finish(next, failed(null));
	t.like(await row(b), { status: 'failed' });
	t.deepEqual(await idsTaken(store), []);
});

test('a delivery started by a dead process is taken over, and the dead process cannot change it', async (t) => {
	const { store, element, add, change, row } = await outboxOf(t);
	const { outbox } = store;
	const id = await add(await element('people'));
	const [dead] = await outbox.take(8);
	t.deepEqual(await idsTaken(store), []);
	await change(id, { lease_until: new Date(0) });
	const [alive] = await outbox.take(8);
	t.like(alive, { id, attempts: 2 });
	if (dead !== undefined) await outbox.finish(dead, failed(null));
	t.like(await row(id), { status: 'pending', error: null });
	if (alive !== undefined) await outbox.finish(alive, delivered);
	t.like(await row(id), { status: 'delivered', attempts: 2 });
});

test('concurrent dispatchers take different deliveries, and each delivery is taken once', async (t) => {
	const { store, element, add } = await outboxOf(t);
	const elements = await Promise.all(Array.from({ length: 12 }, (_, index) => element(`e${index}`)));
	const added = await Promise.all(elements.flatMap((config_id) => [add(config_id), add(config_id)]));
	const taken: string[] = [];
	const look = async () => {
		for (let idle = 0; idle < 20; idle += 1) {
			for (const one of await store.outbox.take(3)) {
				taken.push(one.id);
				await store.outbox.finish(one, delivered);
				idle = 0;
			}
		}
	};
	await Promise.all([look(), look(), look()]);
	t.deepEqual([...taken].sort(), [...added].sort());
});

test('receivers that do not respond do not block events for other receivers', async (t) => {
	const { store, element, add } = await outboxOf(t);
	const { outbox } = store;
	const silent = await Promise.all(Array.from({ length: 8 }, (_, index) => element(`silent-${index}`)));
	for (const config_id of silent) for (let count = 0; count < 3; count += 1) await add(config_id);
	const hanging = await outbox.take(8);
	t.is(hanging.length, 8);
	const event = await add(await element('answering'));
	for (const one of hanging) await outbox.finish(one, failed(3_600_000));
	t.true((await idsTaken(store)).includes(event), 'a new delivery does not wait for their backlog');
});

test('a delivery of an element without a webhook is taken without a webhook', async (t) => {
	const { store, element, add } = await outboxOf(t);
	const id = await add(await element('silent', { webhook_id: null, webhook_url: null }));
	t.like((await store.outbox.take(8))[0], { id, webhook: null });
});

test('a token that cannot be decrypted affects only its element', async (t) => {
	const { store, element, add, seal } = await outboxOf(t);
	const broken = await add(await element('broken', { secret_webhook_token: Buffer.alloc(60, 7) }));
	const short = await add(await element('short', { secret_webhook_token: Buffer.from('x') }));
	const whole = await add(await element('whole', { secret_webhook_token: seal('a token') }));
	const taken = new Map((await store.outbox.take(8)).map((one) => [one.id, one.webhook]));
	t.is(taken.get(broken), 'unreadable');
	t.is(taken.get(short), 'unreadable');
	t.like(taken.get(whole), { bearer_token: 'a token' });
});

test('setting the clock back blocks no webhook', async (t) => {
	const { store, element, add, change } = await outboxOf(t);
	const ahead = (minutes: number) => store.database.knex.raw(`now() + ? * interval '1 minute'`, [minutes]);
	const [first, second, later] = [await element('first'), await element('second'), await element('later')];
	const fresh = await add(first);
	await change(fresh, { next_attempt_at: ahead(60) });
	const tried = await add(second);
	await change(tried, { attempts: 1, attempted_at: ahead(60), lease_until: ahead(61), next_attempt_at: ahead(60) });
	await change(await add(later), { attempts: 1, attempted_at: ahead(-1), next_attempt_at: ahead(60) });
	t.deepEqual(await store.outbox.take(8), []);
	await store.forgetOld();
	const taken = await store.outbox.take(8);
	t.deepEqual(taken.map(({ id }) => id).sort(), [fresh, tried].sort());
});
