import type { Attributes } from '../../../compiler/model.js';
import { rowChunks } from '../query/row-chunks.js';
import type { WritingUnit } from '../unit/writing-unit.js';
import { type AssignmentColumns, heldAt, RoleAssignment } from './role-assignment.js';

/** An assignment before and after its expiry was changed. */
export interface ChangedAssignment {
	readonly before: RoleAssignment;
	readonly after: RoleAssignment;
}

/**
 * Changes these assignments' expiry and values if they are stored. With `extend`, changes an expiry only to a later
 * time, unless the values change: new values must not last longer than the caller allows. Each changed assignment gets
 * the request id `requestId`. If `requestId` is null, an expired assignment, which is thereby granted again, loses its
 * request id, and any other assignment keeps it. Does not write to the change log.
 */
export async function changeExpiries(
	unit: WritingUnit,
	wanted: readonly AssignmentColumns[],
	{ changes, requestId }: { readonly changes: 'extend' | 'replace'; readonly requestId: string | null },
): Promise<readonly ChangedAssignment[]> {
	const changed: ChangedAssignment[] = [];
	for (const [, chunk] of rowChunks(wanted)) {
		const { rows } = await unit.raw<ExpiryChange>(
			`with before as (
				select held.id, held.expires_at, held.element_request_id, held.condition_values,
					nullif(wanted.expiry, '')::timestamptz as expiry, nullif(wanted.given, '')::jsonb as given
				from unnest(:users::uuid[], :roles::uuid[], :tenants::uuid[], :instances::text[], :expiries::text[],
					:sets::text[], :values::text[]) as wanted (user_id, role_id, tenant_id, instance, expiry, set, given)
				cross join lateral (
					(${heldAt('tenants', 'wanted.tenant_id')} and wanted.instance = '' offset 0)
					union all (${heldAt('instances', `nullif(wanted.instance, '')::uuid`)} offset 0)
				) as held
				where held.role_id = wanted.role_id and held.tenant_id = wanted.tenant_id
					and held.condition_set is not distinct from nullif(wanted.set, '')
					and (held.condition_values is distinct from nullif(wanted.given, '')::jsonb or (
						held.expires_at is distinct from nullif(wanted.expiry, '')::timestamptz
						and (:replace or held.expires_at < coalesce(nullif(wanted.expiry, ''), 'infinity')::timestamptz)
					))
			)
			update role_assignments set expires_at = before.expiry, condition_values = before.given, element_request_id = coalesce(
				:request::uuid, case when before.expires_at <= statement_timestamp() then null else before.element_request_id end
			)
			from before where role_assignments.environment_id = :environment_id and role_assignments.id = before.id
			returning role_assignments.*, before.expires_at as previous_expires_at,
				before.condition_values as previous_values, before.element_request_id as previous_request_id`,
			{
				users: chunk.map(({ user_id }) => user_id),
				roles: chunk.map(({ role_id }) => role_id),
				tenants: chunk.map(({ tenant_id }) => tenant_id),
				instances: chunk.map(({ resource_instance_id }) => resource_instance_id ?? ''),
				expiries: chunk.map(({ expires_at }) => expires_at?.toISOString() ?? ''),
				sets: chunk.map(({ condition_set }) => condition_set ?? ''),
				values: chunk.map(({ condition_values }) =>
					condition_values === null ? '' : JSON.stringify(condition_values),
				),
				replace: changes === 'replace',
				request: requestId,
			},
		);
		changed.push(...rows.map(asChangedAssignment));
	}
	return changed;
}

interface ExpiryChange extends RoleAssignment {
	readonly previous_expires_at: Date | null;
	readonly previous_request_id: string | null;
	readonly previous_values: Attributes | null;
}

function asChangedAssignment({
	previous_expires_at,
	previous_request_id,
	previous_values,
	...columns
}: ExpiryChange): ChangedAssignment {
	const after = RoleAssignment.fromDatabaseJson(columns);
	const before = RoleAssignment.fromDatabaseJson({
		...columns,
		expires_at: previous_expires_at,
		element_request_id: previous_request_id,
		condition_values: previous_values,
	});
	return { before, after };
}
