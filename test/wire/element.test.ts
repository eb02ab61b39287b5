import test from 'ava';
import { presentToken } from '../../src/api/elements/present-token.js';
import { Failure } from '../../src/failure.js';
import { ElementFrontendLogin, ElementLoginQuery } from '../../src/wire/element/element-session.js';
import { EnvironmentSettings, elementSettings } from '../../src/wire/general/environment.js';

/** Element settings, and requests that contain secrets. */

test('an environment allows embedding only for the origins in its settings', (t) => {
	const nowhere = { origins: [], sameSite: false, userKeyClaim: null, tokenIssuer: null, tokenAudience: null };
	for (const settings of [null, {}, { elements_origins: null, elements_same_site: null }, { other: 1 }]) {
		t.deepEqual(elementSettings(settings), nowhere);
	}
	// Before these settings existed, any values could be stored.
	for (const elements_origins of ['https://a.example.com', ['*'], [5], {}, [['https://a.example.com']]]) {
		t.deepEqual(elementSettings({ elements_origins, elements_same_site: 'true', elements_user_key_claim: 5 }), nowhere);
	}
	const origins = ['https://a.example.com', 'http://localhost:3000', 'https://[::1]:8443'];
	const settings = { elements_origins: origins, elements_same_site: true, elements_user_key_claim: 'uid' };
	t.true(EnvironmentSettings.safeParse(settings).success);
	t.deepEqual(elementSettings(settings), { ...nowhere, origins, sameSite: true, userKeyClaim: 'uid' });
});

test('a problem with a secret does not reveal the secret', (t) => {
	for (const user_jwt of ['', 'secret'.repeat(10_000)]) {
		const { error } = ElementFrontendLogin.safeParse({ tenant_id: 'acme', user_jwt }, { reportInput: true });
		t.deepEqual(
			error?.issues.map(({ path, input }) => [path, input]),
			[[['user_jwt'], {}]],
		);
	}
	// Any value in the place of a ticket is treated as a ticket.
	for (const token of ['', 'x'.repeat(100_000), ['a', 'b']]) t.true(ElementLoginQuery.safeParse({ token }).success);
});

test('the user key claim comes from the environment, otherwise from the request, otherwise it is `sub`', (t) => {
	const login = (more: object) => ElementFrontendLogin.parse({ tenant_id: 'acme', user_jwt: 'x', ...more });
	const claim = (more: object, fixed?: unknown) =>
		presentToken({ settings: { elements_user_key_claim: fixed } }, 'x', login(more).user_key_claim).user_key_claim;
	for (const none of [{}, { user_key_claim: null }]) {
		t.is(claim(none), 'sub');
		t.is(claim(none, 'uid'), 'uid');
	}
	for (const fixed of [undefined, null, 'email']) t.is(claim({ user_key_claim: 'email' }, fixed), 'email');
	t.throws(() => claim({ user_key_claim: 'email' }, 'sub'), {
		instanceOf: Failure,
		message: /`sub`, not from `email`/,
	});
});
