// @alone

import test from 'ava';
import type { Browser } from 'playwright-core';
import { startChromium } from '../support/chromium.js';
import { focusedName, openConsole, tabTo } from '../support/console-page.js';
import { setDocumentScene, startConsoleStack } from '../support/console-stack.js';
import { facts, type Stack } from '../support/stack.js';

/** Users can check, draft and publish with only the keyboard, on the check, matrix and draft screens. */

let stack: Stack;
let browser: Browser;

test.before(async () => {
	stack = await startConsoleStack();
	await setDocumentScene(stack);
	const given = { user: 'bob', role: 'reader', tenant: 'acme' };
	const { revision } = await stack.environment.post(`${facts}/role_assignments`, given);
	await stack.reached(revision);
	browser = await startChromium();
});

test.after.always(async () => {
	await browser?.close();
	await stack?.stop();
});

test('a denial is inspected, and a permission is drafted and published by keyboard', async (t) => {
	const { page, faults, close } = await openConsole(browser, stack);
	await page.getByRole('heading', { name: 'Check and why' }).waitFor();
	await tabTo(page, 'User');
	await page.keyboard.type('bob');
	for (const [label, text] of [
		['Action', 'sign'],
		['Resource', 'document:budget'],
		['Tenant', 'acme'],
	] as const) {
		await tabTo(page, label);
		await page.keyboard.type(text);
	}
	await page.keyboard.press('Escape');
	await page.keyboard.press('Enter');
	const answer = page.getByRole('status', { name: 'Result' });
	await answer.getByText('Denied').waitFor();

	await tabTo(page, 'Policy matrix');
	await page.keyboard.press('Enter');
	await page.getByRole('grid').waitFor();
	await tabTo(page, '`document:read`, tenant role `reader`: granted.');
	await page.keyboard.press('ArrowDown');
	t.is(await focusedName(page), '`document:sign`, tenant role `reader`: not granted.');
	await page.keyboard.press('Enter');
	t.is(
		await focusedName(page),
		'`document:sign`, tenant role `reader`: granted. Changed in the draft (previously not granted).',
	);

	await tabTo(page, 'Draft and impact1');
	await page.keyboard.press('Enter');
	const gained = page.getByRole('table', { name: 'Gained access' }).getByRole('row').nth(1);
	await gained.waitFor();
	t.deepEqual((await gained.getByRole('cell').allTextContents()).slice(0, 2), ['bob', 'sign']);
	await tabTo(page, 'Publish');
	await page.keyboard.press('Enter');
	await page.getByText(/Published as revision \d+: /).waitFor();

	await tabTo(page, 'Run a check');
	await page.keyboard.press('Enter');
	await page.getByRole('heading', { name: 'Check and why' }).waitFor();
	t.deepEqual(faults, []);
	await close();
});
