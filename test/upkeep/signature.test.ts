import { randomBytes } from 'node:crypto';
import test from 'ava';
import { Webhook } from 'standardwebhooks';
import { sign } from '../../src/upkeep/webhook/signature.js';

/** Signatures follow Standard Webhooks. Its own library verifies them. */

test('the Standard Webhooks library accepts our signatures, and rejects changed, forged and old messages', (t) => {
	const key = randomBytes(32);
	const now = new Date();
	const body = JSON.stringify({ type: 'create_user', email: 'é@example.com' });
	const headers = { ...sign([key], 'id-1', now, body) };
	const receiver = new Webhook(`whsec_${key.toString('base64')}`);
	t.deepEqual(receiver.verify(body, headers), JSON.parse(body));
	t.throws(() => receiver.verify(body.replace('create', 'delete'), headers));
	t.throws(() => receiver.verify(body, { ...headers, 'webhook-id': 'id-2' }));
	t.throws(() => receiver.verify(body, { ...headers, ...sign([randomBytes(32)], 'id-1', now, body) }));
	const old = sign([key], 'id-1', new Date(now.getTime() - 600_000), body);
	t.throws(() => receiver.verify(body, { ...old }), undefined, 'an old message');
});

test('during server key rotation, a receiver with either signing key accepts an event', (t) => {
	const keys = [randomBytes(32), randomBytes(32)];
	const headers = { ...sign(keys, 'id-1', new Date(), '{}') };
	for (const key of keys) t.deepEqual(new Webhook(`whsec_${key.toString('base64')}`).verify('{}', headers), {});
});
