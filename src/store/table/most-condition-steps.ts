import { holdsNow } from '../query/holds-now.js';
import type { ReadingUnit } from '../unit/reading-unit.js';

/** The most expensive conditions that a check may evaluate. */
interface ConditionStepsFound {
	/** User key. */
	readonly user: string;
	readonly tenant: string;
	/** Instance on which a check takes these steps; `null` if this applies to every instance in the tenant. */
	readonly resource_instance: string | null;
	readonly steps: number;
}

/**
 * Returns the user whose conditional assignments are the most expensive in a check on one instance, and this instance.
 * Leading roles, from which roles on other instances are derived, count for every instance in their tenant. `steps`
 * contains the steps of each condition, and `calls` the number of evaluations for each role.
 */
export async function mostConditionSteps(
	unit: ReadingUnit,
	{
		userIds,
		leadingRoleIds,
		steps,
		calls,
	}: {
		readonly userIds: readonly string[] | 'all';
		readonly leadingRoleIds: readonly string[];
		readonly steps: ReadonlyMap<string, number>;
		readonly calls: ReadonlyMap<string, number>;
	},
): Promise<ConditionStepsFound | undefined> {
	const { rows } = await unit.raw<ConditionStepsFound>(
		`with summed as (
			select user_id, tenant_id, instance_id, sum(weights.steps * called.calls) as steps from (
				select user_id, tenant_id, role_id, condition_set,
					case when role_id = any(:leading::uuid[]) then null else resource_instance_id end as instance_id
				from role_assignments
				where environment_id = :environment_id and condition_set is not null and ${holdsNow('role_assignments')}
					and (:all or user_id = any(:users::uuid[]))
			) as held
			join unnest(:sets::text[], :steps::float8[]) as weights (set, steps) on weights.set = held.condition_set
			join unnest(:roles::uuid[], :calls::float8[]) as called (role_id, calls) on called.role_id = held.role_id
			group by user_id, tenant_id, instance_id
		), most as (
			select summed.user_id, summed.tenant_id, summed.instance_id,
				summed.steps + coalesce(inherited.steps, 0) as total
			from summed
			left join summed as inherited on summed.instance_id is not null and inherited.instance_id is null
				and inherited.user_id = summed.user_id and inherited.tenant_id = summed.tenant_id
			order by total desc limit 1
		)
		select users.key as "user", tenants.key as tenant, most.total as steps,
			resources.key || ':' || resource_instances.key as resource_instance
		from most
		join users on users.environment_id = :environment_id and users.id = most.user_id
		join tenants on tenants.environment_id = :environment_id and tenants.id = most.tenant_id
		left join resource_instances on resource_instances.environment_id = :environment_id
			and resource_instances.id = most.instance_id
		left join resources on resources.environment_id = :environment_id and resources.id = resource_instances.resource_id`,
		{
			all: userIds === 'all',
			users: userIds === 'all' ? [] : [...userIds],
			leading: [...leadingRoleIds],
			sets: [...steps.keys()],
			steps: [...steps.values()],
			roles: [...calls.keys()],
			calls: [...calls.values()],
		},
	);
	return rows[0];
}
