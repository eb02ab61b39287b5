// @alone @rest

import { readFile } from 'node:fs/promises';
import test from 'ava';
import type { Browser } from 'playwright-core';
import { tarEntries } from '../../src/bundle/tar-entries.js';
import { startChromium } from '../support/chromium.js';
import { closeScene, openConsole, overflowWidth, seriousViolations } from '../support/console-page.js';
import { eventually } from '../support/eventually.js';
import { facts, type Stack, schema, startStack } from '../support/stack.js';

/** Policy screen in Chromium. */

let stack: Stack;
let browser: Browser;
/** Schema revisions before and after the last change. */
let before: number;
let after: number;

test.before(async () => {
	stack = await startStack();
	browser = await startChromium();
	const memo = { key: 'memo', name: 'Memo <i>', description: 'A note', actions: { read: {}, write: {} } };
	await stack.environment.post(`${schema}/resources`, memo);
	await stack.environment.post(`${schema}/roles`, { key: 'reader', name: 'Reader', permissions: ['memo:read'] });
	before = await published();
	await stack.environment.post(`${schema}/resources/memo/actions`, { key: 'burn', name: 'Burn' });
	await stack.environment.post(`${schema}/roles/reader/permissions`, { permissions: ['memo:burn'] });
	after = await published();
});

test.after.always(() => closeScene(browser, stack));

/** Waits until the active policy includes the newest schema. Returns the policy's revision. */
async function published(): Promise<number> {
	const state = () => stack.environment.get('/v2/projects/default/dev/policy');
	const { body } = await eventually(state, ({ body: { compiled_revision, schema_revision } }) => {
		return compiled_revision === schema_revision;
	});
	return Number(body['compiled_revision']);
}

test.serial('the newest policy’s files are fetched once, even if facts change', async (t) => {
	const { page, open, close } = await openConsole(browser, stack);
	const read: string[] = [];
	page.on('request', (request) => {
		if (/\/policies\/\d+$/.test(new URL(request.url()).pathname)) read.push(request.url());
	});
	await open('policy');
	await page.getByText('Choose a file').waitFor();
	const { revision } = await stack.environment.post(`${facts}/users`, { key: 'newcomer' });
	await page.getByText(`revision ${revision}`, { exact: true }).waitFor();
	await page.waitForLoadState('networkidle');
	t.is(read.length, 1);
	await close();
});

test.serial('files are shown as a tree, and each line has a permanent URL', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open('policy');
	await page.getByText('Choose a file').waitFor();
	await page.getByLabel('Find file').fill('memo');
	await page.getByRole('link', { name: 'regolith/resources/memo/permits.rego' }).click();
	await page.getByRole('link', { name: 'Burn', exact: true }).click();
	const marked = page.locator('tr.marked');
	t.regex((await marked.textContent()) ?? '', /permits\["burn"\]/);
	t.regex(page.url(), new RegExp(`revision=${after}&file=.*#L\\d+$`));
	const other = await page.context().newPage();
	await other.goto(page.url());
	t.is(await other.locator('tr.marked').textContent(), await marked.textContent());
	await page.goBack();
	await marked.waitFor({ state: 'detached' });
	await open(`policy?revision=${before}&file=regolith/resources/memo/permits.rego`);
	await page.getByText('A note').first().waitFor();
	t.is(await page.getByText('permits["burn"]').count(), 0);
	await page.getByLabel('Revision').selectOption(String(after));
	await page.getByText('permits["burn"]').waitFor();
	await open('policy?revision=999999');
	await page.getByText('No policy for revision 999999').waitFor();
	t.deepEqual(faults, []);
	await close();
});

test.serial('two revisions can be compared, with tables separate from rules, and each shows its authors', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open('policy?view=revisions');
	const row = page.locator('tr', { has: page.getByRole('link', { name: String(after), exact: true }) });
	await row.getByText('dev environment key').waitFor();
	t.regex((await row.textContent()) ?? '', /1 (created|updated)/);
	await row.getByRole('link', { name: /^With / }).click();
	await page.getByRole('link', { name: 'View changes' }).waitFor();
	await open(`policy?view=compare&from=${before}&to=${after}`);
	await page.getByRole('heading', { name: 'Rules: 1 file' }).waitFor();
	t.is(await page.getByRole('heading', { name: 'Tables: 1 file' }).count(), 1);
	const rules = page.getByLabel('Differences in regolith/resources/memo/permits.rego');
	t.regex((await rules.locator('tr.added').allTextContents()).join('\n'), /\+permits\["burn"\] if granted_by_role/);
	t.is(await rules.locator('tr.removed').count(), 0);
	const tables = page.getByLabel('Differences in regolith/schema/data.json');
	t.regex((await tables.locator('tr.added').allTextContents()).join('\n'), /"burn"/);
	await page.getByLabel('From').selectOption(String(after));
	await page.getByText('The policies are identical').waitFor();
	t.deepEqual(faults, []);
	await close();
});

test.serial('a schema that does not compile is reported with the compiler’s message', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack);
	const { body } = await stack.environment.get('/v2/projects/default/dev/policy');
	const failure = { revision: after + 1, message: 'rego_type_error: <b>1</b>' };
	const degraded = {
		reason: 'compilation_failed',
		since: '2030-01-01T00:00:00.000Z',
		detail: 'The newest schema does not compile.',
		policy_revision: after,
		revisions_behind: 3,
		left_out: [{ object: 'condition_sets.x', message: 'too deep' }],
	};
	await page.route('**/v2/projects/default/dev/policy', (route) =>
		route.fulfill({ json: { ...body, schema_revision: after + 1, failure, degraded } }),
	);
	await open('policy');
	await page.getByText(`The schema of revision ${after + 1} does not compile.`).waitFor();
	await page.getByText('rego_type_error: <b>1</b>').waitFor();
	await page.getByText('condition_sets.x').waitFor();
	t.deepEqual(faults, []);
	await close();
});

test.serial('a revision’s generated tests run when the tests are opened', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack);
	const asked: string[] = [];
	page.on('request', (request) => {
		if (request.url().endsWith('/tests')) asked.push(request.url());
	});
	await open(`policy?revision=${before}`);
	await page.getByText('Choose a file').waitFor();
	t.deepEqual(asked, []);
	await page.getByRole('link', { name: 'Generated tests' }).click();
	const told = page.getByText(/^(\d+) of \1 tests pass$/);
	await told.waitFor();
	t.regex(page.url(), new RegExp(`view=tests&revision=${before}$`));
	t.is(asked.length, 1);
	await page.route('**/tests', async (route) => {
		const answer = await route.fetch();
		const { tests, ...counts } = await answer.json();
		const [first, ...others] = tests;
		const failing = { ...first, passed: false, error: '<b>late</b>' };
		await route.fulfill({ json: { ...counts, passed: others.length, failed: 1, tests: [failing, ...others] } });
	});
	await page.getByLabel('Revision').selectOption(String(after));
	await page.getByText('<b>late</b>').waitFor();
	await page.getByRole('link', { name: /_test\.rego:\d+$/ }).click();
	t.regex((await page.locator('tr.marked').textContent()) ?? '', /test_/);
	t.regex(page.url(), new RegExp(`revision=${after}&file=.*#L\\d+$`));
	await page.unroute('**/tests');
	await page.route('**/tests', (route) => route.fulfill({ status: 503, json: { message: 'use `regolith test`' } }));
	await open('policy?view=tests');
	await page.getByText('use `regolith test`').waitFor();
	t.deepEqual(faults, []);
	await close();
});

test.serial('the policy can be downloaded as a folder', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open('policy');
	const coming = page.waitForEvent('download');
	await page.getByRole('button', { name: /^Download policy/ }).click();
	const download = await coming;
	t.is(download.suggestedFilename(), `policy-of-dev-${after}.tar`);
	const names = [...tarEntries(await readFile(await download.path()))].map(({ name }) => name);
	t.true(names.includes('regolith/resources/memo/permits.rego'));
	t.true(names.includes('regolith/schema/data.json'));
	t.is(await page.getByText('/bundles/').count(), 1);
	t.deepEqual(faults, []);
	await close();
});

test.serial('the policy screen is accessible in narrow and dark windows', async (t) => {
	const file = 'file=regolith/resources/memo/permits.rego';
	const screens = ['policy', `policy?${file}#L8`, 'policy?view=revisions', 'policy?view=compare', 'policy?view=tests'];
	for (const options of [{}, { width: 390, dark: true } as const]) {
		const { page, open, faults, close } = await openConsole(browser, stack, options);
		for (const screen of screens) {
			await open(screen);
			await page.waitForLoadState('networkidle');
			t.deepEqual(await seriousViolations(page), [], screen);
			t.is(await overflowWidth(page), 0, screen);
		}
		t.deepEqual(faults, []);
		await close();
	}
});
