// @rest

import type { Permit } from 'permitio';
import { onEachStack } from '../support/each-store.js';
import { connect } from '../support/sdk.js';

/** The published, unmodified SDK makes attribute-based decisions. */

async function furnish({ api }: Permit): Promise<void> {
	await api.resources.create({
		key: 'document',
		name: 'Document',
		actions: { read: {}, edit: {}, share: {}, export: {} },
		attributes: { private: { type: 'bool' }, owner: { type: 'string' }, region: { type: 'string' } },
	});
	await api.resourceAttributes.create('__user', { key: 'department', type: 'string' });
	await api.resourceAttributes.create('__user', { key: 'clearance', type: 'number' });
	await api.roles.create({ key: 'editor', name: 'Editor' });
	await api.roles.create({ key: 'viewer', name: 'Viewer', permissions: ['document:read'] });

	await api.conditionSets.create({
		key: 'cleared-engineers',
		name: 'Engineers with clearance',
		type: 'userset',
		conditions: {
			allOf: [{ 'user.department': { equals: 'engineering' } }, { 'user.clearance': { 'greater-than-equals': 3 } }],
		},
	});
	await api.conditionSets.create({
		key: 'employees',
		name: 'Employees',
		type: 'userset',
		conditions: { 'subject.email': { contains: '@example.com' } },
	});
	await api.conditionSets.create({
		key: 'public-documents',
		name: 'Public documents',
		type: 'resourceset',
		resource_id: 'document',
		conditions: { not: { 'resource.private': { equals: true } } },
	});
	await api.conditionSets.create({
		key: 'own-documents',
		name: 'Own documents',
		type: 'resourceset',
		resource_id: 'document',
		conditions: { 'resource.owner': { equals: { ref: 'user.key' } } },
	});
	await api.conditionSets.create({
		key: 'documents-of-the-region',
		name: 'Documents of the region',
		type: 'resourceset',
		resource_id: 'document',
		conditions: { 'resource.region': { equals: { ref: 'context.region' } } },
	});

	for (const key of ['acme', 'globex']) await api.tenants.create({ key, name: key });
	await api.users.create({ key: 'ann', attributes: { department: 'engineering', clearance: 3 } });
	await api.users.create({ key: 'ben', email: 'ben@example.com', attributes: { department: 'engineering' } });
	await api.users.create({ key: 'eve' });
	await api.roleAssignments.assign({ user: 'eve', role: 'editor', tenant: 'acme' });
	const instance = (key: string, attributes: object) =>
		api.resourceInstances.create({ key, tenant: 'acme', resource: 'document', attributes });
	await instance('plan', { private: true, owner: 'eve' });
	await instance('notes', { private: false, owner: 'ben', region: 'north' });
}

onEachStack(`the Node SDK manages condition sets and rules, and checks follow them`, async (t, stack) => {
	const { sdk, api, newest } = await connect(stack);
	await furnish(sdk);
	await newest();
	const document = (key?: string, attributes = {}, tenant = 'acme') => ({
		type: 'document',
		tenant,
		attributes,
		...(key === undefined ? {} : { key }),
	});

	t.false(await sdk.check('ann', 'read', document('notes')), 'sets without a rule grant nothing');

	// A rule for a user set and a resource set.
	const rule = { user_set: 'cleared-engineers', permission: 'document:read', resource_set: 'public-documents' };
	t.like(await api.conditionSetRules.create(rule), rule);
	await newest();
	t.true(await sdk.check('ann', 'read', document('notes')));
	t.false(await sdk.check('ann', 'read', document('plan')), 'the document is private');
	t.false(await sdk.check('ann', 'edit', document('notes')), 'the rule is for a different action');
	t.false(await sdk.check('ben', 'read', document('notes')), 'the clearance is missing');
	t.false(await sdk.check('ann', 'read', document('notes', {}, 'globex')), 'the document is in a different tenant');
	t.true(await sdk.check('ann', 'read', document()), 'the attribute is missing');
	// Attributes sent with a check override stored attributes.
	t.true(await sdk.check({ key: 'ben', attributes: { clearance: 7 } }, 'read', document('notes')));
	t.false(await sdk.check({ key: 'ann', attributes: { clearance: 2 } }, 'read', document('notes')));
	t.false(await sdk.check({ key: 'ann', attributes: { clearance: '9' } }, 'read', document('notes')));
	t.true(await sdk.check('ann', 'read', document('plan', { private: false })));
	const stranger = { key: 'new', attributes: { department: 'engineering', clearance: 4 } };
	t.true(await sdk.check(stranger, 'read', document('notes')), 'an unknown user has the sent attributes');

	// A rule for a role and a resource set, whose condition refers to the document's owner.
	await api.conditionSetRules.create({
		user_set: 'editor',
		permission: 'document:edit',
		resource_set: 'own-documents',
		is_role: true,
	});
	await newest();
	t.true(await sdk.check('eve', 'edit', document('plan')));
	t.false(await sdk.check('eve', 'edit', document('notes')), 'the document has a different owner');
	t.false(await sdk.check('ben', 'edit', document('notes')), 'the owner does not have the role');
	t.false(
		await sdk.check({ key: 'ben', attributes: { roles: ['editor'] } }, 'edit', document('notes')),
		'an attribute named `roles` grants no role',
	);
	t.false(
		await sdk.check('eve', 'edit', document('plan', {}, 'globex')),
		'the rule does not apply in a different tenant',
	);

	// A rule for a user set and all documents.
	await api.conditionSetRules.create({
		user_set: 'employees',
		permission: 'document:share',
		resource_set: 'document',
		is_resource: true,
	});
	await newest();
	t.true(await sdk.check('ben', 'share', document('plan')));
	t.false(await sdk.check('ann', 'share', document('plan')), 'the address is missing');
	t.true(await sdk.check({ key: 'ann', email: 'ann@example.com' }, 'share', document('plan')));

	// A condition that refers to the context.
	await api.conditionSetRules.create({
		user_set: 'employees',
		permission: 'document:export',
		resource_set: 'documents-of-the-region',
	});
	await newest();
	t.true(await sdk.check('ben', 'export', document('notes'), { region: 'north' }));
	t.false(await sdk.check('ben', 'export', document('notes'), { region: 'south' }));
	t.false(await sdk.check('ben', 'export', document('notes')));

	// A changed condition affects the next check.
	await api.conditionSets.update('public-documents', { conditions: { 'resource.owner': { in: ['eve', 'ann'] } } });
	await newest();
	t.false(await sdk.check('ann', 'read', document('notes')));
	t.true(await sdk.check('ann', 'read', document('plan')));
	await sdk.api.users.sync({ key: 'ann', attributes: { department: 'sales', clearance: 3 } });
	await newest();
	t.false(await sdk.check('ann', 'read', document('plan')), 'a stored attribute changed');
	await sdk.api.users.sync({ key: 'ann', attributes: { department: 'engineering', clearance: 3 } });
	await newest();
	t.true(await sdk.check('ann', 'read', document('plan')));

	const listed = await api.conditionSetRules.list({ userSetKey: '', permissionKey: '', resourceSetKey: '' });
	t.is(listed.length, 4);
	await api.conditionSetRules.delete(rule);
	await api.conditionSetRules.delete(rule);
	await newest();
	t.false(await sdk.check('ann', 'read', document('plan')));
	await api.conditionSets.delete('employees');
	await newest();
	t.false(await sdk.check('ben', 'share', document('plan')), 'deleting a set deletes its rules');
	t.deepEqual((await api.conditionSets.list()).map(({ key }) => key).sort(), [
		'cleared-engineers',
		'documents-of-the-region',
		'own-documents',
		'public-documents',
	]);
});
