// @rest

import type { ExecutionContext } from 'ava';
import { type ApiClient, type IPermitApi, Permit, PermitApiError } from 'permitio';
import { client } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { json } from '../support/element.js';
import type { Place } from '../support/management.js';
import { SdkMethods } from '../support/sdk-methods.js';

/**
 * Calls every public method in every API class of the published, unmodified SDK over HTTP. The test reads the methods
 * from the classes, so it fails if a later SDK version adds a method that the test does not call.
 */

const journey = onEachStore();

type Check = (t: ExecutionContext, api: IPermitApi) => Promise<void>;

journey('every Node SDK method works as documented', async (t, place, { url, keys }) => {
	const log = { level: 'silent' };
	const sdk = new Permit({ token: place.secret, apiUrl: url, pdp: url, log });
	const ofOrganization = new Permit({ token: keys.organization, apiUrl: url, log });
	const methods = new SdkMethods({ ...sdkApis(sdk), api: sdk.api, elements: sdk.elements });
	const others = new SdkMethods({ ...sdkApis(ofOrganization), api: ofOrganization.api });

	const api = methods.watched(sdk.api);
	await wholeProject(t, others.watched(ofOrganization.api), `sdk-${place.key}`);
	for (const check of [schema, resourceRoles, facts, bulk, relationships, conditions, deprecated, context])
		await check(t, api);
	await signIn(t, place, methods.watched(sdk.elements));
	const called = new Set([...methods.called, ...others.called]);
	t.deepEqual(
		methods.all().filter((name) => !called.has(name)),
		[],
		'every method was called',
	);
});

/** Signs in an element user. Asserts that the response opens a session, and that a missing user is refused. */
async function signIn(t: ExecutionContext, { http, facts, url }: Place, elements: Permit['elements']): Promise<void> {
	await http.post(`${facts}/tenants/default/users`, { key: 'eve' });
	const answer = await elements.loginAs({ userId: 'eve', tenantId: 'default' });
	t.is(answer.content.url, answer.redirect_url);
	const { element_bearer_token } = answer as unknown as { readonly element_bearer_token: string };
	t.is((await client(url, element_bearer_token).get('/v2/auth/me')).status, 200);
	t.is((await client(url).get(answer.redirect_url.slice(url.length), { headers: json })).status, 200);
	await http.delete(`${facts}/users/eve`);
	t.is(await refusal(t, 'loginAs', elements.loginAs({ userId: 'eve', tenantId: 'default' })), 404);
}

/** Returns the objects that group the methods in `sdk.api`: instances of the base class of `sdk.elements`. */
function sdkApis({ api, elements }: Permit): Readonly<Record<string, object>> {
	const base: object = Object.getPrototypeOf(Object.getPrototypeOf(elements));
	return Object.fromEntries(
		Object.entries(api).filter(([, value]) => Object.prototype.isPrototypeOf.call(base, value)),
	);
}

/** Returns the status of a refused call, and asserts a readable message. */
async function refusal(t: ExecutionContext, name: string, call: Promise<unknown>): Promise<unknown> {
	const error = await t.throwsAsync(call, undefined, name);
	const { response } = (error instanceof PermitApiError ? error.originalError : error) as PermitApiError<{
		message: string;
	}>;
	t.true((response?.data.message ?? '') !== '', name);
	return response?.status;
}

/** Asserts that all reads return the same object. */
async function same(t: ExecutionContext, object: object, ...reads: readonly Promise<object>[]): Promise<void> {
	for (const read of await Promise.all(reads)) t.deepEqual(read, object);
}

const objectKeys = (objects: readonly { readonly key: string }[]) => objects.map(({ key }) => key);

/** Calls the methods for projects and environments with the organization's key. */
async function wholeProject(t: ExecutionContext, api: IPermitApi, key: string): Promise<void> {
	const { projects, environments } = api;
	const made = await projects.create({ key, name: 'Made' });
	t.true(objectKeys(await projects.list()).includes(key));
	await same(t, made, projects.get(key), projects.getByKey(key), projects.getById(made.id));
	t.like(await projects.update(key, { name: 'Changed' }), { id: made.id, name: 'Changed' });

	const staging = await environments.create(key, { key: 'staging', name: 'Staging' });
	t.is(staging.project_id, made.id);
	t.deepEqual(objectKeys(await environments.list({ projectKey: key })), ['dev', 'production', 'staging']);
	const { get, getByKey, getById } = environments;
	await same(t, staging, get(key, 'staging'), getByKey(key, 'staging'), getById(made.id, staging.id));
	t.like(await environments.update(key, 'staging', { description: 'For trials' }), { description: 'For trials' });
	const { stats, pdp_configs } = await environments.getStats(key, 'staging');
	t.like(stats, { users: 0, tenants: 1, roles: 0, resources: 0 });
	t.is(pdp_configs.length, 1);
	const secret = await environments.getApiKey(key, 'staging');
	t.is(secret.environment_id, staging.id);
	t.regex(secret.secret ?? '', /^permit_key_/);
	const copied = await environments.copy(key, 'staging', { target_env: { new: { key: 'copied', name: 'Copied' } } });
	t.like(copied, { key: 'copied', project_id: made.id });
	await environments.delete(key, 'copied');
	t.is(await refusal(t, 'deleted', environments.get(key, 'copied')), 404);
	await projects.delete(key);
	t.is(await refusal(t, 'deleted', projects.get(key)), 404);
}

const schema: Check = async (t, { resources, resourceActions, actionGroups, resourceAttributes, ...api }) => {
	const made = await resources.create({ key: 'document', name: 'Document', actions: { read: {} } });
	await resources.create({ key: 'folder', name: 'Folder', actions: { read: {} } });
	await resources.create({ key: 'gone', name: 'Gone', actions: {} });
	await resources.delete('gone');
	t.deepEqual(objectKeys(await resources.list()), ['document', 'folder']);
	await same(t, made, resources.get('document'), resources.getByKey('document'), resources.getById(made.id));
	t.like(await resources.update('document', { description: 'Paper' }), { name: 'Document', description: 'Paper' });
	const replaced = await resources.replace('document', { name: 'Paper', actions: { read: {}, print: {} } });
	t.like(replaced, { id: made.id, name: 'Paper', description: null as unknown as string });
	t.deepEqual(Object.keys(replaced.actions ?? {}).sort(), ['print', 'read']);

	const write = await resourceActions.create('document', { key: 'write', name: 'Write' });
	t.deepEqual(objectKeys(await resourceActions.list({ resourceKey: 'document' })).toSorted(), [
		'print',
		'read',
		'write',
	]);
	await same(
		t,
		write,
		resourceActions.get('document', 'write'),
		resourceActions.getByKey('document', 'write'),
		resourceActions.getById(made.id, write.id),
	);
	t.like(await resourceActions.update('document', 'write', { name: 'Change' }), { id: write.id, name: 'Change' });
	await resourceActions.delete('document', 'print');
	t.is(await refusal(t, 'deleted', resourceActions.get('document', 'print')), 404);

	const editing = await actionGroups.create('document', { key: 'editing', name: 'Editing', actions: ['write'] });
	t.deepEqual(objectKeys(await actionGroups.list({ resourceKey: 'document' })), ['editing']);
	await same(
		t,
		editing,
		actionGroups.get('document', 'editing'),
		actionGroups.getByKey('document', 'editing'),
		actionGroups.getById(made.id, editing.id),
	);
	const wider = await actionGroups.update('document', 'editing', { actions: ['read', 'write'] });
	t.deepEqual(wider.actions, ['read', 'write']);
	await actionGroups.delete('document', 'editing');
	t.deepEqual(await actionGroups.list({ resourceKey: 'document' }), []);

	const secret = await resourceAttributes.create('document', { key: 'secret', type: 'bool' });
	t.deepEqual(objectKeys(await resourceAttributes.list({ resourceKey: 'document' })), ['secret']);
	await same(
		t,
		secret,
		resourceAttributes.get('document', 'secret'),
		resourceAttributes.getByKey('document', 'secret'),
		resourceAttributes.getById(made.id, secret.id),
	);
	t.like(await resourceAttributes.update('document', 'secret', { type: 'string' }), { id: secret.id, type: 'string' });
	await resourceAttributes.delete('document', 'secret');
	t.deepEqual(await resourceAttributes.list({ resourceKey: 'document' }), []);

	const { roles } = api;
	const viewer = await roles.create({ key: 'viewer', name: 'Viewer', permissions: ['document:read'] });
	await roles.create({ key: 'gone', name: 'Gone' });
	t.deepEqual(objectKeys(await roles.list()), ['viewer', 'gone']);
	await same(t, viewer, roles.get('viewer'), roles.getByKey('viewer'), roles.getById(viewer.id));
	t.like(await roles.update('viewer', { name: 'Reader' }), { name: 'Reader', permissions: ['document:read'] });
	const more = await roles.assignPermissions('viewer', ['document:write']);
	t.deepEqual(more.permissions, ['document:read', 'document:write']);
	t.deepEqual((await roles.removePermissions('viewer', ['document:write'])).permissions, ['document:read']);
	await roles.delete('gone');
	t.deepEqual(objectKeys(await roles.list()), ['viewer']);
};

const resourceRoles: Check = async (t, { resourceRoles: roles, resourceRelations: relations }) => {
	const reader = await roles.create('document', { key: 'reader', name: 'Reader', permissions: ['read'] });
	await roles.create('folder', { key: 'owner', name: 'Owner' });
	await roles.create('document', { key: 'gone', name: 'Gone' });
	t.deepEqual(objectKeys(await roles.list({ resourceKey: 'document' })), ['reader', 'gone']);
	await roles.delete('document', 'gone');
	t.is(await refusal(t, 'deleted', roles.get('document', 'gone')), 404);
	const { resource_id, id } = reader;
	await same(t, reader, roles.get('document', 'reader'), roles.getByKey('document', 'reader'));
	await same(t, reader, roles.getById(resource_id, id));
	t.like(await roles.update('document', 'reader', { name: 'May read' }), { name: 'May read', permissions: ['read'] });
	t.deepEqual((await roles.assignPermissions('document', 'reader', ['write'])).permissions, ['read', 'write']);
	t.deepEqual((await roles.removePermissions('document', 'reader', ['write'])).permissions, ['read']);

	const parent = await relations.create('document', { key: 'parent', name: 'Parent', subject_resource: 'folder' });
	await relations.create('document', { key: 'gone', name: 'Gone', subject_resource: 'folder' });
	const listed: unknown = await relations.list({ resourceKey: 'document' });
	t.like(listed, { total_count: 2, data: [{ key: 'parent' }, { key: 'gone' }] } as object);
	await same(t, parent, relations.get('document', 'parent'), relations.getByKey('document', 'parent'));
	await same(t, parent, relations.getById(resource_id, parent.id));
	await relations.delete('document', 'gone');
	t.is(await refusal(t, 'deleted', relations.get('document', 'gone')), 404);

	const rule = { role: 'owner', on_resource: 'folder', linked_by_relation: 'parent' };
	t.like(await roles.createRoleDerivation('document', 'reader', rule), { ...rule, relation_id: parent.id });
	const settings = { no_direct_roles_on_object: true };
	t.deepEqual(await roles.updateRoleDerivationConditions('document', 'reader', settings), settings);
	t.like((await roles.get('document', 'reader')).granted_to, { when: settings, users_with_role: [rule] } as object);
	await roles.deleteRoleDerivation('document', 'reader', rule);
	t.like((await roles.get('document', 'reader')).granted_to, { users_with_role: [] } as object);
};

const facts: Check = async (t, { users, tenants, roleAssignments }) => {
	const acme = await tenants.create({ key: 'acme', name: 'Acme' });
	await tenants.create({ key: 'gone', name: 'Gone' });
	t.deepEqual(objectKeys(await tenants.list()), ['default', 'acme', 'gone']);
	await tenants.delete('gone');
	await same(t, acme, tenants.get('acme'), tenants.getByKey('acme'), tenants.getById(acme.id));
	t.like(await tenants.update('acme', { name: 'Acme Ltd' }), { id: acme.id, name: 'Acme Ltd' });

	const ann = await users.create({ key: 'ann', email: 'ann@example.com' });
	await same(t, ann, users.get('ann'), users.getByKey('ann'), users.getById(ann.id));
	t.like(await users.update('ann', { first_name: 'Ann' }), { first_name: 'Ann', email: 'ann@example.com' });
	const synced = await users.sync({ key: 'ben', first_name: 'Ben' });
	t.like(synced, { created: true, user: { key: 'ben', first_name: 'Ben' } } as object);
	t.like(await users.list({ search: 'n' }), { total_count: 2 });

	const held = { user: 'ann', role: 'viewer', tenant: 'acme' };
	t.like(await users.assignRole(held), held);
	t.like(await users.getAssignedRoles({ user: 'ann', includeTotalCount: true }), { total_count: 1, data: [held] });
	t.deepEqual(objectKeys((await tenants.listTenantUsers({ tenantKey: 'acme' })).data), ['ann']);
	await users.unassignRole(held);
	t.deepEqual(await users.getAssignedRoles({ user: 'ann' }), []);

	t.like(await roleAssignments.assign(held), held);
	t.like(await roleAssignments.list({ user: 'ann', detailed: true }), [{ role: { key: 'viewer' } }] as object);
	await roleAssignments.unassign(held);
	t.deepEqual(await roleAssignments.list({ tenant: 'acme' }), []);
	t.like(await roleAssignments.bulkAssign([held, { ...held, user: 'ben' }]), { assignments_created: 2 });
	t.like(await roleAssignments.bulkUnassign([held]), { assignments_removed: 1 });
	await tenants.deleteTenantUser('acme', 'ben');
	t.deepEqual(await roleAssignments.list({ tenant: 'acme' }), []);
	await users.delete('ben');
	t.is(await refusal(t, 'deleted', users.get('ben')), 404);
};

const bulk: Check = async (t, { users }) => {
	await users.bulkUserCreate([{ key: 'cy' }, { key: 'di' }]);
	await users.bulkUserReplace([{ key: 'di', first_name: 'Di' }, { key: 'eve' }]);
	t.is((await users.get('di')).first_name, 'Di');
	t.deepEqual(objectKeys((await users.list()).data), ['ann', 'cy', 'di', 'eve']);
	await users.bulkUserDelete(['cy', 'di', 'eve']);
	t.deepEqual(objectKeys((await users.list()).data), ['ann']);
};

const relationships: Check = async (t, { resourceInstances: instances, relationshipTuples: tuples }) => {
	const budget = await instances.create({ key: 'budget', resource: 'document', tenant: 'acme', attributes: { a: 1 } });
	await instances.create({ key: 'finance', resource: 'folder', tenant: 'acme' });
	t.deepEqual(objectKeys(await instances.list()), ['budget', 'finance']);
	t.deepEqual(objectKeys(await instances.list({ resource: 'folder', tenant: 'acme' })), ['finance']);
	const name = 'document:budget';
	await same(t, budget, instances.get(name), instances.getByKey(name), instances.getById(budget.id));
	t.deepEqual((await instances.update(name, { attributes: { b: 2 } })).attributes, { b: 2 });

	const tuple = { subject: 'folder:finance', relation: 'parent', object: name };
	t.like(await tuples.create(tuple), { ...tuple, tenant: 'acme' });
	t.like(await tuples.list({ subject: 'folder:finance', objectType: 'document' }), [tuple]);
	await tuples.delete(tuple);
	t.deepEqual(await tuples.list({}), []);
	await tuples.bulkRelationshipTuples([tuple, { ...tuple, object: 'document:plan', tenant: 'acme' }]);
	t.is((await tuples.list({ relation: 'parent' })).length, 2);
	await tuples.bulkUnRelationshipTuples([tuple]);
	t.deepEqual(
		(await tuples.list({})).map(({ object }) => object),
		['document:plan'],
	);
	await instances.delete('document:plan');
	t.deepEqual(await tuples.list({}), []);
};

const staff = {
	...({ key: 'staff', name: 'Staff', type: 'userset' } as const),
	conditions: { 'user.email': { 'ends-with': '@example.com' } },
};
const drafts = {
	...({ key: 'drafts', name: 'Drafts', type: 'resourceset', resource_id: 'document' } as const),
	conditions: { 'resource.key': { 'starts-with': 'draft-' } },
};
const staffRule = { user_set: 'staff', permission: 'document:read', resource_set: 'drafts' };

const conditions: Check = async (t, { conditionSets: sets, conditionSetRules: rules }) => {
	const made = await sets.create(staff);
	t.like(made, staff);
	t.like(await sets.create(drafts), { key: 'drafts', resource: { key: 'document' } } as object);
	await same(t, made, sets.get('staff'), sets.getByKey('staff'), sets.getById(made.id));
	t.deepEqual(objectKeys(await sets.list()), ['staff', 'drafts']);
	t.like(await sets.update('staff', { name: 'All staff' }), { ...staff, name: 'All staff' });

	t.like(await rules.create(staffRule), staffRule);
	const filter = { userSetKey: 'staff', permissionKey: 'document:read', resourceSetKey: 'drafts' };
	t.like(await rules.list(filter), [staffRule]);
	t.deepEqual(await rules.list({ ...filter, userSetKey: 'nobody' }), []);
	await rules.delete(staffRule);
	t.deepEqual(await rules.list(filter), []);
	await sets.delete('drafts');
	await sets.delete('staff');
	t.deepEqual(await sets.list(), []);
};

/** Methods that are not grouped by object. They exist for older programs. */
const deprecated: Check = async (t, api) => {
	t.like(await api.createResource({ key: 'old', name: 'Old', actions: { read: {} } }), { key: 'old' });
	t.like(await api.updateResource('old', { name: 'Older' }), { name: 'Older' });
	t.like(await api.createRole({ key: 'old', name: 'Old', permissions: ['old:read'] }), { permissions: ['old:read'] });
	t.like(await api.updateRole('old', { name: 'Older' }), { name: 'Older' });
	t.like(await api.getRole('old'), { key: 'old' });
	t.deepEqual(objectKeys(await api.listRoles()), ['viewer', 'old']);
	t.like(await api.createTenant({ key: 'old', name: 'Old' }), { key: 'old' });
	t.like(await api.updateTenant('old', { name: 'Older' }), { name: 'Older' });
	t.like(await api.getTenant('old'), { name: 'Older' });
	t.deepEqual(objectKeys(await api.listTenants(1)), ['default', 'acme', 'old']);
	t.like(await api.createUser({ key: 'old' }), { key: 'old' });
	t.like(await api.updateUser('old', { first_name: 'Old' }), { first_name: 'Old' });
	t.like(await api.syncUser({ key: 'old', last_name: 'Older' }), { last_name: 'Older' });
	t.like(await api.getUser('old'), { last_name: 'Older', first_name: null as unknown as string });
	t.deepEqual(objectKeys(await api.listUsers()), ['ann', 'old']);
	for (const set of [staff, drafts]) t.like(await api.createConditionSet(set), { key: set.key });
	t.like(await api.updateConditionSet('staff', { name: 'Older' }), { name: 'Older' });
	t.deepEqual(objectKeys(await api.listConditionSets('userset', 1, 10)), ['staff']);
	const assigned: unknown = await api.assignConditionSetRule(staffRule);
	t.like(assigned, [staffRule]);
	t.like(await api.listConditionSetsRules(1, 10), [staffRule]);
	await api.unassignConditionSetRule(staffRule);
	t.deepEqual(await api.listConditionSetsRules(1, 10), []);
	for (const set of [staff, drafts]) await api.deleteConditionSet(set.key);
	const held = { user: 'old', role: 'old', tenant: 'old' };
	t.like(await api.assignRole(held), held);
	t.like(await api.getAssignedRoles('old', 'old'), [held]);
	t.is((await api.unassignRole(held)).status, 204);
	t.is((await api.deleteTenant('old')).status, 204);
	t.is((await api.deleteUser('old')).status, 204);
	t.is((await api.deleteRole('old')).status, 204);
	t.is((await api.deleteResource('old')).status, 204);
	// This method exists on the class, but not in the interface.
	t.deepEqual(objectKeys(await (api as ApiClient).getMethods().listUsers()), ['ann']);
};

/** Methods of every class. */
const context: Check = async (t, api) => {
	// Values of `ApiKeyLevel` and `ApiContextLevel`, which cannot be imported.
	await api.ensureAccessLevel('ENVIRONMENT_LEVEL_API_KEY' as Parameters<IPermitApi['ensureAccessLevel']>[0]);
	await api.ensureContext(3);
	await t.throwsAsync(api.ensureAccessLevel('PROJECT_LEVEL_API_KEY' as Parameters<IPermitApi['ensureAccessLevel']>[0]));
	t.is(objectKeys((await api.users.waitForSync(1).list()).data).length, 1);
};
