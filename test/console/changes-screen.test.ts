// @alone @rest

import test from 'ava';
import type { Browser, Page } from 'playwright-core';
import { startChromium } from '../support/chromium.js';
import type { Loose } from '../support/client.js';
import { closeScene, openConsole, overflowWidth, seriousViolations } from '../support/console-page.js';
import { facts, type Stack, schema, startStack } from '../support/stack.js';

/** The change log in Chromium shows changes, and puts their reversal into the draft. */

let stack: Stack;
let browser: Browser;
/** The revision that deleted a resource with its parts. */
let deletion = 0;

test.before(async () => {
	stack = await startStack();
	const { environment } = stack;
	const actions = { read: { name: 'Read' }, print: { name: 'Print' } };
	await environment.post(`${schema}/resources`, { key: 'report', name: 'Report', actions });
	await environment.post(`${schema}/roles`, { key: 'editor', name: 'Editor', permissions: ['report:read'] });
	await environment.post(`${schema}/roles/editor/permissions`, { permissions: ['report:print'] });
	await environment.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	await environment.post(`${facts}/users`, { key: 'ann', first_name: '<b>Ann</b>', attributes: { region: 'eu' } });
	await environment.patch(`${facts}/users/ann`, { attributes: { region: '\u202eus' } });
	await environment.post(`${facts}/role_assignments`, { user: 'ann', role: 'editor', tenant: 'acme' });
	const users = Array.from({ length: 60 }, (_, index) => ({ key: `user-${index}` }));
	await environment.post(`${facts}/bulk/users`, { operations: users });
	deletion = (await environment.delete(`${schema}/resources/report`)).revision ?? 0;
	browser = await startChromium();
});

test.after.always(() => closeScene(browser, stack));

/** Reads the page's draft. */
async function drafted(page: Page): Promise<readonly Loose[]> {
	const text = await page.evaluate(
		`Object.entries(sessionStorage).find(([name]) => name.startsWith('regolith-draft-'))?.[1] ?? '{"changes":[]}'`,
	);
	return (JSON.parse(String(text)) as { readonly changes: readonly Loose[] }).changes;
}

test.serial('changes are grouped by revision and show their differences, even in a narrow dark window', async (t) => {
	for (const options of [{}, { width: 390, dark: true } as const]) {
		const { page, open, faults, close } = await openConsole(browser, stack, options);
		await open('changes?kind=user&operation=update');
		const item = page.getByRole('listitem').filter({ hasText: 'attributes.region' }).last();
		await item.waitFor();
		t.is(await item.locator('del').textContent(), 'eu');
		t.is(await item.locator('ins').textContent(), '\\u{202e}us');
		await open('changes');
		await page.locator('.changes-revisions').waitFor();
		await page
			.getByRole('button', { name: /^Show full object/ })
			.first()
			.click();
		t.deepEqual(await seriousViolations(page), []);
		t.is(await overflowWidth(page), 0);
		t.deepEqual(faults, []);
		await close();
	}
});

test.serial('the URL contains the filters, and pages stay stable during writes', async (t) => {
	const { page, open, close } = await openConsole(browser, stack);
	await open('changes');
	await page.getByLabel('Type').selectOption('user');
	await page.getByLabel('Object key').fill('user-*');
	await page.getByText('60 in total').waitFor();
	t.regex(page.url(), /kind=user/);
	t.regex(page.url(), /text=user-\*/);
	const first = await page.locator('.changes-items > li').first().textContent();
	await page.getByRole('button', { name: 'Next' }).click();
	await page.getByText('Page 2 of 2').waitFor();
	await stack.environment.post(`${facts}/users`, { key: 'user-late' });
	await page.reload();
	await page.getByText('Page 2 of 2, 60 in total').waitFor();
	t.is(await page.locator('.changes-items > li').count(), 10);
	await page.getByRole('button', { name: 'Previous' }).click();
	await page.getByText('Page 1 of 2').waitFor();
	await page.locator('.changes-items > li:first-child').filter({ hasText: 'user-59' }).waitFor();
	t.is(await page.locator('.changes-items > li').first().textContent(), first);
	await page.getByText('Author, time and revision').click();
	await page.getByLabel('From', { exact: true }).fill('2999-01-01T00:00');
	await page.keyboard.press('Tab');
	await page.getByText('No matching changes').waitFor();
	await page.getByRole('link', { name: 'Clear filters' }).click();
	await page.locator('.changes-revisions').waitFor();
	await open('changes?kind=nonsense&from=x&since=y');
	await page.locator('.changes-revisions').waitFor();
	await close();
});

test.serial('the draft undoes a single change', async (t) => {
	const { page, open, close } = await openConsole(browser, stack);
	await open('changes?kind=role_assignment&text=ann*');
	await page.getByRole('button', { name: 'Undo: role assignment ann#editor@acme was created' }).click();
	await page.getByText('The undo is in the draft and not published yet.').waitFor();
	t.deepEqual(await drafted(page), [
		{ kind: 'role_assignment', operation: 'delete', value: { user: 'ann', role: 'editor', tenant: 'acme' } },
	]);
	t.is(await page.locator('nav .badge').textContent(), '1');
	await open('changes?kind=environment');
	await page.locator('.changes-items, .empty').first().waitFor();
	t.is(await page.getByRole('button', { name: /^Undo/ }).count(), 0);
	await close();
});

test.serial(
	'undoing a revision restores a deleted resource with its actions, and a role with its grants',
	async (t) => {
		const { page, open, close } = await openConsole(browser, stack);
		await open(`changes?from=${deletion}&to=${deletion}`);
		await page.locator('.changes-items').waitFor();
		t.is(
			await page.getByRole('button', { name: /^Undo: resource report / }).count(),
			0,
			'the change alone does not contain the whole resource',
		);
		await page.getByRole('button', { name: 'Undo this revision' }).click();
		await page.getByText('The undo is in the draft').waitFor();
		const changes = await drafted(page);
		t.like(
			changes.find(({ kind }) => kind === 'resource'),
			{
				operation: 'create',
				key: 'report',
				value: { name: 'Report', actions: { read: { name: 'Read' }, print: { name: 'Print' } } },
			},
		);
		const role = changes.find(({ kind }) => kind === 'role')?.['value'] as Loose | undefined;
		t.deepEqual(role?.['permissions'], ['report:read', 'report:print']);
		// The API accepts the draft made by the page.
		const draft = { base_revision: deletion, changes };
		const applied = await stack.environment.post('/v2/projects/default/envs/dev/drafts/apply', draft);
		t.is(applied.status, 200, JSON.stringify(applied.body));
		const { body } = await stack.environment.get(`${schema}/resources/report`);
		t.deepEqual(Object.keys(body['actions'] as object).sort(), ['print', 'read']);
		await close();
	},
);

test.serial('undoing a change lists and keeps later additions by other users', async (t) => {
	const { environment } = stack;
	await environment.post(`${schema}/resources`, {
		key: 'memo',
		name: 'Memo',
		actions: { read: {}, print: {}, sign: {} },
	});
	await environment.post(`${schema}/roles`, { key: 'clerk', name: 'Clerk', permissions: ['memo:read'] });
	const permissions = `${schema}/roles/clerk/permissions`;
	const { revision: undone } = await environment.post(permissions, { permissions: ['memo:print'] });
	const { revision: later } = await environment.post(permissions, { permissions: ['memo:sign'] });
	const { page, open, close } = await openConsole(browser, stack);
	for (const [revision, isOvertaken] of [
		[later, false],
		[undone, true],
	] as const) {
		await open(`changes?from=${revision}&to=${revision}`);
		await page.getByRole('button', { name: 'Undo: role clerk was updated' }).click();
		await page.getByText('The undo is in the draft').waitFor();
		await open('draft');
		const told = isOvertaken ? 'The environment has changed' : 'Preview';
		await page.getByRole('heading', { name: told }).waitFor();
		await page.getByText(`1 change, based on revision ${revision}`).waitFor();
		if (isOvertaken) await page.getByRole('cell', { name: String(later), exact: true }).waitFor();
		t.is(await page.getByRole('button', { name: 'Publish' }).count(), isOvertaken ? 0 : 1);
		await page.getByRole('button', { name: 'Discard draft' }).click();
	}
	await close();
});

test.serial('a read-only key sees changes but cannot undo them', async (t) => {
	const body = { project_id: 'default', environment_id: 'dev', access_level: 'read', name: 'reader' };
	const { body: key } = await stack.organization.post('/v2/api-key', body);
	const { page, open, close } = await openConsole(browser, stack, { key: String(key['secret']) });
	await open('changes');
	await page.locator('.changes-items').first().waitFor();
	t.is(await page.getByRole('button', { name: /Undo/ }).count(), 0);
	await close();
});
