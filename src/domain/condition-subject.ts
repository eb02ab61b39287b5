import type { Json } from '../../compiler/model.js';
import { groupBy } from '../group-by.js';
import type { InstanceRow } from '../store/table/resource-instance.js';
import { tenantRolesOf } from '../store/table/role-assignment.js';
import { Tenant } from '../store/table/tenant.js';
import { User } from '../store/table/user.js';
import type { ReadingUnit } from '../store/unit.js';
import { instanceParts, type JsonObject } from '../wire/common.js';
import type { ConditionEvaluation, ResourceSubject, UserSubject } from '../wire/condition-preview.js';
import { findInstances, requireTenant } from './named-instance.js';

/** What conditions know of a check, by the names they use (decision 16): what is stored, under what is sent. */
export interface Subject {
	readonly user: JsonObject;
	readonly resource: JsonObject;
	readonly tenant: JsonObject;
	readonly context: JsonObject;
}

/** Where a user holds tenant roles. */
export interface Held {
	/** The keys of the roles in the tenant of the check; in any tenant where the check names none. */
	readonly roles: readonly string[];
	readonly tenants: readonly string[];
}

const nothingHeld: Held = { roles: [], tenants: [] };

/** What these users hold, by their ids. */
export async function heldBy(
	unit: ReadingUnit,
	users: readonly User[],
	tenant: Tenant | null,
): Promise<(user: User) => Held> {
	const rows = await tenantRolesOf(
		unit,
		users.map(({ id }) => id),
	);
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

/** What conditions know of a user. What comes from the store alone no attribute replaces. */
export function userRecord(user: User, { roles, tenants }: Held, sent: JsonObject = {}): JsonObject {
	const { key, email, first_name, last_name, attributes } = user;
	return { email, first_name, last_name, ...attributes, ...sent, key, roles, tenants };
}

/** What conditions know of an instance; it is of the tenant of the check, or the check is about its tenant. */
export function instanceRecord({ key, resource, tenant, attributes }: InstanceRow, sent: JsonObject = {}): JsonObject {
	return { ...attributes, ...sent, key, type: resource, tenant };
}

/** What conditions know of a tenant: its attributes only where the user holds a role in it. */
export function tenantRecord(tenant: Pick<Tenant, 'key' | 'attributes'> | null, { tenants }: Held): JsonObject {
	if (tenant === null) return {};
	return { ...(tenants.includes(tenant.key) ? tenant.attributes : {}), key: tenant.key };
}

/** The sides of a check that a request names. */
export interface Sides {
	readonly tenant: Tenant | null;
	readonly user: JsonObject;
	readonly held: Held;
	readonly resource: JsonObject;
	readonly context: JsonObject;
}

/**
 * Reads what a request says of a check. A user or an instance that is not stored has what is sent, and no roles. The
 * tenant of an instance is the tenant of the check that names no other; `type` is the resource of the check where that
 * is known. Throws `not_found` for a tenant that does not exist, `mismatched_tenants` for an instance of another one.
 */
export async function sidesOf(
	unit: ReadingUnit,
	{ tenant: reference, user, resource, context }: Pick<ConditionEvaluation, 'tenant' | 'user' | 'resource' | 'context'>,
	type?: string,
): Promise<Sides> {
	const named = reference === undefined ? null : await unit.find(Tenant, reference);
	const instance = await storedInstance(unit, resource);
	if (instance !== undefined) requireTenant(instance, named ?? undefined);
	const tenant = named ?? (instance === undefined ? null : await unit.find(Tenant, instance.tenant_id));
	const stored = user?.key === undefined ? undefined : (await unit.findMany(User, [user.key])).get(user.key);
	const held = stored === undefined ? nothingHeld : (await heldBy(unit, [stored], tenant))(stored);
	return {
		...{ tenant, held, context },
		user: stored === undefined ? strangeUser(user) : userRecord(stored, held, user?.attributes),
		resource:
			instance === undefined ? strangeInstance(resource, tenant, type) : instanceRecord(instance, resource?.attributes),
	};
}

async function storedInstance(unit: ReadingUnit, subject: ResourceSubject | undefined) {
	return subject?.key === undefined ? undefined : (await findInstances(unit, [subject.key])).get(subject.key);
}

function strangeUser(subject: UserSubject | undefined): JsonObject {
	if (subject === undefined) return {};
	const { key, attributes } = subject;
	return { ...without(attributes, ['key']), ...(key !== undefined && { key }), roles: [], tenants: [] };
}

function strangeInstance(subject: ResourceSubject | undefined, tenant: Tenant | null, type?: string): JsonObject {
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

/** What a check cannot send. */
function without(attributes: JsonObject, names: readonly string[]): JsonObject {
	return Object.fromEntries(Object.entries(attributes).filter(([name]) => !names.includes(name)));
}

/** A record as the compiler reads it. */
export function asJson(record: JsonObject): Readonly<Record<string, Json>> {
	// What was stored and sent is JSON, so its members are JSON values.
	return record as Readonly<Record<string, Json>>;
}
