import test from 'ava';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { KeySets } from '../../src/token/key-sets.js';
import { UserTokens } from '../../src/token/user-token.js';

/** The claims required in a user token. */

const clock = { now: () => new Date(), monotonic: () => 0, newId: () => '' };

async function issuer() {
	const { privateKey, publicKey } = await generateKeyPair('ES256');
	const keys = { ttl: 600, url: null, jwks: { keys: [{ ...(await exportJWK(publicKey)) }] } };
	const tokens = new UserTokens(new KeySets(clock, () => Promise.reject(new Error('nothing is fetched'))), clock);
	return async (claims: JWTPayload, demanded: { issuer?: string; audience?: string } = {}) => {
		const signing = new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).setExpirationTime('1h');
		const { issuer = null, audience = null } = demanded;
		const user_jwt = await signing.sign(privateKey);
		return tokens.subject(keys, { user_jwt, user_key_claim: 'sub', issuer, audience });
	};
}

test('the token must have the environment’s issuer and audience', async (t) => {
	const subject = await issuer();
	const demanded = { issuer: 'https://id.example.com/', audience: 'shop' };
	t.is((await subject({ sub: 'ann', iss: demanded.issuer, aud: ['desk', 'shop'] }, demanded))?.key, 'ann');
	const wrong = [
		{},
		{ iss: demanded.issuer },
		{ aud: 'shop' },
		{ iss: 'https://id.example.com', aud: 'shop' },
		{ iss: demanded.issuer, aud: 'shop.example.com' },
	];
	for (const claims of wrong) t.is(await subject({ sub: 'ann', ...claims }, demanded), null, JSON.stringify(claims));
	t.is((await subject({ sub: 'ann', iss: 'anybody', aud: 'anything' }))?.key, 'ann');
});

test('a user key with a character that the database rejects is invalid', async (t) => {
	const subject = await issuer();
	for (const sub of ['', 'an\0n', 'ann\ud800']) t.is(await subject({ sub }), null);
});

test('an e-mail address is used unless `email_verified` is present and not true', async (t) => {
	const subject = await issuer();
	const email = 'ann@example.com';
	for (const email_verified of [undefined, true, 'true']) {
		t.is((await subject({ sub: 'ann', email, email_verified }))?.email, email);
	}
	for (const email_verified of [false, 'false', 'no', '', 0, null, {}]) {
		t.is((await subject({ sub: 'ann', email, email_verified }))?.email, null, String(email_verified));
	}
});
