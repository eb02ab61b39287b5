/** Management API bodies, for tests with bad input. */

/** Kinds of values that fields accept. */
export type Kind =
	| 'key'
	| 'user key'
	| 'name'
	| 'text'
	| 'reference'
	| 'references'
	| 'instance'
	| 'email'
	| 'object'
	| 'uuid'
	| 'namespace'
	| 'type'
	| 'actions'
	| 'attributes'
	| 'roles'
	| 'derivation'
	| 'settings'
	| 'flag'
	| 'relations'
	| 'environments'
	| 'assignments'
	| 'jwks'
	| 'choice'
	| 'secret'
	| 'rules'
	| 'version'
	| 'members'
	| 'target'
	| 'scope'
	| 'subject'
	| 'count'
	| 'values'
	| 'levels'
	| 'webhook'
	| 'details'
	| 'expiry'
	| 'condition'
	| 'instant'
	| 'revision'
	| 'changes'
	| 'draft'
	| 'limits'
	| 'asked user'
	| 'asked resource'
	| 'asked text'
	| 'asked context'
	| 'past revision'
	| 'tested check'
	| 'nothing';

/** A valid example body and its fields. `!` marks required fields, which must not be null. */
export interface Body {
	readonly base: Readonly<Record<string, unknown>>;
	readonly fields: Readonly<Record<string, Kind | `${Kind}!`>>;
	/** True if the endpoint applies a list's valid items and reports the invalid items. A separate journey tests this. */
	readonly partial?: boolean;
	/** True if unknown fields are rejected, because their meaning would be lost. */
	readonly strict?: true;
	/** True for a body that grants access. It is strict, except for fields from responses, such as ids. */
	readonly grants?: true;
	/**
	 * Place of the list in the body: `bare` if the body itself is the list, or else the field with the list. Absent if the
	 * body has no list.
	 */
	readonly many?: 'bare' | 'operations' | 'idents';
}

/** Returns the body, marked as granting access. */
function granting(body: Body): Body {
	return { ...body, strict: true, grants: true };
}

/** Returns a granting body with an optional expiry. */
function ending(body: Body): Body {
	return granting({ ...body, fields: { ...body.fields, expires_at: 'expiry' } });
}

/** Returns a request body with these items, or with the first item if the body is not a list. */
export function sentAs({ many }: Body, items: readonly unknown[]): unknown {
	if (many === undefined) return items[0];
	return many === 'bare' ? items : { [many]: items };
}

const assignment: Body = {
	base: { user: 'alice@example.com', role: 'editor', tenant: 'acme' },
	fields: {
		user: 'reference!',
		role: 'reference!',
		tenant: 'reference!',
		resource_instance: 'instance',
		condition: 'condition',
	},
};
const userRole: Body = {
	base: { role: 'editor', tenant: 'default' },
	fields: { role: 'reference!', tenant: 'reference!', resource_instance: 'instance', condition: 'condition' },
};
const instance: Body = {
	base: { key: 'new', resource: 'document', tenant: 'acme' },
	fields: { key: 'key!', resource: 'reference!', tenant: 'reference!', attributes: 'object' },
};
const tuple: Body = {
	base: { subject: 'folder:finance', relation: 'parent', object: 'document:budget' },
	fields: { subject: 'instance!', relation: 'reference!', object: 'instance!', condition: 'condition' },
};
const newTuple: Body = {
	base: { ...tuple.base, tenant: 'acme' },
	fields: { ...tuple.fields, tenant: 'reference' },
};
const groupRole: Body = {
	base: { resource: 'document', resource_instance: 'budget', role: 'viewer', tenant: 'acme' },
	fields: { resource: 'reference!', resource_instance: 'instance!', role: 'reference!', tenant: 'reference!' },
};
const groupNesting: Body = {
	base: { group_instance_key: 'group:staff' },
	fields: { group_instance_key: 'instance!' },
};
const setRule: Body = {
	base: { user_set: 'private_users', permission: 'document:read', resource_set: 'private_documents' },
	fields: {
		user_set: 'reference!',
		permission: 'reference!',
		resource_set: 'reference!',
		is_role: 'flag',
		is_resource: 'flag',
	},
};
const askedSet: Body['fields'] = {
	condition_set: 'reference',
	type: 'choice',
	conditions: 'object',
	resource_id: 'reference',
	parent_id: 'reference',
	tenant: 'reference',
	context: 'object',
	user: 'subject',
	resource: 'subject',
};
const permissions: Body = { base: { permissions: ['document:read'] }, fields: { permissions: 'references!' } };
const actionGroup = { description: 'text', attributes: 'object', actions: 'references' } as const;
const copy: Body = {
	base: { target_env: { new: { key: 'copied', name: 'Copied' } } },
	fields: { target_env: 'target!', conflict_strategy: 'choice', scope: 'scope' },
};
/** Returns a draft to create an otherwise unused role. */
function drafted(key: string): Body {
	const change = { kind: 'role', operation: 'create', key, value: { name: 'Drafted' } };
	return {
		base: { base_revision: 1, changes: [change] },
		fields: { base_revision: 'revision!', changes: 'changes!' },
		strict: true,
	};
}
const attributeType = { description: 'text' } as const;
const environment = { description: 'text', custom_branch_name: 'text', jwks: 'jwks', settings: 'object' } as const;
const resource = {
	attributes: 'attributes',
	urn: 'text',
	description: 'text',
	type_attributes: 'object',
	roles: 'roles',
	relations: 'relations',
} as const;
const user = { email: 'email', first_name: 'name', last_name: 'name', attributes: 'object' } as const;
const bulkUser: Body = {
	base: { key: 'one-of-many' },
	fields: { key: 'user key!', ...user, role_assignments: 'assignments' },
	many: 'operations',
};
const role = {
	description: 'text',
	permissions: 'references',
	attributes: 'object',
	extends: 'references',
	granted_to: 'nothing',
} as const;
const resourceRole = { ...role, granted_to: 'derivation' } as const;
const resourcePermissions: Body = { base: { permissions: ['read'] }, fields: { permissions: 'references!' } };
const implicitGrant: Body = {
	base: { role: 'viewer', on_resource: 'document', linked_by_relation: 'copy' },
	fields: { role: 'reference!', on_resource: 'reference!', linked_by_relation: 'reference!', when: 'settings' },
};

const invite = {
	status: 'choice',
	first_name: 'name',
	last_name: 'name',
	resource_instance_id: 'uuid',
	invite_expires_at: 'expiry',
} as const;
const proxyConfig = { auth_mechanism: 'choice', mapping_rules: 'rules' } as const;

/** Keys that look like ids. `furnish` gives these keys to its objects, for bodies that accept only ids. */
export const idLike = {
	role: '00000000-0000-4000-8000-0000000000a1',
	tenant: '00000000-0000-4000-8000-0000000000a2',
} as const;

/** A check at a revision. */
const askedAtRevision: Body = {
	base: { user: 'alice@example.com', action: 'read', resource: 'document:budget', revision: 1 },
	fields: {
		user: 'asked user!',
		action: 'asked text!',
		resource: 'asked resource!',
		context: 'asked context',
		revision: 'past revision!',
		at: 'instant',
	},
};

/** Bodies, keyed by endpoint name. */
export const bodies: Readonly<Record<string, Body>> = {
	createApiKey: {
		base: { project_id: 'default', environment_id: 'dev', name: 'New' },
		fields: {
			organization_id: 'uuid',
			project_id: 'reference',
			environment_id: 'reference!',
			name: 'name',
			object_type: 'choice',
			access_level: 'choice',
			owner_type: 'choice',
		},
	},
	elementsLoginAs: {
		base: { user_id: 'alice@example.com', tenant_id: 'acme' },
		fields: { user_id: 'reference!', tenant_id: 'reference!' },
	},
	refreshPdpConfigs: { base: { reason: 'a drill' }, fields: { reason: 'name' } },
	refreshPdpConfig: { base: { reason: 'a drill' }, fields: { reason: 'name' } },
	startOwnPdp: { base: {}, fields: { pdp_instance_id: 'reference', state: 'object' } },
	ingestDecisionLogs: {
		base: { decision_id: 'a decision', timestamp: '2026-01-31T08:00:00Z' },
		fields: { decision_id: 'reference!', timestamp: 'instant!' },
		many: 'bare',
		partial: true,
	},
	reportOwnPdpState: {
		base: { pdp_instance_id: 'rack-7', state: { api_version: 'v2' } },
		fields: { pdp_instance_id: 'reference!', state: 'object!' },
	},
	updateOrganization: { base: { name: 'Organization' }, fields: { name: 'name', settings: 'object' } },
	createProject: {
		base: { key: 'shop', name: 'Shop', initial_environments: [] },
		fields: {
			key: 'key!',
			name: 'name!',
			description: 'text',
			urn_namespace: 'namespace',
			settings: 'object',
			active_policy_repo_id: 'uuid',
			initial_environments: 'environments',
		},
	},
	updateProject: {
		base: { name: 'Shop' },
		fields: { name: 'name', description: 'text', settings: 'object', active_policy_repo_id: 'uuid' },
	},
	createEnvironment: { base: { key: 'new', name: 'New' }, fields: { key: 'key!', name: 'name!', ...environment } },
	updateEnvironment: { base: { name: 'New' }, fields: { name: 'name', ...environment } },
	copyEnvironment: copy,
	beginEnvironmentCopy: copy,
	importEnvironment: {
		base: { format: 'regolith-environment', version: 1 },
		fields: { format: 'choice!', version: 'version!', environment: 'members', schema: 'members', facts: 'members' },
		strict: true,
	},
	applyDraft: drafted('drafted'),
	previewDraft: drafted('previewed'),
	undoChanges: { base: {}, fields: { position: 'revision', changes: 'changes' }, strict: true },
	findImpact: {
		base: { draft: drafted('tried').base },
		fields: { draft: 'draft!', limits: 'limits' },
		strict: true,
	},
	explainCheck: askedAtRevision,
	writeCheckTest: askedAtRevision,
	createResource: {
		base: { key: 'new', name: 'New', actions: {} },
		fields: { key: 'key!', name: 'name!', actions: 'actions!', ...resource },
	},
	replaceResource: {
		base: {
			name: 'Document',
			actions: { read: {}, write: {} },
			attributes: { private: { type: 'bool' } },
			roles: { viewer: { name: 'Viewer' }, editor: { name: 'Editor', permissions: ['read'] } },
			relations: { parent: 'folder', copy: 'document' },
		},
		fields: { name: 'name!', actions: 'actions!', ...resource },
	},
	updateResource: { base: { name: 'Document' }, fields: { name: 'name', actions: 'actions', ...resource } },
	createResourceAction: {
		base: { key: 'new', name: 'New' },
		fields: { key: 'key!', name: 'name!', description: 'text', attributes: 'object' },
	},
	updateResourceAction: { base: { name: 'Read' }, fields: { name: 'name', description: 'text', attributes: 'object' } },
	createResourceActionGroup: {
		base: { key: 'new', name: 'New', actions: ['write'] },
		fields: { key: 'key!', name: 'name!', ...actionGroup },
	},
	updateResourceActionGroup: { base: { name: 'Editing' }, fields: { name: 'name', ...actionGroup } },
	createResourceRelation: {
		base: { key: 'new', name: 'New', subject_resource: 'document' },
		fields: {
			key: 'key!',
			name: 'name!',
			description: 'text',
			subject_resource: 'reference!',
			grant_conditions: 'references',
		},
	},
	updateResourceRelation: {
		base: { name: 'Parent' },
		fields: { name: 'name', description: 'text', grant_conditions: 'references' },
	},
	createResourceAttribute: {
		base: { key: 'new', type: 'bool' },
		fields: { key: 'key!', type: 'type!', ...attributeType },
	},
	updateResourceAttribute: { base: { type: 'bool' }, fields: { type: 'type', ...attributeType } },
	createUserAttribute: {
		base: { key: 'new', type: 'bool' },
		fields: { key: 'key!', type: 'type!', ...attributeType },
	},
	updateUserAttribute: { base: { type: 'bool' }, fields: { type: 'type', ...attributeType } },
	createRole: { base: { key: 'new', name: 'New' }, fields: { key: 'key!', name: 'name!', ...role } },
	updateRole: { base: { name: 'Editor' }, fields: { name: 'name', ...role } },
	assignPermissionsToRole: granting(permissions),
	removePermissionsFromRole: permissions,
	createResourceRole: {
		base: { key: 'new', name: 'New', extends: ['viewer'] },
		fields: { key: 'key!', name: 'name!', ...resourceRole },
	},
	updateResourceRole: { base: { name: 'Editor' }, fields: { name: 'name', ...resourceRole } },
	assignPermissionsToResourceRole: granting(resourcePermissions),
	removePermissionsFromResourceRole: resourcePermissions,
	createImplicitGrant: granting(implicitGrant),
	deleteImplicitGrant: implicitGrant,
	updateImplicitGrantsConditions: granting({
		base: { no_direct_roles_on_object: true },
		fields: { no_direct_roles_on_object: 'flag' },
	}),
	syncRoles: {
		base: { key: 'one-of-many', name: 'New' },
		fields: { key: 'key!', name: 'name!', resource: 'reference', ...resourceRole },
		many: 'operations',
	},
	createConditionSet: {
		base: {
			key: 'new',
			name: 'New',
			type: 'resourceset',
			resource_id: 'document',
			conditions: { 'resource.private': { equals: true } },
		},
		fields: {
			key: 'key!',
			name: 'name!',
			type: 'choice',
			conditions: 'object',
			resource_id: 'reference',
			description: 'text',
			parent_id: 'reference',
			autogenerated: 'flag',
		},
	},
	updateConditionSet: {
		base: { name: 'Private' },
		fields: { name: 'name', description: 'text', conditions: 'object', parent_id: 'reference' },
	},
	previewConditionSet: {
		base: { condition_set: 'private_users', tenant: 'acme', page: 1 },
		fields: { ...askedSet, page: 'count', per_page: 'count' },
	},
	evaluateConditionSet: { base: { condition_set: 'private_users', user: 'alice@example.com' }, fields: askedSet },
	createCheckTest: {
		base: { key: 'new', check: { user: 'alice@example.com', action: 'read', resource: 'document' }, expected: 'deny' },
		fields: { key: 'key!', description: 'text', check: 'tested check!', expected: 'choice!' },
	},
	updateCheckTest: {
		base: { expected: 'deny' },
		fields: { description: 'text', check: 'tested check', expected: 'choice' },
	},
	runCheckTests: { base: { draft: drafted('tried').base }, fields: { draft: 'draft' }, strict: true },
	createSetRule: granting(setRule),
	deleteSetRule: setRule,
	createUser: { base: { key: 'new' }, fields: { key: 'user key!', ...user, role_assignments: 'assignments' } },
	syncUser: { base: { first_name: 'Alice' }, fields: { key: 'user key', ...user, role_assignments: 'assignments' } },
	createUsers: bulkUser,
	syncUsers: bulkUser,
	deleteUsers: { base: { idents: ['one-of-many'] }, fields: { idents: 'references!' } },
	updateUser: { base: { first_name: 'Alice' }, fields: user },
	assignRoleToUser: ending(userRole),
	unassignRoleFromUser: userRole,
	createTenant: {
		base: { key: 'new', name: 'New' },
		fields: { key: 'key!', name: 'name!', description: 'text', attributes: 'object' },
	},
	createTenants: {
		base: { key: 'one-of-many', name: 'New' },
		fields: { key: 'key!', name: 'name!', description: 'text', attributes: 'object' },
		many: 'operations',
	},
	deleteTenants: { base: { idents: ['one-of-many'] }, fields: { idents: 'references!' } },
	updateTenant: { base: { name: 'Acme' }, fields: { name: 'name', description: 'text', attributes: 'object' } },
	addUserToTenant: {
		base: { key: 'new' },
		fields: { key: 'user key!', ...user, role_assignments: 'assignments' },
	},
	createRoleAssignment: ending(assignment),
	deleteRoleAssignment: assignment,
	createRoleAssignments: ending({ ...assignment, many: 'bare' }),
	deleteRoleAssignments: { ...assignment, many: 'bare' },
	createResourceInstance: instance,
	updateResourceInstance: { base: { attributes: { private: true } }, fields: { attributes: 'object' } },
	syncResourceInstances: { ...instance, many: 'operations' },
	deleteResourceInstances: { base: { idents: ['document:new'] }, fields: { idents: 'references!' } },
	createRelationshipTuple: ending(newTuple),
	createRelationshipTuples: ending({ ...newTuple, many: 'operations' }),
	deleteRelationshipTuple: tuple,
	deleteRelationshipTuples: { ...tuple, many: 'idents' },
	createGroup: {
		base: { group_instance_key: 'new', group_tenant: 'acme' },
		fields: { group_instance_key: 'key!', group_resource_type_key: 'key', group_tenant: 'reference!' },
	},
	assignRoleToGroup: ending(groupRole),
	removeRoleFromGroup: groupRole,
	assignUserToGroup: ending({ base: { tenant: 'acme' }, fields: { tenant: 'reference!' } }),
	removeUserFromGroup: { base: { tenant: 'acme' }, fields: { tenant: 'reference' } },
	assignGroupToGroup: ending(groupNesting),
	removeGroupFromGroup: groupNesting,
	createUserInvite: granting({
		base: { key: 'new', email: 'new@example.com', role_id: idLike.role, tenant_id: idLike.tenant },
		fields: { key: 'user key!', email: 'email!', role_id: 'uuid!', tenant_id: 'uuid!', ...invite },
	}),
	updateUserInvite: granting({
		base: { first_name: 'Ines' },
		fields: { email: 'email', role_id: 'uuid', tenant_id: 'uuid', ...invite },
	}),
	approveUserInvite: granting({
		base: { email: 'ines@example.com', key: 'ines@example.com' },
		fields: { email: 'email!', key: 'user key!', attributes: 'object' },
	}),
	createProxyConfig: {
		base: { key: 'new', name: 'New', secret: 'token' },
		fields: { key: 'key!', name: 'name!', secret: 'secret!', ...proxyConfig },
	},
	updateProxyConfig: { base: { name: 'Proxy' }, fields: { name: 'name', secret: 'secret', ...proxyConfig } },
	createElementsConfig: {
		base: { key: 'new', name: 'New', elements_type: 'audit_log', settings: {}, roles_to_levels: {} },
		fields: {
			key: 'key!',
			name: 'name!',
			elements_type: 'choice!',
			settings: 'values!',
			roles_to_levels: 'levels!',
			email_notifications: 'flag',
			webhook: 'webhook',
		},
	},
	createAccessRequestOfUser: granting({
		base: { access_request_details: { tenant: 'acme', role: 'viewer' } },
		fields: { access_request_details: 'details!', reason: 'text' },
	}),
	reviewAccessRequestOfUser: ending({
		base: { reviewer_comment: 'Only to read.' },
		fields: { reviewer_comment: 'text', role: 'reference' },
	}),
	approveAccessRequestOfUser: ending({
		base: { reviewer_comment: 'Welcome.' },
		fields: { reviewer_comment: 'text', role: 'reference' },
	}),
	denyAccessRequestOfUser: granting({ base: { reviewer_comment: 'Not yet.' }, fields: { reviewer_comment: 'text' } }),
	approveElementRequest: ending({
		base: { reviewer_comment: 'Welcome.' },
		fields: { reviewer_comment: 'text', role: 'reference' },
	}),
	denyElementRequest: granting({ base: { reviewer_comment: 'Not yet.' }, fields: { reviewer_comment: 'text' } }),
	cancelAccessRequestOfUser: { base: {}, fields: { reason: 'text' } },
	updateElementsConfig: {
		base: { name: 'Requests' },
		fields: {
			name: 'name',
			settings: 'values',
			roles_to_levels: 'levels',
			email_notifications: 'flag',
			webhook: 'webhook',
		},
	},
};

/** Placeholder for a valid JSON number that is too large for a double. */
export const hugeNumber = '<a huge number>';
const badText = [5, -0.1, true, [], {}, ['text'], 'a\0b', '\ud800', 'b\udfff'];
const badReference = [...badText, '', 'x'.repeat(1026)];
const badReferences = ['document:read', 5, {}, ...badReference.map((wrong) => [wrong]), [null], [['document:read']]];
const badKey = [...badReference, 'a b', 'a/b', 'a:b', 'é', 'a\n', '__proto__', 'k'.repeat(513)];
const rule = { url: 'https://example.com', http_method: 'get', resource: 'document' };
const badObject = [5, 'text', true, [], { a: 'a\0b' }, { 'a\0b': 1 }, { a: [{ b: '\ud800' }] }];

/** Wrong values for each kind, except null. They are wrong in any body. */
export const wrongFor: Readonly<Record<Kind, readonly unknown[]>> = {
	key: [...badKey, 'a@b', 'a.b'],
	'user key': badKey,
	name: [...badText, 'n'.repeat(1025)],
	text: [...badText, 't'.repeat(16_385)],
	reference: badReference,
	references: badReferences,
	instance: [...badReference, 'a:b:c', ':b', 'a:', 'a b:c', 'a:b c', 'a:__proto__', `a:${'k'.repeat(513)}`],
	email: [
		...badText,
		'',
		'alice',
		'alice@',
		'@example.com',
		'a@b@c',
		'alice@localhost',
		`${'a'.repeat(250)}@example.com`,
	],
	object: [...badObject, { a: hugeNumber }],
	uuid: [...badText, '', 'x', '11111111-2222-4333-8444-55555555555', '1111111122224333-8444555555555555'],
	namespace: [...badText, '', 'A', 'x'],
	type: [...badText, '', 'integer', 'Bool'],
	actions: [
		5,
		'text',
		[],
		{ 'a b': {} },
		{ '': {} },
		{ a: 5 },
		{ a: null },
		{ a: { name: 5 } },
		{ a: { attributes: [] } },
	],
	attributes: [5, 'text', [], { 'a b': { type: 'bool' } }, { a: {} }, { a: null }, { a: { type: 'int' } }],
	roles: [
		5,
		'text',
		[],
		{ 'a b': { name: 'A' } },
		{ '': { name: 'A' } },
		{ a: 5 },
		{ a: null },
		{ a: {} },
		{ a: { name: 'A', permissions: 'read' } },
		{ a: { name: 'A', extends: [''] } },
		{ a: { name: 'A', granted_to: { users_with_role: [{ role: 'viewer' }] } } },
		{ a: { name: 'A', granted_to: { when: { condition: {} } } } },
	],
	derivation: [
		5,
		'text',
		true,
		[],
		{ users_with_role: {} },
		{ users_with_role: [5] },
		{ users_with_role: [{}] },
		{ when: 5 },
		{ when: { no_direct_roles_on_object: 'yes' } },
		{ when: { expires_at: 1 } },
		{ condition: {} },
	],
	settings: [5, 'text', true, [], { no_direct_roles_on_object: 1 }],
	values: [5, 'text', true, [], { a: 0.5 }, { a: {} }, { a: [] }, { a: null }, { a: 'a\0b' }, { '': 1 }],
	levels: [5, 'text', [], { LEVEL_5: [] }, { LEVEL_1: 'editor' }, { LEVEL_1: [5] }, { LEVEL_1: [''] }],
	details: [
		5,
		'text',
		[],
		{},
		{ tenant: 'acme' },
		{ tenant: 'acme', role: 5 },
		{ tenant: 'acme', role: 'viewer', a: 1 },
	],
	webhook: [5, 'text', [], {}, { url: 'ftp://example.com' }, { url: 'https://example.com', bearer_token: '' }],
	flag: [5, 'true', [], {}],
	instant: [5, true, [], {}, '', 'yesterday', '2026-01-31', '2026-01-31T08:00:00'],
	condition: [5, true, [], {}, '', 'below_limit', { set: 5 }],
	expiry: [5, true, [], {}, '', 'tomorrow', '2999-01-01', '2999-01-01T00:00:00', '2020-01-01T00:00:00Z'],
	relations: [
		5,
		'text',
		[],
		{ 'a b': 'document' },
		{ '': 'document' },
		{ a: 5 },
		{ a: null },
		{ a: {} },
		{ a: '' },
		{ a: 'a\0b' },
	],
	environments: [5, 'text', {}, [5], [{}], [{ key: 'a b', name: 'A' }], [{ key: 'a', name: null }]],
	assignments: [
		5,
		'text',
		{},
		[5],
		[null],
		[{}],
		[{ role: 'editor' }],
		[{ role: 'editor', tenant: 'a\0b' }],
		[{ role: 'editor', tenant: 'acme', expires_at: 1 }],
	],
	jwks: [
		5,
		'text',
		[],
		{ ttl: -1 },
		{ ttl: 1.5 },
		{ ttl: '600' },
		{ url: 'http://example.com' },
		{ jwks: { keys: {} } },
		{ ttl: hugeNumber },
	],
	choice: [...badText, '', 'other', 'ADMIN'],
	secret: [5, true, [], {}, '', 'a\0b', '********', { a: 5 }, { a: null }, { '': 'a' }, { a: 'x'.repeat(16_385) }],
	rules: [
		5,
		'text',
		{},
		[5],
		[null],
		[{}],
		[{ ...rule, url: '' }],
		[{ ...rule, url_type: 'glob' }],
		[{ ...rule, http_method: 'GET' }],
		[{ ...rule, http_method: 'connect' }],
		[{ ...rule, resource: 'a:b' }],
		[{ ...rule, headers: { a: 5 } }],
		[{ ...rule, action: '' }],
		[{ ...rule, priority: 1.5 }],
	],
	version: [0, 2, 1.5, '1', true, [], {}, hugeNumber],
	target: [5, 'dev', [], {}, { existing: 5 }, { new: {} }, { existing: 'dev', new: { key: 'new', name: 'New' } }],
	scope: [5, '*', [], { roles: 5 }, { roles: { include: '*' } }, { resources: { exclude: [5] } }],
	members: [5, 'text', true, [], { unknown: {} }],
	subject: [5, true, [], '', 'a\0b', { key: 5 }, { key: '' }, { attributes: 5 }, { attributes: { a: '\ud800' } }],
	count: [0, -1, 1.5, '1', 'x', true, [], {}, 1_000_000_000, hugeNumber],
	revision: [-1, 1.5, '1', 'x', true, [], {}, 1e15, hugeNumber],
	changes: [
		5,
		'text',
		{},
		[5],
		[null],
		[{}],
		[{ kind: 'pdp_config', operation: 'delete', key: 'a' }],
		[{ kind: 'role', operation: 'delete' }],
		[{ kind: 'role', operation: 'upsert', key: 'a', value: { name: 'A' } }],
		[{ kind: 'role', operation: 'create', key: 'a' }],
		[{ kind: 'role', operation: 'delete', key: 'a', value: { name: 'A' } }],
		[{ kind: 'role', operation: 'create', key: 'a b', value: { name: 'A' } }],
		[{ kind: 'role', operation: 'create', key: 'a', value: { name: 'A', granted_to: {} } }],
		[{ kind: 'resource_role', operation: 'delete', key: 'editor' }],
		[{ kind: 'tenant_user', operation: 'update', value: { user: 'a', tenant: 'acme' } }],
		[{ kind: 'tenant_user', operation: 'create', key: 'a', value: { user: 'a', tenant: 'acme' } }],
	],
	draft: [
		5,
		'text',
		true,
		[],
		{},
		{ base_revision: 1 },
		{ base_revision: -1, changes: [] },
		{ base_revision: 1, changes: [5] },
		{ base_revision: 1, changes: [], unknown: 1 },
	],
	limits: [5, 'text', true, [], { unknown: 1 }, { checks: -1 }, { rows: 1_001 }, { decisions: 1.5 }, { checks: '1' }],
	'asked user': [5, true, [], {}, { key: 5 }, { key: 'a', attributes: 5 }],
	'asked resource': [5, true, [], {}, { type: 5 }, { type: 'a', key: 5 }, { type: 'a', tenant: [] }],
	'asked text': [5, true, [], {}],
	'asked context': [5, 'text', true, [], { a: hugeNumber }],
	'past revision': [-1, 1.5, '1', 'x', true, [], {}, hugeNumber],
	'tested check': [
		5,
		'text',
		[],
		{},
		{ user: 'alice', action: 'read' },
		{ user: 'a b', action: 'read', resource: 'document' },
		{ user: 'alice', action: 'read', resource: 'a:b:c' },
		{ user: 'alice', action: 'read', resource: { type: 'document', id: 'plan' } },
		{ user: { key: 'alice', attributes: 5 }, action: 'read', resource: 'document' },
		{ user: 'alice', action: 'read', resource: 'document', context: { a: hugeNumber } },
		{ user: 'alice', action: 'read', resource: 'document', context: { a: 'x'.repeat(4_096) } },
	],
	nothing: [5, 'text', true, [1], { a: 1 }],
};

/** Wrong values, keyed by query parameter. `&` in a value adds a second parameter. */
export const wrongQueries: Readonly<Record<string, readonly string[]>> = {
	page: ['0', '-1', 'x', '1.5', '', '1e3', '9'.repeat(20), '1&page=2', 'NaN', '%00'],
	per_page: ['0', '-1', '101', 'x', '', '9'.repeat(20), '1&per_page=2'],
	include_total_count: ['x', '', '2', 'true&include_total_count=false'],
	include_built_in: ['x', '', '2'],
	include_resource_instance_roles: ['x', ''],
	conditional: ['x', ''],
	detailed: ['x', ''],
	return_deleted: ['x', ''],
	missing_user_policy: ['x', '', 'FAIL'],
	search_operator: ['x', '', 'CONTAINS', 'equals', 'contains&search_operator=contains'],
	wait: ['x', '', '-1', '61', '1e1', '1&wait=2', 'NaN'],
	dry_run: ['x', '', '2', 'true&dry_run=false'],
	half: ['x', '', 'SCHEMA', 'schema&half=facts'],
	conflict_strategy: ['x', '', 'FAIL', 'fail&conflict_strategy=replace'],
	proj_id: ['%00', '', 'x'.repeat(1026), 'a&proj_id=b'],
	kind: ['x', '', 'ROLE', 'role&kind=x'],
	operation: ['x', '', 'create&operation=x'],
	actor: ['x', '', '%00'],
	expand: ['x', '', '%00', 'user:'],
	revision_from: ['x', '', '-1', '1.5', '9'.repeat(20), '1&revision_from=2'],
	revision_to: ['x', '', '-1', '1e3'],
	created_from: ['x', '', '2026-01-01', '2026-01-01T00:00:00', '%00'],
	created_to: ['x', '', '2026-13-01T00:00:00Z'],
	pdp_id: ['x', '', '%00'],
	users: ['%00'],
	resources: ['%00'],
	action: ['%00', ''],
	decision: ['x', '', '1', 'true&decision=false'],
	code: ['', '%00', 'a%20b', 'x'.repeat(129), 'a&code=b'],
	timestamp_from: ['x', '', '-1', '1.5', '9'.repeat(20)],
	timestamp_to: ['x', '', '2026-01-01'],
	sort_by: ['x', '', 'user'],
	project_id: ['%00', ''],
	env_id: ['%00', ''],
	search: ['%00', 'a%00b'],
	user: ['%00', '', 'a&user=%00'],
	role: ['%00', ''],
	status: ['x', '', 'PENDING', 'pending&status=denied'],
	element: ['%00', '', 'x'.repeat(1026)],
	requesting_user: ['%00', ''],
	resource_instance_id: ['%00', '', 'a&resource_instance_id=b'],
	tenant: ['%00', '', 'x'.repeat(1026)],
	resource: ['%00', ''],
	resource_id: ['%00', '', 'document', '00000000-0000-4000-8000-000000000000', '__user&resource_id=__user'],
	resource_instance: ['%00', ''],
	subject: ['%00', ''],
	subject_type: ['%00', ''],
	relation: ['%00', ''],
	object: ['%00', ''],
	// This parameter is a reference in tuple queries, and a level in API key queries.
	object_type: ['%00', ''],
	type: ['x', '', 'USERSET', 'userset&type=userset'],
	autogenerated: ['x', ''],
	user_set: ['%00'],
	permission: ['%00'],
	resource_set: ['%00'],
	attr_plan: ['%00', 'a&attr_plan=b'],
	from: ['x', '', '%00', 'user:', 'tenant:a:b', 'instance:a', 'role:viewer', 'instance:a:b%23c', 'user:b&from=user:c'],
	to: ['x', '', '%00', 'instance:document:budget'],
	depth: ['0', '4', 'x', '', '1.5'],
	limit: ['0', '1001', 'x', ''],
	mode: ['x', '', 'FACTS', 'facts&mode=schema'],
};
