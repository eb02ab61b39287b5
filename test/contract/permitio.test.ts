import test from 'ava';
import { Permit, PermitApiError } from 'permitio';
import { onEachStack } from '../support/each-store.js';
import { type Stack, startStack } from '../support/stack.js';

/** The published, unmodified SDK with the URLs of the API and a decision point. Follows a newcomer’s complete path. */

function permit({ keys, api, decisionPoint }: Stack): Permit {
	return new Permit({
		token: keys.environment,
		apiUrl: api.listening.url,
		pdp: decisionPoint.listening.url,
		log: { level: 'silent' },
	});
}

onEachStack('the Node SDK fills an empty environment, gets decisions, and deletes the objects', async (t, stack) => {
	const sdk = permit(stack);
	const newest = async () => {
		const { revision } = (await stack.api.store.counters((await sdk.api.environments.get('default', 'dev')).id)) ?? {};
		await stack.reached(revision);
	};

	const resource = await sdk.api.resources.create({
		key: 'document',
		name: 'Document',
		actions: { read: {}, write: {}, delete: { name: 'Delete for ever' } },
		attributes: { private: { type: 'bool' } },
	});
	t.deepEqual(Object.keys(resource.actions ?? {}).sort(), ['delete', 'read', 'write']);

	const viewer = await sdk.api.roles.create({ key: 'viewer', name: 'Viewer', permissions: ['document:read'] });
	t.deepEqual(viewer.permissions, ['document:read']);
	await sdk.api.roles.create({ key: 'editor', name: 'Editor', permissions: ['document:read'] });
	const editor = await sdk.api.roles.assignPermissions('editor', ['document:write']);
	t.deepEqual(editor.permissions, ['document:read', 'document:write']);

	const tenant = await sdk.api.tenants.create({ key: 'acme', name: 'Acme' });
	t.is(tenant.attributes, null as unknown as undefined);
	const created = await sdk.api.users.sync({ key: 'auth0|ann', email: 'ann@acme.com' });
	t.is(created.created, true);
	t.is((await sdk.api.users.sync({ key: 'auth0|ann', first_name: 'Ann' })).created, false);

	const assignment = await sdk.api.roleAssignments.assign({ user: 'auth0|ann', role: 'editor', tenant: 'acme' });
	t.like(assignment, { user: 'auth0|ann', role: 'editor', tenant: 'acme' });
	t.is((await sdk.api.roleAssignments.list({ user: 'auth0|ann' })).length, 1);
	await newest();

	const document = { type: 'document', tenant: 'acme' };
	t.true(await sdk.check('auth0|ann', 'write', document));
	t.true(await sdk.check('auth0|ann', 'read', document));
	t.false(await sdk.check('auth0|ann', 'delete', document));
	t.false(await sdk.check('auth0|ann', 'read', { type: 'document', tenant: 'default' }), 'only in the role’s tenant');
	t.deepEqual(
		await sdk.bulkCheck([
			{ user: 'auth0|ann', action: 'read', resource: document },
			{ user: 'auth0|ann', action: 'delete', resource: document },
			{ user: 'nobody', action: 'read', resource: document },
		]),
		[true, false, false],
	);
	const everywhere = await sdk.checkAllTenants('auth0|ann', 'write', 'document');
	t.deepEqual(
		everywhere.map(({ key }) => key),
		['acme'],
	);
	t.deepEqual(await sdk.checkAllTenants('auth0|ann', 'delete', 'document'), []);
	const permissions = await sdk.getUserPermissions('auth0|ann');
	t.deepEqual(permissions['__tenant:acme']?.permissions.sort(), ['document:read', 'document:write']);

	await sdk.api.roleAssignments.unassign({ user: 'auth0|ann', role: 'editor', tenant: 'acme' });
	await newest();
	t.false(await sdk.check('auth0|ann', 'write', document));
	t.deepEqual(await sdk.getUserPermissions('auth0|ann'), {});

	const duplicate = await t.throwsAsync(sdk.api.tenants.create({ key: 'acme', name: 'Acme' }), {
		instanceOf: PermitApiError,
	});
	t.is(duplicate?.response?.status, 409);
	const missing = await t.throwsAsync(sdk.api.users.get('nobody'), { instanceOf: PermitApiError });
	t.is(missing?.response?.status, 404);
	const many = ['ben', 'cy'].map((key) => ({ key, email: `${key}@acme.com` }));
	t.deepEqual(await sdk.api.users.bulkUserCreate(many), {});
	t.deepEqual(await sdk.api.users.bulkUserReplace([{ key: 'cy', first_name: 'Cy' }, { key: 'di' }]), {});
	t.like(await sdk.api.users.get('cy'), { first_name: 'Cy', email: null });
	const again = await t.throwsAsync(sdk.api.users.bulkUserCreate(many), { instanceOf: PermitApiError });
	t.is(again?.response?.status, 409);
	t.deepEqual(await sdk.api.users.bulkUserDelete(['ben', 'cy', 'di']), {});
	t.is((await sdk.api.users.list()).data.length, 1);

	await sdk.api.users.delete('auth0|ann');
	await sdk.api.tenants.delete('acme');
	await sdk.api.roles.delete('viewer');
	await sdk.api.resources.delete('document');
	t.deepEqual(await sdk.api.resources.list(), []);
});

test('the Node SDK manages projects and environments with an organization key', async (t) => {
	const stack = await startStack();
	t.teardown(stack.stop);
	const sdk = new Permit({ token: stack.keys.organization, apiUrl: stack.api.listening.url, log: { level: 'silent' } });

	await sdk.api.projects.create({ key: 'shop', name: 'Shop' });
	t.deepEqual((await sdk.api.environments.list({ projectKey: 'shop' })).map(({ key }) => key).sort(), [
		'dev',
		'production',
	]);
	const staging = await sdk.api.environments.create('shop', { key: 'staging', name: 'Staging' });
	const key = await sdk.api.environments.getApiKey('shop', 'staging');
	t.is(key.environment_id, staging.id);
	t.regex(key.secret ?? '', /^permit_key_.{86,}$/);
	const inside = new Permit({ token: key.secret ?? '', apiUrl: stack.api.listening.url, log: { level: 'silent' } });
	t.deepEqual(
		(await inside.api.tenants.list()).map((tenant) => tenant.key),
		['default'],
	);
	t.deepEqual(await inside.api.resources.list(), []);
	t.deepEqual(await inside.api.roles.list(), []);
	await sdk.api.environments.delete('shop', 'staging');
	const gone = await t.throwsAsync(sdk.api.environments.get('shop', 'staging'), { instanceOf: PermitApiError });
	t.is(gone?.response?.status, 404);
});
