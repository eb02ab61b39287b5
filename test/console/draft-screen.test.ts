// @alone @rest

import { readFileSync } from 'node:fs';
import test from 'ava';
import type { Browser, Page } from 'playwright-core';
import { startChromium } from '../support/chromium.js';
import {
	type ConsoleWindow,
	closeScene,
	openConsole,
	overflowWidth,
	seriousViolations,
} from '../support/console-page.js';
import { facts, type Stack, schema, startStack } from '../support/stack.js';

/** Draft and impact in Chromium: a file becomes a draft and then a revision. Includes a conflict and an undo. */

let stack: Stack;
let browser: Browser;

const document = {
	format: 'regolith-environment',
	version: 1,
	schema: {
		resources: { document: { name: 'Document', actions: { read: {}, write: {} } } },
		roles: { guest: { name: 'Guest' }, staff: { name: 'Staff', permissions: ['document:read', 'document:write'] } },
	},
	facts: {
		tenants: { acme: { name: 'Acme' } },
		users: { ann: {}, bob: {} },
		role_assignments: [
			{ user: 'ann', role: 'staff', tenant: 'acme' },
			{ user: 'bob', role: 'guest', tenant: 'acme' },
		],
	},
};

test.before(async () => {
	stack = await startStack();
	browser = await startChromium();
});

// Each test starts with the same environment.
test.beforeEach(async () => {
	const { status } = await stack.environment.post(
		'/v2/projects/default/envs/dev/import?conflict_strategy=replace',
		document,
	);
	if (status !== 200) throw new Error(`the import returned ${status}`);
});

test.after.always(() => closeScene(browser, stack));

/** Reads the environment's newest revision. */
async function newestRevision(): Promise<number> {
	const { revision } = await stack.environment.get('/v2/projects/default/envs/dev/export?half=schema');
	return revision ?? 0;
}

const takeWriting = {
	kind: 'role',
	operation: 'update',
	key: 'staff',
	value: { name: 'Staff', permissions: ['document:read'] },
};
const giveReading = {
	kind: 'role',
	operation: 'update',
	key: 'guest',
	value: { name: 'Guest', permissions: ['document:read'] },
};

/** Opens the screen and chooses a file. */
async function openFile(content: unknown, options: Parameters<typeof openConsole>[2] = {}): Promise<ConsoleWindow> {
	const opened = await openConsole(browser, stack, options);
	await opened.open('draft');
	await chooseFile(opened.page, content);
	return opened;
}

/** Confirms the publication of a draft that takes access away. */
async function confirmLoss(page: Page): Promise<void> {
	await page.getByRole('dialog').getByRole('button', { name: 'Publish draft' }).click();
}

/** Returns the focused element's text. */
async function focused(page: Page): Promise<unknown> {
	return page.evaluate('document.activeElement.textContent');
}

async function chooseFile(page: Page, content: unknown): Promise<void> {
	const text = typeof content === 'string' ? content : JSON.stringify(content);
	const file = { name: 'draft.json', mimeType: 'application/json', buffer: Buffer.from(text) };
	await page.getByLabel('Drop a draft or an environment document').setInputFiles(file);
}

test.serial('a draft shows its impact, is published in one step, and is then empty', async (t) => {
	const base_revision = await newestRevision();
	const { page, faults, close } = await openFile({ base_revision, changes: [takeWriting, giveReading] });
	const changes = page.locator('.draft-changes > li');
	await changes.first().waitFor();
	t.deepEqual(await changes.locator('dl').allTextContents(), [
		'permissionswithout document:write',
		'permissionswith document:read',
	]);
	await page.getByText('checks lost', { exact: true }).waitFor();
	t.deepEqual(await page.locator('.draft-counts dd').allTextContents(), ['1', '1', '2']);
	const lost = page.getByRole('list', { name: 'Lost access' }).getByRole('listitem');
	t.is(await lost.locator('summary').textContent(), 'ann write document in acme allowed → denied');
	t.false(await lost.getByText('After').isVisible(), 'reasons are shown on demand');
	await lost.locator('summary').click();
	t.deepEqual(await lost.locator('dt').allInnerTexts(), ['Before', 'After']);
	t.is(
		await lost.getByRole('link', { name: 'Explain this check' }).getAttribute('href'),
		'/console/default/dev/check?user=ann&action=write&resource=document&tenant=acme',
	);
	await page.getByText('1 through role staff in the tenant').waitFor();
	await page.getByText('The Rego does not change.').waitFor();
	await page.getByRole('button', { name: 'Publish: 1 check lost, 1 gained' }).click();
	await page.getByRole('dialog').getByText('1 check lost, 1 gained. Publish all 2 changes to dev').waitFor();
	t.is(await newestRevision(), base_revision, 'nothing was published');
	await confirmLoss(page);
	await page.getByText(`Published as revision ${base_revision + 1}`, { exact: true }).waitFor();
	const read = '[...document.querySelectorAll(".notice a")].map(({ href }) => href)';
	const links = (await page.evaluate(read)) as readonly string[];
	t.deepEqual(
		links.map((href) => href.replace(/^.*\/dev\//, '')),
		[
			`policy?from=${base_revision}&to=${base_revision + 1}`,
			`changes?from=${base_revision + 1}&to=${base_revision + 1}`,
			'check',
		],
	);
	await page.getByText('The draft is empty').waitFor();
	t.is(await focused(page), 'Draft and impact');
	t.is(await newestRevision(), base_revision + 1);
	const { body } = await stack.environment.get(`${schema}/roles/staff`);
	t.deepEqual(body['permissions'], ['document:read']);
	t.deepEqual(faults, []);
	await close();
});

test.serial('differences in the Rego are shown line by line', async (t) => {
	const change = {
		kind: 'resource',
		operation: 'update',
		key: 'document',
		value: { name: 'Document', actions: { read: {}, write: {}, share: {} } },
	};
	const { page, close } = await openFile({ base_revision: await newestRevision(), changes: [change] });
	await page.locator('.diff-view').first().waitFor();
	t.regex((await page.locator('.diff-view .added').allTextContents()).join('\n'), /share/);
	await page.getByText('action document:share').waitFor();
	await close();
});

test.serial('publishing a stale draft lists every conflicting object, and the draft can be rebased', async (t) => {
	const base_revision = await newestRevision();
	const { page, faults, close } = await openFile({ base_revision, changes: [takeWriting, giveReading] });
	await page.getByText('checks lost', { exact: true }).waitFor();
	await stack.environment.patch(`${schema}/roles/staff`, { description: 'changed meanwhile' });
	const overtaken = await newestRevision();
	await page.getByRole('button', { name: 'Publish' }).click();
	await confirmLoss(page);
	const conflicts = page.getByRole('alert').filter({ hasText: 'The environment has changed' });
	await conflicts.waitFor();
	t.is(await newestRevision(), overtaken, 'nothing was changed');
	const cells = await conflicts.getByRole('cell').allTextContents();
	t.deepEqual(cells.slice(0, 4), ['1', 'role staff', 'changed', String(overtaken)]);
	t.is(cells.length, 5);
	t.is(await page.getByRole('button', { name: 'Publish' }).count(), 0);
	t.is(await page.getByText('changed elsewhere').count(), 1);
	// A reloaded page shows the same conflict.
	await page.reload();
	await conflicts.waitFor();
	await conflicts.getByRole('button', { name: `Rebase draft onto revision ${overtaken}` }).click();
	t.is(await focused(page), 'Draft and impact');
	await page.locator('.draft-changes').getByText('description').waitFor();
	await page.getByText('checks lost', { exact: true }).waitFor();
	await page.getByRole('button', { name: 'Publish' }).click();
	await confirmLoss(page);
	await page.getByText(`Published as revision ${overtaken + 1}`, { exact: true }).waitFor();
	t.deepEqual(faults, []);
	await close();
});

test.serial('a rejected draft shows the reason, and no part of it is applied', async (t) => {
	const missing = { ...takeWriting, value: { name: 'Staff', permissions: ['document:fly'] } };
	const revision = await newestRevision();
	const { page, close } = await openFile({ base_revision: revision, changes: [giveReading] });
	const objects = page.getByRole('table', { name: 'Changed objects' });
	await objects.waitFor();
	await chooseFile(page, { base_revision: revision, changes: [giveReading, missing] });
	await page.getByRole('alert').filter({ hasText: 'fly' }).waitFor();
	t.is(await objects.count(), 0, 'the results of the previous draft are removed');
	t.is(await page.getByRole('button', { name: 'Publish' }).getAttribute('aria-disabled'), 'true');
	await page.getByRole('button', { name: 'Publish' }).click({ force: true });
	await page.getByRole('button', { name: 'Remove from the draft: role staff updated' }).click();
	await page.locator(':focus', { hasText: /^Remove$/ }).waitFor({ timeout: 5000 });
	await page.getByText('checks gained', { exact: true }).waitFor();
	t.is(await page.getByRole('button', { name: 'Publish' }).getAttribute('aria-disabled'), 'false');
	t.is(await newestRevision(), revision);
	await page.getByRole('button', { name: 'Remove from the draft: role guest updated' }).click();
	await page.getByText('The draft is empty').waitFor();
	t.is(await focused(page), 'Draft and impact');
	await close();
});

test.serial('a draft can be downloaded and discarded, and survives a sign-out in its tab', async (t) => {
	const draft = { base_revision: await newestRevision(), changes: [giveReading] };
	const { page, open, close } = await openFile(draft);
	const waiting = page.waitForEvent('download');
	await page.getByRole('button', { name: 'Download draft.json' }).click();
	const download = await waiting;
	t.is(download.suggestedFilename(), 'draft.json');
	t.deepEqual(JSON.parse(readFileSync(await download.path(), 'utf8')), draft);
	await page.getByRole('button', { name: 'Sign out' }).click();
	await page.getByLabel('API key').fill(stack.keys.environment);
	await page.getByRole('button', { name: 'Sign in' }).click();
	await page.getByRole('button', { name: 'Sign out' }).waitFor();
	await open('draft');
	await page.getByRole('button', { name: 'Remove from the draft: role guest updated' }).waitFor();
	await page.getByRole('button', { name: 'Discard draft' }).click();
	await page.getByText('The draft is empty').waitFor();
	await page.reload();
	await page.getByText('The draft is empty').waitFor();
	t.pass();
	await close();
});

test.serial('files without a draft are rejected, and the previous draft is kept', async (t) => {
	const { page, close } = await openFile('not JSON');
	await page.getByRole('alert').filter({ hasText: 'This file is not valid JSON.' }).waitFor();
	await chooseFile(page, { ...document, schema: { ...document.schema, roles: { boss: { name: 'Boss' } } } });
	await page.getByRole('button', { name: 'Remove from the draft: role boss created' }).waitFor();
	await page.getByText('The draft does not include the document’s facts').waitFor();
	await chooseFile(page, { base_revision: await newestRevision(), changes: [giveReading] });
	await page.getByRole('button', { name: 'Remove from the draft: role guest updated' }).waitFor();
	await page.getByRole('button', { name: 'Restore the previous draft' }).click();
	await page.getByRole('button', { name: 'Remove from the draft: role boss created' }).waitFor();
	t.is(await page.locator('.draft-changes > li').count(), 1);
	await close();
});

test.serial('a read-only key can preview drafts but not publish them', async (t) => {
	const made = { project_id: 'default', environment_id: 'dev', access_level: 'read', name: 'reader' };
	const { body } = await stack.organization.post('/v2/api-key', made);
	const draft = { base_revision: await newestRevision(), changes: [takeWriting] };
	const { page, close } = await openFile(draft, { key: String(body['secret']) });
	await page.getByText('checks lost', { exact: true }).waitFor();
	t.is(await page.locator('.draft-counts dd').first().textContent(), '1');
	t.is(await page.getByRole('button', { name: 'Publish' }).count(), 0);
	await close();
});

test.serial('markup in keys is shown as text, and the screen is accessible at every window size', async (t) => {
	const key = `${'x'.repeat(500)}`;
	const user = '<b>bold</b>';
	await stack.environment.post(`${facts}/users`, { key, first_name: user });
	await stack.environment.post(`${facts}/role_assignments`, { user: key, role: 'guest', tenant: 'acme' });
	const renamed = { ...giveReading, value: { ...giveReading.value, name: `${user}\u202e` } };
	const draft = { base_revision: await newestRevision(), changes: [renamed, takeWriting] };
	for (const options of [{}, { width: 390, dark: true } as const]) {
		const { page, faults, close } = await openFile(draft, options);
		await page.getByText('checks gained', { exact: true }).waitFor();
		t.is(await page.locator('main b').count(), 0);
		await page.getByText('<b>bold</b>\\u{202e}').waitFor();
		t.deepEqual(await seriousViolations(page), []);
		t.is(await overflowWidth(page), 0);
		t.deepEqual(faults, []);
		await close();
	}
});

test.serial('a long list of changed checks is folded, and nothing is cut off at any window size', async (t) => {
	const users = Array.from({ length: 45 }, (_, index) => `user-${index}@department.example.com`);
	const { status } = await stack.environment.post('/v2/projects/default/envs/dev/import?conflict_strategy=replace', {
		...document,
		facts: {
			tenants: document.facts.tenants,
			users: Object.fromEntries(users.map((key) => [key, {}])),
			role_assignments: users.map((user) => ({ user, role: 'guest', tenant: 'acme' })),
		},
	});
	t.is(status, 200);
	const draft = { base_revision: await newestRevision(), changes: [giveReading] };
	for (const options of [{}, { width: 1024 }, { width: 390 }] as const) {
		const { page, faults, close } = await openFile(draft, options);
		const rows = page.getByRole('list', { name: 'Gained access' }).getByRole('listitem');
		await page.getByRole('button', { name: 'Publish: 45 checks gained' }).waitFor();
		t.is(await rows.count(), 20);
		await page.getByRole('button', { name: 'Show more (25 left)' }).click();
		t.is(await rows.count(), 40);
		await page.locator('.impact-rows > li:nth-child(21) summary:focus').waitFor();
		await page.getByRole('button', { name: 'Show more (5 left)' }).click();
		t.is(await rows.count(), 45);
		await rows.first().locator('summary').click();
		t.is(await overflowWidth(page), 0);
		const cut = await page.evaluate(`[...document.querySelectorAll('.impact-rows *')]
			.filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline').length`);
		t.is(cut, 0);
		t.deepEqual(faults, []);
		await close();
	}
});

test.serial('tests run with the draft, and publishing despite failed tests requires a confirmation', async (t) => {
	const check = { user: 'ann', resource: { type: 'document', tenant: 'acme' } };
	for (const action of ['read', 'write']) {
		const body = { key: `ann-${action}`, check: { ...check, action }, expected: 'allow' };
		t.is((await stack.environment.post(`${schema}/check_tests`, body)).status, 200);
	}
	const base_revision = await newestRevision();
	const { page, faults, close } = await openFile({ base_revision, changes: [giveReading] });
	await page.getByText('All 2 tests pass').waitFor();
	await chooseFile(page, { base_revision, changes: [takeWriting] });
	await page.getByText('1 of 2 tests fails').waitFor();
	const failed = page.getByRole('table', { name: 'Test results' }).getByRole('row');
	t.is(await failed.count(), 2);
	t.regex((await failed.nth(1).textContent()) ?? '', /^failedann-writeann write document in acmealloweddenied/);
	await page.getByRole('button', { name: 'Publish' }).click();
	const dialog = page.getByRole('dialog', { name: 'Publish draft' });
	await dialog.getByText('1 check lost. 1 of 2 tests fails. Publish 1 change to dev').waitFor();
	t.is(await newestRevision(), base_revision, 'nothing was published');
	await dialog.getByRole('button', { name: 'Publish draft' }).click();
	await page.getByText(`Published as revision ${base_revision + 1}`, { exact: true }).waitFor();
	t.deepEqual(faults, []);
	await close();
});
