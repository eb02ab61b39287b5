// @rest

import type { Permit } from 'permitio';
import { onEachStack } from '../support/each-store.js';
import { connect } from '../support/sdk.js';

/**
 * The published, unmodified SDK. Accounts contain folders, folders contain documents, and roles are derived along these
 * relationships.
 */

const accounts = { key: 'account', name: 'Account', actions: { manage: {} } };
const folders = {
	key: 'folder',
	name: 'Folder',
	actions: { list: {}, rename: {} },
	relations: { account: 'account' },
};
const documents = {
	key: 'document',
	name: 'Document',
	actions: { read: {}, comment: {}, delete: {} },
	relations: { parent: 'folder' },
};

const folderNumbers = [1, 2];
const documentNumbers = [1, 2, 3];

/**
 * In each of two tenants, an account with two folders and three documents. The relationships create all these objects.
 */
const tuples = ['acme', 'globex'].flatMap((tenant) => [
	...folderNumbers.map((folder) => ({
		subject: `account:${tenant}`,
		relation: 'account',
		tenant,
		object: `folder:${tenant}-${folder}`,
	})),
	...documentNumbers.map((document) => ({
		subject: `folder:${tenant}-1`,
		relation: 'parent',
		tenant,
		object: `document:${tenant}-${document}`,
	})),
]);

async function furnish(sdk: Permit): Promise<void> {
	for (const resource of [accounts, folders, documents]) await sdk.api.resources.create(resource);
	const { resourceRoles } = sdk.api;
	await resourceRoles.create('account', { key: 'admin', name: 'Admin', permissions: ['manage'] });
	await resourceRoles.create('account', { key: 'member', name: 'Member' });
	await resourceRoles.create('folder', {
		key: 'editor',
		name: 'Editor',
		permissions: ['list', 'rename'],
		granted_to: { users_with_role: [{ role: 'admin', on_resource: 'account', linked_by_relation: 'account' }] },
	});
	await resourceRoles.create('folder', { key: 'viewer', name: 'Viewer', permissions: ['list'] });
	await resourceRoles.createRoleDerivation('folder', 'viewer', {
		role: 'member',
		on_resource: 'account',
		linked_by_relation: 'account',
	});
	await resourceRoles.create('document', {
		key: 'editor',
		name: 'Editor',
		permissions: ['read', 'comment', 'delete'],
		granted_to: { users_with_role: [{ role: 'editor', on_resource: 'folder', linked_by_relation: 'parent' }] },
	});
	await resourceRoles.create('document', {
		key: 'commenter',
		name: 'Commenter',
		permissions: ['read', 'comment'],
		granted_to: { users_with_role: [{ role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' }] },
	});
	await resourceRoles.create('document', { key: 'muted', name: 'Muted' });
	for (const key of ['acme', 'globex']) await sdk.api.tenants.create({ key, name: key });
	for (const key of ['ann', 'ben', 'cy']) await sdk.api.users.create({ key });
	for (const tuple of tuples) await sdk.api.relationshipTuples.create(tuple);
	const assign = (user: string, role: string, tenant: string, resource_instance: string) =>
		sdk.api.roleAssignments.assign({ user, role, tenant, resource_instance });
	await assign('ann', 'admin', 'acme', 'account:acme');
	await assign('ben', 'member', 'acme', 'account:acme');
	await assign('ben', 'viewer', 'globex', 'folder:globex-1');
}

onEachStack(`the Node SDK creates a hierarchy of three levels, and checks follow it`, async (t, stack) => {
	const { api, sdk, newest } = await connect(stack);
	await furnish(sdk);
	await newest();

	const may = async (user: string, action: string, instance: string, tenant = 'acme') => {
		const [type = '', key = ''] = instance.split(':');
		return sdk.check(user, action, { type, key, tenant });
	};
	/** Returns a user's permissions on the instances in `tenant`, as `action instance`. */
	const all = async (user: string, tenant = 'acme') => {
		const asked: readonly (readonly [action: string, name: string])[] = [
			['manage', `account:${tenant}`],
			['list', `folder:${tenant}-1`],
			['rename', `folder:${tenant}-1`],
			['list', `folder:${tenant}-2`],
			['rename', `folder:${tenant}-2`],
			...documentNumbers.flatMap((number) =>
				['read', 'comment', 'delete'].map((action) => [action, `document:${tenant}-${number}`] as const),
			),
		];
		const checks = asked.map(([action, name]) => {
			const [type = '', key = ''] = name.split(':');
			return { user, action, resource: { type, key, tenant } };
		});
		const answers = await sdk.bulkCheck(checks);
		return asked.filter((_, index) => answers[index]).map(([action, name]) => `${action} ${name}`);
	};

	t.is((await all('ann')).length, 14, 'an account admin may perform all actions in the account');
	t.deepEqual(await all('ann', 'globex'), [], 'an account admin may perform no actions in a different tenant');
	t.deepEqual(
		await all('ben'),
		folderNumbers
			.map((number) => `list folder:acme-${number}`)
			.concat(documentNumbers.flatMap((n) => [`read document:acme-${n}`, `comment document:acme-${n}`])),
	);
	t.deepEqual(
		(await all('ben', 'globex')).length,
		7,
		'a viewer of one folder lists it, reads its documents and comments on them',
	);
	t.deepEqual(await all('cy'), []);
	t.false(await may('ben', 'read', 'document:globex-1', 'acme'), 'an instance in a different tenant grants nothing');
	t.true(await may('ben', 'read', 'document:globex-1', 'globex'));

	const permissions = await sdk.getUserPermissions('ben', ['globex']);
	t.deepEqual(Object.keys(permissions).sort(), [
		...documentNumbers.map((number) => `document:globex-${number}`),
		'folder:globex-1',
	]);
	t.deepEqual(permissions['document:globex-2']?.permissions, ['document:comment', 'document:read']);

	// A derivation rule that is blocked by any role assigned on the object.
	const rule = { role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' };
	await api.resourceRoles.deleteRoleDerivation('document', 'commenter', rule);
	await newest();
	t.false(await may('ben', 'read', 'document:acme-1'));
	const when = { no_direct_roles_on_object: true };
	await api.resourceRoles.createRoleDerivation('document', 'commenter', { ...rule, when });
	await api.roleAssignments.assign({
		user: 'ben',
		role: 'muted',
		tenant: 'acme',
		resource_instance: 'document:acme-1',
	});
	await newest();
	t.false(await may('ben', 'read', 'document:acme-1'));
	t.true(await may('ben', 'read', 'document:acme-2'));

	// A role setting that blocks all derivation rules of the role.
	await api.resourceRoles.deleteRoleDerivation('document', 'commenter', rule);
	await api.resourceRoles.createRoleDerivation('document', 'commenter', rule);
	await newest();
	t.true(await may('ben', 'read', 'document:acme-1'), 'the rule is no longer blocked');
	await api.resourceRoles.updateRoleDerivationConditions('document', 'commenter', when);
	await newest();
	t.false(await may('ben', 'read', 'document:acme-1'), 'all rules for the role are blocked');
	t.true(await may('ben', 'read', 'document:acme-2'));
	await api.resourceRoles.updateRoleDerivationConditions('document', 'commenter', {
		no_direct_roles_on_object: false,
	});
	await newest();
	t.true(await may('ben', 'read', 'document:acme-1'));

	// A deleted relationship immediately ends all derived access.
	await api.relationshipTuples.delete({
		subject: 'folder:acme-1',
		relation: 'parent',
		object: 'document:acme-3',
	});
	await newest();
	t.false(await may('ann', 'read', 'document:acme-3'));
	t.true(await may('ann', 'read', 'document:acme-2'));
	await api.resourceInstances.delete('account:acme');
	await newest();
	t.deepEqual(await all('ann'), []);
	t.is(Object.keys(await sdk.getUserPermissions('ann')).length, 0);
	await api.resources.delete('account');
	await newest();
	t.true(await may('ben', 'list', 'folder:globex-1', 'globex'), 'independent access remains');
});
