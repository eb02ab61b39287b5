import type {
	ClosureNeighbourhood,
	InstanceName,
	Membership,
	Neighbourhood,
	Related,
} from '../../../compiler/data/delta.js';
import type {
	Attributes,
	Instance,
	InstanceAssignment,
	InstanceAttributes,
	Relationship,
	Schema,
	UserAttributes,
} from '../../../compiler/model.js';
import type { TouchedRows } from '../history/touched-since.js';
import { whereIdsIn } from '../query/filter.js';
import { expiryMilliseconds } from '../query/holds-now.js';
import { matchesAll } from '../query/matches-both.js';
import { allowsContextualFacts } from '../table/environment-settings.js';
import { tupleKey } from '../table/relationship-tuple.js';
import { Role } from '../table/role.js';
import { assignmentsBetween } from '../table/role-assignment.js';
import { Tenant } from '../table/tenant.js';
import { User } from '../table/user.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import { closuresAround } from './closure.js';
import { expiring } from './expiring.js';
import { assignedCondition, asTenant, keysById, userAttributes } from './facts.js';
import { readMappingRules } from './mapping-rules.js';
import { readSchema } from './model.js';

/**
 * Reads exactly the touched objects, as seen by the unit. Returns `null` if closures reach too far; a snapshot is then
 * cheaper. `inForce` is the active policy's schema if that schema is older than the newest schema. The cost depends
 * only on the touched objects, and not on their number of neighbors.
 */
export async function readNeighbourhood(
	unit: ReadingUnit,
	touched: TouchedRows,
	inForce: Schema | null,
): Promise<Neighbourhood | null> {
	const now = await readNeighbourhoodWithoutClosures(unit, touched, inForce);
	if (now.schema === null || !concernsClosures(touched)) return now;
	const closures = await closureNeighbourhood(unit, inForce ?? now.schema, touched);
	return closures === 'too_many' ? null : { ...now, closures };
}

/** Returns true if closures depend on a touched object. */
export function concernsClosures({ derivations, relationships: related }: TouchedRows): boolean {
	return derivations || related.length > 0;
}

/**
 * Like `readNeighbourhood`, but does not read the input for closures. For callers that already have all relationships.
 */
export async function readNeighbourhoodWithoutClosures(
	unit: ReadingUnit,
	touched: TouchedRows,
	inForce: Schema | null,
): Promise<Neighbourhood> {
	const isRead = touched.schema || touched.pending || touched.contextual_facts || concernsClosures(touched);
	const schema = isRead ? await readSchema(unit) : null;
	return {
		schema,
		in_force: schema === null ? null : inForce,
		contextual_facts: (touched.schema || touched.contextual_facts) && (await allowsContextualFacts(unit)),
		...(await tenantRoles(unit, touched)),
		instances: await instancesAmong(unit, touched.instances),
		...(await instanceRoles(unit, touched.instance_assignments)),
		...(await relationships(unit, touched)),
		closures: null,
		mapping_rules: touched.mapping_rules.length === 0 ? [] : await readMappingRules(unit, touched.mapping_rules),
		user_attributes: await attributesOfUsers(unit, touched.user_attributes),
		instance_attributes: await attributesOfInstances(unit, touched.instance_attributes),
	};
}

function closureNeighbourhood(
	unit: ReadingUnit,
	schema: Schema,
	{ derivations, relationships: changed }: TouchedRows,
): Promise<ClosureNeighbourhood | 'too_many'> {
	return closuresAround(unit, schema, derivations ? 'all' : changed);
}

async function tenantRoles(
	unit: ReadingUnit,
	touched: TouchedRows,
): Promise<Pick<Neighbourhood, 'users' | 'tenants' | 'role_assignments'>> {
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
		users: users.map((user) => user.key),
		tenants: tenants.map(asTenant),
		role_assignments: await membershipsIn(unit, touched.memberships, idsByKey(users), idsByKey(tenants)),
	};
}

/**
 * Returns the assignments for these memberships. Looks up assignments by user and tenant together, because a user or
 * tenant alone may have very many assignments.
 */
async function membershipsIn(
	unit: ReadingUnit,
	memberships: readonly Membership[],
	users: ReadonlyMap<string, string>,
	tenants: ReadonlyMap<string, string>,
): Promise<Neighbourhood['role_assignments']> {
	const pairs = memberships.flatMap(({ user, tenant }) => {
		const [user_id, place_id] = [users.get(user), tenants.get(tenant)];
		return user_id === undefined || place_id === undefined ? [] : [{ user_id, place_id }];
	});
	const rows = await assignmentsBetween(unit, 'tenants', pairs, { stored: true });
	if (rows.length === 0) return [];
	const roleIds = [...new Set(rows.map(({ role_id }) => role_id))];
	const roles = keysById(await whereIdsIn(unit.query(Role).select('roles.id', 'roles.key'), { 'roles.id': roleIds }));
	const userKeys = new Map([...users].map(([key, id]) => [id, key]));
	const tenantKeys = new Map([...tenants].map(([key, id]) => [id, key]));
	return rows.flatMap(({ user_id, role_id, tenant_id, expires_at }) => {
		const [user, role, tenant] = [userKeys.get(user_id), roles.get(role_id), tenantKeys.get(tenant_id)];
		if (user === undefined || role === undefined || tenant === undefined) return [];
		return [{ user, role, tenant, ...expiring(expires_at?.getTime() ?? null) }];
	});
}

function idsByKey(rows: readonly { readonly id: string; readonly key: string }[]): ReadonlyMap<string, string> {
	return new Map(rows.map(({ id, key }) => [key, id]));
}

async function instancesAmong(unit: ReadingUnit, names: readonly InstanceName[]): Promise<readonly Instance[]> {
	if (names.length === 0) return [];
	const { rows } = await unit.raw<Instance>(
		`select wanted.type, wanted.key, tenants.key as tenant
		from unnest(:types::text[], :keys::text[]) as wanted (type, key)
		join resources on resources.environment_id = :environment_id and resources.key = wanted.type
		join resource_instances on resource_instances.environment_id = :environment_id
			and resource_instances.resource_id = resources.id and resource_instances.key = wanted.key
		join tenants on tenants.environment_id = :environment_id and tenants.id = resource_instances.tenant_id`,
		{ types: names.map(({ type }) => type), keys: names.map(({ key }) => key) },
	);
	return rows;
}

async function attributesOfUsers(unit: ReadingUnit, users: readonly string[]): Promise<readonly UserAttributes[]> {
	if (users.length === 0) return [];
	const { rows } = await unit.raw<UserAttributes>(
		`select key as "user", ${userAttributes} as attributes
		from users where environment_id = :environment_id and key = any(:users::text[])`,
		{ users: [...users] },
	);
	return rows;
}

/** INVARIANT: each instance is looked up through an index, even without statistics. This requires `offset 0`. */
async function attributesOfInstances(
	unit: ReadingUnit,
	names: readonly InstanceName[],
): Promise<readonly InstanceAttributes[]> {
	if (names.length === 0) return [];
	const { rows } = await unit.raw<InstanceAttributes>(
		`select wanted.type, wanted.key, object.attributes
		from unnest(:types::text[], :keys::text[]) as wanted (type, key)
		join resources on resources.environment_id = :environment_id and resources.key = wanted.type
		cross join lateral (
			select attributes from resource_instances
			where environment_id = :environment_id and resource_id = resources.id and key = wanted.key offset 0
		) as object`,
		{ types: names.map(({ type }) => type), keys: names.map(({ key }) => key) },
	);
	return rows;
}

/**
 * INVARIANT: does not read the other users with roles on an instance, or the other instances on which a user has roles.
 * Each subquery uses an index, even without statistics: `offset 0` prevents the planner from merging the subqueries.
 */
async function instanceRoles(
	unit: ReadingUnit,
	touched: readonly InstanceAssignment[],
): Promise<Pick<Neighbourhood, 'instance_assignments' | 'holdings' | 'conditional'>> {
	if (touched.length === 0) return { instance_assignments: [], holdings: [], conditional: false };
	const { rows } = await unit.raw<AssignmentOnInstance>(
		`with wanted as (
			select distinct * from unnest(:users::text[], :types::text[], :keys::text[]) as pairs ("user", type, instance)
		)
		select wanted.*, roles.key as role, held.expires_at, held.condition_set, held.condition_values
		from wanted
		cross join lateral (
			select id from users where environment_id = :environment_id and key = wanted.user offset 0
		) as holder
		join resources on resources.environment_id = :environment_id and resources.key = wanted.type
		cross join lateral (
			select id from resource_instances
			where environment_id = :environment_id and resource_id = resources.id and key = wanted.instance offset 0
		) as object
		cross join lateral (
			select role_id, ${expiryMilliseconds('role_assignments')} as expires_at, condition_set, condition_values
			from role_assignments
			where environment_id = :environment_id and resource_instance_id = object.id
				and cast(user_id as text) = cast(holder.id as text) offset 0
		) as held
		join roles on roles.environment_id = :environment_id and roles.id = held.role_id`,
		{
			users: touched.map(({ user }) => user),
			types: touched.map(({ type }) => type),
			keys: touched.map(({ instance }) => instance),
		},
	);
	const instance_assignments = rows.map(({ expires_at, condition_set, condition_values, ...row }) => ({
		...row,
		...expiring(expires_at),
		...assignedCondition(condition_set, condition_values),
	}));
	const plain = await holdings(unit, touched, 'condition_set is null');
	if (touched.every(({ condition }) => condition === undefined)) {
		return { instance_assignments, holdings: plain, conditional: false };
	}
	const conditional = await holdings(unit, touched, 'condition_set is not null');
	return {
		instance_assignments,
		holdings: [...plain, ...conditional.map((holding) => ({ ...holding, conditional: true as const }))],
		conditional: conditional.length > 0 || (await hasConditionalRows(unit, 'role_assignments')),
	};
}

/** Expiry and condition of a row. */
interface ConditionColumns {
	readonly expires_at: number | null;
	readonly condition_set: string | null;
	readonly condition_values: Attributes | null;
}

interface AssignmentOnInstance extends Omit<InstanceAssignment, 'condition' | 'expires_at'>, ConditionColumns {}

/** SQL condition for rows with or without a condition. */
type ConditionKind = 'condition_set is null' | 'condition_set is not null';

/** True if any row in the table has a condition, in this environment. */
async function hasConditionalRows(
	unit: ReadingUnit,
	table: 'role_assignments' | 'relationship_tuples',
): Promise<boolean> {
	const { rows } = await unit.raw<{ readonly found: boolean }>(
		`select exists (
			select 1 from ${table} where environment_id = :environment_id and condition_set is not null
		) as found`,
		{},
	);
	return rows[0]?.found === true;
}

/**
 * Finds each user's roles in conditional or unconditional assignments, with an index skip scan. The cost does not
 * depend on the instance count per role.
 */
async function holdings(
	unit: ReadingUnit,
	touched: readonly InstanceAssignment[],
	kind: ConditionKind,
): Promise<Neighbourhood['holdings']> {
	const next = (after: string) =>
		`select role_id from role_assignments as next
		where environment_id = :environment_id and ${kind} and user_id = ${after} order by role_id limit 1`;
	const { rows } = await unit.raw<Neighbourhood['holdings'][number]>(
		`with recursive found (user_id, "user", role_id) as (
			select users.id, users.key, (${next('users.id')})
			from users where environment_id = :environment_id and key = any(:users::text[])
			union all
			select user_id, "user", (${next('found.user_id and next.role_id > found.role_id')})
			from found where role_id is not null
		)
		select found.user, resources.key as type, roles.key as role
		from found
		join roles on roles.environment_id = :environment_id and roles.id = found.role_id
		join resources on resources.environment_id = :environment_id and resources.id = roles.resource_id`,
		{ users: [...new Set(touched.map(({ user }) => user))] },
	);
	return rows;
}

async function relationships(
	unit: ReadingUnit,
	{ relationships: touched, tuples }: TouchedRows,
): Promise<Pick<Neighbourhood, 'relationships' | 'related' | 'conditional_relations'>> {
	if (touched.length === 0) return { relationships: [], related: [], conditional_relations: false };
	// A touched relationship that exists now was changed in this revision range, so the log contains its row id.
	const { rows } = await unit.raw<{ readonly id: string; readonly expires_at: number | null }>(
		`select id, ${expiryMilliseconds('relationship_tuples')} as expires_at
		from relationship_tuples
		where environment_id = :environment_id and id = any(:ids::uuid[]) and condition_set is null`,
		{ ids: [...tuples.keys()] },
	);
	const unconditional = rows.flatMap(({ id, expires_at }) => {
		const tuple = tuples.get(id);
		return tuple === undefined ? [] : [{ ...tuple, ...expiring(expires_at) }];
	});
	const plain = await related(unit, touched, 'condition_set is null');
	const under = touched.filter(({ condition }) => condition !== undefined);
	if (under.length === 0) return { relationships: unconditional, related: plain, conditional_relations: false };
	const conditional = await related(unit, under, 'condition_set is not null');
	return {
		relationships: [...unconditional, ...(await conditionalRelationships(unit, under))],
		related: [...plain, ...conditional.map((row) => ({ ...row, conditional: true as const }))],
		conditional_relations: conditional.length > 0 || (await hasConditionalRows(unit, 'relationship_tuples')),
	};
}

/** Returns every conditional relationship with the same subject, relation and object as a touched relationship. */
async function conditionalRelationships(
	unit: ReadingUnit,
	touched: readonly Relationship[],
): Promise<readonly Relationship[]> {
	const { rows } = await unit.raw<RelationshipBetween>(
		`with wanted as (
			select distinct * from unnest(:types::text[], :instances::text[], :relations::text[], :subject_types::text[],
				:subjects::text[]) as ends (type, instance, relation, subject_type, subject)
		)
		select wanted.*, step.expires_at, step.condition_set, step.condition_values
		from wanted
		join resources on resources.environment_id = :environment_id and resources.key = wanted.type
		join resources as subject_types on subject_types.environment_id = :environment_id
			and subject_types.key = wanted.subject_type
		join relations on relations.environment_id = :environment_id and relations.resource_id = resources.id
			and relations.key = wanted.relation
		cross join lateral (
			select id from resource_instances
			where environment_id = :environment_id and resource_id = resources.id and key = wanted.instance offset 0
		) as object
		cross join lateral (
			select id from resource_instances
			where environment_id = :environment_id and resource_id = subject_types.id and key = wanted.subject offset 0
		) as subject
		cross join lateral (
			select ${expiryMilliseconds('relationship_tuples')} as expires_at, condition_set, condition_values
			from relationship_tuples
			where environment_id = :environment_id and ${matchesAll(tupleKey, ['object.id', 'relations.id', 'subject.id'])}
				and condition_set is not null offset 0
		) as step`,
		{
			types: touched.map(({ type }) => type),
			instances: touched.map(({ instance }) => instance),
			relations: touched.map(({ relation }) => relation),
			subject_types: touched.map(({ subject_type }) => subject_type),
			subjects: touched.map(({ subject }) => subject),
		},
	);
	return rows.map(({ expires_at, condition_set, condition_values, ...ends }) => ({
		...ends,
		...expiring(expires_at),
		...assignedCondition(condition_set, condition_values),
	}));
}

interface RelationshipBetween extends Omit<Relationship, 'condition' | 'expires_at'>, ConditionColumns {}

/** Finds each object's relations in conditional or unconditional tuples, with an index skip scan like `holdings`. */
async function related(
	unit: ReadingUnit,
	touched: readonly Relationship[],
	kind: ConditionKind,
): Promise<readonly Related[]> {
	const next = (after: string) =>
		`select relation_id from relationship_tuples as next
		where environment_id = :environment_id and ${kind} and object_id = ${after} order by relation_id limit 1`;
	const { rows } = await unit.raw<Related>(
		`with recursive wanted as (
			select distinct * from unnest(:types::text[], :instances::text[]) as names (type, instance)
		), found (type, instance, id, relation_id) as (
			select wanted.type, wanted.instance, objects.id, (${next('objects.id')})
			from wanted
			join resources on resources.environment_id = :environment_id and resources.key = wanted.type
			join resource_instances as objects on objects.environment_id = :environment_id
				and objects.resource_id = resources.id and objects.key = wanted.instance
			union all
			select type, instance, id, (${next('found.id and next.relation_id > found.relation_id')})
			from found where relation_id is not null
		)
		select found.type, found.instance, relations.key as relation
		from found join relations on relations.environment_id = :environment_id and relations.id = found.relation_id`,
		{ types: touched.map(({ type }) => type), instances: touched.map(({ instance }) => instance) },
	);
	return rows;
}
