// @alone @rest

import test from 'ava';
import type { Browser, Page } from 'playwright-core';
import { startChromium } from '../support/chromium.js';
import type { Loose } from '../support/client.js';
import { closeScene, openConsole, overflowWidth, seriousViolations } from '../support/console-page.js';
import { groupRoleName } from '../support/group-role-name.js';
import type { Paginated } from '../support/listed.js';
import { freePort } from '../support/ports.js';
import { facts, type Stack, schema, startStack } from '../support/stack.js';

/** The directory in Chromium: reading and editing users, tenants, groups and instances. */

const long = 'k'.repeat(500);

let stack: Stack;
let browser: Browser;

test.before(async () => {
	const port = await freePort();
	const more = { PDP_PORT: String(port), CONSOLE_PDP_URL: `http://127.0.0.1:${port}` };
	stack = await startStack('server', more);
	await setTheScene();
	browser = await startChromium();
});

test.after.always(() => closeScene(browser, stack));

/** Ann owns a folder with documents, and is in a group. There are more users than fit on a page. */
async function setTheScene(): Promise<void> {
	const { environment } = stack;
	const made = async (path: string, body: object, method: 'post' | 'put' = 'post') => {
		const answer = await environment[method](path, body);
		if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
		return answer.revision;
	};
	await made(`${schema}/resources`, { key: 'folder', name: 'Folder', actions: { open: {} } });
	await made(`${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {}, write: {} } });
	await made(`${schema}/resources/folder/roles`, { key: 'owner', name: 'Owner', permissions: ['open'] });
	await made(`${schema}/resources/document/relations`, { key: 'parent', name: 'Parent', subject_resource: 'folder' });
	const derived = { role: 'owner', on_resource: 'folder', linked_by_relation: 'parent' };
	await made(`${schema}/resources/document/roles`, {
		key: 'editor',
		name: 'Editor',
		permissions: ['read', 'write'],
		granted_to: { users_with_role: [derived] },
	});
	await made(`${schema}/resources/document/roles`, { key: 'reader', name: 'Reader', permissions: ['read'] });
	await made(`${schema}/roles`, { key: 'viewer', name: 'Viewer', permissions: ['document:read'] });
	await made(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	const bulk = Array.from({ length: 40 }, (_, index) => ({ key: `user-${index}` }));
	await made(`${facts}/bulk/users`, { operations: bulk });
	await made(`${facts}/users`, {
		key: 'ann@example.com',
		email: 'ann@example.com',
		first_name: 'Ann',
		last_name: '<script>alert(1)</script>',
		attributes: { region: 'eu' },
		role_assignments: [{ role: 'viewer', tenant: 'acme' }],
	});
	await made(`${facts}/users`, { key: long, first_name: '\u202eevil' });
	for (const [resource, key] of [
		['folder', 'plans'],
		['document', 'budget'],
		['document', 'memo'],
	]) {
		await made(`${facts}/resource_instances`, { resource, key, tenant: 'acme' });
	}
	const parent = { subject: 'folder:plans', relation: 'parent', object: 'document:budget' };
	await made(`${facts}/relationship_tuples`, parent);
	await made(`${facts}/role_assignments`, {
		user: 'ann@example.com',
		role: 'owner',
		resource_instance: 'folder:plans',
	});
	const team = { group_resource_type_key: 'team', group_tenant: 'acme' };
	for (const group_instance_key of ['ops', 'oncall']) await made(`${schema}/groups`, { ...team, group_instance_key });
	await made(`${schema}/groups/team:ops/users/ann@example.com`, { tenant: 'acme' }, 'put');
	const memo = { role: 'reader', resource: 'document', resource_instance: 'document:memo', tenant: 'acme' };
	await stack.reached(await made(`${schema}/groups/team:ops/roles`, memo));
}

const pages = [
	'directory/users',
	'directory/tenants',
	'directory/groups',
	'directory/instances',
	'directory/users/ann%40example.com?may=yes',
	`directory/users/${long}`,
	'directory/tenants/acme',
	'directory/groups/team%3Aops',
	'directory/instances/document%3Abudget',
];

test.serial('the directory is accessible in a narrow dark window', async (t) => {
	for (const options of [{}, { width: 390, dark: true } as const]) {
		const { page, open, faults, close } = await openConsole(browser, stack, options);
		for (const name of pages) {
			await open(name);
			await page.waitForLoadState('networkidle');
			t.deepEqual(await seriousViolations(page), [], name);
			t.is(await overflowWidth(page), 0, name);
			t.is(await page.locator('main [role=alert]').count(), 0, name);
		}
		t.deepEqual(faults, []);
		await close();
	}
});

test.serial('users can be searched on the server by keyboard, and their names are shown as text', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open('directory');
	await page.getByText('42 in total').waitFor();
	await page.getByRole('button', { name: 'Next' }).click();
	await page.getByText('Page 2 of 2').waitFor();
	t.regex(page.url(), /page=2/);
	await page.getByLabel('Search', { exact: true }).focus();
	await page.keyboard.type('<SCRIPT>');
	const found = page.getByRole('link', { name: 'ann@example.com' });
	await page.locator('tbody tr').nth(1).waitFor({ state: 'detached' });
	await found.waitFor();
	t.regex(page.url(), /text=%3CSCRIPT%3E/);
	await page.getByText('Ann <script>alert(1)</script>').waitFor();
	await found.focus();
	await page.keyboard.press('Enter');
	await page.getByRole('heading', { name: 'User ann@example.com' }).waitFor();
	await page.reload();
	await page.getByRole('heading', { name: 'User ann@example.com' }).waitFor();
	await open(`directory/users?text=${long}`);
	await page.getByText('\\u{202e}evil').waitFor();
	t.deepEqual(faults, []);
	await close();
});

test.serial('a user’s page shows roles and permissions, and links to checks and graphs', async (t) => {
	const { page, open, close } = await openConsole(browser, stack);
	await open('directory/users/ann%40example.com');
	const roles = page.getByRole('table', { name: 'Roles of ann@example.com' });
	await roles.getByRole('row').filter({ hasText: 'folder:plans' }).filter({ hasText: 'assigned' }).waitFor();
	await roles.getByRole('row').filter({ hasText: 'document:budget' }).filter({ hasText: 'derived' }).waitFor();
	await page.getByRole('button', { name: 'Load permissions' }).click();
	const may = page.getByRole('table', { name: 'Permissions of ann@example.com' });
	const budget = may.getByRole('row').filter({ hasText: 'document:budget' });
	await budget.waitFor();
	t.regex((await budget.textContent()) ?? '', /editor.*document:read document:write/);
	await page.getByLabel('Search permissions').fill('budget write');
	await may.getByRole('row').nth(2).waitFor({ state: 'detached' });
	t.is(await may.locator('tbody tr').count(), 1);
	const check = new URL(
		(await budget.getByRole('link', { name: 'document:write' }).getAttribute('href')) ?? '',
		page.url(),
	);
	t.deepEqual(Object.fromEntries(check.searchParams), {
		user: 'ann@example.com',
		action: 'write',
		resource: 'document:budget',
		tenant: 'acme',
	});
	const graph = await page.locator('main').getByRole('link', { name: 'Graph', exact: true }).getAttribute('href');
	t.regex(graph ?? '', /graph\?from=user%3Aann%40example.com$/);
	await close();
});

/**
 * Types a key into a field with suggestions. Then leaves the field, because its list of suggestions would cover the
 * elements below.
 */
async function fillKey(page: Page, name: string, key: string): Promise<void> {
	await page.getByRole('combobox', { name, exact: true }).first().fill(key);
	await page.keyboard.press('Tab');
}

/** Reads a user from the API. */
async function readUser(key: string): Promise<Loose> {
	return (await stack.environment.get(`${facts}/users/${key}`)).body;
}

async function rolesHeld(key: string): Promise<readonly unknown[]> {
	const { body } = await stack.environment.get<readonly Loose[]>(`${facts}/role_assignments?user=${key}`);
	return body.map(({ role, tenant, resource_instance, expires_at }) => [
		role,
		resource_instance ?? tenant,
		expires_at !== undefined,
	]);
}

test.serial('a user can be created, assigned two roles, lose a role, and be deleted', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open('directory');
	await page.getByRole('button', { name: 'Create user…' }).click();
	const dialog = page.getByRole('dialog');
	await dialog.getByLabel('Key (used in checks)').fill('new@example.com');
	await dialog.getByLabel('First name').fill('Nora');
	await dialog.getByLabel('Attributes').fill('[1]');
	await dialog.getByRole('button', { name: 'Create user' }).click();
	t.regex((await dialog.getByRole('alert').textContent()) ?? '', /JSON object/);
	await dialog.getByLabel('Attributes').fill('{"level": 3}');
	await dialog.getByRole('button', { name: 'Create user' }).click();
	await page.getByRole('heading', { name: 'User new@example.com' }).waitFor();
	await page.getByText('No roles').waitFor();
	t.like(await readUser('new@example.com'), { first_name: 'Nora', attributes: { level: 3 } });

	await page.getByText('Assign role', { exact: true }).first().click();
	await page.getByRole('combobox', { name: 'Tenant', exact: true }).fill('acm');
	await page.getByRole('option', { name: /acme/ }).click();
	await fillKey(page, 'Role', 'viewer');
	await page.getByLabel('Expires (optional)').selectOption('On a date');
	await page.getByLabel('Expiry date').fill('2999-01-01T00:00');
	await page.getByRole('button', { name: 'Assign role' }).click();
	await page.getByRole('row').filter({ hasText: 'viewer' }).waitFor();
	await page.getByLabel('Scope').selectOption('instance');
	await page.getByRole('combobox', { name: 'Instance', exact: true }).fill('document:mem');
	await page.getByRole('option', { name: /document:memo/ }).click();
	await page.getByRole('combobox', { name: 'Role', exact: true }).fill('');
	await page.getByRole('combobox', { name: 'Role', exact: true }).pressSequentially('read');
	await page.getByRole('option', { name: /reader/ }).click();
	await page.getByLabel('Expires (optional)').selectOption('Never');
	await page.getByRole('button', { name: 'Assign role' }).click();
	await page.getByRole('row').filter({ hasText: 'reader' }).waitFor();
	t.deepEqual(await rolesHeld('new@example.com'), [
		['viewer', 'acme', true],
		['reader', 'document:memo', false],
	]);

	await page.getByRole('button', { name: 'Remove role viewer from new@example.com in acme' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'Remove role' }).click();
	await page.getByRole('row').filter({ hasText: 'viewer' }).waitFor({ state: 'detached' });
	t.deepEqual(await rolesHeld('new@example.com'), [['reader', 'document:memo', false]]);

	await page.getByRole('button', { name: 'Edit attributes' }).click();
	await page.locator('textarea:focus').waitFor();
	await page.getByRole('button', { name: 'Cancel' }).click();
	await page.locator(':focus', { hasText: /^Edit attributes$/ }).waitFor();
	await page.keyboard.press('Enter');
	await page.getByLabel('Attributes (JSON)').fill('{"level": ');
	t.true(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled());
	await page.getByLabel('Attributes (JSON)').fill('{"level": 4}');
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	await page.getByText('"level": 4').waitFor();
	t.like(await readUser('new@example.com'), { attributes: { level: 4 } });

	await page.getByRole('button', { name: 'Delete user' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
	t.is((await stack.environment.get(`${facts}/users/new@example.com`)).status, 200);
	await page.getByRole('button', { name: 'Delete user' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'Delete user' }).click();
	await page.getByRole('heading', { name: 'Directory' }).waitFor();
	t.is((await stack.environment.get(`${facts}/users/new@example.com`)).status, 404);
	t.deepEqual(faults, []);
	await close();
});

test.serial('a group can get a member, a role and a nested group', async (t) => {
	const { page, open, close } = await openConsole(browser, stack);
	await open('directory/groups/team%3Aoncall');
	await page.getByText('No members.').waitFor();
	await page.getByText('Add member').first().click();
	await fillKey(page, 'User', 'user-7');
	await page.getByRole('button', { name: 'Add member' }).click();
	await page.getByRole('link', { name: 'user-7' }).waitFor();
	await page.getByText('Assign role').first().click();
	await fillKey(page, 'Instance', 'document:budget');
	await fillKey(page, 'Role', 'reader');
	await page.getByRole('button', { name: 'Assign role' }).click();
	await page.getByRole('link', { name: 'document:budget' }).waitFor();
	await page.getByText('Add child group').first().click();
	await fillKey(page, 'Group', 'team:ops');
	await page.getByRole('button', { name: 'Add child group' }).click();
	await page
		.getByRole('table', { name: 'Child groups of team:oncall' })
		.getByRole('link', { name: 'team:ops' })
		.waitFor();
	await page.getByRole('button', { name: 'Remove team:ops from team:oncall' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'Remove from group' }).click();
	await page.getByText('No child groups.').waitFor();
	const { body } = await stack.environment.get<Paginated>(`${schema}/groups/team:oncall/roles`);
	t.deepEqual(body.data.map(groupRoleName), ['document:budget#reader']);
	await close();
});

test.serial('an instance can get and lose a relationship, and a tenant can get a user', async (t) => {
	const { page, open, close } = await openConsole(browser, stack);
	await open('directory/instances/document%3Amemo');
	await page.getByText('Add relationship').first().click();
	await fillKey(page, 'Subject', 'folder:plans');
	await page.getByRole('combobox', { name: 'Relation' }).click();
	await page.getByRole('option', { name: /parent/ }).click();
	await page.getByRole('button', { name: 'Add relationship' }).click();
	const remove = page.getByRole('button', { name: 'Remove relation parent from folder:plans to document:memo' });
	await remove.click();
	await page.getByRole('dialog').getByRole('button', { name: 'Remove relationship' }).click();
	await remove.waitFor({ state: 'detached' });

	const set = { key: 'paid', name: 'Paid', type: 'grant', parameters: { amount: { type: 'number' } } };
	const { status } = await stack.environment.post(`${schema}/condition_sets`, { ...set, conditions: {} });
	t.is(status, 200);
	await stack.environment.patch(`${schema}/resources/document/relations/parent`, { grant_conditions: ['paid'] });
	await open('directory/instances/document%3Amemo');
	await page.getByText('Add relationship').first().click();
	await fillKey(page, 'Subject', 'folder:plans');
	await page.getByRole('combobox', { name: 'Relation' }).click();
	await page.getByRole('option', { name: /parent/ }).click();
	await page.getByLabel('Add under').selectOption('paid');
	await page.getByLabel('amount').fill('5');
	await page.getByRole('button', { name: 'Add relationship' }).click();
	await page.getByText('under paid with amount 5').waitFor();
	const conditional = 'Remove relation parent from folder:plans to document:memo under paid';
	await page.getByRole('button', { name: conditional }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'Remove relationship' }).click();
	await page.getByRole('button', { name: conditional }).waitFor({ state: 'detached' });

	await open('directory/tenants/acme');
	await page.getByText('Add user').first().click();
	await fillKey(page, 'User', 'user-9');
	await page.getByRole('button', { name: 'Add user' }).click();
	await page.getByRole('link', { name: 'user-9' }).waitFor();
	await page.getByRole('button', { name: 'Remove user-9 from acme' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'Remove from tenant' }).click();
	await page.getByRole('link', { name: 'user-9' }).waitFor({ state: 'detached' });
	t.pass();
	await close();
});

test.serial('a read-only key sees the whole directory without edit buttons', async (t) => {
	const body = { project_id: 'default', environment_id: 'dev', access_level: 'read', name: 'reader' };
	const { body: key } = await stack.organization.post('/v2/api-key', body);
	const { page, open, close } = await openConsole(browser, stack, { key: String(key['secret']) });
	for (const name of pages) {
		await open(name);
		await page.waitForLoadState('networkidle');
		const names = await page.locator('main button, main summary').allTextContents();
		const others = names.filter((one) => !/^(As curl|Load permissions|Previous|Next)$/.test(one));
		t.deepEqual(others, [], name);
		t.is(await page.getByRole('columnheader', { name: 'Actions' }).count(), 0, name);
	}
	await close();
});

test.serial('missing objects are reported', async (t) => {
	const { page, open, close } = await openConsole(browser, stack);
	await open('directory/users/nobody');
	t.regex((await page.getByRole('alert').textContent()) ?? '', /nobody/);
	await open('directory?user=user-3');
	await page.getByRole('heading', { name: 'User user-3' }).waitFor();
	await open('directory/users?text=no-such-user');
	await page.getByText('No matching users').waitFor();
	t.pass();
	await close();
});
