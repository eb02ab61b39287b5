// @alone @rest

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { Browser } from 'playwright-core';
import { opa, runOpa, writeFiles } from '../compiler/engine.js';
import { startChromium } from '../support/chromium.js';
import { closeScene, openConsole, overflowWidth, seriousViolations, tabTo } from '../support/console-page.js';
import { hostileUser, setDocumentScene, startConsoleStack } from '../support/console-stack.js';
import { facts, type Stack, schema, startStack } from '../support/stack.js';

/** "Check and why" in Chromium. */

let stack: Stack;
let browser: Browser;

test.before(async () => {
	stack = await startConsoleStack();
	await setDocumentScene(stack);
	browser = await startChromium();
});

test.after.always(() => closeScene(browser, stack));

const asked = (user: string, query: Readonly<Record<string, string>> = {}) =>
	`check?${new URLSearchParams({ user, action: 'read', resource: 'document', instance: 'budget', tenant: 'acme', ...query })}`;

test.serial('a check can be run by keyboard, and the result is shown in words with its Rego', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open('check');
	t.true(await page.getByText('No check yet').isVisible());
	await page.getByRole('combobox', { name: 'User' }).focus();
	await page.keyboard.type('an');
	await page.getByRole('option', { name: 'ann' }).waitFor();
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	t.is(await page.getByRole('combobox', { name: 'User' }).inputValue(), 'ann');
	await page.getByRole('combobox', { name: 'Resource' }).fill('document:budget');
	await page.getByRole('combobox', { name: 'Tenant' }).fill('acme');
	await page.getByRole('combobox', { name: 'Action' }).fill('read');
	await page.keyboard.press('Escape');
	await page.keyboard.press('Enter');
	const answer = page.getByRole('status', { name: 'Result' });
	await answer.waitFor();
	const text = (await answer.textContent()) ?? '';
	t.regex(text, /^Allowed: ann is editor on folder:plans, which has the relation parent to document:budget/);
	t.regex(text, /Result from the decision point at revision \d+/);
	t.is(new URL(page.url()).searchParams.get('instance'), 'budget', 'the link contains the whole check');

	await page.locator('.code-view .marked').first().waitFor();
	const rego = (await page.locator('.check-rego').allTextContents()).join('\n');
	t.regex(rego, /holds\["editor"\] if/);
	t.regex(rego, /Derived from folder#editor via parent/);
	t.regex(rego, /user\.folder\.editor\[object\]/);
	const link = await page.locator('.check-rego > a').first().getAttribute('href');
	t.regex(link ?? '', /\/policy\?file=regolith%2Finstances%2Fdocument%2Fholds\.rego&revision=\d+#L\d+$/);

	t.deepEqual(await seriousViolations(page), []);
	t.is(await overflowWidth(page), 0);
	t.deepEqual(faults, []);
	await close();
});

test.serial('adding a missing fact runs the check again at a later revision', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open(asked('bob'));
	const answer = page.getByRole('status', { name: 'Result' });
	await answer.getByText('Denied').waitFor();
	t.regex((await answer.textContent()) ?? '', /no_graph_roles|no_user_roles|no_role_in_tenant/);
	const missing = page.getByRole('button', { name: 'Add this: bob as `reader` in tenant acme' });
	await missing.click();
	await answer.getByText('Allowed').waitFor();
	t.regex((await answer.textContent()) ?? '', /bob is reader in tenant acme, and reader grants read on document/);
	const assignment = { user: 'bob', role: 'reader', tenant: 'acme' };
	await stack.reached((await stack.environment.delete(`${facts}/role_assignments`, assignment)).revision);
	await page.getByRole('button', { name: 'Run again' }).click();
	await answer.getByText('Denied').waitFor();
	t.deepEqual(faults, []);
	await close();
});

test.serial('a different attribute value can be tried in the form', async (t) => {
	const { page, open, close } = await openConsole(browser, stack);
	await open(asked('ann', { action: 'sign', resource_attributes: '{"kind":"contract"}' }));
	const answer = page.getByRole('status', { name: 'Result' });
	await answer.getByText('Denied').waitFor();
	await page.getByRole('button', { name: 'Try `user.level` = `3`' }).click();
	await answer.getByText('Allowed').waitFor();
	t.is(new URL(page.url()).searchParams.get('user_attributes'), '{"level":3}');
	t.regex((await answer.textContent()) ?? '', /ann is in the user set seniors/);
	await close();
});

test.serial('contextual facts can be added by keyboard, and are marked in the explanation', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open(asked('bob'));
	const answer = page.getByRole('status', { name: 'Result' });
	await answer.getByText('Denied').waitFor();
	await page.getByText('Contextual facts', { exact: true }).first().focus();
	await page.keyboard.press('Enter');
	await page.getByText('This environment does not accept contextual facts.').waitFor();
	await page.getByRole('link', { name: 'environment’s settings' }).click();
	await page.getByLabel('Allow contextual facts in checks').check();
	const saved = page.waitForResponse((response) => response.request().method() === 'PATCH');
	await page.getByRole('button', { name: 'Save settings' }).click();
	await stack.reached(Number((await saved).headers()['x-revision']));

	await open(asked('bob'));
	await answer.getByText('Denied').waitFor();
	await page.getByText('Contextual facts', { exact: true }).first().focus();
	await page.keyboard.press('Enter');
	await tabTo(page, 'Add role');
	await page.keyboard.press('Enter');
	await page.locator('input:focus').waitFor();
	await page.keyboard.type('plan');
	await page.getByRole('option', { name: 'folder:plans' }).waitFor();
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	await page.getByRole('button', { name: 'Run check' }).click();
	await page.getByRole('alert').getByText('Contextual facts: fill in all fields, or remove the row').waitFor();
	await page.getByRole('combobox', { name: 'Role', exact: true }).fill('editor');
	await page.keyboard.press('Escape');
	await page.keyboard.press('Enter');
	await answer.getByText('Allowed').waitFor();
	t.regex((await answer.textContent()) ?? '', /Without the contextual facts, the check is denied/);
	const source = page.locator('.check-sources li li', {
		hasText: 'from editor on folder:plans, via the relation parent',
	});
	t.is(await source.locator('.badge').textContent(), 'contextual');
	t.is(await page.getByRole('button', { name: 'Copy as test' }).count(), 0);
	const facts = { role_assignments: [{ role: 'editor', resource_instance: 'folder:plans' }], relationship_tuples: [] };
	t.deepEqual(JSON.parse(new URL(page.url()).searchParams.get('contextual_facts') ?? ''), facts);
	t.deepEqual(await seriousViolations(page), []);
	const checked = page.url();

	await page.getByRole('link', { name: 'Save as test' }).click();
	await page.getByRole('button', { name: 'Save now' }).click();
	await page.getByRole('status').getByText('Saved', { exact: false }).waitFor();
	await page.getByText('with contextual facts').waitFor();
	const test = `${schema}/check_tests/bob-read-document-budget`;
	t.like((await stack.environment.get<object>(test)).body, {
		check: { contextual_facts: { role_assignments: [{ user: 'bob', ...facts.role_assignments[0] }] } },
		expected: 'allow',
	});
	await page.getByRole('link', { name: 'bob-read-document-budget' }).click();
	await page.getByRole('button', { name: 'Remove role 1' }).waitFor();
	await open('tests?run=published');
	await page.getByText('The test passes').waitFor();
	t.is((await stack.environment.delete(test)).status, 204);

	await page.goto(checked);
	await answer.getByText('Allowed').waitFor();
	await page.setViewportSize({ width: 390, height: 800 });
	t.is(await overflowWidth(page), 0);
	await page.getByRole('button', { name: 'Remove role 1' }).click();
	await page.locator('button:focus', { hasText: 'Add role' }).waitFor();
	await page.getByRole('button', { name: 'Run check' }).click();
	await answer.getByText('Denied').waitFor();
	t.deepEqual(faults, []);
	await close();
});

test.serial('a check copied as a test passes with the downloaded policy', async (t) => {
	const { page, open, close } = await openConsole(browser, stack);
	const { body: listed } = await stack.environment.get<{ readonly data: readonly { schema_revision: number }[] }>(
		'/v2/projects/default/envs/dev/policies',
	);
	const newest = listed.data[0]?.schema_revision ?? 0;
	const { body: policy } = await stack.environment.get<{ readonly files: readonly { path: string; text: string }[] }>(
		`/v2/projects/default/envs/dev/policies/${newest}`,
	);
	const texts: { readonly path: string; readonly text: string }[] = [];
	for (const [user, query] of [
		['ann', {}],
		['bob', {}],
		[hostileUser, {}],
		['ann', { action: 'sign', user_attributes: '{"level":5}', resource_attributes: '{"kind":"contract"}' }],
	] as const) {
		await open(asked(user, query));
		await page.getByRole('button', { name: 'Copy as test' }).click();
		const text = (await page.locator('dialog pre').textContent()) ?? '';
		texts.push({ path: `regolith/asked_${texts.length}_test.rego`, text });
		await page.keyboard.press('Escape');
	}
	const folder = await mkdtemp(join(tmpdir(), 'regolith-asked-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	await writeFiles(folder, [...policy.files, ...texts]);
	t.regex(await runOpa(['test', '--timeout', '60s', '--run', 'checks_test', '.'], folder), /PASS: 4\/4/, opa);
	await close();
});

test.serial('a check is saved as a test, run, changed in the draft and deleted', async (t) => {
	for (const options of [{}, { width: 390, dark: true } as const]) {
		const { page, open, faults, close } = await openConsole(browser, stack, options);
		const isFit = async () => {
			t.deepEqual(await seriousViolations(page), []);
			t.is(await overflowWidth(page), 0);
		};
		await open(asked('ann'));
		await page.getByRole('link', { name: 'Save as test' }).click();
		const key = page.getByLabel('Key', { exact: true });
		await key.waitFor();
		t.is(await key.inputValue(), 'ann-read-document-budget');
		await page.getByLabel('Description (optional)').fill('Editors of the folder read its documents.');
		await isFit();
		await page.getByRole('button', { name: 'Save now' }).click();
		const list = page.getByRole('table', { name: 'Tests', exact: true });
		await list.getByText('ann read document:budget in acme').waitFor();
		await isFit();

		// The next test is created by keyboard, from the coverage, and fails.
		await page.getByRole('button', { name: 'Run tests' }).click();
		await page.getByText('The test passes').waitFor();
		t.is(new URL(page.url()).searchParams.get('run'), 'published');
		await page.getByText('1 of 1 derivations covered').waitFor();
		await page.getByText('1 of 3 permissions covered').click();
		await page.getByText('0 of 1 set rules covered').click();
		await page.getByText('seniors may document:sign on contracts').waitFor();
		const ofRule = page.getByRole('link', { name: 'Add test for seniors document:sign contracts' });
		t.regex((await ofRule.getAttribute('href')) ?? '', /\?new=yes&resource=document&action=sign$/);
		await page.getByRole('link', { name: 'Add test for document:sign' }).focus();
		await page.keyboard.press('Enter');
		await page.getByRole('combobox', { name: 'User' }).focus();
		await page.keyboard.type('bob');
		await page.keyboard.press('Escape');
		await page.getByRole('button', { name: 'Save now' }).focus();
		await page.keyboard.press('Enter');
		await list.getByText('bob sign document in default').waitFor();
		await page.getByRole('button', { name: 'Run tests' }).focus();
		await page.keyboard.press('Enter');
		await page.getByText('1 of 2 tests fails').waitFor();
		const results = page.getByRole('table', { name: 'Test results' });
		const cells = await results.getByRole('row').nth(1).getByRole('cell').allTextContents();
		t.deepEqual(cells.slice(0, 4), ['failed', 'bob-sign-document', 'bob sign document in default', 'allowed']);
		t.regex(cells[4] ?? '', /^denied \S.*bob/);
		t.regex(
			(await results.getByRole('link', { name: 'Why: bob-sign-document' }).getAttribute('href')) ?? '',
			/user=bob/,
		);
		await isFit();

		// The draft corrects the expectation. The published test still fails.
		await results.getByRole('link', { name: 'bob-sign-document', exact: true }).click();
		await page.getByLabel('Expected result').selectOption('deny');
		await page.getByRole('button', { name: 'Add to draft' }).click();
		await page.getByText('In the draft: bob-sign-document (changed)').waitFor();
		await page.getByRole('button', { name: 'Run tests with draft' }).click();
		await page.getByText('All 2 tests pass').waitFor();
		await page.getByRole('button', { name: 'Run tests', exact: true }).click();
		await page.getByText('1 of 2 tests fails').waitFor();

		for (const test of ['bob-sign-document', 'ann-read-document-budget']) {
			await open(`tests/${test}`);
			await page.getByRole('button', { name: 'Delete now' }).click();
			await page.getByRole('dialog').getByRole('button', { name: 'Delete test' }).click();
			await page.locator('h1').getByText('Tests', { exact: true }).waitFor();
		}
		await page.getByText('No tests yet').waitFor();
		t.is(await page.getByText('In the draft').count(), 0, 'the deletion removes the drafted change');
		await open('tests/unknown');
		await page.getByText('Test not found').waitFor();
		t.deepEqual(faults, []);
		await close();
	}
});

test.serial('a filter can be requested by keyboard, and is shown as a tree, as SQL and with its grants', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open('check');
	await tabTo(page, 'Filter');
	await page.keyboard.press('Enter');
	await page.getByText('No filter yet').waitFor();
	await tabTo(page, 'User');
	for (const text of ['ann', 'read', 'document']) {
		await page.keyboard.type(text);
		await page.keyboard.press('Escape');
		await page.keyboard.press('Tab');
	}
	await page.keyboard.press('Enter');
	const answer = page.getByRole('status', { name: 'Result' });
	await answer.waitFor();
	t.regex((await answer.textContent()) ?? '', /Instances that match.*Filter from the decision point at revision \d+/);
	const tree = page.locator('.filter-tree').first();
	t.regex((await tree.textContent()) ?? '', /All of these match:.*resource\.tenant equals "acme" from roles/);
	t.regex((await tree.textContent()) ?? '', /resource\.key equals "budget" from roles/);
	t.regex(
		(await page.locator('.filter-branches').textContent()) ?? '',
		/user ann holds editor on the instance, which grants document:read, derived from folder#editor via the relation parent/,
	);
	const sql = page.getByLabel('Condition for WHERE');
	t.regex((await sql.textContent()) ?? '', /\("tenant" = CAST\(\$1 AS text\).*"id" = CAST\(\$2 AS text\)/);
	await page.getByLabel('Database').selectOption('MySQL and MariaDB');
	await sql.getByText('`tenant`').waitFor();
	const { searchParams } = new URL(page.url());
	t.deepEqual(
		[searchParams.get('view'), searchParams.get('user'), searchParams.get('dialect')],
		['filter', 'ann', 'mysql'],
	);
	t.deepEqual(await seriousViolations(page), []);
	t.is(await overflowWidth(page), 0);
	await page.getByRole('button', { name: 'As curl' }).click();
	t.regex((await page.getByRole('dialog').textContent()) ?? '', /"\$PDP_URL"'\/filter'/);
	t.deepEqual(faults, []);
	await close();
});

test.serial('a filter shows its condition sets, or why the database cannot express it', async (t) => {
	const { environment, reached } = stack;
	const set = {
		key: 'patterned',
		name: 'Patterned',
		type: 'resourceset',
		resource_id: 'document',
		conditions: { 'resource.kind': { matches: '^c' } },
	};
	const rule = { user_set: 'seniors', permission: 'document:read', resource_set: 'patterned' };
	await environment.post(`${schema}/condition_sets`, set);
	await reached((await environment.post(`${facts}/set_rules`, rule)).revision);
	const { page, open, faults, close } = await openConsole(browser, stack, { width: 390, dark: true });
	const filter = { view: 'filter', instance: '', tenant: '', user_attributes: '{"level":3}' };
	await open(asked('bob', { ...filter, action: 'sign' }));
	const tree = page.locator('.filter-tree').first();
	await tree.getByText(/resource\.kind equals/).waitFor();
	await tree.getByRole('link', { name: 'contracts' }).waitFor();
	await page.locator('.filter-branches').getByRole('link', { name: 'seniors' }).waitFor();
	t.deepEqual(await seriousViolations(page), []);
	t.is(await overflowWidth(page), 0);
	await open(asked('bob', { ...filter, action: 'read' }));
	await page.getByText(/sql\.postgresql.* cannot express the condition .*patterned/).waitFor();
	await open(asked('bob', { ...filter, tenant: 'nowhere' }));
	await page.getByRole('status', { name: 'Result' }).getByText('no_such_tenant').waitFor();
	t.deepEqual(await seriousViolations(page), []);
	t.deepEqual(faults, []);
	await close();
	await environment.delete(`${facts}/set_rules`, rule);
	await reached((await environment.delete(`${schema}/condition_sets/patterned`)).revision);
});

test.serial('a hostile key is shown as text, and the page is accessible in a narrow dark window', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack, { width: 390, dark: true });
	await open(asked(hostileUser));
	const answer = page.getByRole('status', { name: 'Result' });
	await answer.getByText('Denied').waitFor();
	await page.locator('.code-view .marked').first().waitFor();
	t.true((await page.locator('main').textContent())?.includes('\\u{202e}'));
	t.deepEqual(await seriousViolations(page), []);
	t.is(await overflowWidth(page), 0);
	t.deepEqual(faults, []);
	await close();
});

test.serial('a read-only key sees the same page without edit buttons', async (t) => {
	const body = { project_id: 'default', environment_id: 'dev', access_level: 'read', name: 'a reader' };
	const { body: made } = await stack.organization.post('/v2/api-key', body);
	const { page, open, close } = await openConsole(browser, stack, { key: String(made['secret']) });
	await open(asked('bob'));
	await page.locator('.check-changes').first().waitFor();
	t.is(await page.getByRole('button', { name: /^Add this/ }).count(), 0);
	t.is(await page.getByRole('link', { name: 'Save as test' }).count(), 0);
	await close();
});

test.serial('an unreachable decision point is retried, and the API can run the check instead', async (t) => {
	const { page, open, close } = await openConsole(browser, stack);
	let isAway = true;
	await page.route('**/console/pdp/**', (route) =>
		isAway
			? route.fulfill({ status: 502, json: { message: 'the decision point for this environment did not respond' } })
			: route.fallback(),
	);
	await open(asked('ann'));
	await page.getByRole('alert').getByText('did not respond').waitFor();
	await page.getByRole('button', { name: 'Use the API instead' }).click();
	await page.getByText(/Result from the API at revision/).waitFor();
	await open(asked('ann'));
	await page.getByRole('alert').getByText('did not respond').waitFor();
	isAway = false;
	await page.getByRole('status', { name: 'Result' }).getByText('Allowed').waitFor();
	t.is(await page.getByRole('alert').count(), 0);
	await close();
});

test.serial('a check at an older revision is sent to the API, and offers no facts to add', async (t) => {
	const { body } = await stack.environment.get<{ readonly revision: number }>('/v2/projects/default/dev/policy');
	const made = await stack.environment.post(`${facts}/role_assignments`, {
		user: 'bob',
		role: 'reader',
		tenant: 'acme',
	});
	await stack.reached(made.revision);
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open(asked('bob'));
	const answer = page.getByRole('status', { name: 'Result' });
	await answer.getByText('Allowed').waitFor();
	const revision = page.getByRole('combobox', { name: 'Revision' });
	await revision.click();
	await page.getByRole('option').first().waitFor();
	await revision.fill(String(body.revision));
	await page.keyboard.press('Escape');
	await page.keyboard.press('Enter');
	await answer.getByText('Denied').waitFor();
	t.regex(
		(await answer.textContent()) ?? '',
		new RegExp(`Result from the API at revision ${body.revision} \\(newest:`),
	);
	t.is(await page.getByRole('button', { name: /^Add this/ }).count(), 0);
	t.deepEqual(faults, []);
	await close();
	const assignment = { user: 'bob', role: 'reader', tenant: 'acme' };
	await stack.reached((await stack.environment.delete(`${facts}/role_assignments`, assignment)).revision);
});

test.serial('without a decision point, the page says so and the API runs the check', async (t) => {
	const alone = await startStack();
	t.teardown(() => alone.stop());
	await setDocumentScene(alone);
	const { page, open, close } = await openConsole(browser, alone);
	await open(asked('ann'));
	await page.getByText('No decision point is configured for this environment').waitFor();
	const answer = page.getByRole('status', { name: 'Result' });
	await answer.getByText('Allowed').waitFor();
	t.regex((await answer.textContent()) ?? '', /Result from the API at revision \d+/);
	await close();
});
