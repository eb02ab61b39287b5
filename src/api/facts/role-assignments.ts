import { z } from 'zod';
import { isUserSet, userSetParts } from '../../../compiler/user-set.js';
import { assign, assignMany, readAssignment, unassign, unassignMany } from '../../domain/facts/assignment.js';
import { readDetailedAssignments } from '../../domain/facts/assignment-details.js';
import { methods, reply } from '../../http/endpoint.js';
import { type ListResult, type PageResult, type RowQuery, readJoinedPage } from '../../store/query/row-query.js';
import { Resource } from '../../store/table/resource.js';
import { Role } from '../../store/table/role.js';
import { type AssignmentRow, assignmentsBy } from '../../store/table/role-assignment.js';
import { hasSetGrants, setGrantsBy } from '../../store/table/set-grant.js';
import { Tenant } from '../../store/table/tenant.js';
import { Holder } from '../../store/table/user.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import {
	maxBulkAssignments,
	RoleAssignmentBulkCreate,
	RoleAssignmentBulkQuery,
	RoleAssignmentBulkRemove,
	RoleAssignmentBulkRemoveReport,
	RoleAssignmentBulkReport,
	RoleAssignmentCreate,
	RoleAssignmentDetailedRead,
	RoleAssignmentQuery,
	RoleAssignmentRead,
	RoleAssignmentRemove,
	RoleAssignmentRemoveQuery,
} from '../../wire/facts/role-assignment.js';
import { arrayOrPaginated, paginated } from '../../wire/list.js';
import { EnvironmentPath, endpoint } from '../access.js';
import { listAnswer } from '../list-answer.js';
import { findIds, findInstanceIds } from './find-ids.js';

const tag = 'Role assignments';
const collection = '/v2/facts/:proj_id/:env_id/role_assignments';
const example = { user: 'alice@example.com', role: 'editor', tenant: 'default' };
const mismatch = 'The resource instance is not in the given tenant';
const placeText =
	"With `resource_instance`, the role must belong to the instance's resource, and `tenant` may be omitted. A " +
	'missing instance is created in `tenant`. With `condition`, the assignment applies only while the condition ' +
	'holds. Assigning the role again under the same condition replaces the values and the expiry.';
const collectionPlace = methods({ tag, path: collection, params: EnvironmentPath });
const bulkPlace = methods({ tag, path: `${collection}/bulk`, params: EnvironmentPath });

/** Role assignments to users, in tenants and on resource instances. */
export const roleAssignments = [
	endpoint({
		...collectionPlace.get,
		name: 'listRoleAssignments',
		summary: 'List role assignments',
		description:
			'Filters may be repeated: an object must match one value of each filter. Unknown values match nothing. ' +
			'Assignments to sets of users follow the assignments to users.',
		access: 'environment.read',
		query: RoleAssignmentQuery,
		returns: {
			200: z.union([arrayOrPaginated(RoleAssignmentDetailedRead), arrayOrPaginated(RoleAssignmentRead)]),
		},
		handle: async ({ query }, { unit }) => {
			const page = await readList(unit, query);
			if (!query.detailed) {
				const items = page.data.map((row) => readAssignment(unit, row));
				return reply(200, listAnswer(page, items));
			}
			const items = await readDetailedAssignments(unit, page.data);
			return reply(200, listAnswer(page, items));
		},
	}),
	endpoint({
		...methods({ tag, path: `${collection}/detailed`, params: EnvironmentPath }).get,
		name: 'listDetailedRoleAssignments',
		summary: 'List role assignments with user, role and tenant details',
		access: 'environment.read',
		query: RoleAssignmentQuery,
		returns: { 200: paginated(RoleAssignmentDetailedRead) },
		handle: async ({ query }, { unit }) => {
			const page = await readPage(unit, query);
			return reply(200, { ...page, data: [...(await readDetailedAssignments(unit, page.data))] });
		},
	}),
	endpoint({
		...collectionPlace.post,
		name: 'createRoleAssignment',
		summary: 'Assign a role to a user in a tenant or on a resource instance',
		description: placeText,
		access: 'environment.write',
		body: RoleAssignmentCreate,
		example,
		returns: { 200: RoleAssignmentRead },
		failures: {
			400: mismatch,
			404: 'No such user, role or tenant',
			409: 'The user already has this role in the same scope',
		},
		handle: async ({ body }, { unit }) => reply(200, readAssignment(unit, await assign(unit, body))),
	}),
	endpoint({
		...collectionPlace.delete,
		name: 'deleteRoleAssignment',
		summary: 'Remove a role from a user in a tenant or on a resource instance',
		access: 'environment.write',
		query: RoleAssignmentRemoveQuery,
		body: RoleAssignmentRemove,
		example,
		returns: { 200: RoleAssignmentRead, 204: null },
		failures: { 400: mismatch, 404: 'No such user, role or tenant, or the user does not have the role in this scope' },
		handle: async ({ query, body }, { unit }) => {
			const row = await unassign(unit, body);
			return query.return_deleted ? reply(200, readAssignment(unit, row)) : reply(204);
		},
	}),
	endpoint({
		...bulkPlace.post,
		name: 'createRoleAssignments',
		summary: 'Assign roles in bulk',
		description:
			`At most ${maxBulkAssignments} assignments per call; all or none are created. Existing assignments are ` +
			'skipped and not counted.',
		access: 'environment.write',
		query: RoleAssignmentBulkQuery,
		body: RoleAssignmentBulkCreate,
		example: [example],
		returns: { 200: RoleAssignmentBulkReport },
		failures: { 400: mismatch, 404: 'A user, role or tenant does not exist' },
		handle: async ({ query, body }, { unit }) => {
			const created = await assignMany(
				unit,
				body.map((reference, index) => ({ ...reference, place: ['body', index] })),
				query.missing_user_policy,
			);
			return reply(200, { assignments_created: created.length });
		},
	}),
	endpoint({
		...bulkPlace.delete,
		name: 'deleteRoleAssignments',
		summary: 'Remove roles in bulk',
		description:
			`At most ${maxBulkAssignments} assignments per call; all or none are removed. Missing assignments are skipped ` +
			'and not counted.',
		access: 'environment.write',
		body: RoleAssignmentBulkRemove,
		example: [example],
		returns: { 200: RoleAssignmentBulkRemoveReport },
		failures: { 400: mismatch, 404: 'A user, role or tenant does not exist' },
		handle: async ({ body }, { unit }) => {
			return reply(200, { assignments_removed: (await unassignMany(unit, body)).length });
		},
	}),
];

/** Returns a page of matching assignments. Counts only on request. */
async function readList(unit: ReadingUnit, query: RoleAssignmentQuery): Promise<ListResult<AssignmentRow>> {
	if (query.include_total_count) return readPage(unit, query);
	const { toUsers, toSets } = await filterAssignments(unit, query);
	const data = toSets === undefined ? await toUsers.slice(query) : (await joinedPage(toUsers, toSets, query)).data;
	return { data, total_count: null, page_count: null };
}

async function readPage(unit: ReadingUnit, query: RoleAssignmentQuery): Promise<PageResult<AssignmentRow>> {
	const { toUsers, toSets } = await filterAssignments(unit, query);
	return toSets === undefined ? toUsers.page(query) : joinedPage(toUsers, toSets, query);
}

async function joinedPage(
	toUsers: RowQuery<AssignmentRow>,
	toSets: RowQuery<AssignmentRow>,
	query: RoleAssignmentQuery,
): Promise<PageResult<AssignmentRow>> {
	const { first, second, ...counts } = await readJoinedPage(toUsers, toSets, query);
	return { data: [...first, ...second], ...counts };
}

/** Returns assignments to users, and assignments to sets of users if any may exist. */
async function filterAssignments(unit: ReadingUnit, query: RoleAssignmentQuery) {
	const filter = {
		role_ids: await findIds(unit, Role, query.role),
		tenant_ids: await findIds(unit, Tenant, query.tenant),
		resource_ids: await findIds(unit, Resource, query.resource),
		resource_instance_ids: await findInstanceIds(unit, query.resource_instance),
		...(query.conditional && { conditional: true as const }),
	};
	const users = query.user?.filter((user) => !isUserSet(user));
	const toUsers = assignmentsBy(unit, { ...filter, user_ids: await findIds(unit, Holder, users) });
	const sets = query.user?.filter(isUserSet);
	// Assignments to sets of users never have conditions.
	if (query.conditional || sets?.length === 0 || !(await hasSetGrants(unit))) return { toUsers };
	const instances = sets?.flatMap((set) => userSetParts(set)?.instance ?? []);
	return {
		toUsers,
		toSets: setGrantsBy(unit, { ...filter, sets, subject_ids: await findInstanceIds(unit, instances) }),
	};
}
