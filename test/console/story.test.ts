// @alone

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { Browser, Page } from 'playwright-core';
import { opa, runOpa, writeFiles } from '../compiler/engine.js';
import { startChromium } from '../support/chromium.js';
import {
	closeScene,
	focusedName,
	openConsole,
	seriousViolations,
	tabTo,
	takePicture,
} from '../support/console-page.js';
import { setDocumentScene, startConsoleStack } from '../support/console-stack.js';
import { facts, type Stack } from '../support/stack.js';

/**
 * Two stories in the console, from a denial to a published policy. In the first, the user needs only the keyboard. In
 * the second, the user sees that a role permission would give access to too many users, adds a rule instead, and sees
 * the published difference.
 */

let stack: Stack;
let browser: Browser;

/** Cat works in finance and may not read the budget. Dan works in sales and has the same role. */
const document = {
	format: 'regolith-environment',
	version: 1,
	schema: {
		resources: { document: { name: 'Document', actions: { read: {}, write: {} } } },
		user_attributes: { department: { type: 'string' } },
		roles: {
			employee: { name: 'Employee' },
			owner: { name: 'Owner', permissions: ['document:read', 'document:write'] },
		},
	},
	facts: {
		tenants: { acme: { name: 'Acme' } },
		users: { cat: { attributes: { department: 'finance' } }, dan: { attributes: { department: 'sales' } }, olga: {} },
		resource_instances: { 'document:budget': { tenant: 'acme' } },
		role_assignments: [
			{ user: 'cat', role: 'employee', tenant: 'acme' },
			{ user: 'dan', role: 'employee', tenant: 'acme' },
			{ user: 'olga', role: 'owner', tenant: 'acme' },
		],
	},
};

test.before(async () => {
	stack = await startConsoleStack();
	browser = await startChromium();
});

test.after.always(() => closeScene(browser, stack));

test.serial('a denial can be inspected, and the missing permission drafted and published by keyboard', async (t) => {
	await setDocumentScene(stack);
	const given = { user: 'bob', role: 'reader', tenant: 'acme' };
	const { revision } = await stack.environment.post(`${facts}/role_assignments`, given);
	await stack.reached(revision);
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
	const gained = page.getByRole('list', { name: 'Gained access' }).locator('summary').first();
	await gained.waitFor();
	t.regex((await gained.textContent()) ?? '', /^bob sign /);
	await tabTo(page, /^Publish: \d+ checks? gained$/);
	await page.keyboard.press('Enter');
	await page.getByText(/Published as revision \d+: /).waitFor();

	await tabTo(page, 'Run a check');
	await page.keyboard.press('Enter');
	await page.getByRole('heading', { name: 'Check and why' }).waitFor();
	t.deepEqual(faults, []);
	await close();
});

/** Returns the users in an impact list. */
async function usersIn(page: Page, list: string): Promise<readonly string[]> {
	const rows = page.getByRole('list', { name: list }).locator('summary');
	await rows.first().waitFor();
	const users = await rows.locator('.impact-check > .key:first-child').allTextContents();
	return [...new Set(users)].sort();
}

test.serial('a denied user gets access, and nobody else does', async (t) => {
	const path = '/v2/projects/default/envs/dev/import?conflict_strategy=replace';
	const { status, revision } = await stack.environment.post(path, document);
	t.is(status, 200);
	await stack.reached(revision);
	const { page, open, faults, close } = await openConsole(browser, stack);
	const asked = 'check?user=cat&action=read&resource=document&instance=budget&tenant=acme';
	const answer = page.getByRole('status', { name: 'Result' });
	await open(asked);
	await answer.getByText('Denied').waitFor();
	await page.getByRole('button', { name: 'Add this: cat as `owner` in tenant acme' }).waitFor();
	await takePicture(page, 'check');

	// The first idea is to let the role read. The matrix drafts the permission, and the impact shows the additional
	// users.
	await open('matrix');
	await page.getByRole('gridcell', { name: '`document:read`, tenant role `employee`' }).click();
	await page.getByText('Draft updated: document:read, tenant role employee: granted.').waitFor();
	await takePicture(page, 'matrix');
	await open('draft');
	t.deepEqual(await usersIn(page, 'Gained access'), ['cat', 'dan']);
	await takePicture(page, 'impact');

	// Dan must not get access. Remove the permission, and create a set for finance instead.
	await open('matrix');
	await page.getByRole('gridcell', { name: '`document:read`, tenant role `employee`' }).click();
	await page.locator('nav .badge').waitFor({ state: 'detached' });
	await open('condition-sets');
	await page.getByRole('link', { name: 'New set' }).click();
	await page.getByLabel('Key').fill('finance');
	await page.getByLabel('Name', { exact: true }).fill('Finance department');
	await page.getByLabel('Conditions as JSON').fill('{"user.department": {"equals": "finance"}}');
	await page.getByText('1 of 3 users match.').waitFor();
	await page.getByRole('link', { name: 'cat' }).waitFor();
	await takePicture(page, 'condition-set');
	await page.getByRole('button', { name: 'Add to draft' }).click();
	await page.getByText('You are viewing the draft of this set').waitFor();
	await open('matrix');
	await page.getByRole('gridcell', { name: '`document:read`, user set `finance`' }).click();
	await page.getByRole('checkbox', { name: /every/ }).check();
	await open('draft');
	t.deepEqual(await usersIn(page, 'Gained access'), ['cat']);
	await page.getByText('regolith/user_sets/finance/selects.rego').first().waitFor();
	await page.getByRole('button', { name: /^Publish: \d+ checks? gained$/ }).click();
	await page
		.getByText(/Published as revision \d+/)
		.first()
		.waitFor();

	// The check is now allowed, and the policy difference matches the draft.
	const difference = page.locator('.notice a').first();
	const [from = '', to = ''] = (await difference.getAttribute('href'))?.match(/\d+/g) ?? [];
	await stack.reached(Number(to));
	await open(asked);
	await answer.getByText('Allowed').waitFor();
	await open(`policy?from=${from}&to=${to}`);
	await page.locator('summary').filter({ hasText: 'regolith/user_sets/finance/selects.rego' }).click();
	await page.getByLabel('Differences in regolith/user_sets/finance/selects.rego').waitFor();
	await takePicture(page, 'difference');
	t.deepEqual(await seriousViolations(page), []);

	// The published policy passes its generated tests.
	const { body: policy } = await stack.environment.get<{ readonly files: readonly { path: string; text: string }[] }>(
		`/v2/projects/default/envs/dev/policies/${to}`,
	);
	const folder = await mkdtemp(join(tmpdir(), 'regolith-story-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	await writeFiles(folder, policy.files);
	t.regex(await runOpa(['test', '--timeout', '60s', '.'], folder), /PASS: (\d+)\/\1/, opa);
	t.deepEqual(faults, []);
	await close();
});
