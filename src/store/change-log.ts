import type { Membership, Neighbourhood, Touched } from '../../compiler/delta.js';
import { type ChangeKind, schemaKinds } from './change.js';
import { asTenant, schemaOf } from './model.js';
import { type AssignmentRow, assignmentsBy } from './table/role-assignment.js';
import { Tenant } from './table/tenant.js';
import { User } from './table/user.js';
import type { ReadingUnit } from './unit.js';

interface LoggedChange {
	readonly kind: ChangeKind;
	readonly operation: 'create' | 'update' | 'delete';
	readonly key: string | null;
	readonly user: string | null;
	readonly tenant: string | null;
	readonly attributes_changed: boolean;
}

/**
 * What the changes after revision `base` touched, up to the revision the unit sees. `null` when there are more than
 * `most`: then a snapshot is the cheaper answer.
 */
export async function touchedSince(unit: ReadingUnit, base: number, most: number): Promise<Touched | null> {
	const { rows } = await unit.raw<LoggedChange>(
		`select kind, operation, coalesce(after, before) ->> 'key' as key, coalesce(after, before) ->> 'user' as "user",
			coalesce(after, before) ->> 'tenant' as tenant,
			(before -> 'attributes') is distinct from (after -> 'attributes') as attributes_changed
		from changes where environment_id = :environment_id and revision > :base order by revision, position limit :limit`,
		{ base, limit: most + 1 },
	);
	return rows.length > most ? null : touchedBy(rows);
}

function touchedBy(changes: readonly LoggedChange[]): Touched {
	const keysOf = (kind: ChangeKind, wanted: (change: LoggedChange) => boolean): readonly string[] => {
		const keys = changes.filter((change) => change.kind === kind && wanted(change)).map((change) => change.key ?? '');
		return [...new Set(keys)].sort();
	};
	const updated = (change: LoggedChange) => change.operation === 'update';
	return {
		schema: changes.some((change) => schemaKinds.has(change.kind)),
		users: keysOf('user', (change) => !updated(change)),
		tenants: keysOf('tenant', (change) => !updated(change)),
		tenant_attributes: keysOf('tenant', (change) => updated(change) && change.attributes_changed),
		memberships: membershipsIn(changes),
	};
}

function membershipsIn(changes: readonly LoggedChange[]): readonly Membership[] {
	const found = new Map<string, Membership>();
	for (const { kind, user, tenant } of changes) {
		if (kind !== 'role_assignment' || user === null || tenant === null) continue;
		found.set(nameOf({ user, tenant }), { user, tenant });
	}
	return [...found.values()];
}

/** The state that the unit sees of exactly what was touched. */
export async function neighbourhoodOf(unit: ReadingUnit, touched: Touched): Promise<Neighbourhood> {
	const userKeys = [...touched.users, ...touched.memberships.map(({ user }) => user)];
	const tenantKeys = [
		...touched.tenants,
		...touched.tenant_attributes,
		...touched.memberships.map(({ tenant }) => tenant),
	];
	const users = await unit
		.query(User)
		.whereRaw('users.key = any(?::text[])', [userKeys])
		.select('users.id', 'users.key');
	const tenants = await unit.query(Tenant).whereRaw('tenants.key = any(?::text[])', [tenantKeys]);
	return {
		schema: touched.schema ? await schemaOf(unit) : null,
		users: users.map((user) => user.key),
		tenants: tenants.map(asTenant),
		role_assignments: await assignmentsBetween(unit, touched.memberships, users),
	};
}

/** Found by user, whose assignments are few and indexed, then narrowed to the memberships. */
async function assignmentsBetween(unit: ReadingUnit, memberships: readonly Membership[], users: readonly User[]) {
	const wanted = new Set(memberships.map(nameOf));
	const members = new Set(memberships.map(({ user }) => user));
	const user_ids = users.filter((user) => members.has(user.key)).map((user) => user.id);
	if (user_ids.length === 0) return [];
	const rows = await assignmentsBy(unit, { user_ids, on_instances: false })
		.clearSelect()
		.clearOrder()
		.select('users.key as user', 'roles.key as role', 'tenants.key as tenant')
		.castTo<Pick<AssignmentRow, 'user' | 'role' | 'tenant'>[]>();
	return rows.filter((row) => wanted.has(nameOf(row)));
}

/** One text for one pair, whatever characters the keys hold. */
function nameOf({ user, tenant }: Membership): string {
	return JSON.stringify([user, tenant]);
}
