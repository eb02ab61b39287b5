// @alone @rest

import { readFile } from 'node:fs/promises';
import test from 'ava';
import type { Browser } from 'playwright-core';
import { startChromium } from '../support/chromium.js';
import { openConsole, overflowWidth, seriousViolations } from '../support/console-page.js';
import { setDocumentScene, startConsoleStack } from '../support/console-stack.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { facts, type Stack, schema } from '../support/stack.js';

/** Decision points, keys, environments and elements in Chromium: each screen and its main action. */

let stack: Stack;
let browser: Browser;
let receiver: Receiver;

test.before(async () => {
	receiver = await startReceiver();
	stack = await startConsoleStack();
	await setDocumentScene(stack);
	browser = await startChromium();
});

test.after.always(async () => {
	await browser?.close();
	await stack?.stop();
	await receiver?.stop();
});

const narrow = { width: 390, dark: true } as const;

test.serial('decision points show their state, and their key can be rotated', async (t) => {
	const of = { project_id: 'default', environment_id: 'dev' };
	const key = { ...of, owner_type: 'pdp_config', access_level: 'admin', name: 'of another point' };
	const { body: old } = await stack.organization.post('/v2/api-key', key);
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open('decision-points');
	const row = page.getByRole('table', { name: 'Decision points' }).locator('tbody tr').first();
	await row.getByText('ready').waitFor();
	const cells = await row.getByRole('cell').allTextContents();
	t.is(cells[5], 'edge', 'its mode');
	t.regex(cells[7] ?? '', /^[\d,.]+$/, 'checks per second');
	t.regex((await row.textContent()) ?? '', /\d+\.\d+\.\d+/, 'its version');
	t.deepEqual(await seriousViolations(page), []);
	await page.getByRole('button', { name: 'Rotate key of another point' }).click();
	await page.getByRole('button', { name: 'Rotate key', exact: true }).click();
	const dialog = page.getByRole('dialog', { name: 'New key' });
	const secret = (await dialog.locator('pre').textContent()) ?? '';
	t.regex(secret, /^permit_key_/);
	t.not(secret, old['secret']);
	await page.keyboard.press('Escape');
	await dialog.waitFor({ state: 'detached' });
	t.false((await page.content()).includes(secret), 'the secret was shown only once');
	t.deepEqual(faults, []);
	await close();
});

test.serial('a key can be created, used, rotated and revoked, and its secret is shown once', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open('keys');
	await page.getByRole('button', { name: 'Create key', exact: true }).click();
	await page.getByLabel('Name', { exact: true }).fill('of the nightly job');
	await page.getByLabel('Access level').selectOption('write');
	await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
	const dialog = page.getByRole('dialog', { name: 'Key secret' });
	const first = (await dialog.locator('pre').textContent()) ?? '';
	t.deepEqual(await seriousViolations(page), []);
	await dialog.getByRole('button', { name: 'Close' }).click();
	const row = page.getByRole('row').filter({ hasText: 'of the nightly job' });
	await row.waitFor();
	t.regex((await row.textContent()) ?? '', /write/);
	t.false((await page.content()).includes(first));
	const statusWith = async (secret: string) => {
		const headers = { authorization: `Bearer ${secret}` };
		return (await fetch(`${stack.api.listening.url}${schema}/resources`, { headers })).status;
	};
	t.is(await statusWith(first), 200);
	await row.getByRole('button', { name: 'Rotate of the nightly job' }).click();
	await page.getByRole('button', { name: 'Rotate key', exact: true }).click();
	const second = (await dialog.locator('pre').textContent()) ?? '';
	await dialog.getByRole('button', { name: 'Close' }).click();
	t.deepEqual([await statusWith(first), await statusWith(second)], [401, 200]);
	await row.getByRole('button', { name: 'Revoke of the nightly job' }).click();
	await page.getByRole('button', { name: 'Revoke key', exact: true }).click();
	await row.waitFor({ state: 'detached' });
	t.is(await statusWith(second), 401);
	t.deepEqual(faults, []);
	await close();
});

test.serial('in production, a write requires typing the environment’s key', async (t) => {
	const { page, open, close } = await openConsole(browser, stack, { key: stack.keys.project });
	await page.getByLabel('Environment').selectOption('default/production');
	await page.getByRole('button', { name: 'Open', exact: true }).click();
	await page.locator('.bar.production').waitFor();
	await page.getByRole('link', { name: 'Elements' }).click();
	await page.getByLabel(/^Origins/).fill('https://app.example.com');
	const save = page.getByRole('button', { name: 'Save' });
	await save.click();
	const dialog = page.getByRole('dialog', { name: 'Save origins' });
	const confirm = dialog.getByRole('button', { name: 'Save origins' });
	t.true(await confirm.isDisabled());
	await dialog.getByRole('textbox').fill('dev');
	t.true(await confirm.isDisabled());
	await page.keyboard.press('Escape');
	await dialog.waitFor({ state: 'detached' });
	const stored = async () => {
		const { body } = await stack.project.get('/v2/projects/default/envs/production');
		return (body['settings'] as Readonly<Record<string, unknown>> | null)?.['elements_origins'];
	};
	t.is(await stored(), undefined, 'nothing was saved');
	await save.click();
	await dialog.getByRole('textbox').fill('production');
	await confirm.click();
	await page.getByText('Origins saved.').waitFor({ state: 'attached' });
	t.deepEqual(await stored(), ['https://app.example.com']);
	await open('elements');
	await close();
});

test.serial('an organization session can create wide keys, and delete a project after typing its key', async (t) => {
	const { organization } = stack;
	await organization.post('/v2/projects', { key: 'spare', name: 'Spare' });
	const { page, faults, close } = await openConsole(browser, stack, { key: stack.keys.organization });
	await page.getByLabel('Environment').selectOption('spare/dev');
	await page.getByRole('button', { name: 'Open', exact: true }).click();
	await page.waitForURL(/\/console\/spare\/dev/);
	await page.getByRole('link', { name: 'Keys and members' }).click();
	await page.getByRole('button', { name: 'Create key', exact: true }).click();
	await page.getByLabel('Name', { exact: true }).fill('of the auditor');
	await page.getByRole('dialog').getByLabel('Scope').selectOption('The organization: all of its projects');
	await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
	const confirmation = page.getByRole('dialog', { name: 'Create key' });
	const create = confirmation.getByRole('button', { name: 'Create key' });
	await confirmation.getByText('every project of the organization default').waitFor();
	t.true(await create.isDisabled());
	await confirmation.getByRole('textbox').fill('spare');
	t.true(await create.isDisabled());
	await confirmation.getByRole('textbox').fill('default');
	await create.click();
	const shown = page.getByRole('dialog', { name: 'Key secret' });
	const secret = (await shown.locator('pre').textContent()) ?? '';
	await shown.getByRole('button', { name: 'Close' }).click();
	const row = page.getByRole('row').filter({ hasText: 'of the auditor' });
	t.regex((await row.textContent()) ?? '', /organization.*read/);
	const projects = await fetch(`${stack.api.listening.url}/v2/projects`, {
		headers: { authorization: `Bearer ${secret}` },
	});
	t.is(projects.status, 200);
	await row.getByRole('button', { name: 'Revoke of the auditor' }).click();
	await page.getByRole('dialog').getByRole('textbox').fill('default');
	await page.getByRole('button', { name: 'Revoke key', exact: true }).click();
	await row.waitFor({ state: 'detached' });

	await page.getByRole('link', { name: 'Environments' }).click();
	await page.getByRole('button', { name: 'Delete project' }).click();
	const deletion = page.getByRole('dialog', { name: 'Delete project' });
	await deletion.getByRole('textbox').fill('default');
	t.true(await deletion.getByRole('button', { name: 'Delete project' }).isDisabled());
	t.is((await organization.get('/v2/projects/spare')).status, 200);
	await deletion.getByRole('textbox').fill('spare');
	await deletion.getByRole('button', { name: 'Delete project' }).click();
	await page.getByRole('alert').getByText('The project spare was deleted.').waitFor();
	t.is((await organization.get('/v2/projects/spare')).status, 404);
	t.deepEqual(faults, []);
	await close();
});

test.serial('environments can be compared, and their differences drafted with the impact', async (t) => {
	const { project } = stack;
	const elsewhere = '/v2/schema/default/production';
	await project.post(`${elsewhere}/resources`, {
		key: 'document',
		name: 'Document',
		actions: { read: {}, sign: {} },
		attributes: { kind: { type: 'string' } },
	});
	await project.post(`${elsewhere}/roles`, { key: 'reader', name: 'Reader', permissions: ['document:sign'] });
	const holder = { user: 'bob', role: 'reader', tenant: 'acme' };
	await stack.environment.post(`${facts}/role_assignments`, holder);
	const { page, open, faults, close } = await openConsole(browser, stack, { key: stack.keys.project });
	await open('environments');
	await page.getByRole('combobox', { name: 'Compare with', exact: true }).selectOption('production');
	const table = page.getByRole('table', { name: 'Schema differences' });
	await table.getByText('roles.reader.permissions').waitFor();
	t.deepEqual(await seriousViolations(page), []);
	await page.getByRole('button', { name: 'Draft changes from production' }).click();
	await page.getByText(/Added \d+ changes? to the draft\. .*only in this environment\. The draft keeps/).waitFor();
	t.not(await page.locator('nav .badge').textContent(), '0');
	await page.getByRole('link', { name: 'Review the impact' }).click();
	const gained = page.getByRole('list', { name: 'Gained access' }).getByRole('listitem').first();
	await gained.waitFor();
	t.regex((await gained.textContent()) ?? '', /^bob sign document /);
	t.is((await stack.environment.get(`${schema}/roles/reader`)).body['permissions']?.toString(), 'document:read');
	t.deepEqual(faults, []);
	await close();
});

test.serial('an environment is compared through the browser’s session in the other environment', async (t) => {
	const own = { project_id: 'default', environment_id: 'production', access_level: 'read', name: 'of a reader' };
	const { body: reader } = await stack.organization.post('/v2/api-key', own);
	const { page, open, close } = await openConsole(browser, stack, { key: stack.keys.project });
	const signedIn = `(body) => fetch('/v2/auth/console', {
		method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })`;
	const entry = { api_key: reader['secret'], project: 'default', environment: 'production' };
	await page.evaluate(`(${signedIn})(${JSON.stringify(entry)})`);
	await open('environments?with=production');
	await page.getByRole('table', { name: 'Schema differences' }).waitFor();
	const asked = await page.evaluate(`fetch('/v2/auth/console?project=default&environment=production')
		.then((answer) => answer.json()).then(({ key }) => key.name)`);
	t.is(asked, 'of a reader', 'the environment’s tabs keep their rights');
	await page.getByRole('button', { name: 'As curl' }).click();
	t.regex((await page.getByRole('dialog').textContent()) ?? '', /production\/export\?half=schema/);
	await close();
});

test.serial('promotion into production requires typing the environment’s key', async (t) => {
	const { page, open, close } = await openConsole(browser, stack, { key: stack.keys.project });
	await open('environments');
	await page.getByLabel('Target environment key').fill('production');
	await page.getByRole('button', { name: 'Copy schema' }).click();
	const dialog = page.getByRole('dialog', { name: 'Copy schema' });
	const confirm = dialog.getByRole('button', { name: 'Copy schema' });
	t.true(await confirm.isDisabled());
	await dialog.getByRole('textbox').fill('production');
	t.false(await confirm.isDisabled());
	await page.keyboard.press('Escape');
	await dialog.waitFor({ state: 'detached' });
	await close();
});

test.serial('a document can be exported, imported as a dry run, and imported', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open('environments');
	const [download] = await Promise.all([
		page.waitForEvent('download'),
		page.getByRole('button', { name: 'Export document' }).click(),
	]);
	t.is(download.suggestedFilename(), 'dev.json');
	const document = JSON.parse(await readFile(await download.path(), 'utf8'));
	document.schema.roles.auditor = { name: 'Auditor' };
	const file = { name: 'dev.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(document)) };
	await page.getByLabel('Drop a document here').setInputFiles(file);
	const bring = page.getByRole('button', { name: 'Import', exact: true });
	t.true(await bring.isDisabled(), 'a preview is required first');
	await page.getByRole('button', { name: 'Preview' }).click();
	await page.getByText('role: 1 created, 0 updated, 0 deleted').waitFor();
	t.is((await stack.environment.get(`${schema}/roles/auditor`)).status, 404);
	const conflicts = page.getByLabel('Existing objects');
	await conflicts.selectOption('replace');
	t.true(await bring.isDisabled(), 'the preview used a different strategy');
	await conflicts.selectOption('fail');
	await bring.click();
	await page
		.getByRole('dialog')
		.getByText('Import dev.json into dev? The import runs in a single transaction')
		.waitFor();
	await page.getByRole('button', { name: 'Import document' }).click();
	await page.getByText('Import complete: 1 object changed.').waitFor({ state: 'attached' });
	t.is((await stack.environment.get(`${schema}/roles/auditor`)).status, 200);
	t.deepEqual(faults, []);
	await close();
});

test.serial('polling waits for a slow response', async (t) => {
	const { page, open, close } = await openConsole(browser, stack);
	await page.clock.install();
	await open('decision-points');
	await page.getByRole('table', { name: 'Decision points' }).first().waitFor();
	let release = () => {};
	const held = new Promise<void>((resolve) => {
		release = resolve;
	});
	const asked: string[] = [];
	await page.route('**/v2/pdps/*/*/instances*', async (route) => {
		asked.push(route.request().url());
		await held;
		await route.continue();
	});
	const first = page.waitForRequest(/instances/);
	await page.clock.runFor(11_000);
	await first;
	for (let turn = 0; turn < 3; turn += 1) {
		await page.clock.runFor(11_000);
		await page.evaluate('fetch("/console/")');
	}
	t.is(asked.length, 1);
	const answer = page.waitForResponse(/instances/);
	release();
	t.is((await answer).status(), 200);
	await close();
});

test.serial('elements of all types can be created in a form, and their levels can be changed', async (t) => {
	const { environment } = stack;
	const { page, open, faults, close } = await openConsole(browser, stack);
	const levelOf = (role: string) => page.getByLabel(`Level of ${role}`, { exact: true });
	const create = async (key: string, type: string, fill: () => Promise<unknown>) => {
		await open('elements?new=yes');
		await page.getByLabel(/^Type/).selectOption(type);
		await page.getByLabel('Key', { exact: true }).fill(key);
		await page.getByLabel('Name', { exact: true }).fill(`The ${key}`);
		await fill();
		await page.getByRole('button', { name: 'Save now' }).click();
		await page.getByRole('heading', { name: `Element ${key}` }).waitFor();
		const { body } = await environment.get(`/v2/elements/default/dev/config/${key}`);
		return body;
	};
	const members = await create('people', 'user_management', async () => {
		await page.getByLabel('Default role for added users').selectOption('reader');
		await page.getByLabel('Show the form for adding users').uncheck();
		// By keyboard: level 1.
		await levelOf('reader').focus();
		await page.keyboard.press('ArrowDown');
		t.deepEqual(await seriousViolations(page), []);
	});
	t.deepEqual(members['settings'], { default_role: 'reader', show_add_user: false });
	t.like(members['roles_to_levels'], { LEVEL_1: [{ key: 'reader' }] });
	const requests = await create('access', 'approval_flow', async () => {
		await page.getByLabel('Reviewers: owners in').selectOption('people');
		await page.getByLabel('Maximum approval duration', { exact: true }).fill('8');
	});
	t.deepEqual(requests['settings'], { user_management_element: 'people', max_duration: 28_800 });
	const operations = await create('operations', 'operation_approval', async () => {
		await page.getByLabel(/^Resource/).selectOption('document');
		await page.getByLabel('Action granted by an approval').selectOption('sign');
		await page.getByLabel('Each approval can be used only once').check();
	});
	t.deepEqual(operations['settings'], { resource: 'document', action: 'sign', single_use: true });
	const reviews = await create('reviews', 'approval_management', async () => {
		await page.getByLabel('Access requests from').selectOption('access');
		await page.getByLabel('Operation approvals from').selectOption('operations');
	});
	const linked = { access_request_element: 'access', operation_approval_element: 'operations' };
	t.deepEqual(reviews['settings'], linked);
	t.is((await create('decided', 'audit_log', async () => {}))['elements_type'], 'audit_log');

	// Editing an element keeps the setting that links it to the request element.
	await open('elements/people');
	await page.getByLabel(/^Type/).and(page.locator(':disabled')).waitFor();
	await levelOf('reader').selectOption('Level 3');
	await levelOf('document:editor').selectOption('Hidden');
	await page.getByRole('button', { name: 'Add to draft' }).click();
	await page.getByText('You are viewing the draft of this element.').waitFor();
	await page.getByRole('button', { name: 'Save now' }).waitFor();
	await open('draft');
	await page.getByText('role_levels.document:editor').waitFor();
	await page.getByRole('button', { name: 'Publish' }).and(page.locator('[aria-disabled=false]')).click();
	await page.getByText('Published as revision').first().waitFor();
	const { body: changed } = await environment.get('/v2/elements/default/dev/config/people');
	t.like(changed['roles_to_levels'], { LEVEL_1: [], LEVEL_3: [{ key: 'reader' }], HIDDEN: [{ key: 'editor' }] });
	t.like(changed['settings'], { access_request_element: 'access' });
	await open('elements/decided');
	await page.getByRole('button', { name: 'Delete now' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'Delete element' }).click();
	await page.getByRole('table', { name: 'Elements' }).getByText('The reviews').waitFor();
	t.is((await environment.get('/v2/elements/default/dev/config/decided')).status, 404);
	await open('elements/decided');
	await page.getByText('Element not found').waitFor();
	t.deepEqual(faults, []);
	await close();

	const reading = { project_id: 'default', environment_id: 'dev', access_level: 'read', name: 'reads elements' };
	const { body: key } = await stack.organization.post('/v2/api-key', reading);
	const reader = await openConsole(browser, stack, { key: String(key['secret']) });
	await reader.open('elements/operations');
	await reader.page
		.getByLabel(/^Resource/)
		.and(reader.page.locator(':disabled'))
		.waitFor();
	t.is(await reader.page.getByRole('button', { name: /Save|Delete|draft/ }).count(), 0);
	await reader.close();
});

test.serial('an element can be previewed as a user, and its webhook can be tested', async (t) => {
	const { environment } = stack;
	const element = {
		key: 'members',
		name: 'Members',
		elements_type: 'user_management',
		settings: {},
		roles_to_levels: { LEVEL_1: ['reader'] },
	};
	const made = await environment.post('/v2/elements/default/dev/config', element);
	t.is(made.status, 200, JSON.stringify(made.body));
	await environment.post(`${facts}/users/ann/roles`, { role: 'reader', tenant: 'acme' });
	for (const options of [narrow, {}]) {
		const { page, open, faults, close } = await openConsole(browser, stack, options);
		await open('elements');
		await page.getByRole('link', { name: 'Members', exact: true }).click();
		await page.getByRole('heading', { name: 'Element members' }).waitFor();
		await page.getByRole('heading', { name: 'Webhook' }).waitFor();
		t.is(await page.getByLabel('Level of reader', { exact: true }).inputValue(), 'LEVEL_1');
		await page.waitForLoadState('networkidle');
		t.deepEqual(await seriousViolations(page), []);
		t.is(await overflowWidth(page), 0);
		t.deepEqual(faults, []);
		await close();
	}
	const { page, open, close } = await openConsole(browser, stack);
	await open('elements/members');
	await page.getByLabel('URL').fill(receiver.url);
	await page.getByRole('button', { name: 'Save webhook' }).click();
	await page.getByText('No deliveries yet.').waitFor();
	await page.getByRole('button', { name: 'Send test event' }).click();
	await page.getByRole('table', { name: 'Deliveries' }).getByText('delivered').waitFor();
	t.is(receiver.bodies()[0]?.['type'], 'test');

	await page.getByRole('combobox', { name: 'User', exact: true }).fill('ann');
	await page.getByRole('combobox', { name: 'Tenant', exact: true }).fill('acme');
	await page.getByRole('button', { name: 'Sign in as user' }).click();
	const link = page.getByRole('link', { name: 'Open element' });
	const [opened] = await Promise.all([page.waitForEvent('popup'), link.click()]);
	await opened.getByText('ann').first().waitFor();
	await close();
});

test.serial('contextual facts can be allowed in the settings, without changing other settings', async (t) => {
	const path = '/v2/projects/default/envs/dev';
	type Settings = { readonly settings: Readonly<Record<string, unknown>> | null };
	const before = (await stack.environment.get<Settings>(path)).body.settings ?? {};
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open('environments');
	const setting = page.getByRole('checkbox', { name: 'Allow contextual facts in checks' });
	await setting.check();
	await page.getByRole('button', { name: 'Save settings' }).click();
	await page.getByText('Settings saved.').waitFor();
	const { settings } = (await stack.environment.get<Settings>(path)).body;
	t.deepEqual(settings, { ...before, contextual_facts: true });
	t.true(await setting.isChecked());
	t.deepEqual(await seriousViolations(page), []);
	t.deepEqual(faults, []);
	await close();
});
