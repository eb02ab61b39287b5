import { groupBy } from '../../../compiler/group-by.js';
import type { Json } from '../../../compiler/model.js';
import { type InstanceRow, instancesNamed } from '../../store/table/resource-instance.js';
import { heldTenantRoles } from '../../store/table/role-assignment.js';
import { Tenant } from '../../store/table/tenant.js';
import { User } from '../../store/table/user.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { instanceParts, type JsonObject } from '../../wire/common.js';
import type { ConditionEvaluation, ResourceSubject, UserSubject } from '../../wire/schema/condition-preview.js';
import { onlyInstance, requireTenant } from '../facts/named-instance.js';

/**
 * A check's data for conditions, with the names that conditions use (decision 16). Sent values override stored values.
 */
export interface Subject {
	readonly user: JsonObject;
	readonly resource: JsonObject;
	readonly tenant: JsonObject;
	readonly context: JsonObject;
	/** Time of the request, in milliseconds since 1970. */
	readonly now: number;
	/** Instances that conditions read; absent if they read none. */
	readonly related?: RelatedInstances;
}

/** Stored attributes of instances in the check's tenant, keyed by `<type>:<key>`. */
export type RelatedInstances = ReadonlyMap<string, Json>;

/** A user's tenant roles. */
export interface HeldTenantRoles {
	/** Keys of the roles in the check's tenant, or in any tenant if the check contains none. */
	readonly roles: readonly string[];
	readonly tenants: readonly string[];
}

const noRoles: HeldTenantRoles = { roles: [], tenants: [] };

/** Returns a function that maps each user to the user's tenant roles. */
export async function readHeldRoles(
	unit: ReadingUnit,
	users: readonly User[],
	tenant: Tenant | null,
): Promise<(user: User) => HeldTenantRoles> {
	const ids = users.map(({ id }) => id);
	const rows = await heldTenantRoles(unit, ids);
	const byUser = groupBy(rows, ({ user_id }) => user_id);
	return ({ id }) => {
		const own = byUser.get(id) ?? [];
		const here = tenant === null ? own : own.filter(({ tenant_id }) => tenant_id === tenant.id);
		return { roles: sortedKeys(here.map(({ role }) => role)), tenants: sortedKeys(own.map((row) => row.tenant)) };
	};
}

function sortedKeys(keys: readonly string[]): readonly string[] {
	return [...new Set(keys)].sort();
}

/**
 * Returns a user's data for conditions. Attributes cannot replace `key`, `roles` and `tenants`, because these always
 * come from the store.
 */
export function userRecord(user: User, { roles, tenants }: HeldTenantRoles, sent: JsonObject = {}): JsonObject {
	const { key, email, first_name, last_name, attributes } = user;
	return { email, first_name, last_name, ...attributes, ...sent, key, roles, tenants };
}

/** Returns an instance's data for conditions. The instance's tenant is also the check's tenant. */
export function instanceRecord({ key, resource, tenant, attributes }: InstanceRow, sent: JsonObject = {}): JsonObject {
	return { ...attributes, ...sent, key, type: resource, tenant };
}

/** Returns a tenant's data for conditions. Its attributes are visible only if the user has a role there. */
export function tenantRecord(
	tenant: Pick<Tenant, 'key' | 'attributes'> | null,
	{ tenants }: HeldTenantRoles,
): JsonObject {
	if (tenant === null) return {};
	return { ...(tenants.includes(tenant.key) ? tenant.attributes : {}), key: tenant.key };
}

/** The data that a request provides for a check. */
export interface CheckSides {
	readonly tenant: Tenant | null;
	readonly user: JsonObject;
	readonly held: HeldTenantRoles;
	readonly resource: JsonObject;
	readonly context: JsonObject;
	readonly now: number;
	/** The stored user and instance, if any. */
	readonly stored: { readonly user?: User | undefined; readonly instance?: InstanceRow | undefined };
}

/**
 * Reads a check's data for a request. A user or instance that is not stored has only the sent values, and no roles. If
 * the request contains no tenant, the instance's tenant applies. `type` is the check's resource, if known. Throws
 * `not_found` for an unknown tenant, and `mismatched_tenants` for an instance in a different tenant.
 */
export async function readSides(
	unit: ReadingUnit,
	{ tenant: reference, user, resource, context }: Pick<ConditionEvaluation, 'tenant' | 'user' | 'resource' | 'context'>,
	type?: string,
): Promise<CheckSides> {
	const named = reference === undefined ? null : await unit.find(Tenant, reference);
	const instance = await storedInstance(unit, resource, type);
	if (instance !== undefined) requireTenant(instance, named ?? undefined);
	const tenant = named ?? (instance === undefined ? null : await unit.find(Tenant, instance.tenant_id));
	const stored = user?.key === undefined ? undefined : (await unit.findMany(User, [user.key])).get(user.key);
	const held = stored === undefined ? noRoles : (await readHeldRoles(unit, [stored], tenant))(stored);
	return {
		tenant,
		held,
		context,
		now: unit.clock.now().getTime(),
		stored: { user: stored, instance },
		user: stored === undefined ? unstoredUser(user) : userRecord(stored, held, user?.attributes),
		resource:
			instance === undefined
				? unstoredInstance(resource, tenant, type)
				: instanceRecord(instance, resource?.attributes),
	};
}

async function storedInstance(unit: ReadingUnit, subject: ResourceSubject | undefined, type: string | undefined) {
	if (subject?.key === undefined) return undefined;
	return onlyInstance(subject.key, (await instancesNamed(unit, [subject.key])).get(subject.key) ?? [], type);
}

function unstoredUser(subject: UserSubject | undefined): JsonObject {
	if (subject === undefined) return {};
	const { key, attributes } = subject;
	return { ...without(attributes, ['key']), ...(key !== undefined && { key }), roles: [], tenants: [] };
}

function unstoredInstance(subject: ResourceSubject | undefined, tenant: Tenant | null, type?: string): JsonObject {
	if (subject === undefined && type === undefined) return {};
	const { key, attributes = {} } = subject ?? {};
	const parts = instanceParts(key ?? '');
	return {
		...without(attributes, ['key', 'type', 'tenant']),
		...(key !== undefined && { key: parts?.key ?? key }),
		...(type !== undefined && { type }),
		...(parts !== null && { type: parts.resource }),
		...(tenant !== null && { tenant: tenant.key }),
	};
}

/** Returns the attributes without these names, which a check cannot send. */
function without(attributes: JsonObject, names: readonly string[]): JsonObject {
	return Object.fromEntries(Object.entries(attributes).filter(([name]) => !names.includes(name)));
}

/** Casts a record to compiler JSON. */
export function asJson(record: JsonObject): Readonly<Record<string, Json>> {
	// Stored and sent values are JSON, so the fields are JSON values.
	return record as Readonly<Record<string, Json>>;
}
