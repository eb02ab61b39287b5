import type { ReadingUnit } from '../unit/reading-unit.js';
import type { FactNode } from './fact-edges.js';

/** Names of users, tenants and instances, keyed by id. */
export interface FactNames {
	readonly users: ReadonlyMap<string, { readonly key: string; readonly name: string | null }>;
	readonly tenants: ReadonlyMap<string, { readonly key: string; readonly name: string }>;
	readonly instances: ReadonlyMap<string, NamedInstance>;
}

/** An instance, identified by keys. */
export interface NamedInstance {
	readonly key: string;
	/** Resource key. */
	readonly type: string;
	readonly tenant: string;
	readonly is_group: boolean;
}

/** Returns the nodes' names. A user's name is the first and last name; without these, it is the email address. */
export async function factNames(unit: ReadingUnit, nodes: readonly FactNode[]): Promise<FactNames> {
	const idsIn = (kind: FactNode['kind']) => nodes.filter((node) => node.kind === kind).map(({ id }) => id);
	const users = await unit.raw<{ readonly id: string; readonly key: string; readonly name: string | null }>(
		`select id, key, coalesce(nullif(concat_ws(' ', nullif(first_name, ''), nullif(last_name, '')), ''), email) as name
		from users where environment_id = :environment_id and id = any(:ids::uuid[])`,
		{ ids: idsIn('user') },
	);
	const tenants = await unit.raw<{ readonly id: string; readonly key: string; readonly name: string }>(
		'select id, key, name from tenants where environment_id = :environment_id and id = any(:ids::uuid[])',
		{ ids: idsIn('tenant') },
	);
	return { users: byId(users.rows), tenants: byId(tenants.rows), instances: await instances(unit, idsIn('instance')) };
}

async function instances(unit: ReadingUnit, ids: readonly string[]): Promise<FactNames['instances']> {
	const { rows } = await unit.raw<NamedInstance & { readonly id: string }>(
		`select resource_instances.id, resource_instances.key, resources.key as type, tenants.key as tenant,
			groups.id is not null as is_group
		from resource_instances
		join resources on resources.environment_id = :environment_id and resources.id = resource_instances.resource_id
		join tenants on tenants.environment_id = :environment_id and tenants.id = resource_instances.tenant_id
		left join groups on groups.environment_id = :environment_id and groups.id = resource_instances.id
		where resource_instances.environment_id = :environment_id and resource_instances.id = any(:ids::uuid[])`,
		{ ids: [...ids] },
	);
	return byId(rows);
}

/** Returns the keys of roles and relations, keyed by id. */
export async function roleAndRelationKeys(
	unit: ReadingUnit,
	ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
	const { rows } = await unit.raw<{ readonly id: string; readonly key: string }>(
		`select id, key from roles where environment_id = :environment_id and id = any(:ids::uuid[])
		union all
		select id, key from relations where environment_id = :environment_id and id = any(:ids::uuid[])`,
		{ ids: [...ids] },
	);
	return new Map(rows.map(({ id, key }) => [id, key]));
}

function byId<R extends { readonly id: string }>(rows: readonly R[]): ReadonlyMap<string, R> {
	return new Map(rows.map((row) => [row.id, row]));
}
