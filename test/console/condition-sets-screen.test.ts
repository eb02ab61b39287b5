// @alone @rest

import test from 'ava';
import type { Browser, Page } from 'playwright-core';
import { startChromium } from '../support/chromium.js';
import { closeScene, openConsole, overflowWidth, seriousViolations } from '../support/console-page.js';
import { facts, type Stack, schema, startStack } from '../support/stack.js';

/** Condition sets screen in Chromium. */

let stack: Stack;
let browser: Browser;

const conditions = {
	allOf: [
		{ 'user.age': { 'greater-than-equals': 18 } },
		{
			anyOf: [{ 'user.team': { equals: { ref: 'resource.team' } } }, { not: { 'user.tags': { array_contains: 'x' } } }],
		},
		// Rows cannot express this condition.
		{ 'user.team': { not: { equals: 'none' } } },
	],
};

test.before(async () => {
	stack = await startStack();
	browser = await startChromium();
	const user = `${schema}/resources/__user/attributes`;
	for (const [key, type] of Object.entries({ age: 'number', team: 'string', vip: 'bool', tags: 'array' }))
		await stack.environment.post(user, { key, type });
	const attributes = { team: { type: 'string' }, private: { type: 'bool' } };
	await stack.environment.post(`${schema}/resources`, { key: 'memo', name: 'Memo', actions: { read: {} }, attributes });
	for (const [key, age] of Object.entries({ ann: 40, ben: 17, cleo: 18 }))
		await stack.environment.post(`${facts}/users`, { key, attributes: { age, team: 'a' } });
	const sets = `${schema}/condition_sets`;
	await stack.environment.post(sets, { key: 'everybody', name: 'Everybody' });
	await stack.environment.post(sets, { key: 'grown-up', name: 'Grown up', parent_id: 'everybody', conditions });
	const memos = { type: 'resourceset', resource_id: 'memo', conditions: { 'resource.private': { equals: true } } };
	await stack.environment.post(sets, { key: 'private-memos', name: 'Private memos', ...memos });
	const rule = { user_set: 'grown-up', permission: 'memo:read', resource_set: 'private-memos' };
	await stack.environment.post(`${facts}/set_rules`, rule);
	for (let index = 0; index < 31; index++)
		await stack.environment.post(sets, { key: `more-${index}`, name: `<b>${index}</b>` });
});

test.after.always(() => closeScene(browser, stack));

const json = (page: Page) => page.getByLabel('Conditions as JSON');
const attribute = (page: Page) => page.getByRole('combobox', { name: 'Attribute', exact: true });
const value = (page: Page) => page.locator('.condition-sets-row').getByLabel('Value', { exact: true });

async function readJson(page: Page): Promise<unknown> {
	return JSON.parse(await json(page).inputValue());
}

test.serial('sets are paged and searched on the server, and the URL contains the search', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open('condition-sets');
	await page.getByText('Page 1 of 2, 34 in total').waitFor();
	await page.getByRole('button', { name: 'Next' }).click();
	await page.getByText('Page 2 of 2, 34 in total').waitFor();
	await page.getByLabel('Search by key or name').fill('grown');
	await page.locator('tbody tr').nth(1).waitFor({ state: 'detached' });
	t.deepEqual(await page.locator('tbody tr a').allTextContents(), ['grown-up']);
	t.regex(page.url(), /search=grown/);
	await page.getByLabel('Type').selectOption('resourceset');
	await page.getByText('No matching sets').waitFor();
	await page.goBack();
	await page.getByRole('link', { name: 'grown-up' }).click();
	await page.getByRole('heading', { name: 'Condition set grown-up' }).waitFor();
	t.deepEqual(faults, []);
	await close();
});

test.serial('rows and JSON stay in sync, and each problem is shown at its row', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open('condition-sets/grown-up');
	await attribute(page).first().waitFor();
	t.deepEqual(await readJson(page), conditions, 'nothing is lost');
	t.is(await page.getByLabel('Condition as JSON').count(), 1);
	await value(page).first().fill('21');
	t.like(await readJson(page), { allOf: { 0: { 'user.age': { 'greater-than-equals': 21 } } } });
	await page.locator('.condition-sets-row').first().getByLabel('Operator').selectOption('between');
	t.like(await readJson(page), { allOf: { 0: { 'user.age': { between: [] } } } });
	const row = page.locator('.condition-sets-part.wrong');
	t.regex((await row.getByRole('alert').textContent()) ?? '', /`between`/);
	await page.getByLabel('From and to').fill('18\n30');
	await row.waitFor({ state: 'detached' });
	await page.getByRole('link', { name: 'cleo' }).waitFor();
	t.is(await page.getByText('1 of 3 users match.').count(), 1);
	await json(page).fill('{"user.age": {"less-than": 18}}');
	await page.getByRole('link', { name: 'ben' }).waitFor();
	t.is(await page.getByText('1 of 3 users match.').count(), 1);
	t.is(await attribute(page).count(), 1);
	t.is(await value(page).inputValue(), '18');
	await json(page).fill('{"user.age": ');
	t.is(await attribute(page).count(), 1, 'the rows stay while the text is not JSON');
	await page.getByRole('button', { name: 'Save now' }).click();
	await page.getByRole('alert').getByText('Invalid JSON.').waitFor();
	await json(page).fill('{"user.nope": {"equals": 1}}');
	await page.locator('.condition-sets-part.wrong').getByText('`user.nope` is not defined').waitFor();
	await page.getByText('conditions › user.nope').waitFor();
	t.deepEqual(faults, []);
	await close();
});

test.serial('a condition on a related instance can be built in rows', async (t) => {
	const attributes = { plan: { type: 'string' }, seats: { type: 'number' } };
	await stack.environment.post(`${schema}/resources`, { key: 'account', name: 'Account', actions: {}, attributes });
	for (const width of [1280, 390] as const) {
		const { page, open, faults, close } = await openConsole(browser, stack, { width, dark: width === 390 });
		await open('condition-sets?new=userset');
		await page.getByRole('button', { name: 'Add condition' }).click();
		await attribute(page).fill('user.team');
		await page.keyboard.press('Tab');
		await page.getByLabel('Operator').selectOption('object_match');
		t.deepEqual(await readJson(page), {
			'user.team': { object_match: { match: {}, fk_resource_type: '' } },
		});
		await page.locator('.condition-sets-part.wrong').getByRole('alert').first().waitFor();
		await page.getByLabel('Related resource').selectOption('account');
		await page.locator('.condition-sets-part.wrong').waitFor({ state: 'detached' });
		const match = page.getByRole('region', { name: 'Conditions of the match' });
		await match.getByRole('button', { name: 'Add condition' }).click();
		await match.getByRole('combobox', { name: 'Attribute', exact: true }).fill('se');
		await match.getByRole('option').first().waitFor();
		await page.keyboard.press('ArrowDown');
		await page.keyboard.press('Enter');
		await match.getByLabel('Operator').selectOption('greater-than');
		await match.getByLabel('Value', { exact: true }).fill('10');
		t.deepEqual(await readJson(page), {
			'user.team': { object_match: { match: { seats: { 'greater-than': 10 } }, fk_resource_type: 'account' } },
		});
		t.is(await match.getByLabel('Compare with').count(), 0, 'a member is not compared with attributes');
		t.is(await page.locator('.condition-sets-part.wrong').count(), 0);
		t.deepEqual(await seriousViolations(page), []);
		t.is(await overflowWidth(page), 0);
		t.deepEqual(faults, []);
		await close();
	}
});

test.serial('saving a draft keeps changes that other users made during the edit', async (t) => {
	const { page, open, close } = await openConsole(browser, stack);
	const set = `${schema}/condition_sets/everybody`;
	await open('condition-sets/everybody');
	await json(page).waitFor();
	await page.getByText('3 of 3 users match.').waitFor();
	const { revision } = await stack.environment.patch(set, { name: 'All of us' });
	const behind = page.getByText(`Viewing revision ${Number(revision) - 1}. Revision ${revision} is available`);
	await behind.waitFor();
	await json(page).fill('{"user.age": {"less-than": 18}}');
	await page.getByText('1 of 3 users match.').waitFor();
	await behind.waitFor();
	await page.getByRole('button', { name: 'Add to draft' }).click();
	await page.getByText('You are viewing the draft of this set').waitFor();
	await open('draft');
	await page.getByRole('heading', { name: 'The environment has changed' }).waitFor();
	const row = page.getByRole('table', { name: 'Conflicting changes' }).getByRole('row').nth(1);
	t.regex((await row.textContent()) ?? '', /everybody/);
	t.is(await page.getByRole('button', { name: 'Publish' }).count(), 0);
	await page.getByRole('button', { name: 'Discard draft' }).click();
	await close();
});

test.serial('a set can be created, previewed, drafted and saved by keyboard', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open('condition-sets');
	await page.getByRole('link', { name: 'New set' }).focus();
	await page.keyboard.press('Enter');
	await page.getByLabel('Key').focus();
	await page.keyboard.type('vips');
	await page.keyboard.press('Tab');
	await page.keyboard.type('Important people');
	await page.getByRole('button', { name: 'Add condition' }).focus();
	await page.keyboard.press('Enter');
	await page.locator('[role=combobox]:focus').waitFor();
	await page.keyboard.press('Control+A');
	await page.keyboard.type('user.ag');
	await page.getByRole('option', { name: 'user.age' }).waitFor();
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	await page.keyboard.press('Tab');
	await page.keyboard.type('is greater');
	t.deepEqual(await readJson(page), { 'user.age': { 'greater-than': 0 } });
	await page.getByText('3 of 3 users match.').waitFor();
	await value(page).fill('39');
	await page.getByText('1 of 3 users match.').waitFor();
	await page.getByRole('link', { name: 'ann' }).waitFor();
	t.regex(page.url(), /conditions=/, 'the URL contains the edited set');
	await page.getByRole('button', { name: 'Show Rego' }).click();
	await page.getByText('user.age > 39').waitFor();
	await page.getByRole('button', { name: 'Add to draft' }).click();
	await page.getByText('You are viewing the draft of this set').waitFor();
	t.is(await page.locator('nav .badge').textContent(), '1');
	t.is((await stack.environment.get(`${schema}/condition_sets/vips`)).status, 404, 'nothing is saved');
	await page.getByRole('button', { name: 'Save now' }).click();
	await page.getByText('Saved vips.').waitFor();
	t.is(await page.locator('nav .badge').count(), 0, 'the draft no longer contains the set');
	const { body } = await stack.environment.get(`${schema}/condition_sets/vips`);
	t.like(body, { name: 'Important people', type: 'userset', conditions: { 'user.age': { 'greater-than': 39 } } });
	await page.getByRole('button', { name: 'Delete now' }).click();
	await page.getByRole('button', { name: 'Delete set' }).click();
	await page.getByText('Deleted vips.').waitFor();
	t.is((await stack.environment.get(`${schema}/condition_sets/vips`)).status, 404);
	t.deepEqual(faults, []);
	await close();
});

test.serial('a set can be tested with entered attributes, and its uses are listed', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open('condition-sets/grown-up');
	await page.getByLabel('User attributes').fill('{"age": 20, "team": "a"}');
	await page.getByRole('button', { name: 'Run test', exact: true }).click();
	await page.getByText('The set matches.').waitFor();
	await page.getByText('user.age (20) is at least 18').waitFor();
	await page.getByText('Parent set everybody').waitFor();
	await page.reload();
	await page.getByText('The set matches.').waitFor();
	await value(page).first().fill('21');
	await page.getByText('The set does not match.').waitFor();
	t.is(await page.getByRole('row', { name: 'memo:read' }).count(), 1);
	await page.getByRole('link', { name: 'private-memos' }).click();
	await page.getByText('0 of 0 instances match.').waitFor();
	await page.getByRole('button', { name: 'Show Rego' }).click();
	await page.getByRole('link', { name: 'Open in the policy' }).click();
	await page.getByText('resource.private == true').waitFor();
	await open('condition-sets/everybody');
	await page.getByRole('heading', { name: 'Child sets' }).waitFor();
	await page.getByRole('link', { name: 'grown-up' }).waitFor();
	await open('condition-sets/no-such-set');
	await page.getByText('Condition set not found').waitFor();
	t.deepEqual(faults, []);
	await close();
});

test.serial('the condition sets screen is accessible in narrow and dark windows', async (t) => {
	for (const options of [{}, { width: 390, dark: true } as const]) {
		const { page, open, faults, close } = await openConsole(browser, stack, options);
		for (const screen of ['condition-sets', 'condition-sets?new=yes', 'condition-sets/grown-up']) {
			await open(screen);
			await page.waitForLoadState('networkidle');
			t.deepEqual(await seriousViolations(page), [], screen);
			t.is(await overflowWidth(page), 0, screen);
		}
		t.deepEqual(faults, []);
		await close();
	}
});

test.serial('a read-only key can test sets but not save them', async (t) => {
	const body = { project_id: 'default', environment_id: 'dev', access_level: 'read', name: 'reader' };
	const { body: made } = await stack.organization.post('/v2/api-key', body);
	const { page, open, faults, close } = await openConsole(browser, stack, { key: String(made['secret']) });
	await open('condition-sets');
	await page.locator('tbody tr').first().waitFor();
	t.is(await page.getByRole('link', { name: 'New set' }).count(), 0);
	await open('condition-sets/grown-up');
	await value(page).first().fill('41');
	await page.getByText('0 of 3 users match.').waitFor();
	for (const name of ['Add to draft', 'Save now', 'Delete now', 'Delete in draft'])
		t.is(await page.getByRole('button', { name }).count(), 0, name);
	t.deepEqual(faults, []);
	await close();
});
