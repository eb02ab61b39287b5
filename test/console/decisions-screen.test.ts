// @alone @rest

import test from 'ava';
import type { Browser } from 'playwright-core';
import { startChromium } from '../support/chromium.js';
import { closeScene, openConsole, overflowWidth, seriousViolations } from '../support/console-page.js';
import { hostileUser, setDocumentScene, startConsoleStack } from '../support/console-stack.js';
import { eventually } from '../support/eventually.js';
import type { Stack } from '../support/stack.js';

/** Decision log in Chromium. */

let stack: Stack;
let browser: Browser;

test.before(async () => {
	stack = await startConsoleStack();
	await setDocumentScene(stack);
	browser = await startChromium();
});

test.after.always(() => closeScene(browser, stack));

const logs = '/v2/pdps/default/dev/audit_logs';

/** Runs a check and waits for its log entry. */
async function ask(user: string, attributes: object = {}): Promise<void> {
	const query = `${logs}?users=${encodeURIComponent(user)}`;
	const count = async () => (await stack.environment.get<{ readonly total_count: number }>(query)).body.total_count;
	const before = await count();
	const resource = { type: 'document', key: 'budget', tenant: 'acme' };
	await stack.pdp.post('/allowed', { user: { key: user, attributes }, action: 'read', resource });
	await eventually(async () => ((await count()) > before ? true : undefined));
}

test.serial('decisions are listed and counted as they arrive, and link to their reasons', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open('decisions');
	await page.getByText('No decisions yet').waitFor();
	await ask('ann', { level: 2 });
	await page.getByRole('button', { name: 'Show', exact: true }).click();
	const rows = page.getByRole('row');
	await rows.getByText('document:budget').waitFor();
	await ask('bob');
	await page.getByText('1 new').waitFor();
	t.is(await rows.count(), 2, 'the list does not move before a request to show new decisions');
	await page.getByRole('button', { name: 'Show', exact: true }).click();
	await rows.getByText('bob').waitFor();
	t.is(await rows.count(), 3);
	t.deepEqual(await seriousViolations(page), []);
	t.is(await overflowWidth(page), 0);

	const link = await page.getByRole('link', { name: 'Why: ann, read, document' }).getAttribute('href');
	const query = new URL(link ?? '', 'http://localhost').searchParams;
	t.is(query.get('instance'), 'budget');
	t.is(query.get('user_attributes'), '{"level":2}');
	t.regex(query.get('revision') ?? '', /^\d+$/);
	await page.getByRole('link', { name: 'Why: ann, read, document' }).click();
	const answer = page.getByRole('status', { name: 'Result' });
	await answer.getByText('Allowed').waitFor();
	t.regex((await answer.textContent()) ?? '', /Result from the API at revision \d+.*, as of/);
	t.deepEqual(faults, []);
	await close();
});

test.serial('the URL contains the filters', async (t) => {
	await ask('ann');
	await ask('bob');
	const { page, open, close } = await openConsole(browser, stack);
	await open('decisions?user=bob&decision=deny');
	await page.getByRole('row').getByText('denied').first().waitFor();
	t.is(await page.getByRole('row').getByText('ann').count(), 0);
	await page.getByRole('combobox', { name: 'Code', exact: true }).selectOption('user_not_synced');
	await page.getByRole('button', { name: 'Apply' }).click();
	await page.getByText('No matching decisions').waitFor();
	t.is(new URL(page.url()).searchParams.get('code'), 'user_not_synced');
	await page.getByRole('combobox', { name: 'Code', exact: true }).selectOption('no_graph_roles');
	await page.getByRole('button', { name: 'Apply' }).click();
	await page.getByRole('row').getByText('no_graph_roles').first().waitFor();
	await page.getByRole('combobox', { name: 'Decision', exact: true }).selectOption('allow');
	await page.getByRole('button', { name: 'Apply' }).click();
	await page.getByText('No matching decisions').waitFor();
	t.is(new URL(page.url()).searchParams.get('decision'), 'allow');
	await page.getByRole('button', { name: 'Clear filters' }).click();
	await page.getByRole('row').getByText('ann').first().waitFor();
	t.is(new URL(page.url()).search, '');
	await close();
});

test.serial('hostile keys are shown as text in a narrow dark window, and losses are reported', async (t) => {
	await ask(hostileUser);
	const { page, open, faults, close } = await openConsole(browser, stack, { width: 390, dark: true });
	const report = {
		pdp_instance_id: 'rack-7',
		state: { pdp: { decision_log: { sampled_out: 12, receivers: { api: { sent: 1, lost: 3 } } } } },
	};
	await stack.environment.post('/v2/pdps/me/state', report);
	await open('decisions');
	await page.getByText('3 lost, 12 skipped by sampling').waitFor();
	await page.getByRole('row').getByText('\\u{202e}').first().waitFor();
	t.deepEqual(await seriousViolations(page), []);
	t.is(await overflowWidth(page), 0);
	t.deepEqual(faults, []);
	await close();
});
