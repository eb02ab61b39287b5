import type { Knex } from 'knex';
import type { ReadingUnit } from '../unit/reading-unit.js';
import type { Caller } from './caller.js';

/** The numbers of objects in an environment, without built-in ones. */
export interface EnvironmentCounts {
	readonly roles: number;
	readonly users: number;
	readonly resources: number;
	readonly tenants: number;
	/** Condition set rules. */
	readonly policies: number;
}

/** Counts the objects of an environment, in one statement and so at one instant. */
export async function environmentCounts(unit: ReadingUnit): Promise<EnvironmentCounts> {
	const { rows } = await unit.raw<EnvironmentCounts>(
		`select
			(select count(*) from roles where environment_id = :environment_id) as roles,
			(select count(*) from users where environment_id = :environment_id) as users,
			(select count(*) from resources where environment_id = :environment_id and not built_in) as resources,
			(select count(*) from tenants where environment_id = :environment_id) as tenants,
			(select count(*) from condition_set_rules where environment_id = :environment_id) as policies`,
		{},
	);
	return rows[0] ?? { roles: 0, users: 0, resources: 0, tenants: 0, policies: 0 };
}

/** The numbers of objects in an organization. */
export interface OrganizationCounts {
	readonly projects: number;
	readonly environments: number;
	/** Users of all environments. A user of two environments counts twice. */
	readonly users: number;
}

/** Counts what a caller's key opens of its organization, in one statement and so at one instant. */
export async function organizationCounts(database: Knex, caller: Caller): Promise<OrganizationCounts> {
	const { organization_id, project_id, environment_id } = caller;
	const { rows } = await database.raw<{ readonly rows: readonly OrganizationCounts[] }>(
		`with opened as (
			select id from environments where organization_id = :organization_id
				and (:project_id::uuid is null or project_id = :project_id::uuid)
				and (:environment_id::uuid is null or id = :environment_id::uuid)
		)
		select
			(select count(*) from projects where organization_id = :organization_id
				and (:project_id::uuid is null or id = :project_id::uuid)) as projects,
			(select count(*) from opened) as environments,
			(select count(*) from users where environment_id in (select id from opened)) as users`,
		{ organization_id, project_id, environment_id },
	);
	return rows[0] ?? { projects: 0, environments: 0, users: 0 };
}
