// @alone @rest

import test from 'ava';
import type { Browser, Page } from 'playwright-core';
import { startChromium } from '../support/chromium.js';
import { closeScene, focusedName, openConsole, overflowWidth, seriousViolations } from '../support/console-page.js';
import { setDocumentScene } from '../support/console-stack.js';
import { facts, type Stack, schema, startStack } from '../support/stack.js';

/** Relationship graph in Chromium. */

let stack: Stack;
let browser: Browser;
/** A name with markup, and with a character that reverses the text direction. */
const hostileName = '<img src=x onerror=alert(1)>\u202eeman';

test.before(async () => {
	stack = await startStack();
	await setDocumentScene(stack);
	const { environment } = stack;
	await environment.post(`${facts}/users`, { key: 'eve', first_name: hostileName });
	await environment.post(`${facts}/resource_instances`, { key: 'shelf', resource: 'folder', tenant: 'acme' });
	for (let number = 0; number < 70; number += 1) {
		await environment.post(`${facts}/resource_instances`, { key: `d${number}`, resource: 'document', tenant: 'acme' });
		const tuple = { subject: 'folder:shelf', relation: 'parent', object: `document:d${number}` };
		await environment.post(`${facts}/relationship_tuples`, tuple);
	}
	browser = await startChromium();
});

test.after.always(() => closeScene(browser, stack));

/** Returns the labels in the drawing. */
async function drawnNodes(page: Page): Promise<readonly string[]> {
	await page.locator('svg .graph-node').first().waitFor();
	return page.locator('svg .graph-node > text:first-of-type').allTextContents();
}

/** Returns the first column of a table. */
async function firstColumn(page: Page, caption: string): Promise<readonly string[]> {
	return page.getByRole('table', { name: caption }).locator('tbody tr > td:first-child').allTextContents();
}

test.serial('the objects around a user are drawn and listed, and can be explored by keyboard', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open('graph');
	await page.getByText('Choose a start node').waitFor();
	await page.getByRole('combobox', { name: 'From' }).focus();
	await page.keyboard.type('ann');
	await page.getByRole('option', { name: 'user:ann' }).waitFor();
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	await page.keyboard.press('Enter');
	t.deepEqual(await drawnNodes(page), ['user ann', 'folder plans']);
	t.is(await page.locator('svg title').textContent(), '2 nodes, 1 connections');
	t.deepEqual(await page.locator('svg .graph-label').allTextContents(), ['editor']);
	t.deepEqual(await firstColumn(page, 'Nodes by distance from the start'), ['user:ann', 'instance:folder:plans']);
	t.deepEqual(await firstColumn(page, 'Connections'), ['user:ann']);
	t.is(await page.locator('svg .graph-more').textContent(), '+1', 'the document is not shown');
	t.deepEqual(await page.locator('svg .graph-mark').allTextContents(), ['start']);
	t.deepEqual(await seriousViolations(page), []);
	const folder = page.getByRole('button', { name: 'folder plans, 1 more: show more' });
	await folder.focus();
	await page.keyboard.press('Enter');
	await page.getByRole('button', { name: 'document budget: start from here' }).waitFor();
	t.is(new URL(page.url()).searchParams.get('from'), 'user:ann', 'the start node does not change');
	t.deepEqual((await drawnNodes(page)).toSorted(), ['document budget', 'folder plans', 'user ann']);
	t.is(await focusedName(page), 'folder plans: start from here', 'the focus stays at the node');
	await page.reload();
	await page.getByRole('button', { name: 'document budget: start from here' }).focus();
	await page.keyboard.press(' ');
	await page.getByRole('button', { name: 'document budget, start' }).waitFor();
	const { searchParams } = new URL(page.url());
	t.deepEqual([searchParams.get('from'), searchParams.get('expand')], ['instance:document:budget', null]);
	await page.goBack();
	await page.goBack();
	await page.getByRole('button', { name: 'document budget: start from here' }).waitFor({ state: 'detached' });
	t.deepEqual(await drawnNodes(page), ['user ann', 'folder plans']);
	t.deepEqual(faults, []);
	await close();
});

test.serial('a path shows the origin of a user’s role on an instance', async (t) => {
	const { page, open, close } = await openConsole(browser, stack);
	await open('graph?mode=path&from=user:ann&to=instance:document:budget%23editor');
	const path = page.getByRole('listitem').filter({ hasText: 'user:ann' });
	await path.waitFor();
	t.is(
		await path.textContent(),
		'user:ann — editor → instance:folder:plans — parent: editor gives editor → instance:document:budget',
	);
	await open('graph?mode=path&from=user:bob&to=instance:document:budget');
	await page.getByText('No path found.').waitFor();
	t.is(await page.locator('main svg').count(), 0);
	await close();
});

test.serial('the schema graph shows relations, roles and derivations', async (t) => {
	const { page, open, close } = await openConsole(browser, stack);
	await open('graph?mode=schema&from=resource:document');
	t.true((await drawnNodes(page)).includes('resource folder'));
	t.true((await page.locator('svg .graph-label').allTextContents()).includes('parent'));
	await open('graph?mode=schema&from=role:document%23editor');
	await page.getByText('via parent').first().waitFor();
	t.is((await stack.environment.get(`${schema}/resources/document`)).status, 200);
	await close();
});

test.serial('hidden nodes are counted and reported', async (t) => {
	const { page, open, close } = await openConsole(browser, stack);
	await open('graph?from=instance:folder:shelf');
	await page.getByText('Some nodes are hidden.').waitFor();
	t.is((await drawnNodes(page)).length, 40);
	t.is(await page.locator('svg .graph-start .graph-more').textContent(), '+31');
	t.is((await firstColumn(page, 'Nodes by distance from the start')).length, 25, 'the table is folded');
	const visible = `(() => {
		const frame = document.querySelector('.graph-drawing').getBoundingClientRect();
		const node = document.querySelector('.graph-start rect').getBoundingClientRect();
		return node.top >= frame.top && node.bottom <= frame.bottom && node.left >= frame.left;
	})()`;
	t.true(await page.evaluate(visible), 'the start is in view');
	await page.getByRole('button', { name: 'Show 31 more of instance:folder:shelf' }).click();
	await page.locator('svg .graph-node').nth(70).waitFor();
	t.is((await drawnNodes(page)).length, 71);
	t.true(await page.evaluate(visible));
	await close();
});

test.serial('the start field accepts type:key', async (t) => {
	const { page, open, close } = await openConsole(browser, stack);
	await open('graph');
	await page.getByRole('combobox', { name: 'From' }).fill('document:budget');
	await page.keyboard.press('Enter');
	t.true((await drawnNodes(page)).includes('document budget'));
	t.is(await page.getByRole('combobox', { name: 'From' }).inputValue(), 'instance:document:budget');
	await close();
});

test.serial('a hostile name is shown as text in a narrow dark window, and a missing object is reported', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack, { width: 390, dark: true });
	await open('graph?from=user:eve');
	await page.getByRole('cell', { name: '<img src=x onerror=alert(1)>' }).waitFor();
	t.true(((await page.locator('main').textContent()) ?? '').includes('\\u{202e}'));
	t.is(await page.locator('main img').count(), 0);
	t.deepEqual(await seriousViolations(page), []);
	t.is(await overflowWidth(page), 0);
	await open('graph?from=user:nobody');
	await page.getByRole('alert').getByText('nobody').waitFor();
	t.deepEqual(faults, []);
	await close();
});

test.serial('a failed request removes the previous graph', async (t) => {
	const { page, open, close } = await openConsole(browser, stack);
	await open('graph?from=user:ann');
	await drawnNodes(page);
	await page.getByRole('combobox', { name: 'From' }).fill('user:nobody');
	await page.getByRole('button', { name: 'Show', exact: true }).click();
	await page.getByRole('alert').getByText('nobody').waitFor();
	t.is(await page.evaluate('document.activeElement.textContent'), 'Show', 'the form stays');
	t.is(await page.locator('svg .graph-node').count(), 0);
	t.is(await page.getByRole('table').count(), 0);
	await page.goBack();
	t.deepEqual(await drawnNodes(page), ['user ann', 'folder plans']);
	t.is(await page.getByRole('combobox', { name: 'From' }).inputValue(), 'user:ann');
	await close();
});
