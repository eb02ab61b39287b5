/** What changed, as few patches: a delta costs what the change costs, not what the environment holds. */
import { schemaTables } from './data.js';
import type {
	Instance,
	InstanceAssignment,
	Json,
	Patch,
	Relationship,
	RoleAssignment,
	Schema,
	Tenant,
} from './model.js';
import { canonical, sortedBy } from './order.js';

/** A user and a tenant between which role assignments may have come or gone. */
export interface Membership {
	readonly user: string;
	readonly tenant: string;
}

/** An instance, by the keys of its type and its own. */
export interface InstanceName {
	readonly type: string;
	readonly key: string;
}

/** What a run of changes touched, by keys, whatever became of it since. */
export interface Touched {
	/** Some resource, action, role or permission changed. */
	readonly schema: boolean;
	/** Users created or deleted in the run (updates of other fields do not count). */
	readonly users: readonly string[];
	/** Tenants created or deleted in the run. */
	readonly tenants: readonly string[];
	/** Tenants whose attributes were updated in the run. */
	readonly tenant_attributes: readonly string[];
	/** Memberships between which an assignment came or went, also by cascade. */
	readonly memberships: readonly Membership[];
	/** Resource types created or deleted in the run. */
	readonly resources: readonly string[];
	/** A role's derivations or their settings changed, or a role that had some went: closures are computed anew. */
	readonly derivations: boolean;
	/** Instances created or deleted in the run, also by cascade. */
	readonly instances: readonly InstanceName[];
	/** Assignments on instances that came or went, also by cascade. */
	readonly instance_assignments: readonly InstanceAssignment[];
	/** Relationships that came or went, also by cascade. */
	readonly relationships: readonly Relationship[];
}

/** The state, after the run, of exactly what was touched: all a delta is computed from. */
export interface Neighbourhood {
	/** Present when the schema, derivations or relationships were touched. */
	readonly schema: Schema | null;
	/** Those that exist among the touched users and the users of touched memberships. */
	readonly users: readonly string[];
	/** Those that exist among the touched tenants, those with touched attributes and the tenants of touched memberships. */
	readonly tenants: readonly Tenant[];
	/** Every assignment of a touched membership. */
	readonly role_assignments: readonly RoleAssignment[];
	/** Those that exist among the touched instances. */
	readonly instances: readonly Instance[];
	/** Every assignment between the user and the instance of a touched assignment. */
	readonly instance_assignments: readonly InstanceAssignment[];
	/** Among the instances of touched assignments, those on which anybody holds a role. */
	readonly held: readonly InstanceName[];
	/** What the users of touched assignments hold on any instance: each type and role once. */
	readonly holdings: readonly Omit<InstanceAssignment, 'instance'>[];
	/** Those that exist among the touched relationships. */
	readonly relationships: readonly Relationship[];
	/** Relations of the objects of touched relationships that have any subject. */
	readonly related: readonly Omit<Relationship, 'subject'>[];
	/** What is needed to compute closures anew; `null` when neither relationships nor derivations were touched. */
	readonly closures: ClosureNeighbourhood | null;
}

/** What closures are computed from. */
export interface ClosureNeighbourhood {
	/** The instances to compute, whether they exist or not; 'all' when derivations were touched. */
	readonly of: readonly InstanceName[] | 'all';
	/** Of the relations of circles (`circularRelations`): every relationship on a way that leads to one of them. */
	readonly relationships: readonly Relationship[];
}

/**
 * The patches that lead from the document at any revision of a run of changes to the document at its end.
 * Computed from the state at the end alone, so applying them twice, or late, changes nothing more.
 *
 * INVARIANT: a patch never relies on a parent that only later patches make: creations come first, then attributes,
 * then memberships, deletions last. An object created in the run starts empty; all its memberships were touched.
 */
export function delta(touched: Touched, now: Neighbourhood): readonly Patch[] {
	const users = new Set(now.users);
	const tenants = new Map(now.tenants.map((tenant) => [tenant.key, tenant]));
	const touchedUsers = canonical(touched.users);
	const touchedTenants = canonical(touched.tenants);
	return [
		...(now.schema === null ? [] : [upsert(['schema'], schemaTables(now.schema))]),
		...touchedUsers.filter((user) => users.has(user)).map((user) => upsert(['facts', 'users', user], {})),
		...present(touchedTenants, tenants).flatMap(createTenant),
		...present(canonical(touched.tenant_attributes), tenants).map(setAttributes),
		...membershipPatches(touched.memberships, users, tenants, now.role_assignments),
		...touchedUsers.filter((user) => !users.has(user)).map((user) => remove(['facts', 'users', user])),
		...touchedTenants.filter((tenant) => !tenants.has(tenant)).flatMap(removeTenant),
	];
}

/**
 * The `patch.json` of an OPA delta bundle that makes these patches. A stock OPA can take it only when it is not empty,
 * which it reads as an empty snapshot, and removes nothing, because there a removal of what is absent fails the bundle.
 */
export function patchDocument(patches: readonly Patch[]): Json {
	return { data: patches.map(operation) };
}

function present(keys: readonly string[], tenants: ReadonlyMap<string, Tenant>): readonly Tenant[] {
	return keys.flatMap((key) => tenants.get(key) ?? []);
}

function createTenant(tenant: Tenant): readonly Patch[] {
	return [setAttributes(tenant), upsert(['facts', 'tenant_roles', tenant.key], {})];
}

function setAttributes(tenant: Tenant): Patch {
	return upsert(['facts', 'tenants', tenant.key], tenant.attributes);
}

function removeTenant(tenant: string): readonly Patch[] {
	return [remove(['facts', 'tenants', tenant]), remove(['facts', 'tenant_roles', tenant])];
}

/** Each membership stands in two tables, one under each end; an end that is gone takes its table with it. */
function membershipPatches(
	memberships: readonly Membership[],
	users: ReadonlySet<string>,
	tenants: ReadonlyMap<string, Tenant>,
	assignments: readonly RoleAssignment[],
): readonly Patch[] {
	const roles = rolesByMembership(assignments);
	return inOrder(memberships).flatMap(({ user, tenant }) => {
		const held = users.has(user) && tenants.has(tenant) ? roles.get(nameOf({ user, tenant })) : undefined;
		const inTenant = ['facts', 'tenant_roles', tenant, user];
		const ofUser = ['facts', 'users', user, tenant];
		return [
			...(tenants.has(tenant) ? [held === undefined ? remove(inTenant) : upsert(inTenant, setOf(held))] : []),
			...(users.has(user) ? [held === undefined ? remove(ofUser) : upsert(ofUser, null)] : []),
		];
	});
}

function rolesByMembership(assignments: readonly RoleAssignment[]): ReadonlyMap<string, readonly string[]> {
	const roles = new Map<string, string[]>();
	for (const assignment of assignments) {
		const name = nameOf(assignment);
		const held = roles.get(name) ?? [];
		held.push(assignment.role);
		roles.set(name, held);
	}
	return roles;
}

function inOrder(memberships: readonly Membership[]): readonly Membership[] {
	const byName = new Map(memberships.map((membership) => [nameOf(membership), membership]));
	return sortedBy([...byName], ([name]) => name).map(([, membership]) => membership);
}

/** One text for one pair, whatever characters the keys hold. */
function nameOf({ user, tenant }: Membership): string {
	return JSON.stringify([tenant, user]);
}

function setOf(keys: readonly string[]): Json {
	return Object.fromEntries(canonical(keys).map((key) => [key, null]));
}

function upsert(members: readonly string[], value: Json): Patch {
	return { op: 'upsert', path: ['regolith', ...members], value };
}

function remove(members: readonly string[]): Patch {
	return { op: 'remove', path: ['regolith', ...members] };
}

function operation(patch: Patch): Json {
	const path = pointer(patch.path);
	return patch.op === 'upsert' ? { op: 'upsert', path, value: patch.value } : { op: 'remove', path };
}

/** A JSON Pointer as OPA reads it: it undoes URL escapes before those of the pointer. */
function pointer(path: readonly string[]): string {
	const escaped = path.map((member) => member.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('%', '%25'));
	return `/${escaped.join('/')}`;
}
