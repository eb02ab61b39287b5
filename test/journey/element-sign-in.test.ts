// @rest

import { createHash } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { type Answer, client, type Loose } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import {
	bearing,
	browsing,
	configure,
	cookieOf,
	foreignOrigin,
	furnishElements,
	json,
	origin,
	type Started,
	sending,
	signIn,
	spend,
} from '../support/element.js';
import { factId } from '../support/fact-id.js';
import { fails, problemPlaces } from '../support/failure.js';
import type { Paginated } from '../support/listed.js';
import { createSecret, newPlace, type Place } from '../support/management.js';

/** Element users sign in, authenticate with a cookie or a bearer token, and sign out. */

const journey = onEachStore();
const loginAs = '/v2/auth/elements_login_as';
const loginElements = '/v2/auth/login_elements';
const me = '/v2/auth/me';
const logout = '/v2/auth/logout';
const nobody = '00000000-0000-4000-8000-000000000000';

/** Asserts that a response is the common refusal for requests without a valid sign-in. */
function isSignedOut(t: ExecutionContext, answer: Answer<unknown>, what = ''): void {
	fails(t, answer, 401);
	const { title, message, error_code, additional_info } = answer.body as Loose;
	t.deepEqual(
		[title, message, error_code, additional_info],
		['No user is signed in', 'no valid elements session: sign in again', 'UNAUTHORIZED', null],
		what,
	);
}

/** Queries a place's sessions directly in the database. */
function rowsOf({ id, store }: Place) {
	return store.database.knex('element_sessions').where({ environment_id: id });
}

journey('a member signs in with a ticket, and gets a cookie and a bearer token', async (t, place) => {
	await furnishElements(place);
	const { http, url } = place;
	const revision = await place.revision();
	const answer = await http.post<Started & Loose>(loginAs, { user_id: 'ann', tenant_id: 'acme' });
	t.is(answer.status, 200);
	const { redirect_url, token, element_bearer_token } = answer.body;
	t.deepEqual(answer.body as Loose, {
		redirect_url: `${url}${loginElements}?token=${token}`,
		token,
		element_bearer_token,
		error: null,
		error_code: null,
		extra: null,
	});
	t.is(answer.headers.get('cache-control'), 'no-store');
	t.regex(element_bearer_token, /^[\w-]{43}$/);

	const spent = await client(url).get(redirect_url.slice(url.length), { headers: json });
	t.is(spent.status, 200);
	const { expires_at, ...result } = spent.body;
	t.deepEqual(result, { logged_in: true, active_org_id: place.organization_id });
	t.true(Math.abs(Number(expires_at) - Date.now() / 1000 - 12 * 3600) < 60);
	t.is(spent.headers.get('referrer-policy'), 'no-referrer');
	t.regex(
		spent.headers.get('set-cookie') ?? '',
		/^permit_session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=None; Partitioned$/,
	);
	const actor = {
		org_id: place.organization_id,
		proj_id: place.project_id,
		env_id: place.id,
		tenant_id: await factId(place, 'tenants/acme'),
		tenant_key: 'acme',
		user_id: await factId(place, 'users/ann'),
		user_key: 'ann',
	};
	const byCookie = await sending(url, { cookie: `a=b; ${cookieOf(spent)}; c=d` }).get(me);
	t.deepEqual(byCookie.body, { actor, expires_at });
	const byBearer = await client(url, element_bearer_token).get(me);
	t.deepEqual(byBearer.body['actor'], actor);
	t.true(Math.abs(Number(byBearer.body['expires_at']) - Date.now() / 1000 - 900) < 60);
	t.is(await place.revision(), revision, 'a session does not change the environment');
});

journey('user and tenant are given by id or key, and every member of the tenant can sign in', async (t, place) => {
	await furnishElements(place);
	const { http, schema, facts } = place;
	const [user, tenant] = [await factId(place, 'users/ann'), await factId(place, 'tenants/acme')];
	for (const [user_id, tenant_id] of [
		[user, tenant],
		[user.replaceAll('-', ''), tenant.replaceAll('-', '')],
		['ann', tenant],
	] as const) {
		t.is((await http.post(loginAs, { user_id, tenant_id })).status, 200);
	}
	// A tenant role is sufficient, and so is a role on an instance in the tenant.
	await http.post(`${schema}/roles`, { key: 'viewer', name: 'Viewer' });
	await http.post(`${schema}/resources`, { key: 'doc', name: 'Doc', actions: {}, roles: { reader: { name: 'R' } } });
	await http.post(`${facts}/resource_instances`, { key: 'a', resource: 'doc', tenant: 'acme' });
	const held = { user: 'cy', role: 'reader', resource_instance: 'doc:a', tenant: 'acme' };
	for (const [user_id, assignment] of [
		['ben', { user: 'ben', role: 'viewer', tenant: 'acme' }],
		['cy', held],
	] as const) {
		fails(t, await http.post(loginAs, { user_id, tenant_id: 'acme' }), 404, 'User not found');
		t.is((await http.post(`${facts}/role_assignments`, assignment)).status, 200);
		t.is((await http.post(loginAs, { user_id, tenant_id: 'acme' })).status, 200);
		fails(t, await http.post(loginAs, { user_id, tenant_id: 'other' }), 404, 'User not found');
	}
});

journey('a user outside the tenant is rejected with documented codes', async (t, place, { project, url, store }) => {
	await furnishElements(place);
	const elsewhere = await newPlace({ url, store }, project);
	await furnishElements(elsewhere);
	const theirs = { user: await factId(elsewhere, 'users/ann'), tenant: await factId(elsewhere, 'tenants/acme') };
	const users = [
		['nobody', 'acme'],
		[nobody, 'acme'],
		[theirs.user, 'acme'],
		['ann', 'other'],
		['ben', 'acme'],
	];
	for (const [user_id, tenant_id] of users) {
		const answer = await place.http.post(loginAs, { user_id, tenant_id });
		fails(t, answer, 404);
		const { message, title, error_code, additional_info } = answer.body;
		t.deepEqual(
			[message, title, error_code, additional_info],
			['User not found', 'USER_NOT_FOUND', 'NOT_FOUND', { code: 'USER_NOT_FOUND' }],
		);
	}
	for (const tenant_id of ['nothing', nobody, theirs.tenant]) {
		const answer = await place.http.post(loginAs, { user_id: 'ann', tenant_id });
		fails(t, answer, 404);
		t.like(answer.body, { message: 'Tenant not found', title: 'TENANT_NOT_FOUND' });
	}
	t.is((await rowsOf(place)).length, 0);
});

journey('only the first request redeems a ticket', async (t, place) => {
	await furnishElements(place);
	const { token } = await signIn(place);
	const answers = await Promise.all(Array.from({ length: 20 }, () => spend(place.url, token)));
	const won = answers.filter(({ status }) => status === 200);
	t.is(won.length, 1);
	for (const answer of answers.filter(({ status }) => status !== 200)) {
		isSignedOut(t, answer);
		t.is(answer.headers.get('set-cookie'), null);
	}
	isSignedOut(t, await spend(place.url, token), 'replayed');
	t.is((await rowsOf(place)).length, 1);
});

journey('every wrong secret is rejected with the same message', async (t, place) => {
	await furnishElements(place);
	const { url, secret } = place;
	const { token, element_bearer_token: bearer } = await signIn(place);
	const cookie = cookieOf(await spend(url, (await signIn(place)).token));
	const value = cookie.replace('permit_session=', '');
	const late = await signIn(place);
	const rowsOfTicket = (ticket: string) =>
		rowsOf(place).where({ ticket_hash: createHash('sha256').update(ticket).digest() });
	// On a busy machine, the requests below take longer than a ticket is valid.
	await rowsOfTicket(token).update({ ticket_expires_at: new Date(Date.now() + 3_600_000) });
	await rowsOfTicket(late.token).update({
		ticket_expires_at: new Date(Date.now() - 1),
		bearer_expires_at: new Date(Date.now() - 1),
	});
	for (const wrong of [
		'',
		'x',
		nobody,
		late.token,
		bearer,
		value,
		`${token}0`,
		token.slice(0, -1),
		'%00',
		'a&token=b',
	]) {
		isSignedOut(t, await spend(url, wrong), wrong);
	}
	for (const wrong of [token, value, late.element_bearer_token, secret, `${bearer}0`, 'x', nobody]) {
		isSignedOut(t, await client(url, wrong).get(me), wrong);
	}
	for (const authorization of ['', 'Bearer', `Basic ${bearer}`, bearer]) {
		isSignedOut(t, await sending(url, { authorization, cookie }).get(me), 'a header takes precedence over the cookie');
	}
	for (const wrong of [token, bearer, '', 'x', `${value}0`]) {
		isSignedOut(t, await sending(url, { cookie: `permit_session=${wrong}` }).get(me), wrong);
	}
	isSignedOut(t, await client(url).get(me));
	t.is((await spend(url, token)).status, 200, 'and the correct ticket is still valid');
	t.is((await client(url, bearer).get(me)).status, 200);
	fails(t, await client(url, bearer).get(`${place.facts}/users`), 401);
});

journey('a session ends with its user, tenant, membership or environment', async (t, place, management) => {
	await furnishElements(place);
	const { http, facts } = place;
	const both = async (user?: string, tenant?: string) => [
		await bearing(place, user, tenant),
		await browsing(place, user, tenant),
	];
	const ended = async (what: string, sessions: Awaited<ReturnType<typeof both>>) => {
		for (const session of sessions) isSignedOut(t, await session.get(me), what);
	};
	let sessions = await both();
	const ticket = await signIn(place);
	t.is((await http.delete(`${facts}/tenants/acme/users/ann`)).status, 204);
	await ended('no member', sessions);
	isSignedOut(t, await spend(place.url, ticket.token));
	await http.post(`${facts}/tenants/acme/users`, { key: 'ann' });
	await ended('a user who rejoins the tenant must sign in again', sessions);

	sessions = await both();
	t.is((await http.delete(`${facts}/users/ann`)).status, 204);
	await ended('no user', sessions);
	await http.post(`${facts}/tenants/acme/users`, { key: 'ann' });
	await ended('a new user with the same key must sign in', sessions);

	sessions = await both();
	t.is((await http.delete(`${facts}/tenants/acme`)).status, 204);
	await ended('no tenant', sessions);

	await http.post(`${facts}/tenants/other/users`, { key: 'ann' });
	sessions = await both('ann', 'other');
	t.is((await management.project.delete(`/v2/projects/${place.project}/envs/${place.key}`)).status, 204);
	await ended('no environment', sessions);
});

journey('signing out ends cookie and bearer token, and can be repeated', async (t, place) => {
	await furnishElements(place);
	const { url } = place;
	for (const method of ['GET', 'POST']) {
		for (const by of ['cookie', 'bearer'] as const) {
			const { token, element_bearer_token } = await signIn(place);
			const spent = await spend(url, token);
			const [cookie, bearer] = [sending(url, { cookie: cookieOf(spent) }), client(url, element_bearer_token)];
			const other = await bearing(place);
			for (let time = 0; time < 2; time++) {
				const answer = await (by === 'cookie' ? cookie : bearer).send(method, logout);
				t.is(answer.status, 204);
				t.regex(answer.headers.get('set-cookie') ?? '', /^permit_session=; Max-Age=0; Path=\/; HttpOnly; Secure/);
			}
			isSignedOut(t, await cookie.get(me));
			isSignedOut(t, await bearer.get(me));
			t.is((await other.get(me)).status, 200, 'the user’s other sign-in continues');
		}
		t.is((await client(url).send(method, logout)).status, 204, 'no user is signed in');
	}
});

journey(
	'a browser is redirected to a URL without the ticket, and to a page that reports to its embedder',
	async (t, place) => {
		await furnishElements(place);
		const { url, id } = place;
		const { token } = await signIn(place);
		const browser = sending(url, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
		const led = await browser.get(`${loginElements}?token=${token}`);
		t.is(led.status, 302);
		const location = led.headers.get('location') ?? '';
		t.is(location, `${loginElements}?env_id=${id}`);
		t.is(led.headers.get('referrer-policy'), 'no-referrer');
		t.is(led.headers.get('cache-control'), 'no-store');

		const welcome = await browser.get<string>(location, { headers: { cookie: cookieOf(led) } });
		const { message, script } = readPage(t, welcome, 200);
		t.like(message, { success: true, me: { actor: { env_id: id, user_key: 'ann', tenant_key: 'acme' } } });
		t.false(script.includes('*'));
		const frontend = `/v2/auth/${id}/elements_fe_login_as`;
		for (const path of [frontend, frontend.replaceAll('-', '')]) {
			const page = readPage(t, await browser.get<string>(path, { headers: { cookie: cookieOf(led) } }), 200);
			t.deepEqual(page.message, message);
			readPage(t, await browser.get<string>(path), 401);
			isSignedOut(t, await client(url).get(path, { headers: json }));
		}
		// The page reports a failure if the ticket was used before, or if the request has no cookie for the environment.
		for (const path of [`${loginElements}?token=${token}`, location]) {
			const page = readPage(t, await browser.get<string>(path), 401);
			t.deepEqual(page.message, { success: false, error: 'no valid elements session: sign in again' });
		}
	},
);

/** Returns a page's message and scripts, after checking its content security policy. */
function readPage(t: ExecutionContext, answer: Answer<string>, status: number, origins: readonly string[] = [origin]) {
	t.is(answer.status, status);
	t.is(answer.headers.get('content-type'), 'text/html; charset=utf-8');
	t.is(answer.headers.get('cache-control'), 'no-store');
	t.is(answer.headers.get('referrer-policy'), 'no-referrer');
	t.is(answer.headers.get('x-content-type-options'), 'nosniff');
	const policy = answer.headers.get('content-security-policy') ?? '';
	const told = /<script type="application\/json" id="told">(.*?)<\/script>/.exec(answer.body)?.[1] ?? '';
	const script = /<script>(.*?)<\/script>/s.exec(answer.body)?.[1] ?? '';
	const hash = createHash('sha256').update(script).digest('base64');
	const ancestors = origins.length > 0 ? origins.join(' ') : "'none'";
	t.is(
		policy,
		`default-src 'none'; script-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors ${ancestors}`,
	);
	const { message, origins: targets } = JSON.parse(told) as { message: Loose; origins: readonly string[] };
	t.deepEqual(targets, origins);
	return { message, script };
}

journey('a page reports to no embedder if no origin is configured', async (t, place, { project, url, store }) => {
	await furnishElements(place);
	await configure(place, { settings: null });
	const browser = sending(url, { accept: 'text/html' });
	const led = await browser.get(`${loginElements}?token=${(await signIn(place)).token}`);
	const cookie = { headers: { cookie: cookieOf(led) } };
	readPage(t, await browser.get<string>(led.headers.get('location') ?? '', cookie), 200, []);
	for (const path of [loginElements, `${loginElements}?token=x`, `${loginElements}?env_id=${nobody}`]) {
		readPage(t, await browser.get<string>(path), 401, []);
	}
	const elsewhere = await newPlace({ url, store }, project);
	await furnishElements(elsewhere);
	readPage(t, await browser.get<string>(`${loginElements}?env_id=${elsewhere.id}`, cookie), 401);
	fails(t, await browser.get(`/v2/auth/${nobody}/elements_fe_login_as`), 404, nobody);
});

journey('settings contain exact origins, and can make the cookie same-site', async (t, place) => {
	await furnishElements(place);
	const wrong: readonly (readonly [unknown, string])[] = [
		['https://app.example.com', 'elements_origins'],
		[['*'], 'elements_origins.0'],
		[[origin, 'https://app.example.com/'], 'elements_origins.1'],
		[['https://APP.example.com'], 'elements_origins.0'],
		[['https://app.example.com:443'], 'elements_origins.0'],
		[['https://*.example.com'], 'elements_origins.0'],
		[['https://a@app.example.com'], 'elements_origins.0'],
		[['app.example.com'], 'elements_origins.0'],
		[['null'], 'elements_origins.0'],
		[['javascript://app.example.com'], 'elements_origins.0'],
		[['https://app.example.com; script-src *'], 'elements_origins.0'],
		[[5], 'elements_origins.0'],
		[Array.from({ length: 21 }, (_, index) => `https://a${index}.example.com`), 'elements_origins'],
	];
	for (const [elements_origins, at] of wrong) {
		const answer = await configure(place, { settings: { elements_origins } });
		fails(t, answer, 422);
		t.deepEqual(problemPlaces(answer), [`body.settings.${at}`], JSON.stringify(elements_origins));
	}
	fails(t, await configure(place, { settings: { elements_same_site: 'yes' } }), 422, 'elements_same_site');
	const twenty = Array.from({ length: 19 }, (_, index) => `http://localhost:${3000 + index}`);
	const settings = { elements_origins: [origin, ...twenty], elements_same_site: true };
	t.deepEqual((await configure(place, { settings })).body['settings'], settings);
	const spent = await spend(place.url, (await signIn(place)).token);
	t.regex(spent.headers.get('set-cookie') ?? '', /; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
	const out = await sending(place.url, { cookie: cookieOf(spent) }).get(logout);
	t.regex(out.headers.get('set-cookie') ?? '', /; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
});

journey('pages from the environment’s origins can send requests with credentials', async (t, place, management) => {
	await furnishElements(place);
	const elsewhere = await newPlace(management, management.project);
	await furnishElements(elsewhere);
	const ofElsewhere = 'https://elsewhere.example.com';
	await configure(elsewhere, { settings: { elements_origins: [ofElsewhere] } });
	const { url } = place;
	const allowed = ({ headers }: Answer<unknown>) => headers.get('access-control-allow-origin');
	const frontend = `/v2/auth/${place.id}/elements_fe_login_as`;
	const preflight = (path: string, from: string) =>
		client(url).send('OPTIONS', path, undefined, {
			headers: { origin: from, 'access-control-request-method': 'POST' },
		});
	for (const path of [frontend, me, logout, `/v2/elements/${place.project}/${place.key}/config/a/runtime`]) {
		const answer = await preflight(path, origin);
		t.is(answer.status, 204);
		t.is(allowed(answer), origin);
		t.is(answer.headers.get('access-control-allow-credentials'), 'true');
		t.is(answer.headers.get('access-control-allow-headers'), 'authorization, content-type');
		t.is(answer.headers.get('vary'), 'Origin');
		for (const other of [foreignOrigin, 'null', `${origin}.evil.com`, 'http://app.example.com', '*']) {
			const refused = await preflight(path, other);
			t.deepEqual([refused.status, allowed(refused), refused.headers.get('vary')], [204, null, 'Origin'], other);
		}
	}
	t.is(allowed(await preflight(frontend, ofElsewhere)), null, 'configured in a different environment');
	const outside = await preflight(`${place.facts}/users`, origin);
	t.deepEqual([outside.status, allowed(outside), outside.headers.get('vary')], [405, null, null]);

	const bearer = await bearing(place);
	const asked = async (from: string) => bearer.get(me, { headers: { origin: from } });
	t.is(allowed(await asked(origin)), origin);
	t.is(allowed(await asked(ofElsewhere)), null, 'the session belongs to a different environment');
	t.is(allowed(await asked(foreignOrigin)), null);
	const without = await bearer.get(me);
	t.deepEqual([allowed(without), without.headers.get('vary')], [null, 'Origin']);
	const refused = await client(url).get(me, { headers: { origin } });
	t.deepEqual([refused.status, allowed(refused)], [401, origin], 'a page can detect that no user is signed in');
});

/** Creates an identity provider's key pair and a signing function. */
async function issuer(alg = 'ES256') {
	const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
	const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg };
	const token = (claims: Loose, expires: string | number | null = '5m', header: Loose = {}) => {
		const signed = new SignJWT(claims).setProtectedHeader({ alg, kid: 'k1', ...header });
		return (expires === null ? signed : signed.setExpirationTime(expires)).sign(privateKey);
	};
	return { jwk, token };
}

journey('an application token signs its user in if the environment’s keys verify it', async (t, place) => {
	await furnishElements(place);
	const { jwk, token } = await issuer();
	const { token: forged } = await issuer();
	const { id, url } = place;
	const path = `/v2/auth/${id}/elements_fe_login_as`;
	const page = sending(url, { origin });
	const ask = async (user_jwt: unknown, more: object = {}) =>
		page.post<Started & Loose>(path, { tenant_id: 'acme', user_jwt, ...more });
	fails(t, await ask(await token({ sub: 'ann' })), 400, 'INVALID_JWKS_CONFIGURATION');
	await configure(place, { jwks: { jwks: { keys: [jwk] } } });

	for (const at of [path, path.replaceAll('-', '')]) {
		const answer = await page.post<Started>(at, { tenant_id: 'acme', user_jwt: await token({ sub: 'ann' }) });
		t.is(answer.status, 200);
		t.regex(answer.headers.get('set-cookie') ?? '', /^permit_session=.*SameSite=None; Partitioned$/);
		t.is(answer.headers.get('access-control-allow-origin'), origin);
		t.like(answer.body, { redirect_url: url + path, token: null as unknown as string });
		for (const session of [sending(url, { cookie: cookieOf(answer) }), client(url, answer.body.element_bearer_token)]) {
			t.like((await session.get<{ actor: Loose }>(me)).body.actor, { user_key: 'ann', tenant_key: 'acme' });
		}
	}
	const claimed = await ask(await token({ sub: 'x', email: 'ann' }), { user_key_claim: 'email' });
	t.is(claimed.status, 200);
	await configure(place, { settings: { elements_origins: [origin], elements_user_key_claim: 'uid' } });
	t.is((await ask(await token({ sub: 'x', uid: 'ann' }))).status, 200);
	fails(t, await ask(await token({ sub: 'x', uid: 'x', email: 'ann' }), { user_key_claim: 'email' }), 403, '`uid`');
	await configure(place, { settings: { elements_origins: [origin] } });
	t.is((await ask(await token({ sub: 'ann' }, '-20s'))).status, 200, 'clocks may differ');

	const now = Math.floor(Date.now() / 1000);
	const unsigned = [{ alg: 'none' }, { sub: 'ann', exp: now + 60 }].map((part) =>
		Buffer.from(JSON.stringify(part)).toString('base64url'),
	);
	const hmac = await new SignJWT({ sub: 'ann' })
		.setProtectedHeader({ alg: 'HS256', kid: 'k1' })
		.setExpirationTime('5m')
		.sign(new TextEncoder().encode(JSON.stringify(jwk)));
	const refused: Readonly<Record<string, unknown>> = {
		forged: await forged({ sub: 'ann' }),
		expired: await token({ sub: 'ann' }, '-5m'),
		endless: await token({ sub: 'ann' }, null),
		'not yet valid': await token({ sub: 'ann', nbf: now + 600 }),
		unsigned: `${unsigned.join('.')}.`,
		symmetric: hmac,
		'signed with an unknown key': await token({ sub: 'ann' }, '5m', { kid: 'k2' }),
		'without a subject': await token({}),
		'with a subject that is not a string': await token({ sub: 5 }),
		'with an empty subject': await token({ sub: '' }),
		'no token': 'x',
		'with empty parts': '..',
		'cut short': (await token({ sub: 'ann' })).slice(0, -2),
	};
	for (const [what, jwt] of Object.entries(refused)) {
		const answer = await ask(jwt);
		isSignedOut(t, answer, what);
		t.is(answer.headers.get('set-cookie'), null);
	}
	isSignedOut(t, await ask(await token({ sub: 'ann' }), { user_key_claim: 'constructor' }));
	fails(t, await ask(await token({ sub: 'nobody' })), 404, 'User not found');
	fails(t, await ask(await token({ sub: await factId(place, 'users/ann') })), 404, 'User not found');
	fails(t, await ask(await token({ sub: 'ann' }), { tenant_id: 'nothing' }), 404, 'Tenant not found');
	fails(t, await ask(await token({ sub: 'ann' }), { tenant_id: 'other' }), 404, 'User not found');

	for (const [body, at] of [
		[{ user_jwt: 'x' }, ['body.tenant_id']],
		[{ tenant_id: 'acme' }, ['body.user_jwt']],
		[{ tenant_id: 'acme', user_jwt: 5 }, ['body.user_jwt']],
		[{ tenant_id: 'acme', user_jwt: 'secret'.repeat(3_000) }, ['body.user_jwt']],
		[{ tenant_id: 'acme', user_jwt: '' }, ['body.user_jwt']],
		[{ tenant_id: 'acme', user_jwt: 'x', user_key_claim: '' }, ['body.user_key_claim']],
		[{ tenant_id: 'a\0', user_jwt: 'x' }, ['body.tenant_id']],
		[5, ['body']],
	] as const) {
		const answer = await page.post(path, body);
		fails(t, answer, 422);
		t.deepEqual(problemPlaces(answer), at);
		t.false(JSON.stringify(answer.body).includes('secretsecret'));
	}
	const good = { tenant_id: 'acme', user_jwt: await token({ sub: 'ann' }) };
	fails(t, await sending(url, { origin: foreignOrigin }).post(path, good), 403, 'elements_origins');
	t.is((await sending(url, { origin: url }).post(path, good)).status, 200, 'the API’s own pages');
	t.is((await client(url).post(path, good)).status, 200, 'not a browser');
	for (const none of [nobody, 'dev', 'x', '%00'])
		fails(t, await page.post(`/v2/auth/${none}/elements_fe_login_as`, good), none === '%00' ? 422 : 404);
});

journey('invalid keys are reported as an error of the environment, not of the server', async (t, place) => {
	await furnishElements(place);
	const { token, jwk } = await issuer();
	const user_jwt = await token({ sub: 'ann' });
	const ask = () =>
		client(place.url).post(`/v2/auth/${place.id}/elements_fe_login_as`, { tenant_id: 'acme', user_jwt });
	for (const [jwks, status] of [
		[null, 400],
		[{}, 400],
		[{ url: 'https://nothing.invalid.xyz/keys' }, 400],
		[{ jwks: { keys: [] } }, 401],
		[{ jwks: { keys: [{}] } }, 401],
		[{ jwks: { keys: [{ ...jwk, x: 'AAAA' }] } }, 401],
		[{ jwks: { keys: [{ kty: 'oct', k: 'AAAA', kid: 'k1' }] } }, 401],
		[{ jwks: { keys: [jwk, { ...jwk }] } }, 401],
		[{ jwks: { keys: [jwk] } }, 200],
	] as const) {
		t.is((await configure(place, { jwks })).status, 200);
		t.is((await ask()).status, status, JSON.stringify(jwks));
	}
});

journey('administrators can list the signed-in users, and sign out any user', async (t, place, { url, store }) => {
	await furnishElements(place);
	const { http, project, key, facts } = place;
	await http.post(`${facts}/tenants/acme/users`, { key: 'ben' });
	const path = `/v2/elements/${project}/${key}/sessions`;
	t.deepEqual((await http.get(path)).body, { data: [], total_count: 0, page_count: 0 });
	const revision = await place.revision();
	const [ann, other, ben] = [await bearing(place), await browsing(place), await bearing(place, 'ben')];
	const listed = await http.get<Paginated>(path);
	t.is(listed.body.total_count, 3);
	t.deepEqual(
		listed.body.data.map(({ user, tenant, environment_id }) => [user, tenant, environment_id]),
		[
			['ann', 'acme', place.id],
			['ann', 'acme', place.id],
			['ben', 'acme', place.id],
		],
	);
	t.deepEqual(
		Object.keys(listed.body.data[0] ?? {}).filter((name) => /hash|token|secret|cookie/.test(name)),
		[],
	);
	t.is(listed.body.data[0]?.['last_used_at'], null);
	await ann.get(me);
	t.not((await http.get<Paginated>(path)).body.data[0]?.['last_used_at'], null);
	t.is((await http.get<Paginated>(`${path}?user=ben`)).body.total_count, 1);
	t.is((await http.get<Paginated>(`${path}?per_page=2&page=2`)).body.data.length, 1);
	fails(t, await http.get(`${path}?user=nobody`), 404, 'nobody');

	const one = `${path}/${listed.body.data[0]?.['id']}`;
	t.is((await http.delete(one)).status, 204);
	isSignedOut(t, await ann.get(me));
	t.is((await other.get(me)).status, 200);
	fails(t, await http.delete(one), 404, 'ElementSession');
	fails(t, await http.delete(`${path}/x`), 404, 'ElementSession');
	fails(t, await http.delete(path), 422, 'user');
	t.is((await http.delete(`${path}?user=ann`)).status, 204);
	isSignedOut(t, await other.get(me));
	t.is((await ben.get(me)).status, 200);
	t.is(await place.revision(), revision);
	const writer = { project_id: place.project_id, environment_id: place.id, access_level: 'write' } as const;
	const weaker = client(url, await createSecret(store, place.organization_id, writer));
	for (const [method, at] of [
		['GET', path],
		['DELETE', `${path}?user=ben`],
		['DELETE', `${path}/${nobody}`],
	] as const) {
		fails(t, await weaker.send(method, at), 403, 'admin');
		fails(t, await ben.send(method, at), 401);
	}
	const reader = { ...writer, access_level: 'read' } as const;
	const mayRead = client(url, await createSecret(store, place.organization_id, reader));
	fails(t, await mayRead.post(loginAs, { user_id: 'ann', tenant_id: 'acme' }), 403, 'read-only');
	t.is((await weaker.post(loginAs, { user_id: 'ann', tenant_id: 'acme' })).status, 200);
});

journey('expired sessions are deleted, and only the newest hundred sessions of a user are kept', async (t, place) => {
	await furnishElements(place);
	const { http, url } = place;
	for (let made = 0; made < 3; made++) await signIn(place);
	const past = new Date(Date.now() - 1);
	await rowsOf(place).update({ expires_at: past, bearer_expires_at: past, ticket_expires_at: past });
	const last = await signIn(place);
	t.is((await rowsOf(place)).length, 1, 'expired sessions are deleted');
	t.deepEqual(
		(await rowsOf(place).select('ticket_hash')).map(({ ticket_hash }) => Buffer.from(ticket_hash)),
		[createHash('sha256').update(last.token).digest()],
		'only a hash is stored',
	);
	const first = client(url, last.element_bearer_token);
	t.is((await first.get(me)).status, 200);
	for (let made = 0; made < 100; made++) await http.post(loginAs, { user_id: 'ann', tenant_id: 'acme' });
	t.is((await rowsOf(place)).length, 100);
	isSignedOut(t, await first.get(me), 'the oldest session was deleted');
});

journey('no input to these endpoints causes a server error', async (t, place) => {
	await furnishElements(place);
	const bodies = [
		'{',
		'[]',
		'5',
		'null',
		'""',
		'{"user_id":{}}',
		'{"user_jwt":[]}',
		'\ud800',
		'"\\ud800"',
		'{"a":'.repeat(200),
	];
	const values = ['', '%00', '%ED%A0%80', '%', 'a&token=b&env_id=c', 'x'.repeat(5_000), '{}', "'--"];
	for (const text of values) {
		for (const name of ['token', 'env_id', 'x']) {
			for (const headers of [json, { accept: 'text/html' }, { accept: '*/*', origin }]) {
				const { status } = await client(place.url).get(`${loginElements}?${name}=${text}`, { headers });
				t.true([401, 422].includes(status), `${name}=${text}: ${status}`);
			}
		}
		const { status } = await client(place.url).get(`/v2/auth/${text || 'x'}/elements_fe_login_as`.split('&')[0] ?? '');
		t.true([400, 404, 422].includes(status), `${text}: ${status}`);
	}
	for (const raw of bodies) {
		for (const [path, http] of [
			[loginAs, place.http],
			[`/v2/auth/${place.id}/elements_fe_login_as`, client(place.url)],
		] as const) {
			const answer = await http.post(path, undefined, { raw });
			fails(t, answer, answer.status === 400 ? 400 : 422);
		}
		t.is((await client(place.url).post(logout, undefined, { raw })).status, 204);
	}
	for (const cookie of [
		'permit_session',
		'permit_session=',
		'=',
		';;',
		'permit_session="',
		'permit_session=\xff',
		'a'.repeat(9_000),
	]) {
		t.is((await sending(place.url, { cookie }).get(me)).status, 401, cookie);
	}
});

journey('a HEAD request does not redeem a ticket', async (t, place) => {
	await furnishElements(place);
	const { token } = await signIn(place);
	const looked = await client(place.url).send('HEAD', `${loginElements}?token=${token}`);
	t.is(looked.status, 405);
	t.is((await spend(place.url, token)).status, 200);
});
