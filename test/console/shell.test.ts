// @alone @rest

import { get } from 'node:http';
import { buffer } from 'node:stream/consumers';
import test from 'ava';
import type { Browser } from 'playwright-core';
import { startChromium } from '../support/chromium.js';
import { closeScene, openConsole, overflowWidth, seriousViolations } from '../support/console-page.js';
import { consolePages, consoleScreens } from '../support/console-screens.js';
import { setDocumentScene } from '../support/console-stack.js';
import { facts, type Stack, schema, startStack } from '../support/stack.js';

/** Shared console behavior in Chromium: sign-in, the bar, rights, and expired sessions. */

let stack: Stack;
let browser: Browser;

test.before(async () => {
	stack = await startStack();
	await setDocumentScene(stack);
	browser = await startChromium();
});

test.after.always(() => closeScene(browser, stack));

/** Creates a key for the environment `dev`. */
async function makeKey(access_level: string): Promise<{ readonly id: string; readonly secret: string }> {
	const body = { project_id: 'default', environment_id: 'dev', access_level, name: `a ${access_level} key` };
	const { body: made } = await stack.organization.post('/v2/api-key', body);
	return { id: String(made['id']), secret: String(made['secret']) };
}

const everyScreen = Object.keys(consoleScreens);

test.serial('every page is accessible, light and dark, in a wide and a narrow window', async (t) => {
	for (const width of [1280, 390] as const) {
		const { page, open, faults, close } = await openConsole(browser, stack, { key: stack.keys.organization, width });
		for (const [screen, content] of Object.entries({ ...consoleScreens, ...consolePages })) {
			await open(screen);
			await page.locator(content).first().waitFor();
			await page.waitForLoadState('networkidle');
			for (const colorScheme of ['light', 'dark'] as const) {
				await page.emulateMedia({ colorScheme });
				t.deepEqual(await seriousViolations(page), [], `${screen}, ${width}, ${colorScheme}`);
			}
			t.is(await overflowWidth(page), 0, `${screen}, ${width}`);
			t.is(await page.locator('nav[aria-label=Screens] [aria-current=page]').count(), 1, screen);
		}
		t.deepEqual(faults, []);
		await close();
	}
});

test.serial('a wrong key is rejected with the reason, and the browser stores no key', async (t) => {
	const context = await browser.newContext();
	const page = await context.newPage();
	await page.goto(`${stack.api.listening.url}/console/default/dev/check`);
	await page.getByLabel('API key').fill('permit_key_wrong');
	await page.getByRole('button', { name: 'Sign in' }).click();
	t.regex((await page.getByRole('alert').textContent()) ?? '', /key/i);
	await page.getByLabel('API key').fill(stack.keys.environment);
	await page.keyboard.press('Enter');
	await page.getByRole('button', { name: 'Sign out' }).waitFor();
	const kept = await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])');
	t.false(String(kept).includes(stack.keys.environment));
	t.false(String(kept).includes('permit_key'));
	const cookies = await context.cookies();
	t.true(cookies.length > 0 && cookies.every(({ httpOnly, sameSite }) => httpOnly && sameSite === 'Strict'));
	await page.getByRole('button', { name: 'Sign out' }).click();
	await page.getByLabel('API key').waitFor();
	await page.reload();
	await page.getByLabel('API key').waitFor();
	await context.close();
});

test.serial('a read-only key sees every screen without edit buttons', async (t) => {
	const { secret } = await makeKey('read');
	const { page, open, faults, close } = await openConsole(browser, stack, { key: secret });
	t.is(await page.getByText('read only', { exact: true }).count(), 1);
	for (const screen of everyScreen) {
		await open(screen);
		await page.waitForLoadState('networkidle');
		const names = await page.locator('main button').allTextContents();
		const writing = names.filter((name) =>
			/^(add|assign|create|delete|import|make|publish|remove|revoke|rotate|save|send)/i.test(name),
		);
		t.deepEqual(writing, [], screen);
	}
	t.deepEqual(faults, []);
	await close();
});

test.serial('revoking the key opens the sign-in page with the reason, and keeps the draft', async (t) => {
	const { id, secret } = await makeKey('write');
	const { page, open, close } = await openConsole(browser, stack, { key: secret });
	const name = await page.evaluate(`fetch('/v2/auth/console?project=default&environment=dev')
		.then((answer) => answer.json())
		.then(({ environment }) => 'regolith-draft-' + environment.id)`);
	const draft = { base_revision: 1, changes: [{ kind: 'role', operation: 'delete', key: 'guest' }] };
	await page.evaluate(`sessionStorage.setItem(${JSON.stringify(name)}, ${JSON.stringify(JSON.stringify(draft))})`);
	await open('draft');
	t.is(await page.locator('nav .badge').textContent(), '1');
	await stack.organization.delete(`/v2/api-key/${id}`);
	// Until this text appears, the draft shows its own alert, because the role does not exist.
	await page
		.getByRole('alert')
		.filter({ hasText: /API key/ })
		.waitFor();
	await page.getByLabel('API key').fill(stack.keys.environment);
	await page.keyboard.press('Enter');
	await page.getByRole('button', { name: 'Sign out' }).waitFor();
	t.is(await page.locator('nav .badge').textContent(), '1');
	await close();
});

test.serial('a page at an older revision says so, and reloads on request', async (t) => {
	const { page, open, close } = await openConsole(browser, stack);
	await open('keys');
	await page.waitForLoadState('networkidle');
	await stack.environment.post(`${facts}/users`, { key: 'newcomer' });
	await page.getByText(/Viewing revision \d+\. Revision \d+ is available/).waitFor();
	await page.getByRole('button', { name: 'Reload' }).click();
	await page.getByText(/Viewing revision \d+\. Revision \d+ is available/).waitFor({ state: 'detached' });
	t.pass();
	await close();
});

test.serial('the bar reports an unreachable API until it responds again', async (t) => {
	const { page, context, open, close } = await openConsole(browser, stack);
	await open('keys');
	await page.waitForLoadState('networkidle');
	await context.setOffline(true);
	await page.getByText('Cannot reach the API', { exact: true }).waitFor();
	t.is(await page.locator('main h1').textContent(), 'Keys and members', 'the page stays');
	await context.setOffline(false);
	await page.getByText('Cannot reach the API', { exact: true }).waitFor({ state: 'detached' });
	await close();
});

test.serial('tabs for two environments do not interfere', async (t) => {
	const key = stack.keys.project;
	const { page, context, close } = await openConsole(browser, stack, { key });
	await page.getByLabel('Environment').selectOption('default/production');
	t.is(new URL(page.url()).pathname.split('/')[3], 'dev', 'choosing an environment alone does not open it');
	await page.getByRole('button', { name: 'Open', exact: true }).click();
	await page.locator('.bar.production').waitFor();
	const other = await context.newPage();
	await other.goto(`${stack.api.listening.url}/console/default/dev/keys`);
	await other.locator('main h1').waitFor();
	t.is(await other.locator('.bar.production').count(), 0);
	const reading = (env: string) => `fetch('/v2/schema/default/${env}/resources', { headers: {
		'x-console-environment': sessionStorage.getItem('x') ?? '' } }).then(({ status }) => status)`;
	t.is(await other.evaluate(reading('dev')), 401, 'a cookie alone gives no access');
	await stack.environment.post(`${schema}/resources`, { key: 'memo', name: 'Memo', actions: {} });
	await close();
});

test.serial('the documentation opens from the bar, without requests to other servers', async (t) => {
	for (const width of [1280, 390] as const) {
		const { page, open, faults, close } = await openConsole(browser, stack, { width, dark: width === 390 });
		await open('condition-sets');
		await page.getByRole('link', { name: 'Documentation' }).click();
		await page.getByRole('link', { name: 'Console', exact: true }).last().click();
		await page.getByRole('heading', { level: 1, name: 'The console' }).waitFor();
		t.is(new URL(page.url()).pathname, '/documentation/policy/console');
		const imageWidth = await page.evaluate('document.images[0].decode().then(() => document.images[0].naturalWidth)');
		t.true(Number(imageWidth) > 0);
		t.deepEqual(await seriousViolations(page), []);
		t.is(await overflowWidth(page), 0);
		t.deepEqual(faults, []);
		await close();
	}
	const { url } = stack.api.listening;
	for (const path of ['pages.json', 'stamp', 'policy', '..', '%2e%2e/pages.json', 'policy/console.html', 'nothing']) {
		t.is((await fetch(`${url}/documentation/${path}`)).status, 404, path);
	}
});

/** Returns a file's compressed size in bytes. */
function compressedLength(address: string): Promise<number> {
	return new Promise((resolve, reject) => {
		get(address, { headers: { 'accept-encoding': 'gzip' } }, (answer) => {
			buffer(answer).then(({ length }) => resolve(length), reject);
		}).on('error', reject);
	});
}

test.serial('the first page load is small, and comes only from this server', async (t) => {
	const context = await browser.newContext();
	const page = await context.newPage();
	const { url } = stack.api.listening;
	let total = 0;
	page.on('response', async (response) => {
		t.true(response.url().startsWith(url), response.url());
	});
	await page.goto(`${url}/console/default/dev/check`);
	await page.getByLabel('API key').fill(stack.keys.environment);
	await page.keyboard.press('Enter');
	await page.locator('main h1').waitFor();
	await page.waitForLoadState('networkidle');
	const assets = (await page.evaluate(
		`performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.includes('/assets/'))`,
	)) as readonly string[];
	for (const address of assets) {
		total += await compressedLength(address);
	}
	t.true(total > 10_000 && total <= 60 * 1024, `a first load takes ${total} bytes`);
	await context.close();
});
