import type { GrantCondition } from './grant-condition.js';

/** A user's role, with its source. */
export interface HeldRole {
	readonly role: string;
	readonly tenant: string;
	/** Instance, as `<resource>:<key>`; `null` for a role in the tenant. */
	readonly resource_instance: string | null;
	readonly source: 'direct' | 'group' | 'derived' | 'computed';
	/** Steps from the assigned role to this role; empty for `direct` and `computed`. */
	readonly through: readonly { readonly role: string; readonly resource_instance: string; readonly relation: string }[];
	/** Expiry time; absent if the role is permanent. */
	readonly expires_at?: string | undefined;
	/** Condition of an assignment; absent if the role is held in all checks. */
	readonly condition?: GrantCondition | undefined;
}

/** Formats a role's source, such as `from member on team:ops`. Shortens a long path; the graph shows the whole path. */
export function sourceText({ source, through }: HeldRole): string {
	if (source === 'direct') return 'assigned';
	if (source === 'computed') return 'from other roles on the instance';
	const [first, ...others] = through;
	if (first === undefined) return source === 'group' ? 'from a group' : 'derived';
	const from = `from ${first.role} on ${first.resource_instance}`;
	if (others.length > 1) return `${from}, through ${others.length} other instances`;
	const way = others.map(({ role, resource_instance }) => `${role} on ${resource_instance}`);
	return [from, ...way].join(', then ');
}

/** Groups roles by tenant, in tenant order. Within a tenant, tenant roles come before instance roles. */
export function rolesByTenant(
	roles: readonly HeldRole[],
): readonly { readonly tenant: string; readonly roles: readonly HeldRole[] }[] {
	const tenants = new Map<string, HeldRole[]>();
	for (const role of roles) tenants.set(role.tenant, [...(tenants.get(role.tenant) ?? []), role]);
	return [...tenants].map(([tenant, held]) => ({
		tenant,
		roles: held.toSorted(
			(one, other) => Number(one.resource_instance !== null) - Number(other.resource_instance !== null),
		),
	}));
}

/** Request fields that determine the effect of an approval. */
interface Asked {
	readonly type: 'access_request' | 'operation_approval';
	readonly tenant_key: string;
	readonly resource_key: string | null;
	readonly resource_instance_key: string | null;
	readonly role_key?: string;
}

/** Returns the instance named by a request, as `<resource>:<key>`; `null` if it names none. */
export function askedInstance({ resource_key, resource_instance_key }: Asked): string | null {
	return resource_instance_key === null ? null : `${resource_key}:${resource_instance_key}`;
}

/** Returns the user's roles at the request's place: in the tenant and on the instance. */
export function rolesAtRequest(roles: readonly HeldRole[], asked: Asked): readonly HeldRole[] {
	const instance = askedInstance(asked);
	return roles.filter(
		({ tenant, resource_instance }) =>
			tenant === asked.tenant_key && (resource_instance === null || resource_instance === instance),
	);
}
