// @alone @rest

import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { Browser, BrowserContext, Frame, FrameLocator, Locator, Page } from 'playwright-core';
import { startChromium } from '../support/chromium.js';
import { appSession, type EmbeddingApp, type SignedIn, startEmbeddingApp } from '../support/embedding-app.js';
import { eventually } from '../support/eventually.js';
import { fenced } from '../support/fenced.js';
import { freePort } from '../support/ports.js';
import { root } from '../support/root.js';
import { connect } from '../support/sdk.js';
import { facts, type Stack, schema, startStack } from '../support/stack.js';
import { removeFolder } from '../support/temporary.js';

/**
 * Element pages in Chromium, embedded by an application on a different site, with the published front-end package and
 * our own script. The application's backend uses the published SDK. All tests share one browser process.
 */

const elements = '/v2/elements/default/dev';
/** A screenshot for the documentation, updated with `UPDATE=1`. */
const screenshot = join(root, 'docs/images/elements.png');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Timeout for page content, in milliseconds. It is long, so that tests do not fail on a busy machine. */
const patience = 30_000;

let stack: Stack;
let app: EmbeddingApp;
let foreignApp: EmbeddingApp;
let browser: Browser;
let environmentId = '';
/** All secrets that the application's backend received. */
const secrets = { tickets: new Set<string>(), bearers: new Set<string>() };
/** All addresses and `Referer` headers sent by browsers. */
const sent: { readonly url: string; readonly referer: string }[] = [];

test.before(async () => {
	stack = await startStack();
	const { sdk } = await connect(stack);
	const loginAs = async (userId: string, tenantId: string) => {
		const answer = (await sdk.elements.loginAs({ userId, tenantId })) as unknown as SignedIn;
		secrets.bearers.add(answer.element_bearer_token);
		secrets.tickets.add(new URL(answer.redirect_url).searchParams.get('token') ?? '');
		return answer;
	};
	app = await startEmbeddingApp(loginAs);
	foreignApp = await startEmbeddingApp(loginAs, '127.0.0.1');
	await setTheScene();
	browser = await startChromium('browser');
});

test.after.always(async () => {
	await browser?.close();
	await foreignApp?.close();
	await app?.close();
	await stack?.stop();
});

/** Ann makes requests, Rex owns the tenant `acme`. Editors read reports. Rex reviews requests on the account `main`. */
async function setTheScene(): Promise<void> {
	const { environment, project } = stack;
	const made = async (path: string, body: object) => {
		const answer = await environment.post(path, body);
		if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
		return answer;
	};
	await made(`${schema}/resources`, { key: 'report', name: 'Report', actions: { read: {} } });
	await made(`${schema}/resources`, { key: 'account', name: 'Account', actions: { pay: {} } });
	await made(`${schema}/resources/report/roles`, { key: 'reader', name: 'Reader' });
	await made(`${schema}/resources/account/roles`, { key: 'auditor', name: 'Auditor' });
	await made(`${schema}/roles`, { key: 'owner', name: 'Owner', permissions: [] });
	await made(`${schema}/roles`, { key: 'editor', name: 'Editor', permissions: ['report:read'] });
	await made(`${schema}/roles`, { key: 'observer', name: 'Observer', permissions: [] });
	await made(`${schema}/roles`, { key: 'viewer', name: 'Viewer', permissions: [] });
	await made(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	const user = (key: string, first_name: string, role: string) =>
		made(`${facts}/users`, { key, first_name, role_assignments: [{ role, tenant: 'acme' }] });
	await user('ann', 'Ann', 'viewer');
	await user('rex', 'Rex', 'owner');
	await user('obi', 'Obi', 'observer');
	const levels = { LEVEL_1: ['owner'], LEVEL_3: ['observer'], LEVEL_4: ['viewer', 'editor', 'reader', 'auditor'] };
	await made(`${elements}/config`, {
		key: 'members',
		name: 'Members',
		elements_type: 'user_management',
		settings: {},
		roles_to_levels: levels,
	});
	await made(`${elements}/config`, {
		key: 'guests',
		name: 'Guests',
		elements_type: 'user_management',
		settings: {},
		roles_to_levels: levels,
		email_notifications: true,
	});
	await made(`${elements}/config`, {
		key: 'requests',
		name: 'Access to reports',
		elements_type: 'approval_flow',
		settings: { user_management_element: 'members' },
		roles_to_levels: {},
	});
	await made(`${elements}/config`, {
		key: 'payments',
		name: 'Payments',
		elements_type: 'operation_approval',
		settings: { resource: 'account', single_use: true, max_duration: 604_800 },
		roles_to_levels: {},
	});
	await made(`${elements}/config`, {
		key: 'inbox',
		name: 'Inbox',
		elements_type: 'approval_management',
		settings: { access_request_element: 'requests', operation_approval_element: 'payments' },
		roles_to_levels: {},
	});
	await made(`${facts}/resource_instances`, { key: 'main', resource: 'account', tenant: 'acme' });
	await made(`${facts}/role_assignments`, {
		user: 'rex',
		role: '_Reviewer_',
		resource_instance: 'account:main',
		tenant: 'acme',
	});
	const settings = { elements_origins: [app.origin] };
	const changed = await project.patch<{ readonly id: string }>('/v2/projects/default/envs/dev', { settings });
	environmentId = changed.body.id;
}

/** Returns the address of an element page. */
function elementUrl(key: string, query: Readonly<Record<string, string>> = {}): string {
	return `${stack.api.listening.url}/elements/${key}?${new URLSearchParams({ envId: environmentId, ...query })}`;
}

/**
 * Returns the address of the application page. The page loads our script and the package, and embeds `frame` unless it
 * is `null`.
 */
function appUrl(frame: string | null, { origin }: EmbeddingApp = app): string {
	const query = { script: `${stack.api.listening.url}/elements.js`, ...(frame !== null && { frame }) };
	return `${origin}/?${new URLSearchParams(query)}`;
}

/** Opens a private window, in which Chromium blocks third-party cookies and storage. Records its requests. */
async function newBrowser(t: ExecutionContext, options: Parameters<Browser['newContext']>[0] = {}) {
	const context = await browser.newContext({ locale: 'en-GB', ...options });
	context.setDefaultTimeout(patience);
	t.teardown(() => context.close());
	context.on('request', (request) => {
		sent.push({ url: request.url(), referer: request.headers()['referer'] ?? '' });
	});
	return context;
}

async function openApp(context: BrowserContext, frame: string | null, from?: EmbeddingApp): Promise<Page> {
	const page = await context.newPage();
	await page.goto(appUrl(frame, from));
	return page;
}

/** Runs a call to the front-end package or our script in a page, and returns its result. */
function call(page: Page, expression: string): Promise<unknown> {
	return page.evaluate(expression);
}

/** Signs in with the front-end package, so that the frame gets a bearer token. */
async function signInByPackage(page: Page, user: string, frame: string): Promise<unknown> {
	const options = {
		loginMethod: 'supportsPrivateBrowser',
		loginUrl: `/login/${user}`,
		tenant: 'acme',
		elementIframeUrl: frame,
	};
	return call(page, `permit.elements.login(${JSON.stringify(options)})`);
}

/** Opens an element with a user's bearer token. */
async function openSignedIn(context: BrowserContext, user: string, key: string, query = {}) {
	const url = elementUrl(key, { elementsToken: 'true', tenantKey: 'acme', ...query });
	const page = await openApp(context, url);
	const resolved = await signInByPackage(page, user, url);
	const frame = page.frameLocator('iframe');
	await frame.getByRole('heading', { level: 1 }).waitFor();
	return { page, frame, resolved };
}

function frameOf(page: Page): Frame {
	const [, frame] = page.frames();
	if (frame === undefined) throw new Error('the page has no frame');
	return frame;
}

/** Returns serious and critical axe violations in a frame. */
async function seriousFaults(frame: Frame): Promise<unknown> {
	await frame.evaluate(axe);
	return frame.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
		.filter(({ impact }) => ['serious', 'critical'].includes(impact))
		.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`);
}

/** Returns a page's background color, which is light (`#ffffff`) or dark (`#16181c`). */
function backgroundColor(frame: Frame): Promise<unknown> {
	return frame.evaluate('getComputedStyle(document.body).backgroundColor');
}
const [light, dark] = ['rgb(255, 255, 255)', 'rgb(22, 24, 28)'];

async function mayRead(user: string): Promise<boolean> {
	const question = { user, action: 'read', resource: { type: 'report', tenant: 'acme' } };
	return (await stack.pdp.post<{ readonly allow: boolean }>('/allowed', question)).body.allow;
}

/** Returns the expiry times of a user's assignments with a role. */
async function endsOf(user: string, role: string): Promise<readonly unknown[]> {
	const { body } = await stack.environment.get<readonly { readonly expires_at?: string }[]>(
		`${facts}/role_assignments?user=${user}&role=${role}`,
	);
	return body.map(({ expires_at }) => expires_at);
}

/** Waits until a page announces `text`. */
function said(frame: FrameLocator, text: string): Promise<void> {
	return frame.getByRole('status').getByText(text).waitFor();
}

/** Enters the expiry of a role or an approval. */
async function chooseEnd(form: Pick<Locator, 'getByLabel'>, time: string): Promise<void> {
	await form.getByLabel('Expires (optional)').selectOption('On a date');
	await form.getByLabel('Expiry date').fill(time);
}

test.serial('a role can be requested, approved by keyboard, and used in a check', async (t) => {
	// The front-end package signs in with the bearer token, without a cookie.
	const context = await newBrowser(t);
	const ann = await openSignedIn(context, 'ann', 'requests');
	t.is(ann.resolved, true);
	t.deepEqual(await context.cookies(), []);
	t.is(await backgroundColor(frameOf(ann.page)), light);
	await ann.page.emulateMedia({ colorScheme: 'dark' });
	t.is(await backgroundColor(frameOf(ann.page)), dark, 'the browser’s preference');
	t.deepEqual(await seriousFaults(frameOf(ann.page)), []);
	await ann.page.emulateMedia({ colorScheme: 'light' });
	t.false(await mayRead('ann'));
	await ann.frame.getByLabel('Role').selectOption({ label: 'Viewer' });
	await chooseEnd(ann.frame, '2999-01-02T10:00');
	await ann.frame.getByLabel('Reason (optional)').fill('I take over the reports.');
	await ann.frame.getByRole('button', { name: 'Send request' }).click();
	await said(ann.frame, 'Request sent.');
	await ann.frame.getByRole('button', { name: 'Cancel the request for Viewer' }).waitFor();
	t.is(await ann.frame.getByRole('heading', { name: 'to review' }).count(), 0);
	t.deepEqual(await seriousFaults(frameOf(ann.page)), []);

	const rex = await openSignedIn(await newBrowser(t), 'rex', 'requests', { darkMode: 'true' });
	t.is(await backgroundColor(frameOf(rex.page)), dark, 'the value in the URL');
	const form = rex.frame.getByRole('form', { name: 'Approve the request from Ann' });
	const { keyboard } = rex.page;
	await rex.frame.getByRole('button', { name: 'Approve the request from Ann for Viewer' }).focus();
	for (const [key, shown] of [
		['d', rex.frame.getByRole('form', { name: 'Deny the request from Ann' })],
		['Escape', rex.frame.locator('button:focus')],
		['a', form.locator('select:focus')],
	] as const) {
		await keyboard.press(key);
		await shown.waitFor();
	}
	await keyboard.type('Editor');
	await rex.frame.getByText('until 2 Jan 2999, 10:00').first().waitFor();
	await form.getByLabel('Expires (optional)').selectOption('On a date');
	const end = form.getByLabel('Expiry date');
	await end.fill('2999-02-01T00:00');
	// The chosen expiry is later than the requested expiry.
	await form.locator('input:invalid').waitFor();
	await end.fill('2998-01-01T00:00');
	await form.getByLabel('Comment (optional)').focus();
	await keyboard.type('Welcome, Ann.');
	t.is(await form.getByLabel('Role').locator('option:checked').textContent(), 'Editor');
	t.deepEqual(await seriousFaults(frameOf(rex.page)), []);
	if (process.env['UPDATE']) await rex.page.locator('iframe').screenshot({ path: screenshot });
	await keyboard.press('Tab');
	await keyboard.press('Enter');
	await said(rex.frame, 'Request from Ann approved.');
	await eventually(() => mayRead('ann'));

	await ann.frame.getByLabel('State').selectOption('approved');
	await ann.frame.getByText('Comment: Welcome, Ann.').waitFor();
	await ann.frame.getByText('Editor', { exact: true }).last().waitFor();
	await ann.frame.getByText('until 1 Jan 2998, 00:00').waitFor();
	t.deepEqual(await endsOf('ann', 'editor'), [new Date('2998-01-01T00:00').toISOString()]);
});

test.serial('the front-end package signs in with the cookie, which the page then uses', async (t) => {
	const context = await newBrowser(t);
	// On an instance, only roles of the instance's resource can be requested.
	const url = elementUrl('requests', { resourceInstanceKey: 'main' });
	const page = await openApp(context, null);
	// The package's promise settles only with its vendor's server. The cookie is set nevertheless.
	const options = { loginMethod: 'cookie', loginUrl: '/login/rex', tenant: 'acme' };
	await call(page, `void permit.elements.login(${JSON.stringify(options)})`);
	const [cookie] = await eventually(
		() => context.cookies(),
		({ length }) => length > 0,
	);
	t.like(cookie, { name: 'permit_session', httpOnly: true, secure: true, sameSite: 'None', path: '/' });
	// This browser keeps only partitioned third-party cookies.
	await openApp(context, `${foreignApp.origin}/plain-cookie`);
	t.is((await context.cookies()).length, 1);
	await page.goto(appUrl(url));
	const frame = page.frameLocator('iframe');
	await frame.getByRole('heading', { name: 'Access to reports', level: 1 }).waitFor();
	t.deepEqual(await frame.getByLabel('Role').locator('option').allTextContents(), ['Auditor']);
	// This write is sent with the cookie, from a page on our own origin.
	await frame.getByRole('button', { name: 'Send request' }).click();
	await said(frame, 'Request sent.');
	await frame.getByRole('button', { name: /^Cancel the request/ }).click();
	await said(frame, 'Request canceled.');
	await call(page, `permit.elements.logout('${stack.api.listening.url}/v2/auth/logout')`);
	await eventually(
		() => context.cookies(),
		({ length }) => length === 0,
	);
});

/** Adds a trusted token issuer to the environment, and returns its signing function. */
async function becomeIssuer(): Promise<(claims: Record<string, string>) => Promise<string>> {
	const { privateKey, publicKey } = await generateKeyPair('ES256');
	const jwks = { jwks: { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] } };
	const { status } = await stack.project.patch('/v2/projects/default/envs/dev', { jwks });
	if (status !== 200) throw new Error(`the keys were rejected: ${status}`);
	return (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).setExpirationTime('5m').sign(privateKey);
}

test.serial('an application token signs a user in, with the package and with our script', async (t) => {
	const userJwt = await (await becomeIssuer())({ sub: 'ann' });
	const permitApiUrl = stack.api.listening.url;
	const options = { loginMethod: 'frontendOnly', envId: environmentId, tenant: 'acme', userJwt, permitApiUrl };
	const login = `elements.login(${JSON.stringify(options)})`;
	const context = await newBrowser(t);
	const page = await openApp(context, null);
	await call(page, `void permit.${login}`);
	await eventually(
		() => context.cookies(),
		({ length }) => length === 1,
	);
	const other = await openApp(await newBrowser(t), null);
	t.true(await call(other, `regolith.${login}`));
	t.is(await call(other, 'regolith.elements.me.actor.user_key'), 'ann');
});

test.serial('our script signs in with either method, reports the result, and signs out', async (t) => {
	const context = await newBrowser(t);
	const byToken = elementUrl('requests', { elementsToken: 'true' });
	const page = await openApp(context, byToken);
	const login = (options: object) => call(page, `regolith.elements.login(${JSON.stringify(options)})`);
	const tenant = 'acme';
	const frame = page.frameLocator('iframe');
	await frame.getByText('Waiting for sign-in').waitFor();
	const loginMethod = 'supportsPrivateBrowser';
	t.true(await login({ loginMethod, loginUrl: '/login/rex', tenant, elementIframeUrl: byToken }));
	await frame.getByRole('listitem').first().waitFor();
	t.true(await call(page, 'regolith.elements.logout()'));
	await frame.getByLabel('State').selectOption('denied');
	await frame.getByRole('heading', { name: 'You are not signed in' }).waitFor();
	// The page accepts a newer token without being reloaded.
	t.true(await login({ loginMethod, loginUrl: '/login/rex', tenant, elementIframeUrl: byToken }));
	await frame.getByRole('heading', { name: 'Access to reports' }).waitFor();
	await t.throwsAsync(login({ loginMethod, loginUrl: '/login/rex', tenant, elementIframeUrl: foreignApp.origin }), {
		message: /elementIframeUrl has the origin http:.* instead of/,
	});

	const redirect = { loginUrl: '/login/rex?redirect', tenant };
	for (const byCookie of [
		{ loginUrl: '/login/rex', tenant },
		{ ...redirect, loginMethod: 'header', headers: { 'x-session': appSession } },
		{ ...redirect, loginMethod: 'bearer', token: appSession },
	]) {
		t.true(await login(byCookie));
		t.is(await call(page, 'regolith.elements.me.actor.user_key'), 'rex');
		t.is((await context.cookies()).length, 1);
		t.true(await call(page, 'regolith.elements.logout()'));
		t.deepEqual(await context.cookies(), []);
	}
	await t.throwsAsync(login({ ...redirect, loginMethod: 'bearer', token: 'another' }), { message: /returned 401/ });
	await t.throwsAsync(
		login({ loginUrl: `${stack.api.listening.url}/v2/auth/login_elements?env_id=${environmentId}` }),
		{
			message: /sign in again/,
		},
	);
});

test.serial('reviewers approve and deny operations in the inbox, and users cancel their own requests', async (t) => {
	const context = await newBrowser(t);
	const ann = await openSignedIn(context, 'ann', 'payments', { resourceInstanceKey: 'main' });
	await ann.frame.getByText('For main').waitFor();
	const send = ann.frame.getByRole('button', { name: 'Send request' });
	const canceling = ann.frame.getByRole('button', { name: 'Cancel the request for operation on account:main' });
	for (const count of [1, 2, 3]) {
		await ann.frame.getByLabel('Reason (optional)').fill(`Invoice ${count}.`);
		await send.click();
		await canceling.nth(count - 1).waitFor();
	}
	t.deepEqual(await seriousFaults(frameOf(ann.page)), []);
	await canceling.nth(2).click();
	await said(ann.frame, 'Request canceled.');

	await ann.frame.getByText('At most 7 days after approval.').waitFor();

	const rex = await openSignedIn(await newBrowser(t), 'rex', 'inbox');
	await rex.frame.getByText('No requests to review.').waitFor();
	const buttons = rex.frame.getByRole('button', { name: /the request from Ann for operation/ });
	t.is(await buttons.count(), 4);
	t.deepEqual(await seriousFaults(frameOf(rex.page)), []);
	await buttons.first().focus();
	for (const key of ['j', 'k', 'j', 'd']) await rex.page.keyboard.press(key);
	const deny = rex.frame.getByRole('form', { name: 'Deny the request from Ann' });
	await deny.getByLabel('Comment (optional)').fill('Not this one.');
	await deny.getByRole('button', { name: 'Deny' }).click();
	await said(rex.frame, 'Request from Ann denied.');
	await rex.frame.locator('button:focus').waitFor();
	await rex.page.keyboard.press('a');
	const approve = rex.frame.getByRole('form', { name: 'Approve the request from Ann' });
	t.is(await approve.getByLabel('Role').count(), 0);
	const approved = await rex.frame.locator('[data-request]').first().getAttribute('data-request');
	await approve.getByRole('button', { name: 'Approve' }).click();
	await said(rex.frame, 'Request from Ann approved.');

	await rex.frame.getByRole('region', { name: 'Approvals to review' }).getByLabel('Show').selectOption('denied');
	await rex.frame.getByText('Comment: Not this one.').waitFor();
	t.is(await rex.frame.getByRole('button', { name: /the request from Ann/ }).count(), 0);
	await ann.frame.getByLabel('State').selectOption('denied');
	await ann.frame.getByText('Comment: Not this one.').waitFor();
	await eventually(async () => {
		const question = { user: 'ann', action: 'operate', resource: { type: 'account', key: 'main', tenant: 'acme' } };
		return (await stack.pdp.post('/allowed', question)).body['allow'];
	});
	t.is((await stack.pdp.post(`/operation_approvals/${approved}/consume`)).status, 200);
	await ann.frame.getByLabel('State').selectOption('approved');
	await ann.frame.getByText(/^used /).waitFor();
	await ann.frame.getByText(/^until /).waitFor();
	t.deepEqual(await seriousFaults(frameOf(ann.page)), []);
});

test.serial('an owner can manage users and roles; an observer has read access only', async (t) => {
	const { page, frame } = await openSignedIn(await newBrowser(t), 'rex', 'members');
	// The page escapes the invisible character in the name.
	const zoe = 'Zoe\\u{202e}';
	const rolesOf = (name: string) => frame.getByRole('list', { name: `Roles of ${name}` });
	await rolesOf('Rex').getByText('Owner').waitFor();
	await frame.getByLabel('Email').fill('zoe@example.com');
	await frame.getByLabel('First name (optional)').fill('Zoe\u202e');
	await frame.getByRole('combobox', { name: 'Role', exact: true }).selectOption('Viewer');
	await chooseEnd(frame.getByRole('region', { name: 'Add a user' }), '2998-01-01T00:00');
	await frame.getByRole('button', { name: 'Add user' }).click();
	await said(frame, `${zoe} was added.`);
	await rolesOf(zoe).getByText('Viewer').waitFor();
	t.deepEqual(await seriousFaults(frameOf(page)), []);

	await frame.getByLabel(`New role for ${zoe}`).selectOption('Editor');
	await frame.getByLabel(`Expires (optional): role for ${zoe}`).selectOption('On a date');
	await frame.getByLabel(`Expiry date: role for ${zoe}`).fill('2999-01-01T00:00');
	await frame.getByRole('button', { name: `Assign role to ${zoe}` }).click();
	await said(frame, `Assigned role Editor to ${zoe}.`);
	await eventually(() => mayRead('zoe@example.com'));
	t.deepEqual(await endsOf('zoe@example.com', 'viewer'), [new Date('2998-01-01T00:00').toISOString()]);
	t.deepEqual(await endsOf('zoe@example.com', 'editor'), [new Date('2999-01-01T00:00').toISOString()]);
	await frame.getByRole('button', { name: `Remove role Editor from ${zoe}` }).click();
	await said(frame, `Removed role Editor from ${zoe}.`);
	await eventually(async () => !(await mayRead('zoe@example.com')));

	const observer = await openSignedIn(await newBrowser(t), 'obi', 'members', { darkMode: 'true' });
	await observer.frame.getByRole('list', { name: `Roles of ${zoe}` }).waitFor();
	t.is(await observer.frame.getByRole('button', { name: /role|Remove|Add/ }).count(), 0);
	t.deepEqual(await seriousFaults(frameOf(observer.page)), []);

	await frame.getByLabel('Search').fill('zoe');
	await frame.getByLabel('Search').press('Enter');
	await rolesOf('Rex').waitFor({ state: 'detached' });
	await frame.getByRole('button', { name: `Remove ${zoe}` }).click();
	const question = frame.getByRole('dialog', { name: `Remove ${zoe}?` });
	t.deepEqual(await seriousFaults(frameOf(page)), []);
	await question.getByRole('button', { name: 'Remove' }).click();
	await said(frame, `Removed ${zoe}.`);
	await frame.getByText('No matching users.').waitFor();
	const { body } = await stack.environment.get<readonly unknown[]>(`${facts}/role_assignments?user=zoe@example.com`);
	t.deepEqual(body, []);
});

/** Returns a decision as sent by a decision point. */
function decisionEvent(user: string, allow: boolean) {
	return {
		decision_id: randomUUID(),
		timestamp: new Date().toISOString(),
		path: 'regolith/check/code',
		input: { user: { key: user }, action: 'read', resource: { type: 'report', tenant: 'acme' } },
		result: { allow, code: allow ? 'allow' : 'no_permission' },
	};
}

test.serial('the decisions in the tenant can be listed and searched, even in a narrow window', async (t) => {
	const config = { key: 'decisions', name: 'Decisions in Acme', elements_type: 'audit_log', settings: {} };
	const { environment } = stack;
	const made = await environment.post(`${elements}/config`, { ...config, roles_to_levels: { LEVEL_1: ['owner'] } });
	t.is(made.status, 200);
	const events = [decisionEvent('ann', true), decisionEvent('w'.repeat(120), false)];
	t.is((await environment.post('/v1/decision_logs/ingress', events)).status, 204);
	for (const [width, query] of [
		[390, { darkMode: 'true' }],
		[1280, {}],
	] as const) {
		const context = await newBrowser(t, { viewport: { width, height: 800 } });
		const { page, frame } = await openSignedIn(context, 'rex', 'decisions', query);
		await page.evaluate('document.querySelector("iframe").width = innerWidth - 20');
		const items = frame.getByRole('listitem');
		await items.nth(1).waitFor();
		const texts = await items.allInnerTexts();
		t.true(
			texts.some((text) => /allowed\s+Ann\s+read report/.test(text)),
			texts.join(),
		);
		t.true(texts.some((text) => /denied\s+w+[\s\S]*none of them grants the action/.test(text)));
		t.deepEqual(await seriousFaults(frameOf(page)), []);
		const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
		t.is(await frameOf(page).evaluate(overflow), 0);
		await frame.getByLabel('Search').fill('nobody');
		await frame.getByLabel('Search').press('Enter');
		await frame.getByText('No matching decisions.').waitFor();
	}
});

test.serial('an invited user accepts through our script and gets the role', async (t) => {
	const { page, frame } = await openSignedIn(await newBrowser(t), 'rex', 'guests');
	await frame.getByLabel('Email').fill('kim@example.com');
	await frame.getByRole('combobox', { name: 'Role', exact: true }).selectOption('Editor');
	await frame.getByRole('button', { name: 'Add user' }).click();
	await said(frame, 'kim@example.com was invited.');
	await frame.getByText('invited', { exact: true }).waitFor();
	t.deepEqual(await seriousFaults(frameOf(page)), []);
	const { body } = await stack.environment.get<{ readonly data: readonly { readonly id: string }[] }>(
		`${facts}/user_invites`,
	);
	const options = {
		inviteCode: body.data[0]?.id,
		email: 'kim@example.com',
		token: await (await becomeIssuer())({ sub: 'kim@example.com' }),
		envId: environmentId,
	};
	const approved = await call(page, `regolith.elements.approve(${JSON.stringify(options)})`);
	t.like(approved, { key: 'kim@example.com' });
	await eventually(() => mayRead('kim@example.com'));
	t.true(sent.every(({ url }) => !url.includes(options.token)));
});

test.serial('a user at level 4 of a user management element sees no users', async (t) => {
	const { frame } = await openSignedIn(await newBrowser(t), 'ann', 'members');
	await frame.getByText('You do not have access to this page.').waitFor();
	t.is(await frame.getByRole('list').count(), 0);
});

const refusals: Readonly<Record<string, readonly [query: Readonly<Record<string, string>>, said: string]>> = {
	requests: [{ tenantKey: 'other' }, 'You are signed in to a different tenant'],
	nothing: [{}, 'Element nothing does not exist'],
};

for (const [key, [query, text]] of Object.entries(refusals)) {
	test.serial(`the page of ${key} shows: ${text}`, async (t) => {
		const url = elementUrl(key, { elementsToken: 'true', ...query });
		const page = await openApp(await newBrowser(t), url);
		await signInByPackage(page, 'ann', url);
		const frame = page.frameLocator('iframe');
		await frame.getByText(text).waitFor();
		t.deepEqual(await seriousFaults(frameOf(page)), []);
	});
}

test.serial('a user who is not signed in sees a message and can retry', async (t) => {
	const page = await openApp(await newBrowser(t), elementUrl('requests', { darkMode: 'false' }));
	const frame = page.frameLocator('iframe');
	await frame.getByRole('heading', { name: 'You are not signed in' }).waitFor();
	t.deepEqual(await seriousFaults(frameOf(page)), []);
	await page.emulateMedia({ colorScheme: 'dark' });
	t.is(await backgroundColor(frameOf(page)), light, 'the URL takes precedence over the browser’s preference');
	await call(page, `regolith.elements.login({ loginUrl: '/login/ann', tenant: 'acme' })`);
	await frame.getByRole('button', { name: 'Try again' }).click();
	await frame.getByRole('heading', { name: 'Access to reports' }).waitFor();
});

test.serial('an application with an origin that is not configured cannot embed pages', async (t) => {
	const page = await openApp(await newBrowser(t), elementUrl('requests'), foreignApp);
	const frame = await eventually(
		() => frameOf(page),
		(found) => found.url().startsWith('chrome-error:'),
	);
	t.is(await frame.getByRole('heading', { name: 'You are not signed in' }).count(), 0);
});

test.serial('a token from a different page is not accepted', async (t) => {
	const context = await newBrowser(t);
	const asked: string[] = [];
	context.on('request', (request) => asked.push(new URL(request.url()).pathname));
	const url = elementUrl('requests', { elementsToken: 'true' });
	const signedIn = await fetch(`${foreignApp.origin}/login/ann`, { method: 'POST' });
	const { url: token } = (await signedIn.json()) as { readonly url: string };
	// A page outside a frame. It is opened once by a foreign page, and once by a page on a configured origin.
	for (const from of [foreignApp, app]) {
		const page = await openApp(context, null, from);
		const [opened] = await Promise.all([
			context.waitForEvent('page'),
			call(page, `void (window.opened = open(${JSON.stringify(url)}))`),
		]);
		await opened.getByText('Waiting for sign-in').waitFor();
		await call(
			page,
			`new Promise((resolve) => {
				addEventListener('message', ({ data }) => resolve(data));
				opened.postMessage({ type: 'permitToken', permitToken: ${JSON.stringify(token)} }, '*');
				setTimeout(resolve, 300, 'nothing');
			})`,
		).then((heard) => t.is(heard, 'nothing'));
		await opened.getByText('Waiting for sign-in').waitFor();
	}
	t.false(asked.includes('/v2/auth/me'));
});

test.serial('no URL, history or storage contains a bearer token; a ticket appears only in its URL', async (t) => {
	const context = await newBrowser(t);
	const { page, frame } = await openSignedIn(context, 'ann', 'requests');
	t.deepEqual(await context.storageState(), { cookies: [], origins: [] });
	t.deepEqual(await frameOf(page).evaluate('navigation.entries().map(({ url }) => url)'), [
		elementUrl('requests', { elementsToken: 'true', tenantKey: 'acme' }),
	]);
	await frame.getByRole('heading', { level: 1 }).waitFor();
	t.true(secrets.bearers.size > 5 && secrets.tickets.size > 5);
	t.true(sent.length > 50);
	const texts = [...sent.flatMap(({ url, referer }) => [url, referer]), ...app.heard, ...foreignApp.heard];
	for (const bearer of secrets.bearers)
		t.deepEqual(
			texts.filter((text) => text.includes(bearer)),
			[],
		);
	const spending = `${stack.api.listening.url}/v2/auth/login_elements?token=`;
	for (const ticket of secrets.tickets) {
		t.deepEqual(
			texts.filter((text) => text.includes(ticket) && text !== spending + ticket),
			[],
		);
	}
	const hosts = new Set(
		sent
			.map(({ url }) => new URL(url))
			.filter(({ protocol }) => protocol === 'http:')
			.map(({ origin }) => origin),
	);
	t.deepEqual(
		[...hosts].sort(),
		[stack.api.listening.url, app.origin, foreignApp.origin].sort(),
		'no other host receives a request',
	);
});

test.serial('the quickstart starts with an empty environment and ends with an approved request', async (t) => {
	const quickstart = readFileSync(join(root, 'docs/develop/elements-quickstart.md'), 'utf8');
	const own = await startStack();
	t.teardown(own.stop);
	const [, ...commands] = fenced(quickstart, 'sh');
	const check = commands.pop() ?? '';
	const [program = ''] = fenced(quickstart, 'js');
	// The folder is inside the package, so that imports of the SDK resolve as in an installation.
	const folder = mkdtempSync(join(root, 'dist', 'quickstart-'));
	t.teardown(() => removeFolder(folder));
	writeFileSync(join(folder, 'app.mjs'), program);
	// Variables that the first block sets.
	const given = {
		PERMIT_API_KEY: own.keys.environment,
		PERMIT_API_URL: own.api.listening.url,
		PERMIT_PDP_URL: own.decisionPoint.listening.url,
		APP: `http://localhost:${await freePort()}`,
	};
	const options = { cwd: folder, env: { ...given, PATH: process.env['PATH'] ?? '' } };
	const run = async (text: string) => (await promisify(execFile)('bash', ['-ec', text], options)).stdout;
	t.is(await run(commands.join('\n')), '');
	t.regex(await run(check), /"allow":false/);
	const application = spawn(process.execPath, ['app.mjs'], { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
	t.teardown(() => {
		application.kill();
	});
	t.is(String(await once(application.stdout, 'data')), `${given.APP}/maya and ${given.APP}/omar\n`);
	const visit = async (user: string) => {
		const page = await (await newBrowser(t)).newPage();
		// As wide as a phone: neither the application nor the element scrolls sideways.
		await page.setViewportSize({ width: 390, height: 800 });
		await page.goto(`${given.APP}/${user}`);
		await page.frameLocator('iframe').getByRole('heading', { name: 'Access to invoices' }).waitFor();
		for (const part of [page.mainFrame(), frameOf(page)]) {
			t.true(await part.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), part.url());
		}
		return page.frameLocator('iframe');
	};
	const maya = await visit('maya');
	await maya.getByLabel('Role').selectOption('Accountant');
	await maya.getByLabel('Expires (optional)').selectOption('After a duration');
	await maya.getByLabel('Duration', { exact: true }).fill('3');
	await maya.getByLabel('Duration: unit').selectOption('days');
	await maya.getByRole('button', { name: 'Send request' }).click();
	await said(maya, 'Request sent.');
	const omar = await visit('omar');
	await omar.getByRole('button', { name: 'Approve the request from Maya for Accountant' }).click();
	await omar.getByRole('button', { name: 'Approve', exact: true }).click();
	await said(omar, 'Request from Maya approved.');
	await omar.getByLabel('Show').selectOption('approved');
	await omar.locator('.state.approved').waitFor();
	const { body: held } = await own.environment.get<readonly Record<string, unknown>[]>(
		`${facts}/role_assignments?user=maya&role=accountant`,
	);
	const days = (Date.parse(String(held[0]?.['expires_at'])) - Date.now()) / 86_400_000;
	t.true(days > 2.9 && days < 3, String(days));
	await eventually(async () => (await run(check)).includes('"allow":true'));
});
