// @alone

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { Browser, Page } from 'playwright-core';
import { opa, runOpa, writeFiles } from '../compiler/engine.js';
import { startChromium } from '../support/chromium.js';
import { openConsole, seriousViolations, takePicture } from '../support/console-page.js';
import { startConsoleStack } from '../support/console-stack.js';
import type { Stack } from '../support/stack.js';

/**
 * A story in the console, which begins with a denial and ends with a policy that gives exactly the intended access. The
 * user sees the reason for the denial and the side effects of a role permission, adds a rule instead, and sees the
 * published difference.
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
	const { status, revision } = await stack.environment.post('/v2/projects/default/envs/dev/import', document);
	if (status !== 200) throw new Error(`the import answered ${status}`);
	await stack.reached(revision);
});

test.after.always(async () => {
	await browser?.close();
	await stack?.stop();
});

/** Returns the users in an impact table. */
async function usersIn(page: Page, table: string): Promise<readonly string[]> {
	const rows = page.getByRole('table', { name: table }).locator('tbody tr');
	await rows.first().waitFor();
	const users = await rows.locator('td:first-child').allTextContents();
	return [...new Set(users)].sort();
}

test.serial('a denied user gets access, and nobody else does', async (t) => {
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
	await page.getByText('In the draft: document:read, tenant role employee: granted.').waitFor();
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
	await page.getByText('This is the set in the draft').waitFor();
	await open('matrix');
	await page.getByRole('gridcell', { name: '`document:read`, user set `finance`' }).click();
	await page.getByRole('checkbox', { name: /every/ }).check();
	await open('draft');
	t.deepEqual(await usersIn(page, 'Gained access'), ['cat']);
	await page.getByText('regolith/user_sets/finance/selects.rego').first().waitFor();
	await page.getByRole('button', { name: 'Publish' }).click();
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
	await page.getByLabel('Differences of regolith/user_sets/finance/selects.rego').waitFor();
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
