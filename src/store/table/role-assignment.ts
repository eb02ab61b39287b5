import type { QueryBuilder } from 'objection';
import type { PageOf } from '../filter.js';
import type { ReadingUnit } from '../unit.js';
import { EnvironmentModel, sameEnvironment } from './environment-model.js';

/** One tenant role held by one user in one tenant. */
export class RoleAssignment extends EnvironmentModel {
	static override readonly tableName = 'role_assignments';
	static readonly kind = 'role_assignment';
	static readonly title = 'RoleAssignment';

	declare user_id: string;
	declare role_id: string;
	declare tenant_id: string;
}

/** An assignment with the keys of what it joins. */
export interface AssignmentRow {
	readonly id: string;
	readonly environment_id: string;
	readonly user_id: string;
	readonly role_id: string;
	readonly tenant_id: string;
	readonly user: string;
	readonly role: string;
	readonly tenant: string;
	readonly created_at: Date;
}

/** What narrows a list of assignments: any of each list, all of the lists together; absent lists do not narrow. */
export interface AssignmentFilter {
	readonly user_ids?: readonly string[] | undefined;
	readonly role_ids?: readonly string[] | undefined;
	readonly tenant_ids?: readonly string[] | undefined;
}

/** The environment's assignments that pass the filter, with keys, oldest first; read as `AssignmentRow`. */
export function assignmentsBy(
	unit: ReadingUnit,
	filter: AssignmentFilter,
): QueryBuilder<RoleAssignment, RoleAssignment[]> {
	const query = unit
		.query(RoleAssignment)
		.join('users', sameEnvironment('role_assignments', 'user_id', 'users'))
		.join('roles', sameEnvironment('role_assignments', 'role_id', 'roles'))
		.join('tenants', sameEnvironment('role_assignments', 'tenant_id', 'tenants'))
		.select('role_assignments.*', 'users.key as user', 'roles.key as role', 'tenants.key as tenant')
		.orderBy('role_assignments.id');
	for (const [column, ids] of Object.entries(columnsOf(filter))) {
		if (ids !== undefined) query.whereRaw('?? = any(?::uuid[])', [column, ids]);
	}
	return query;
}

/** A page of `assignmentsBy` as the rows it selected. */
export function assignmentRows(page: PageOf<RoleAssignment>): PageOf<AssignmentRow> {
	// The query selected the keys beside the table's own columns.
	return page as unknown as PageOf<AssignmentRow>;
}

function columnsOf(filter: AssignmentFilter): Record<string, readonly string[] | undefined> {
	return {
		'role_assignments.user_id': filter.user_ids,
		'role_assignments.role_id': filter.role_ids,
		'role_assignments.tenant_id': filter.tenant_ids,
	};
}
