// @alone @rest

import test from 'ava';
import type { Browser } from 'playwright-core';
import { consoleEnvironment } from '../../bench/support/console-environment.js';
import { startChromium } from '../support/chromium.js';
import { client } from '../support/client.js';
import { closeScene, openConsole, seriousViolations } from '../support/console-page.js';
import { consoleScreens } from '../support/console-screens.js';
import { startConsoleStack } from '../support/console-stack.js';
import { onAllStores } from '../support/each-store.js';
import type { Stack } from '../support/stack.js';

/**
 * The console with 100,000 users, 200,000 instances, 300 resource types and 1,000 condition sets. Only
 * `npm run test:all` runs it, because the import takes minutes. `bench/console.bench.ts` measures screen times.
 */

const journey = onAllStores ? test.serial : test.serial.skip;

let stack: Stack | undefined;
let browser: Browser | undefined;

/** Import timeout, in milliseconds. */
const importTime = 900_000;
/** Comparison timeout, in milliseconds. */
const comparisonTime = 300_000;

async function startLargeStack(): Promise<Stack> {
	const started = await startConsoleStack();
	const { facts, ...document } = consoleEnvironment(1) as { readonly facts: { readonly role_assignments: object[] } };
	// Keep one assignment per user, because more assignments would only take longer.
	const role_assignments = facts.role_assignments.filter((_, index) => index % 5 === 0);
	const raw = JSON.stringify({ ...document, facts: { ...facts, role_assignments } });
	const http = client(started.api.listening.url, started.keys.environment);
	const path = '/v2/projects/default/envs/dev/import?conflict_strategy=overwrite';
	const { status, body, revision } = await http.post(path, undefined, { raw });
	if (status !== 200) throw new Error(JSON.stringify(body).slice(0, 500));
	await started.reached(revision);
	return started;
}

test.after.always(() => closeScene(browser, stack));

/** Returns the servers and the browser started by the first journey. */
function started(): { readonly stack: Stack; readonly browser: Browser } {
	if (stack === undefined || browser === undefined) throw new Error('the large environment could not be created');
	return { stack, browser };
}

journey('every screen shows its content', async (t) => {
	t.timeout(importTime);
	stack = await startLargeStack();
	browser = await startChromium();
	const { page, open, faults, close } = await openConsole(browser, stack);
	for (const [screen, content] of Object.entries(consoleScreens)) {
		await open(screen);
		await page.locator(content).first().waitFor();
		t.deepEqual(await seriousViolations(page), [], screen);
	}
	t.deepEqual(faults, []);
	await close();
});

journey('one user among 100,000 can be found, with their permissions', async (t) => {
	const { page, open, faults, close } = await openConsole(started().browser, started().stack);
	await open('directory');
	await page
		.getByText(/100,?000/)
		.first()
		.waitFor();
	await page.getByLabel('Search').fill('user-99999');
	await page.getByRole('link', { name: 'user-99999@example.com' }).click();
	await page.getByRole('heading', { name: 'user-99999@example.com' }).waitFor();
	await page.locator('main table').first().waitFor();
	await open('check?user=user-99999@example.com&action=list&resource=document&tenant=tenant-93');
	await page
		.getByRole('status', { name: 'Result' })
		.getByText(/Allowed|Denied/)
		.waitFor();
	t.deepEqual(faults, []);
	await close();
});

journey('a matrix of 300 resources and 50 roles renders only the visible cells, at any scroll position', async (t) => {
	const { page, open, faults, close } = await openConsole(started().browser, started().stack);
	await open('matrix');
	const grid = page.locator('main [role=grid]');
	await grid.waitFor();
	const cells = () => grid.locator('[role=gridcell]').count();
	t.true((await cells()) < 3_000);
	await grid.hover();
	for (let turn = 0; turn < 20; turn += 1) await page.mouse.wheel(500, 2_000);
	await grid.locator('[role=gridcell]').nth(50).waitFor();
	t.true((await cells()) < 3_000, 'cells outside of the window are not drawn');
	await page.getByLabel('Resource or action').fill('document:action-7');
	await page.getByText(/^1 of 30\d resources/).waitFor();
	t.deepEqual(await seriousViolations(page), []);
	t.deepEqual(faults, []);
	await close();
});

journey('the impact of removing a role from thousands of users is shown with lower bounds', async (t) => {
	t.timeout(comparisonTime);
	const { page, open, faults, close } = await openConsole(started().browser, started().stack);
	await open('draft');
	const role = { name: 'Role', permissions: [] };
	const { revision } = await started().stack.environment.get('/v2/projects/default/envs/dev/export?half=schema');
	const draft = {
		base_revision: revision,
		changes: [{ kind: 'role', operation: 'update', key: 'role-0', value: role }],
	};
	const file = { name: 'draft.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(draft)) };
	await page.getByLabel('Drop a draft or an environment document').setInputFiles(file);
	await page.getByText('checks lost', { exact: true }).waitFor({ timeout: comparisonTime });
	t.regex((await page.locator('.draft-counts').textContent()) ?? '', /at least|[1-9]\d{3}/);
	await page.getByRole('list', { name: 'Lost access' }).getByRole('listitem').first().waitFor();
	t.deepEqual(faults, []);
	await close();
});
