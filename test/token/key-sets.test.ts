import test from 'ava';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import type { Clock } from '../../src/clock.js';
import { Failure } from '../../src/failure.js';
import { PrivateAddressError } from '../../src/outbound/public-address.js';
import { createSender } from '../../src/outbound/send.js';
import { createFetcher, type Fetcher, KeySets } from '../../src/token/key-sets.js';
import { UserTokens } from '../../src/token/user-token.js';
import { startReceiver } from '../support/receiver.js';

/** Key sets are cached for their stated lifetime, limited in size, and fetched only when needed. */

const configured = { ttl: 600, url: 'https://id.example.com/keys', jwks: null };

/** Returns functions to read a token's user key, count requests to the identity provider, and advance the clock. */
async function provider(answers: (keys: readonly JWK[]) => Response | Promise<Response>) {
	let now = Date.now();
	const clock: Clock = { now: () => new Date(now), monotonic: () => 0, newId: () => '' };
	const { privateKey, publicKey } = await generateKeyPair('RS256');
	const keys = [{ ...(await exportJWK(publicKey)), kid: 'k1' }];
	let asked = 0;
	const fetcher: Fetcher = async () => {
		asked += 1;
		const answer = await answers(keys);
		return { status: answer.status, text: await answer.text() };
	};
	const tokens = new UserTokens(new KeySets(clock, fetcher), clock);
	const token = await new SignJWT({ sub: 'ann' })
		.setProtectedHeader({ alg: 'RS256', kid: 'k1' })
		.setExpirationTime('1h')
		.sign(privateKey);
	return {
		asked: () => asked,
		pass: (milliseconds: number) => {
			now += milliseconds;
		},
		userKey: (user_jwt = token, jwks = configured) =>
			tokens.userKey(jwks, { user_jwt, user_key_claim: 'sub', issuer: null, audience: null }),
	};
}

test('keys are fetched once for many tokens', async (t) => {
	const { userKey, asked } = await provider((keys) => Response.json({ keys }));
	t.is(await userKey(), 'ann');
	t.deepEqual(await Promise.all([userKey(), userKey()]), ['ann', 'ann']);
	t.is(asked(), 1);
});

test('an unknown key id does not cause repeated fetches', async (t) => {
	const { userKey, asked } = await provider((keys) =>
		Response.json({ keys: keys.map((key) => ({ ...key, kid: 'k0' })) }),
	);
	for (let time = 0; time < 5; time++) t.is(await userKey(), null);
	t.is(asked(), 1);
});

const failures: Readonly<Record<string, () => Response | Promise<Response>>> = {
	'an error': () => new Response('no', { status: 500 }),
	'a redirection': () => new Response(null, { status: 302, headers: { location: 'https://169.254.169.254/' } }),
	'no JSON': () => new Response('no'),
	'an invalid key set': () => Response.json({ keys: 5 }),
	nothing: () => Promise.reject(new TypeError('fetch failed')),
};

for (const [what, answer] of Object.entries(failures)) {
	test(`a URL that responds with ${what} is not fetched again for a while`, async (t) => {
		const { userKey, asked, pass } = await provider(answer);
		for (let time = 0; time < 3; time++) {
			const error = await t.throwsAsync(userKey(), { instanceOf: Failure });
			t.is(error?.code, 'invalid_jwks');
			t.false(error?.message.includes('169.254'));
		}
		t.is(asked(), 1);
		pass(31_000);
		await t.throwsAsync(userKey(), { instanceOf: Failure });
		t.is(asked(), 2);
	});
}

test('setting the clock back discards fetched keys and failures', async (t) => {
	let answer = (_: readonly JWK[]) => new Response('no', { status: 500 });
	const { userKey, asked, pass } = await provider((keys) => answer(keys));
	await t.throwsAsync(userKey(), { instanceOf: Failure });
	answer = (keys) => Response.json({ keys });
	pass(-3_600_000);
	t.is(await userKey(), 'ann');
	pass(-3_600_000);
	t.is(await userKey(), 'ann');
	t.is(asked(), 3);
});

test('configured keys take precedence over a URL', async (t) => {
	const { userKey, asked } = await provider((keys) => Response.json({ keys }));
	t.is(await userKey(undefined, { ...configured, jwks: { keys: [] } } as unknown as typeof configured), null);
	t.is(asked(), 0);
});

test('a non-public address is rejected, and the message contains the setting that allows it', async (t) => {
	const receiver = await startReceiver((_, response) => response.end('{"keys":[]}'));
	t.teardown(receiver.stop);
	const local = { ...configured, url: receiver.url };
	const { userKey, asked } = await provider(() => Promise.reject(new PrivateAddressError()));
	for (let time = 0; time < 2; time++) {
		const error = await t.throwsAsync(userKey(undefined, local), { instanceOf: Failure });
		t.regex(error?.message ?? '', /JWKS_ALLOW_PRIVATE/);
	}
	t.is(asked(), 1);
	await t.throwsAsync(createFetcher(createSender(false))(local.url), { instanceOf: PrivateAddressError });
	t.is(receiver.received.length, 0);
	t.deepEqual(await createFetcher(createSender(true))(local.url), { status: 200, text: '{"keys":[]}' });
	t.like(receiver.received[0], { method: 'GET', body: '' });
});

test('an oversized or incomplete key set is rejected', async (t) => {
	const long = await startReceiver((_, response) => response.end(`{"keys":[${' '.repeat(70_000)}]}`));
	const cut = await startReceiver((_, response) => {
		response.writeHead(200, { 'content-length': '20' }).write('{"keys":', () => response.destroy());
	});
	for (const { stop } of [long, cut]) t.teardown(stop);
	const fetcher = createFetcher(createSender(true));
	await t.throwsAsync(fetcher(long.url), { message: /longer than 65536 bytes/ });
	await t.throwsAsync(fetcher(cut.url));
});
