// @rest

import test, { type ExecutionContext } from 'ava';
import type { Browser, Page } from 'playwright-core';
import type { Endpoint } from '../../src/http/endpoint.js';
import { createApplication, listen } from '../../src/http/server.js';
import { startChromium } from '../support/chromium.js';
import { apiReference, decisionPointReference } from '../support/documents.js';

/** API references for both servers, in Chromium. */

/** Timeout for page content, in milliseconds. It is long, so that tests do not fail on a busy machine. */
const patience = 60_000;

let browser: Browser;

test.before('start', async () => {
	browser = await startChromium();
});

test.after.always('stop', async () => browser?.close());

/** Opens a reference. `complaints` contains browser messages and requests to other servers. */
async function open(
	t: ExecutionContext,
	endpoints: readonly Endpoint<string, never>[],
): Promise<{ readonly page: Page; readonly complaints: readonly string[] }> {
	const application = createApplication({
		endpoints,
		surround: (_, __, run) => run(undefined),
		renderFailure: ({ message }) => ({ message }),
		onUnexpected: (error) => t.fail(String(error)),
	});
	const server = await listen(application, '127.0.0.1', 0);
	const context = await browser.newContext();
	const complaints: string[] = [];
	const page = await context.newPage();
	page.setDefaultTimeout(patience);
	page.on('pageerror', (error) => complaints.push(String(error)));
	page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
	page.on('request', (request) => {
		if (!request.url().startsWith(server.url) && !request.url().startsWith('data:')) complaints.push(request.url());
	});
	t.teardown(async () => {
		await context.close();
		await server.close(0);
	});
	await page.goto(`${server.url}/docs`);
	await page.waitForSelector('.opblock-tag');
	return { page, complaints };
}

test('the API reference is collapsed at first, can be filtered, shows operations, and links to the decision point', async (t) => {
	const { page, complaints } = await open(t, apiReference());
	t.true((await page.locator('.opblock-tag').count()) > 30);
	t.is(await page.locator('.opblock').count(), 0, 'no operation is open');
	t.is(await page.locator('section.models').count(), 0, 'schemas are shown inline');
	t.is(await page.locator('.info a[href="http://127.0.0.1:7766/docs"]').count(), 1);

	// Words from an operation's summary find the operation and open its group.
	await page.fill('.operation-filter-input', 'CREATE A tenant role');
	await page.waitForSelector('.opblock');
	t.is(await page.locator('.opblock').count(), 1);
	t.is(await page.locator('.opblock-summary-path').getAttribute('data-path'), '/v2/schema/{proj_id}/{env_id}/roles');

	await page.click('.opblock-summary-control');
	await page.waitForSelector('.opblock-body .responses-wrapper');
	const shown = await page.locator('.opblock-body').textContent();
	t.regex(shown ?? '', /Project id or key/);
	t.regex(shown ?? '', /"key": "editor"/, 'the request example');
	t.deepEqual(complaints, []);
});

test('the decision point reference resolves an operation’s references, and links to the API', async (t) => {
	const { page, complaints } = await open(t, decisionPointReference());
	t.is(await page.locator('.info a[href="http://127.0.0.1:8000/docs"]').count(), 1);
	await page.fill('.operation-filter-input', 'checkMany');
	await page.click('.opblock-summary-control');
	await page.waitForSelector('.opblock-body .responses-wrapper');
	t.regex((await page.locator('.opblock-body .parameters-container').textContent()) ?? '', /X-Min-Revision/);
	await page.locator('.opblock-body').getByText('Schema', { exact: true }).last().click();
	await page.waitForSelector('.opblock-body .json-schema-2020-12');
	t.regex(
		(await page.locator('.opblock-body').textContent()) ?? '',
		/Body for every failed request/,
		'through two references',
	);
	t.deepEqual(complaints, []);
});
