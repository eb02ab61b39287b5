import { everyone } from '../../../compiler/everyone.js';
import type {
	Attributes,
	Expiring,
	Facts,
	Instance,
	InstanceAssignment,
	Json,
	Tenant as ModelTenant,
	Relationship,
	RoleAssignment,
} from '../../../compiler/model.js';
import { expiryMilliseconds } from '../query/holds-now.js';
import { Tenant } from '../table/tenant.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import { expiring } from './expiring.js';
import { textRows } from './text-rows.js';

/**
 * Reads an environment's facts. Reads each table separately and joins the rows in JavaScript. The cost therefore does
 * not depend on database statistics, and each key is a single string in memory, even if many rows refer to it.
 */
export async function readFacts(unit: ReadingUnit): Promise<Facts> {
	const users = await keysIn(unit, 'users');
	const user_attributes = await attributesIn(unit, 'users', userAttributes, users);
	const tenants = await unit.query(Tenant);
	const tenantKeys = keysById(tenants);
	const instances = await instancesIn(unit, tenantKeys);
	const instance_attributes = await attributesIn(unit, 'resource_instances', 'attributes', instances);
	return {
		user_attributes: user_attributes.map(([user, attributes]) => ({ user, attributes })),
		instance_attributes: instance_attributes.map(([{ type, key }, attributes]) => ({ type, key, attributes })),
		users: [...users.values()].filter((key) => key !== everyone),
		tenants: tenants.map(asTenant),
		instances: [...instances.values()],
		...(await assignmentsIn(unit, users, tenantKeys, instances)),
		relationships: await relationshipsIn(unit, instances),
	};
}

/** Instances keyed by id. */
type Instances = ReadonlyMap<string, Instance>;

async function instancesIn(unit: ReadingUnit, tenants: Keys): Promise<Instances> {
	const types = await keysIn(unit, 'resources');
	const instances = new Map<string, Instance>();
	for await (const rows of textRows(unit, 'resource_instances', ['id', 'key', 'resource_id', 'tenant_id'])) {
		for (const [id = '', key = '', type = '', tenant = ''] of rows) {
			instances.set(id, { type: keyIn(types, type), key, tenant: keyIn(tenants, tenant) });
		}
	}
	return instances;
}

async function assignmentsIn(
	unit: ReadingUnit,
	users: Keys,
	tenants: Keys,
	instances: Instances,
): Promise<Pick<Facts, 'role_assignments' | 'instance_assignments'>> {
	const roles = await keysIn(unit, 'roles');
	const role_assignments: RoleAssignment[] = [];
	const instance_assignments: InstanceAssignment[] = [];
	const columns = [
		'user_id',
		'role_id',
		'tenant_id',
		'resource_instance_id',
		expiryMilliseconds('role_assignments'),
		'condition_set',
		'condition_values',
	];
	for await (const rows of textRows(unit, 'role_assignments', columns)) {
		for (const [user = '', role = '', tenant = '', on = '', expires_at = '', set = '', values = ''] of rows) {
			const held = { user: keyIn(users, user), role: keyIn(roles, role), ...expiringText(expires_at) };
			const instance = instances.get(on);
			if (instance === undefined) role_assignments.push({ ...held, tenant: keyIn(tenants, tenant) });
			else {
				const condition = conditionText(set, values);
				instance_assignments.push({ ...held, type: instance.type, instance: instance.key, ...condition });
			}
		}
	}
	return { role_assignments, instance_assignments };
}

async function relationshipsIn(unit: ReadingUnit, instances: Instances): Promise<Facts['relationships']> {
	const relations = await keysIn(unit, 'relations');
	const columns = [
		'subject_id',
		'relation_id',
		'object_id',
		expiryMilliseconds('relationship_tuples'),
		'condition_set',
		'condition_values',
	];
	const relationships: Relationship[] = [];
	for await (const rows of textRows(unit, 'relationship_tuples', columns)) {
		for (const [from = '', relation = '', to = '', expires_at = '', set = '', values = ''] of rows) {
			const [subject, object] = [instances.get(from), instances.get(to)];
			if (subject === undefined || object === undefined) continue;
			const ends = { type: object.type, instance: object.key, subject_type: subject.type, subject: subject.key };
			const by = keyIn(relations, relation);
			relationships.push({ ...ends, relation: by, ...expiringText(expires_at), ...conditionText(set, values) });
		}
	}
	return relationships;
}

/** A condition set's key is never empty, so an empty text is no condition. */
function conditionText(set: string, values: string): Pick<InstanceAssignment, 'condition'> {
	return set === '' ? {} : assignedCondition(set, JSON.parse(values) as Attributes);
}

/** Converts the condition columns of an assignment or a tuple to their form in the model. */
export function assignedCondition(
	set: string | null,
	values: Attributes | null,
): Pick<InstanceAssignment, 'condition'> {
	return set === null ? {} : { condition: { set, values: values ?? {} } };
}

function expiringText(expires_at: string): Expiring {
	return expiring(expires_at === '' ? null : Number(expires_at));
}

/**
 * SQL for the user attributes available in conditions, without nulls. A stored attribute overrides a column with the
 * same name.
 */
export const userAttributes = `jsonb_strip_nulls(
	jsonb_build_object('email', email, 'first_name', first_name, 'last_name', last_name)
) || attributes`;

/** Returns the nonempty attributes of rows, each together with the object that `named` contains for the row. */
async function attributesIn<T>(
	unit: ReadingUnit,
	table: string,
	attributes: string,
	named: ReadonlyMap<string, T>,
): Promise<readonly (readonly [T, Attributes])[]> {
	const found: [T, Attributes][] = [];
	for await (const rows of textRows(unit, table, ['id', attributes], `${attributes} <> '{}'`)) {
		for (const [id = '', text = ''] of rows) {
			const name = named.get(id);
			if (name !== undefined) found.push([name, JSON.parse(text) as Attributes]);
		}
	}
	return found;
}

/** Keys of rows, keyed by id. */
type Keys = ReadonlyMap<string, string>;

async function keysIn(unit: ReadingUnit, table: string): Promise<Keys> {
	const keys = new Map<string, string>();
	for await (const rows of textRows(unit, table, ['id', 'key'])) {
		for (const [id = '', key = ''] of rows) keys.set(id, key);
	}
	return keys;
}

/** Returns a map from row ids to row keys. */
export function keysById(rows: readonly { readonly id: string; readonly key: string }[]): Keys {
	return new Map(rows.map(({ id, key }) => [id, key]));
}

/**
 * Returns the key for an id. INVARIANT: rows that are referred to exist, because foreign keys require them and all rows
 * are read at the same revision.
 */
export function keyIn(keys: Keys, id: string): string {
	return keys.get(id) ?? '';
}

/** Converts a tenant to its form in the model. Attributes that were never set become an empty object. */
export function asTenant(tenant: Tenant): ModelTenant {
	// The column contains JSON, so its fields are JSON values.
	return { key: tenant.key, attributes: (tenant.attributes ?? {}) as Readonly<Record<string, Json>> };
}
