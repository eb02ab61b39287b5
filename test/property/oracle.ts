/**
 * A simple, slow model of role semantics. Shares only the model types with the compiler and the policy: if the two
 * disagree, one has a bug.
 */
import type { Json, Model, Patch, Permission } from '../../compiler/index.js';
import type { Query } from './query.js';
import { instanceTenant, rolesOn } from './relationship-oracle.js';
import { grantedBySets } from './set-oracle.js';

/** Check result. The code is `allow` or the reason for the denial. */
export interface Decision {
	readonly allow: boolean;
	readonly code: string;
}

/** A user's permissions in a tenant. `permissions` and `roles` are sorted. */
export interface TenantPermissions {
	readonly tenant: { readonly key: string; readonly attributes: { readonly [name: string]: Json } };
	readonly permissions: readonly string[];
	readonly roles: readonly string[];
}

/**
 * Decides a check, which is allowed if RBAC, ReBAC or ABAC allows it. If all three deny, RBAC's `no_permission` takes
 * precedence, then ReBAC's reason, then RBAC's reason. Ignores assignments in deleted tenants.
 */
export function decide(model: Model, query: Query): Decision {
	const { tenantRoles, instanceRoles } = denials(model, query);
	if (tenantRoles === null || instanceRoles === null || grantedBySets(model, query)) {
		return { allow: true, code: 'allow' };
	}
	return { allow: false, code: tenantRoles === 'no_permission' ? tenantRoles : (instanceRoles ?? tenantRoles) };
}

/**
 * Returns the reasons why RBAC and ReBAC deny; `null` for a model that allows. The ReBAC result is `undefined` if the
 * check has no instance, or if its type has no roles.
 */
export function denials(model: Model, query: Query) {
	const tenantRoles = tenantDenial(model, query);
	const type = model.schema.resources.find(({ key }) => key === query.resource.type);
	const applies = query.resource.key !== undefined && type !== undefined && type.roles.length > 0;
	return {
		tenantRoles,
		instanceRoles: applies ? instanceDenial(model, query, query.resource.key, tenantRoles) : undefined,
	};
}

const ofTheCheck = ['no_such_resource', 'no_such_action', 'no_such_tenant', 'user_not_synced'];

function instanceDenial(model: Model, query: Query, key: string, tenantRoles: string | null) {
	const { action, resource } = query;
	const isStranger = tenantRoles === 'user_not_synced';
	if (tenantRoles !== null && ofTheCheck.includes(tenantRoles) && !isStranger) {
		return tenantRoles;
	}
	const tenant = instanceTenant(model, resource.type, key);
	if (tenant === undefined) {
		return isStranger ? tenantRoles : 'no_such_resource_instance';
	}
	if (tenant !== resource.tenant) {
		return isStranger ? tenantRoles : 'tenant_mismatch';
	}
	const held = rolesOn(model, query, resource.type, key);
	if (held.size === 0) {
		return isStranger ? tenantRoles : 'no_graph_roles';
	}
	const roles = (model.schema.resources.find((type) => type.key === resource.type)?.roles ?? []).map((role) => ({
		...role,
		permissions: role.permissions.map((own) => ({ resource: resource.type, action: own })),
	}));
	if ([...held].some((role) => grants(roles, role, resource.type, action, []))) return null;
	return isStranger ? tenantRoles : 'no_permission';
}

function tenantDenial({ schema, facts }: Model, { user, action, resource }: Query): string | null {
	const type = schema.resources.find(({ key }) => key === resource.type);
	if (type === undefined) {
		return 'no_such_resource';
	}
	if (!type.actions.some(({ key }) => key === action)) {
		return 'no_such_action';
	}
	const tenant = resource.tenant ?? null;
	if (tenant !== null && !facts.tenants.some(({ key }) => key === tenant)) {
		return 'no_such_tenant';
	}
	if (!facts.users.includes(user.key)) {
		return 'user_not_synced';
	}
	const held = facts.role_assignments.filter(
		(assignment) => assignment.user === user.key && facts.tenants.some(({ key }) => key === assignment.tenant),
	);
	if (held.length === 0) {
		return 'no_user_roles';
	}
	const inTenant = held.filter((assignment) => assignment.tenant === tenant);
	if (inTenant.length === 0) {
		return 'no_role_in_tenant';
	}
	const granted = inTenant.some(({ role }) => grants(schema.roles, role, resource.type, action, []));
	return granted ? null : 'no_permission';
}

interface Granting {
	readonly key: string;
	readonly permissions: readonly Permission[];
	readonly extends: readonly string[];
}

/** True if a role grants the action itself or by extension. Skips roles already visited. */
function grants(
	roles: readonly Granting[],
	key: string,
	resource: string,
	action: string,
	met: readonly string[],
): boolean {
	const role = roles.find((candidate) => candidate.key === key);
	if (role === undefined || met.includes(key)) {
		return false;
	}
	return (
		role.permissions.some((permission) => permission.resource === resource && permission.action === action) ||
		role.extends.some((parent) => grants(roles, parent, resource, action, [...met, key]))
	);
}

/** Returns a user's permissions, keyed by object identifier. Ignores conditions. */
export function permissions(model: Model, user: string): Readonly<Record<string, TenantPermissions>> {
	const { resources } = model.schema;
	const entries = model.facts.tenants.flatMap((tenant): [string, TenantPermissions][] => {
		const roles = model.facts.role_assignments
			.filter((assignment) => assignment.user === user && assignment.tenant === tenant.key)
			.map((assignment) => assignment.role);
		const allowed = resources.flatMap((resource) =>
			resource.actions
				.filter(({ key }) => {
					const query = { user: { key: user }, action: key, resource: { type: resource.key, tenant: tenant.key } };
					const { tenantRoles, instanceRoles } = denials(model, query);
					return tenantRoles === null || instanceRoles === null;
				})
				.map(({ key }) => `${resource.key}:${key}`),
		);
		const entry = { tenant, permissions: allowed.sort(), roles: [...new Set(roles)].sort() };
		return roles.length === 0 || !model.facts.users.includes(user) ? [] : [[`__tenant:${tenant.key}`, entry]];
	});
	return Object.fromEntries(entries);
}

/** Returns the data document after these patches, as specified by the compiler's `Patch`. Does not modify the input. */
export function patched(document: Json, patches: readonly Patch[]): Json {
	return patches.reduce((current, patch) => patchedAt(current, patch.path, patch), document);
}

function patchedAt(value: Json, path: readonly string[], patch: Patch): Json {
	const [member, ...rest] = path;
	if (member === undefined) {
		return patch.op === 'upsert' ? patch.value : value;
	}
	const members = new Map(Object.entries(isObject(value) ? value : {}));
	if (rest.length === 0 && patch.op === 'remove') {
		members.delete(member);
	} else if (patch.op === 'upsert' || members.has(member)) {
		members.set(member, patchedAt(members.get(member) ?? {}, rest, patch));
	}
	return Object.fromEntries(members);
}

function isObject(value: Json): value is { readonly [member: string]: Json } {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
