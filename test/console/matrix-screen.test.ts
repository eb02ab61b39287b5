// @alone @rest

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
import { type Stack, startStack } from '../support/stack.js';

/** Policy matrix in Chromium: cell texts, keyboard editing, and a large matrix. */

let stack: Stack;
let browser: Browser;

const hostile = '<img src=x onerror=alert(1)>\u202e';

/** Folders with documents, and a rule for adults. */
const document = {
	format: 'regolith-environment',
	version: 1,
	schema: {
		resources: {
			document: {
				name: hostile,
				actions: { read: {}, write: {} },
				attributes: { status: { type: 'string' } },
				relations: { parent: { name: 'Parent', subject_resource: 'folder' } },
				roles: {
					editor: {
						name: 'Editor',
						permissions: ['read'],
						granted_to: { users_with_role: [{ role: 'owner', on_resource: 'folder', linked_by_relation: 'parent' }] },
					},
				},
			},
			folder: { name: 'Folder', actions: { list: {} }, roles: { owner: { name: 'Owner' } } },
		},
		user_attributes: { age: { type: 'number' } },
		roles: {
			boss: { name: hostile, extends: ['staff'] },
			staff: { name: 'Staff', permissions: ['document:read'] },
		},
		condition_sets: {
			adults: { name: 'Adults', type: 'userset', conditions: { allOf: [{ 'user.age': { 'greater-than': 17 } }] } },
			drafts: {
				name: 'Drafts',
				type: 'resourceset',
				resource: 'document',
				conditions: { allOf: [{ 'resource.status': { equals: 'draft' } }] },
			},
		},
		set_rules: [{ user_set: 'adults', permission: 'document:write', resource_set: 'drafts' }],
	},
};

test.before(async () => {
	stack = await startStack();
	browser = await startChromium();
	const { status } = await stack.environment.post('/v2/projects/default/envs/dev/import', document);
	if (status !== 200) throw new Error(`the import returned ${status}`);
});

test.after.always(() => closeScene(browser, stack));

async function openMatrix(query = '', options: Parameters<typeof openConsole>[2] = {}): Promise<ConsoleWindow> {
	const opened = await openConsole(browser, stack, options);
	await opened.open(`matrix${query}`);
	await opened.page.getByRole('grid').waitFor();
	return opened;
}

/** Returns the focused element's accessible name. */
function focused(page: Page): Promise<unknown> {
	return page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent');
}

/** Reads the drafts stored in the tab. */
async function keptDrafts(page: Page): Promise<readonly { readonly changes: readonly unknown[] }[]> {
	const kept =
		'JSON.stringify(Object.entries(sessionStorage).flatMap(([name, text]) => name.startsWith("regolith-draft") ? [JSON.parse(text)] : []))';
	return JSON.parse(String(await page.evaluate(kept))) as never;
}

test.serial('cells show permissions and their reasons', async (t) => {
	const { page, faults, close } = await openMatrix();
	const read = '[...document.querySelectorAll("[role=grid] [data-row][aria-label]")].map((cell) => cell.ariaLabel)';
	const labels = (await page.evaluate(read)) as readonly string[];
	t.deepEqual(
		labels.filter((label) => !/: (not granted|not applicable)\.$/.test(label)),
		[
			'`document:read`, tenant role `boss`: inherited. Granted by `staff`, which the role extends.',
			'`document:read`, tenant role `staff`: granted.',
			'`document:read`, role `document:editor`: granted.',
			'`document:read`, role `folder:owner`: derived. Users with `folder:owner` get `document:editor` on every `document` whose `parent` is that folder, which grants it.',
			'`document:write`, user set `adults`: by condition. A rule grants the action to `adults` on `drafts`.',
		],
	);
	t.is(labels.length, 3 * 5);
	t.is(await page.locator('main img').count(), 0, 'names are shown as text');
	t.true((await page.getByRole('grid').textContent())?.includes('<img src=x onerror=alert(1)>\\u{202e}'));
	t.deepEqual(faults, []);
	await close();
});

test.serial('the matrix can be edited by keyboard, and edits can be reverted', async (t) => {
	const { page, faults, close } = await openMatrix();
	const press = async (...keys: readonly string[]) => {
		for (const key of keys) await page.keyboard.press(key);
	};
	await page.getByRole('button', { name: 'Collapse all' }).focus();
	await press('Tab');
	t.regex(String(await focused(page)), /^`document:read`, tenant role `boss`/);
	await press('ArrowDown', 'ArrowRight');
	t.is(await focused(page), '`document:write`, tenant role `staff`: not granted.');
	await press('Enter');
	t.is(
		await focused(page),
		'`document:write`, tenant role `staff`: granted. Changed in the draft (previously not granted).',
	);
	t.is(
		await page.getByRole('status').first().textContent(),
		'Draft updated: document:write, tenant role staff: granted.',
	);
	const [draft] = await keptDrafts(page);
	t.deepEqual(draft?.changes, [
		{
			kind: 'role',
			key: 'staff',
			operation: 'update',
			value: { name: 'Staff', permissions: ['document:read', 'document:write'] },
		},
	]);
	await press('ArrowLeft');
	t.is(
		await focused(page),
		'`document:write`, tenant role `boss`: inherited. Granted by `staff`, which the role extends. Changed in the draft (previously not granted).',
	);
	await press('ArrowRight', 'Space');
	t.deepEqual(await keptDrafts(page), [], 'reverted');
	// A user set is edited beside the grid, rule by rule.
	await press('End', 'ArrowUp', 'Enter');
	t.is(await page.evaluate('document.activeElement.type'), 'checkbox');
	await press('Space', 'Escape');
	t.is(
		await focused(page),
		'`document:read`, user set `adults`: by condition. A rule grants the action to `adults` on every `document`. Changed in the draft (previously not granted).',
	);
	const rule = { user_set: 'adults', permission: 'document:read', resource_set: '__autogen_document' };
	t.deepEqual((await keptDrafts(page))[0]?.changes, [{ kind: 'condition_set_rule', value: rule, operation: 'create' }]);
	await press('F2', 'Space', 'Escape');
	t.deepEqual(await keptDrafts(page), []);
	// A resource header hides the resource's actions. The page address records this.
	await press('ArrowUp', 'Enter');
	t.is(await page.getByRole('rowheader').count(), 3);
	t.is(new URL(page.url()).searchParams.get('except'), 'document');
	await page.reload();
	await page.getByRole('grid').waitFor();
	t.is(await page.getByRole('rowheader').count(), 3);
	t.deepEqual(faults, []);
	await close();
});

test.serial('a derivation can be drafted in the panel', async (t) => {
	const { page, close } = await openMatrix();
	await page.getByRole('gridcell', { name: '`document:read`, role `folder:owner`' }).click();
	await page.getByRole('button', { name: 'Remove derivation of document:editor' }).click();
	await page
		.getByRole('gridcell', {
			name: '`document:read`, role `folder:owner`: not applicable. Changed in the draft (previously derived).',
		})
		.waitFor();
	t.deepEqual((await keptDrafts(page))[0]?.changes, [
		{
			kind: 'resource_role',
			key: 'document:editor',
			operation: 'update',
			value: { name: 'Editor', permissions: ['read'] },
		},
	]);
	await page.getByRole('button', { name: '`document:read`, role `document:editor`' }).focus();
	await page.getByRole('button', { name: '`document:read`, role `document:editor`' }).press('F2');
	await page.getByLabel('Derive from').selectOption({ label: 'folder:owner via parent' });
	await page.getByRole('button', { name: 'Add derivation', exact: true }).click();
	await page.getByRole('gridcell', { name: '`document:read`, role `folder:owner`: derived.' }).waitFor();
	t.deepEqual(await keptDrafts(page), []);
	await close();
});

test.serial('the URL filters the matrix', async (t) => {
	const { page, open, close } = await openMatrix('?resource=folder&columns=role');
	t.is(await page.getByRole('row').count(), 3);
	t.is(await page.getByRole('columnheader').count(), 3);
	await page.getByLabel('Role or user set').fill('BOSS');
	await page.waitForURL(/role=BOSS/);
	t.is(await page.getByRole('columnheader').count(), 2);
	await open('matrix?resource=nothing');
	await page.getByText('No matching resources or actions').waitFor();
	await close();
});

test.serial('a read-only key sees the same matrix without editable cells', async (t) => {
	const body = { project_id: 'default', environment_id: 'dev', access_level: 'read', name: 'reader' };
	const { body: made } = await stack.organization.post('/v2/api-key', body);
	const { page, close } = await openMatrix('', { key: String(made['secret']) });
	t.is(await page.getByRole('gridcell').count(), 15);
	t.is(await page.locator('[role=gridcell] button').count(), 0);
	await page.getByRole('gridcell', { name: '`document:write`, user set `adults`' }).click();
	await page.keyboard.press('Enter');
	t.is(await page.locator('.matrix-panel').getByRole('button').count(), 0);
	t.is(await page.locator('.matrix-panel input:not([disabled])').count(), 0);
	t.regex((await page.locator('.matrix-panel').textContent()) ?? '', /grants the action to adults on drafts/);
	await close();
});

test.serial('the matrix is accessible in a wide light window and in a narrow dark window', async (t) => {
	for (const options of [{}, { width: 390, dark: true } as const]) {
		const { page, faults, close } = await openMatrix('', options);
		await page.getByRole('button', { name: '`document:write`, role `document:editor`' }).click();
		t.deepEqual(await seriousViolations(page), []);
		t.is(await overflowWidth(page), 0);
		t.deepEqual(faults, []);
		await close();
	}
});

/**
 * Returns a schema with 300 types (five actions and three roles each), 50 tenant roles, 500 user sets and 500 resource
 * sets.
 */
function largeSchema(): object {
	const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index).padStart(3, '0'));
	const record = (keys: readonly string[], value: (key: string) => unknown) =>
		Object.fromEntries(keys.map((key) => [key, value(key)]));
	const actions = ['create', 'delete', 'read', 'share', 'update'];
	const types = numbers(300).map((number) => `type-${number}`);
	return {
		resources: record(types, (type) => ({
			name: type,
			actions: record(actions, () => ({})),
			roles: record(['editor', 'owner', 'viewer'], () => ({ name: 'Role', permissions: ['read'] })),
		})),
		roles: record(
			numbers(50).map((number) => `role-${number}`),
			() => ({ name: 'Role', permissions: types.map((type) => `${type}:read`) }),
		),
		condition_sets: {
			...record(
				numbers(500).map((number) => `users-${number}`),
				() => ({ name: 'Set', type: 'userset' }),
			),
			...record(
				numbers(500).map((number) => `things-${number}`),
				() => ({ name: 'Set', type: 'resourceset', resource: 'type-000' }),
			),
		},
		set_rules: [],
	};
}

test.serial('only the visible part of a large matrix is rendered; the keyboard reaches all cells', async (t) => {
	const { page, open, faults, close } = await openConsole(browser, stack);
	const answer = { format: 'regolith-environment', version: 1, schema: largeSchema() };
	await page.route(/\/export\?half=schema$/, (route) =>
		route.fulfill({ json: answer, headers: { 'x-revision': '2' } }),
	);
	await open('matrix');
	const grid = page.getByRole('grid');
	await grid.waitFor();
	t.is(await grid.getAttribute('aria-rowcount'), String(300 * 6 + 1));
	t.is(await grid.getAttribute('aria-colcount'), String(50 + 900 + 500 + 1));
	const cells = () => page.locator('[role=gridcell]').count();
	t.true((await cells()) > 0 && (await cells()) < 2_000);
	await page.getByRole('button', { name: '`type-000:create`, tenant role `role-000`' }).focus();
	await page.keyboard.press('Control+End');
	await page.getByRole('button', { name: '`type-299:update`, user set `users-499`' }).waitFor();
	t.is(await focused(page), '`type-299:update`, user set `users-499`: not granted.');
	t.true((await cells()) < 2_000);
	await page.keyboard.press('Control+Home');
	await page.keyboard.press('ArrowDown');
	t.is(await focused(page), '`type-000:create`, tenant role `role-000`: not granted.');
	// A cell keeps the focus while it is scrolled out of view.
	await page.evaluate('document.querySelector("[role=grid]").scrollTop = 20_000');
	await page
		.getByRole('rowheader', { name: /^type-1/ })
		.first()
		.waitFor();
	t.is(await focused(page), '`type-000:create`, tenant role `role-000`: not granted.');
	await page.keyboard.press('Enter');
	t.is((await keptDrafts(page))[0]?.changes.length, 1);
	t.deepEqual(faults, []);
	await close();
});
