import type { Knex } from 'knex';
import { User } from '../table/user.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import type { Caller } from './caller.js';

/** Object counts in an environment, without built-in objects. */
export interface EnvironmentCounts {
	readonly roles: number;
	readonly users: number;
	readonly resources: number;
	readonly tenants: number;
	/** Condition set rules. */
	readonly policies: number;
}

/** Counts an environment's objects, in a single statement for consistency. */
export async function environmentCounts(unit: ReadingUnit): Promise<EnvironmentCounts> {
	const { rows } = await unit.raw<EnvironmentCounts>(
		`select
			(select count(*) from roles where environment_id = :environment_id) as roles,
			(select count(*) from users where environment_id = :environment_id and ${User.shown}) as users,
			(select count(*) from resources where environment_id = :environment_id and not built_in) as resources,
			(select count(*) from tenants where environment_id = :environment_id) as tenants,
			(select count(*) from condition_set_rules where environment_id = :environment_id) as policies`,
		{},
	);
	return rows[0] ?? { roles: 0, users: 0, resources: 0, tenants: 0, policies: 0 };
}

/** Object counts in an organization. */
export interface OrganizationCounts {
	readonly projects: number;
	readonly environments: number;
	/** Number of users in the counted environments. A user in two environments is counted twice. */
	readonly users: number;
}

/** Counts the organization's objects accessible to a caller, in a single statement for consistency. */
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
			(select count(*) from users where environment_id in (select id from opened) and ${User.shown}) as users`,
		{ organization_id, project_id, environment_id },
	);
	return rows[0] ?? { projects: 0, environments: 0, users: 0 };
}

/** Object counts in the whole store, for metrics. */
export interface InstallationCounts {
	readonly environments: number;
	/** Environments whose newest schema could not be compiled. */
	readonly failed_policies: number;
	/** Pending webhook deliveries, counted up to 10,000. */
	readonly waiting_deliveries: number;
	/** Decision points that reported in the last two and a half minutes. Each decision point reports every minute. */
	readonly points_ok: number;
	readonly points_degraded: number;
	readonly points_unavailable: number;
}

/** Counts the objects of all environments, in a single statement for consistency. */
export async function installationCounts(database: Knex): Promise<InstallationCounts> {
	// Status reported by the decision point. An unknown status is counted as `unavailable`.
	const { rows } = await database.raw<{ readonly rows: readonly InstallationCounts[] }>(
		`with points as (
			select state ->> 'status' as status from pdp_states where last_seen_at > now() - interval '150 seconds'
		), waiting as (
			select from webhook_deliveries where status = 'pending' limit 10000
		)
		select
			(select count(*) from environments) as environments,
			(select count(*) from publications where failure is not null) as failed_policies,
			(select count(*) from waiting) as waiting_deliveries,
			(select count(*) from points where status = 'ok') as points_ok,
			(select count(*) from points where status = 'degraded') as points_degraded,
			(select count(*) from points where status is null or status not in ('ok', 'degraded')) as points_unavailable`,
	);
	const [counts] = rows;
	if (counts === undefined) throw new Error('a statement without a condition returned no row');
	return counts;
}
