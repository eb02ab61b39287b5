// @alone @rest

import test from 'ava';
import type { Browser } from 'playwright-core';
import { startChromium } from '../support/chromium.js';
import type { Loose } from '../support/client.js';
import { client } from '../support/client.js';
import { closeScene, openConsole, overflowWidth, seriousViolations } from '../support/console-page.js';
import { facts, type Stack, schema, startStack } from '../support/stack.js';

/** The requests screen in Chromium shows the requests from all elements and their reviews. */

const elements = '/v2/elements/default/dev';

let stack: Stack;
let browser: Browser;

test.before(async () => {
	stack = await startStack();
	const { environment } = stack;
	await environment.post(`${schema}/resources`, { key: 'account', name: 'Account', actions: { pay: {}, read: {} } });
	await environment.post(`${schema}/roles`, { key: 'member', name: 'Member', permissions: [] });
	await environment.post(`${schema}/roles`, { key: 'viewer', name: 'Viewer', permissions: ['account:read'] });
	await environment.post(`${schema}/roles`, { key: 'editor', name: 'Editor', permissions: ['account:pay'] });
	await environment.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	const elementsConfig = { elements_type: 'approval_flow', settings: {}, roles_to_levels: {} };
	await environment.post(`${elements}/config`, { key: 'requests', name: 'Ask for access', ...elementsConfig });
	const approvals = { elements_type: 'operation_approval', settings: { resource: 'account' }, roles_to_levels: {} };
	await environment.post(`${elements}/config`, { key: 'approvals', name: 'Approvals', ...approvals });
	browser = await startChromium();
});

test.after.always(() => closeScene(browser, stack));

/** Creates a user with role requests in `acme`. */
async function asks(user: string, ...roles: readonly string[]): Promise<void> {
	const member = [{ role: 'member', tenant: 'acme' }];
	await stack.environment.post(`${facts}/users`, { key: user, role_assignments: member });
	for (const role of roles) {
		const path = `${facts}/access_requests/requests/user/${user}/tenant/acme`;
		const reason = `As ${role}, <b>please</b>`;
		await stack.environment.post(path, { access_request_details: { tenant: 'acme', role }, reason });
	}
}

async function rolesHeld(user: string): Promise<readonly unknown[]> {
	const { body } = await stack.environment.get<readonly Loose[]>(`${facts}/role_assignments?user=${user}`);
	return body.map(({ role }) => role);
}

test.serial('a request can be approved with a different role by keyboard', async (t) => {
	await asks('ann', 'editor', 'viewer');
	for (const options of [{}, { width: 390, dark: true } as const]) {
		const { page, open, faults, close } = await openConsole(browser, stack, options);
		await open('requests?user=ann');
		await page.getByText('As editor, <b>please</b>').waitFor();
		t.deepEqual(await seriousViolations(page), []);
		t.is(await overflowWidth(page), 0);
		t.deepEqual(faults, []);
		await close();
	}
	const { page, open, faults, close } = await openConsole(browser, stack);
	await open('requests?user=ann');
	await page.getByRole('button', { name: 'Approve the request from ann for Editor' }).focus();
	await page.keyboard.press('j');
	t.is(await focusedLabel(page), 'Approve the request from ann for Viewer');
	await page.keyboard.press('k');
	await page.keyboard.press('a');
	const form = page.getByRole('form', { name: 'Approve the request from ann' });
	await form.waitFor();
	t.regex(page.url(), /move=approve/);
	await form.getByText('account:pay').waitFor();
	t.regex((await form.locator('dd').first().textContent()) ?? '', /member in acme/);
	await form.getByLabel('Role').selectOption({ label: 'Viewer (viewer)' });
	await form.getByText('account:read').waitFor();
	await form.getByLabel('Comment').fill('Only to read.');
	t.deepEqual(await seriousViolations(page), []);
	await form.getByRole('button', { name: 'Approve' }).focus();
	await page.keyboard.press('Enter');
	await page.getByText('Approved the request from ann.').waitFor();
	await page.getByText('As editor, <b>please</b>').waitFor({ state: 'detached' });
	t.deepEqual(await rolesHeld('ann'), ['member', 'viewer']);
	t.is(await focusedLabel(page), 'Approve the request from ann for Viewer', 'the next request has the focus');
	await page.keyboard.press('d');
	await page.getByRole('form', { name: 'Deny the request from ann' }).waitFor();
	await page.keyboard.press('Escape');
	await page.getByRole('form').filter({ hasText: 'Comment' }).waitFor({ state: 'detached' });
	await page.keyboard.press('d');
	await page.getByLabel('Comment').fill('Enough.');
	await page.getByRole('button', { name: 'Deny', exact: true }).click();
	await page.getByText('No matching requests').waitFor();
	await page.getByLabel('State').selectOption('denied');
	await page.getByText(/denied .* with an API key: Enough\./).waitFor();
	t.deepEqual(faults, []);
	await close();
});

test.serial('rapid key presses before the next paint all take effect', async (t) => {
	await asks('dee', 'editor');
	const { page, open, close } = await openConsole(browser, stack);
	await open('requests?user=dee');
	await page.getByRole('button', { name: /^Approve the request from dee/ }).focus();
	// A message runs as a separate task: after rendering, but before the next frame and its effects.
	await page.evaluate(`(async () => {
		const { port1, port2 } = new MessageChannel();
		for (const key of ['d', 'Escape', 'a']) {
			document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
			await new Promise((done) => { port1.onmessage = done; port2.postMessage(''); });
		}
		port1.close();
	})()`);
	await page.getByRole('form', { name: 'Approve the request from dee' }).waitFor();
	t.is(await page.getByRole('form', { name: 'Deny the request from dee' }).count(), 0);
	await close();
});

async function focusedLabel(page: { evaluate(script: string): Promise<unknown> }): Promise<unknown> {
	return page.evaluate(`document.activeElement.getAttribute('aria-label')`);
}

test.serial('an approved operation assigns the role on the instance', async (t) => {
	await asks('ben');
	const signIn = { user_id: 'ben', tenant_id: 'acme' };
	const { body } = await stack.environment.post('/v2/auth/elements_login_as', signIn);
	const ben = client(stack.api.listening.url, String(body['element_bearer_token']));
	const details = { tenant: 'acme', resource: 'account', resource_instance: 'main' };
	await ben.post(`${elements}/config/approvals/operation_approval`, { access_request_details: details });
	const { page, open, close } = await openConsole(browser, stack);
	await open('requests?type=operation_approval');
	await page.getByText('Current access and effect of approval').click();
	await page.getByText('_Approved_').waitFor();
	await page.getByRole('button', { name: 'Approve the request from ben for operation on account:main' }).click();
	await page.getByRole('button', { name: 'Approve', exact: true }).click();
	await page.getByText('Approved the request from ben.').waitFor();
	t.deepEqual(await rolesHeld('ben'), ['member', '_Approved_']);
	await close();
});

test.serial('a decision on a request that is already decided is rejected with the reason', async (t) => {
	await asks('cy', 'editor');
	const { page, open, close } = await openConsole(browser, stack);
	await open('requests?user=cy');
	await page.getByRole('button', { name: /^Approve the request from cy/ }).click();
	const { body } = await stack.environment.get(`${facts}/element_requests?requesting_user=cy`);
	const [request] = body['data'] as readonly Loose[];
	await stack.environment.put(`${facts}/element_requests/${request?.['id']}/deny`);
	await page.getByRole('button', { name: 'Approve', exact: true }).click();
	t.regex((await page.locator('main [role=alert]').textContent()) ?? '', /already denied/);
	await close();
});

test.serial('a read-only key can see requests but not decide them', async (t) => {
	await asks('dora', 'editor');
	const body = { project_id: 'default', environment_id: 'dev', access_level: 'read', name: 'reader' };
	const { body: key } = await stack.organization.post('/v2/api-key', body);
	const { page, open, close } = await openConsole(browser, stack, { key: String(key['secret']) });
	await open('requests?user=dora');
	await page.getByText('As editor, <b>please</b>').waitFor();
	t.is(await page.getByRole('button', { name: /^(Approve|Deny)/ }).count(), 0);
	await close();
});
