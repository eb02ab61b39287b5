// @alone @rest

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type { Browser, Locator, Page } from 'playwright-core';
import { startChromium } from '../support/chromium.js';
import {
	type ConsoleWindow,
	closeScene,
	openConsole,
	overflowWidth,
	seriousViolations,
	tabTo,
	takePicture,
} from '../support/console-page.js';
import { startConsoleStack } from '../support/console-stack.js';
import { root } from '../support/root.js';
import type { Stack } from '../support/stack.js';

/** The model screen in Chromium, with journeys from an empty environment to a published policy. */

const samples = join(root, 'docs/samples');
const isDocument = (name: string) => name.endsWith('.json');

let stack: Stack;
let browser: Browser;

test.before(async () => {
	stack = await startConsoleStack();
	browser = await startChromium();
});

test.after.always(() => closeScene(browser, stack));

/** Opens the model of a new, empty environment. */
async function openEmptyModel(environment: string): Promise<ConsoleWindow> {
	const { status } = await stack.organization.post('/v2/projects/default/envs', {
		key: environment,
		name: environment,
	});
	if (status !== 200) throw new Error(`the environment was not created: ${status}`);
	const opened = await openConsole(browser, stack, { key: stack.keys.project, environment });
	await opened.open('model');
	await opened.page.getByText('No resources yet').waitFor();
	return opened;
}

/** Adds a part with the dialog of the open page. */
async function addPart(
	page: Page,
	kind: string,
	key: string,
	fill: (dialog: Locator) => Promise<void> = async () => undefined,
): Promise<void> {
	await page.getByRole('button', { name: `Add ${kind}`, exact: true }).click();
	const dialog = page.getByRole('dialog', { name: `Add ${kind}` });
	await dialog.getByLabel('Key', { exact: true }).fill(key);
	await fill(dialog);
	await dialog.getByRole('button', { name: `Add ${kind}`, exact: true }).click();
	await dialog.waitFor({ state: 'detached' });
}

/** Adds a resource from the list of resources. Its page opens. */
async function addResource(page: Page, key: string, actions: string): Promise<void> {
	await page.getByRole('navigation', { name: 'Model' }).getByRole('link', { name: 'Resources' }).click();
	await addPart(page, 'resource', key, (dialog) => dialog.getByLabel('Actions (optional)').fill(actions));
	await page.getByRole('heading', { name: `Resource ${key}` }).waitFor();
}

/** Checks the checkboxes with these names. */
async function check(dialog: Locator, ...names: readonly string[]): Promise<void> {
	for (const name of names) await dialog.getByRole('checkbox', { name, exact: true }).check();
}

async function addRole(page: Page, key: string, ...boxes: readonly string[]): Promise<void> {
	await addPart(page, 'role', key, (dialog) => check(dialog, ...boxes));
}

async function addRelation(page: Page, key: string, subject: string): Promise<void> {
	await addPart(page, 'relation', key, async (dialog) => {
		await dialog.getByLabel('Related resource').selectOption(subject);
	});
}

/** Publishes the draft, and returns the revision. */
async function publish({ page, open }: ConsoleWindow): Promise<number> {
	await open('draft');
	await page.getByRole('button', { name: /^Publish/ }).click();
	const note = page.getByText(/Published as revision \d+/).last();
	await note.waitFor();
	return Number(/revision (\d+)/.exec((await note.textContent()) ?? '')?.[1]);
}

/** Creates a model like that of a code host. */
async function buildModel(page: Page): Promise<void> {
	await addResource(page, 'organization', 'read, create-repository');
	await addRole(page, 'member', 'read');
	await addRole(page, 'owner', 'create-repository', 'member');

	await addResource(page, 'team', 'read');
	await addRelation(page, 'child', 'team');
	await addRole(page, 'member', 'read');
	await page.getByRole('button', { name: 'Edit role member' }).click();
	await check(page.getByRole('dialog'), 'team:member via child');
	await page.getByRole('dialog').getByLabel('Description (optional)').fill('Includes the members of child teams');
	await page.getByRole('button', { name: 'Save to draft' }).click();
	await page.getByText('Derived from team:member via child').waitFor();

	await addResource(page, 'repository', 'read push');
	await addPart(page, 'action', 'delete');
	await addRelation(page, 'organization', 'organization');
	await addRelation(page, 'writer_team', 'team');
	await addPart(page, 'attribute', 'visibility', (dialog) =>
		dialog.getByLabel('Description (optional)').fill('public, internal or private'),
	);
	await addRole(page, 'reader', 'read', 'organization:member via organization');
	await addRole(page, 'writer', 'push', 'reader', 'team:member via writer_team');
	await addRole(page, 'admin', 'delete', 'writer', 'organization:owner via organization');
	await addPart(page, 'action group', 'change', (dialog) => check(dialog, 'push', 'delete'));

	await addResource(page, 'issue', 'read, close');
	await addRelation(page, 'repository', 'repository');
	await addRole(page, 'reader', 'read', 'repository:reader via repository', 'repository:writer via repository');

	const navigation = page.getByRole('navigation', { name: 'Model' });
	await navigation.getByRole('link', { name: 'Tenant roles' }).click();
	await addPart(page, 'tenant role', 'support', (dialog) => check(dialog.getByRole('group').first(), 'close'));
	await navigation.getByRole('link', { name: 'User attributes' }).click();
	await addPart(page, 'user attribute', 'level', async (dialog) => {
		await dialog.getByLabel('Type').selectOption({ label: 'Number' });
	});
}

/** Creates a user, a team with the user, and a repository of the team, in the directory. */
async function createFacts({ page, open }: ConsoleWindow): Promise<void> {
	const create = async (title: string, fields: Readonly<Record<string, string>>) => {
		await page.getByRole('button', { name: `${title}…` }).click();
		const dialog = page.getByRole('dialog', { name: title });
		for (const [label, text] of Object.entries(fields))
			await dialog.getByLabel(label, { exact: true }).first().fill(text);
		await dialog.getByRole('button', { name: title, exact: true }).click();
		await dialog.waitFor({ state: 'detached' });
	};
	await open('directory/users');
	await create('Create user', { 'Key (used in checks)': 'ann' });
	await open('directory/instances');
	await create('Create instance', { Resource: 'team', Key: 'backend', Tenant: 'default' });
	await page.getByText('Assign role', { exact: true }).first().click();
	await page.getByRole('combobox', { name: 'User', exact: true }).fill('ann');
	await page.getByRole('combobox', { name: 'Role', exact: true }).fill('member');
	await page.getByRole('button', { name: 'Assign role', exact: true }).click();
	await page.getByRole('status').getByText('Assigned', { exact: false }).waitFor();
	await open('directory/instances');
	await create('Create instance', { Resource: 'repository', Key: 'api', Tenant: 'default' });
	await page.getByText('Add relationship', { exact: true }).first().click();
	await page.getByRole('combobox', { name: 'Subject', exact: true }).fill('team:backend');
	await page.getByRole('combobox', { name: 'Relation', exact: true }).fill('writer_team');
	await page.getByRole('button', { name: 'Add relationship', exact: true }).click();
	await page.getByRole('status').getByText('Added relation writer_team').waitFor();
}

test.serial('a model can be built, published, tested and changed in the console alone', async (t) => {
	const opened = await openConsole(browser, stack);
	const { page, open, faults, close } = opened;
	await open('matrix');
	await page.getByRole('link', { name: 'Create resources and roles in the model' }).click();
	await page.getByText('No resources yet').waitFor();
	await buildModel(page);
	t.regex((await page.locator('.model-parts').textContent()) ?? '', /levelnew.*Number/);
	await open('matrix');
	await page.getByRole('gridcell', { name: '`repository:push`, role `team:member`: derived.' }).waitFor();
	await stack.reached(await publish(opened));
	await createFacts(opened);

	// The check is explained by the derivation, and becomes a test.
	const asked = 'check?user=ann&action=push&resource=repository&instance=api&tenant=default';
	const answer = page.getByRole('status', { name: 'Result' });
	await open(asked);
	await answer.getByText('Allowed').waitFor();
	t.regex((await page.locator('main').textContent()) ?? '', /writer_team/);
	await page.getByRole('link', { name: 'Save as test' }).click();
	await page.getByRole('button', { name: 'Save now' }).click();
	await page.getByRole('status').getByText('Saved', { exact: false }).waitFor();

	// The deletion of the relation names its consequences. The test fails, so publishing needs a confirmation.
	await open('model/resources/repository');
	await page.getByRole('button', { name: 'Delete relation writer_team' }).click();
	const dialog = page.getByRole('dialog', { name: 'Delete relation writer_team' });
	await dialog.getByText('Deleted: 1 relationship').waitFor();
	t.regex(
		(await dialog.textContent()) ?? '',
		/resource role repository:writer is no longer derived from team:member via writer_team/,
	);
	await dialog.getByRole('button', { name: 'Delete in draft' }).click();
	await page.getByRole('button', { name: 'Restore relation writer_team' }).waitFor();
	await page.locator('button:focus', { hasText: 'Add relation' }).waitFor();
	await open('draft');
	await page.getByText('The test fails').first().waitFor();
	await page.getByRole('button', { name: /^Publish/ }).click();
	const confirmation = page.getByRole('dialog');
	await confirmation.getByRole('button', { name: /^Publish/ }).click();
	const note = page.getByText(/Published as revision \d+/).last();
	await note.waitFor();
	await stack.reached(Number(/revision (\d+)/.exec((await note.textContent()) ?? '')?.[1]));
	await open(asked);
	await answer.getByText('Denied').waitFor();
	t.deepEqual(faults, []);
	await close();
});

test.serial('model pages and dialogs are accessible in wide light and narrow dark windows', async (t) => {
	for (const options of [{}, { width: 390, dark: true } as const]) {
		const { page, open, faults, close } = await openConsole(browser, stack, options);
		const pages = [
			'model',
			'model/roles',
			'model/users?add=user_attribute',
			'model/resources/repository',
			'model/resources/repository?edit=resource_role:repository:writer',
			'model/resources/team?remove=resource:team',
			'model/resources/nothing',
		];
		for (const name of pages) {
			await open(name);
			await page.waitForLoadState('networkidle');
			if (name.includes('?')) await page.getByRole('dialog').waitFor();
			t.deepEqual(await seriousViolations(page), [], name);
			t.is(await overflowWidth(page), 0, name);
		}
		// Deleted parts are shown with their state.
		await page.getByRole('link', { name: 'View all resources' }).click();
		await page.getByRole('button', { name: 'Delete resource organization' }).click();
		await page.getByRole('button', { name: 'Delete in draft' }).click();
		await page
			.getByRole('link', { name: 'repository changed' })
			.or(page.getByText('removed').first())
			.first()
			.waitFor();
		await open('model/resources/organization');
		await page.getByText('removed').first().waitFor();
		t.deepEqual(await seriousViolations(page), [], 'a deleted resource');
		t.is(await page.getByRole('button', { name: /^Add/ }).count(), 0, 'nothing can be added to a deleted resource');
		await page.getByRole('button', { name: 'Restore resource organization' }).click();
		await page.getByRole('button', { name: 'Add role', exact: true }).waitFor();
		t.deepEqual(faults, []);
		await close();
	}
});

test.serial('a read-only key sees the model without edit buttons', async (t) => {
	const body = { project_id: 'default', environment_id: 'dev', access_level: 'read', name: 'reader' };
	const { body: made } = await stack.organization.post('/v2/api-key', body);
	const { page, open, close } = await openConsole(browser, stack, { key: String(made['secret']) });
	await open('model/resources/repository?remove=resource:repository');
	await page.getByText('Derived from organization:owner via organization').waitFor();
	t.deepEqual(await page.locator('main button').allTextContents(), ['As curl']);
	t.is(await page.getByRole('dialog').count(), 0);
	await close();
});

test.serial('a model can be built and published by keyboard', async (t) => {
	const { page, faults, close } = await openEmptyModel('keyboard');
	const press = async (...keys: readonly string[]) => {
		for (const key of keys) await page.keyboard.press(key);
	};
	const dialogFocus = page.locator('dialog :focus');
	await tabTo(page, 'Add resource');
	await press('Enter');
	await dialogFocus.waitFor();
	await press('Enter');
	await page.getByRole('alert').getByText('Enter a key.').waitFor();
	await page.keyboard.type('note');
	await tabTo(page, 'Actions (optional)');
	await page.keyboard.type('read, write, print');
	await press('Enter');
	await page.getByRole('heading', { name: 'Resource note' }).waitFor();

	await tabTo(page, 'Add role');
	await press('Enter');
	await dialogFocus.waitFor();
	await page.keyboard.type('editor');
	await tabTo(page, 'write');
	await press('Space', 'Enter');
	await page.getByText('Grants write').waitFor();
	await page.locator('button:focus', { hasText: 'Add role' }).waitFor();

	await tabTo(page, 'Delete action print');
	await press('Enter');
	await dialogFocus.waitFor();
	await tabTo(page, 'Delete in draft');
	await press('Enter');
	await page.getByRole('button', { name: 'Delete action print' }).waitFor({ state: 'detached' });
	await page.locator('button:focus', { hasText: 'Add action' }).waitFor();
	await tabTo(page, 'Edit role editor');
	await press('Enter');
	await dialogFocus.waitFor();
	await press('Escape');
	await page.locator('button:focus[aria-label="Edit role editor"]').waitFor();

	await tabTo(page, 'Draft and impact2');
	await press('Enter');
	await page.getByText('resource role note:editor').first().waitFor();
	await tabTo(page, /^Publish/);
	await page.locator('button:focus:not([aria-disabled=true])').waitFor();
	await press('Enter');
	await page
		.getByText(/Published as revision \d+/)
		.last()
		.waitFor();
	t.deepEqual(faults, []);
	await close();
});

test.serial('computed and public roles can be created and published by keyboard', async (t) => {
	const opened = await openEmptyModel('computed-roles');
	const { page, open, faults, close } = opened;
	await page.getByRole('button', { name: 'Add to draft: Shared documents' }).click();
	await page.getByRole('link', { name: 'document', exact: true }).first().waitFor();
	await open('model/resources/document?add=resource_role');
	const dialog = page.getByRole('dialog', { name: 'Add role' });
	const press = (key: string) => page.keyboard.press(key);
	const choose = async (list: string, role: string) => {
		await dialog.getByRole('group', { name: list }).getByRole('checkbox', { name: role }).focus();
		await press('Space');
	};
	await dialog.locator(':focus').waitFor();
	await page.keyboard.type('signer');
	await tabTo(page, /^Computed/);
	await press('Space');
	t.is(await dialog.getByRole('checkbox', { name: /^Public/ }).count(), 0, 'a computed role cannot be public');
	await press('Enter');
	await dialog.getByRole('alert').getByText('A computed role needs at least one role that users must have.').waitFor();
	await choose('With all of these roles', 'approver');
	await choose('With at least one of these roles', 'editor');
	await choose('With none of these roles', 'blocked');
	for (const [width, colorScheme] of [
		[1280, 'light'],
		[390, 'dark'],
	] as const) {
		await page.setViewportSize({ width, height: 800 });
		await page.emulateMedia({ colorScheme });
		t.deepEqual(await seriousViolations(page), []);
		t.is(await overflowWidth(page), 0);
	}
	await press('Enter');
	await dialog.waitFor({ state: 'detached' });
	await page.getByText('Computed: all of approver; any of editor; none of blocked').waitFor();

	await open('model/resources/document?add=resource_role');
	await dialog.locator(':focus').waitFor();
	await page.keyboard.type('guest');
	await tabTo(page, /^Public/);
	await press('Space');
	await press('Enter');
	await dialog.waitFor({ state: 'detached' });
	await page.getByText('Public: can be assigned to everyone').waitFor();
	await publish(opened);
	t.deepEqual(faults, []);
	await close();
});

test.serial('roles are assigned under conditions and to sets of users, with the keyboard', async (t) => {
	const opened = await openEmptyModel('conditions');
	const { page, open, faults, close } = opened;
	const press = async (...keys: readonly string[]) => {
		for (const key of keys) await page.keyboard.press(key);
	};
	const lookAround = async (place: string) => {
		for (const [width, colorScheme] of [
			[390, 'dark'],
			[1280, 'light'],
		] as const) {
			await page.setViewportSize({ width, height: 800 });
			await page.emulateMedia({ colorScheme });
			// Otherwise the bar may cover a part of a button.
			await page.evaluate('scrollTo(0, 0)');
			t.deepEqual(await seriousViolations(page), [], place);
			t.is(await overflowWidth(page), 0, place);
		}
	};
	const type = async (field: string, text: string) => {
		await page.getByLabel(field, { exact: true }).first().focus();
		await page.keyboard.type(text);
	};
	await page.getByRole('button', { name: 'Import now: Expenses' }).click();
	await page.getByRole('link', { name: 'cost_center', exact: true }).first().waitFor();

	// The set has two parameters. The second has a wrong name at first.
	await open('condition-sets?new=yes');
	await type('Key', 'in_region');
	await press('Tab');
	await page.keyboard.type('In the regions of the approver');
	await press('Tab');
	await page.keyboard.type('Condition');
	const parameters = page.getByRole('region', { name: 'Parameters' });
	await parameters.getByLabel('Name').focus();
	await page.keyboard.type('regions');
	await press('Tab');
	await page.keyboard.type('List');
	await press('Tab', 'Enter');
	await parameters.getByText('regions').waitFor();
	await page.keyboard.type('regions');
	await press('Enter');
	await parameters.getByRole('alert').getByText('“regions” already exists.').waitFor();
	await press('Control+A');
	await page.keyboard.type('strict');
	await press('Tab');
	await page.keyboard.type('Yes');
	await press('Tab', 'Enter');
	await page.getByRole('button', { name: 'Add condition' }).focus();
	await press('Enter');
	await page.locator('[role=combobox]:focus').waitFor();
	await press('Control+A');
	await page.keyboard.type('context.region');
	await press('Tab');
	await page.keyboard.type('is in');
	await page.getByLabel('Compare with').focus();
	await page.keyboard.type('Attribute');
	await type('Attribute to compare', 'grant.reg');
	await page.getByRole('option', { name: 'grant.regions' }).waitFor();
	await press('ArrowDown', 'Enter');
	await lookAround('the set');
	await tabTo(page, 'Save now');
	await press('Enter');
	await page.getByText('Saved in_region.').waitFor();
	await page.getByText('Not used yet').waitFor();

	// The role declares the set, and a set of users.
	await open('model/resources/cost_center?edit=resource_role:cost_center:approver');
	const dialog = page.getByRole('dialog', { name: 'Edit role approver' });
	for (const name of ['in_region', 'expense:approver']) {
		await dialog.getByRole('checkbox', { name }).focus();
		await press('Space');
	}
	await lookAround('the role');
	await press('Enter');
	await dialog.waitFor({ state: 'detached' });
	await page.getByText('Can be assigned under conditions: up_to_limit, from_network, in_region').waitFor();
	await page.getByText('Can be assigned to sets of users: expense:approver').waitFor();
	await publish(opened);

	// Values are checked before they are sent.
	await open('directory/instances/cost_center%3Asales');
	const roles = page.getByRole('table', { name: 'Roles on cost_center:sales' });
	await roles.getByText('up_to_limit with limit 500').waitFor();
	await tabTo(page, 'Assign role');
	await press('Enter');
	await tabTo(page, 'Role');
	await page.keyboard.type('approver');
	await page.getByLabel('Assign under').waitFor();
	await tabTo(page, 'User');
	await page.keyboard.type('ben');
	await tabTo(page, /^Assign under/);
	await page.keyboard.type('in_region');
	const regions = page.getByLabel('regions, one per line');
	const alert = page.locator('main').getByRole('alert');
	await regions.waitFor();
	await tabTo(page, 'Assign role');
	await press('Enter');
	await alert.getByText('Enter at least one item for “regions”.').waitFor();
	await regions.focus();
	await page.keyboard.type('eu\nus');
	await tabTo(page, 'Assign role');
	await press('Enter');
	await alert.getByText('Choose yes or no for “strict”.').waitFor();
	await page.getByLabel('strict').focus();
	await page.keyboard.type('yes');
	await lookAround('the assignment');
	await tabTo(page, 'Assign role');
	await press('Enter');
	await roles.getByText('in_region with regions [eu, us], strict yes').waitFor();

	// The role can be assigned to a declared set of users only.
	await type('Role', 'approver');
	await page.getByText('Can be assigned to sets of users: expense:…#approver').waitFor();
	await type('User', '');
	await press('Control+A');
	await page.keyboard.type('cost_center:sales#approver');
	await press('Enter');
	await alert.getByText('“approver” can be assigned only to these sets of users: expense:…#approver').waitFor();
	await press('Control+A');
	await page.keyboard.type('expense:ta');
	await page.getByRole('option', { name: 'expense:taxi#approver' }).waitFor();
	await press('ArrowDown', 'Enter', 'Enter');
	await roles.getByRole('link', { name: 'expense:taxi' }).waitFor();
	await lookAround('the instance');

	await open('directory/users/ben');
	const held = page.getByRole('row').filter({ hasText: 'in_region with regions [eu, us], strict yes' });
	await held.getByRole('button', { name: /^Remove role approver .* under in_region$/ }).focus();
	await lookAround('the user');
	await press('Enter');
	await page.getByRole('dialog').getByRole('button', { name: 'Remove role' }).focus();
	await press('Enter');
	await held.waitFor({ state: 'detached' });
	t.deepEqual(faults, []);
	await close();
});

test.serial('a sample can be drafted and published, or imported immediately', async (t) => {
	const drafted = await openEmptyModel('drafted-sample');
	await drafted.page.getByRole('button', { name: 'Add to draft: Code hosting' }).click();
	const { roles, relations } = JSON.parse(readFileSync(join(samples, 'code-hosting.json'), 'utf8')).schema.resources
		.repository as Readonly<Record<'roles' | 'relations', object>>;
	const counts = `${Object.keys(roles).length} roles, ${Object.keys(relations).length} relations`;
	await drafted.page.getByText(counts).waitFor();
	await drafted.open('model/resources/issue');
	await drafted.page.getByRole('heading', { name: 'Action groups' }).waitFor();
	await takePicture(drafted.page, 'model');
	await publish(drafted);
	t.deepEqual(drafted.faults, []);
	await drafted.close();

	const imported = await openEmptyModel('imported-sample');
	t.is(
		await imported.page.getByRole('button', { name: /^Import now/ }).count(),
		readdirSync(samples).filter(isDocument).length,
	);
	await imported.page.getByRole('button', { name: 'Import now: Documents and folders' }).click();
	await imported.page.getByRole('link', { name: 'folder', exact: true }).first().waitFor();
	await imported.open('tests?run=published');
	await imported.page
		.getByText(/^All \d+ tests pass/)
		.first()
		.waitFor();
	t.deepEqual(imported.faults, []);
	await imported.close();
});
