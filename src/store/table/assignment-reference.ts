import { groupBy } from '../../../compiler/group-by.js';
import { whereIdsIn } from '../query/filter.js';
import { idsAmong, rowsByReference, whereReferred } from '../query/reference.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import { Role } from './role.js';

/**
 * User, role and place of an assignment, each by id or key. The place is a tenant, or a resource instance with or
 * without its tenant.
 */
export interface AssignmentReference {
	readonly user: string;
	readonly role: string;
	readonly tenant?: string | undefined;
	readonly resource_instance?: string | undefined;
	/** The new assignment's expiry; absent if it does not expire. */
	readonly expires_at?: string | undefined;
	/** Condition set under which the role is assigned, with values for a new assignment; absent if there is none. */
	readonly condition?: { readonly set: string; readonly values?: object | undefined } | undefined;
	/** Location in the request; the whole body if absent. */
	readonly place?: readonly (string | number)[];
}

/** An object to which a reference refers. */
export interface Named {
	readonly id: string;
	readonly key: string;
}

/** Objects in assignment references, keyed by reference. Omits unknown references. */
export interface Participants {
	readonly users: ReadonlyMap<string, Named>;
	/** Tenant roles only. Resource roles are looked up later, when their resource is known. */
	readonly roles: ReadonlyMap<string, Named>;
	readonly tenants: ReadonlyMap<string, Named>;
}

/** Returns the users, tenant roles and tenants in the references. Uses a single statement. */
export async function participantsIn(
	unit: ReadingUnit,
	references: readonly AssignmentReference[],
): Promise<Participants> {
	const wanted = {
		users: [...new Set(references.map(({ user }) => user))],
		roles: [...new Set(references.flatMap(({ role, resource_instance }) => (resource_instance ? [] : [role])))],
		tenants: [...new Set(references.flatMap(({ tenant }) => tenant ?? []))],
	};
	const { rows } = await unit.raw<Named & { readonly kind: keyof Participants }>(
		(['users', 'roles', 'tenants'] satisfies (keyof Participants)[])
			.map(
				(kind) => `select '${kind}' as kind, id, key from ${kind} where environment_id = :environment_id
					${kind === 'roles' ? 'and resource_id is null' : ''}
					and (key = any(:${kind}::text[]) or id = any(:${kind}_ids::uuid[]))`,
			)
			.join(' union all '),
		{
			...wanted,
			users_ids: idsAmong(wanted.users),
			roles_ids: idsAmong(wanted.roles),
			tenants_ids: idsAmong(wanted.tenants),
		},
	);
	const named = (kind: keyof Participants) =>
		rowsByReference(
			rows.filter((row) => row.kind === kind),
			wanted[kind],
		);
	return { users: named('users'), roles: named('roles'), tenants: named('tenants') };
}

/** Returns these resources' roles in the references, keyed by resource, then by reference. */
export async function resourceRolesIn(
	unit: ReadingUnit,
	resourceIds: readonly string[],
	references: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, Role>>> {
	const wanted = [...new Set(references)];
	const query = whereIdsIn(unit.query(Role), { 'roles.resource_id': resourceIds });
	const roles = groupBy(await whereReferred(query, 'roles', wanted), (role) => role.resource_id);
	return new Map(resourceIds.map((id) => [id, rowsByReference(roles.get(id) ?? [], wanted)]));
}
