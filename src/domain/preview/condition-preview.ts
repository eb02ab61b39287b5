import { Failure } from '../../failure.js';
import { rowsPerStatement } from '../../store/query/row-chunks.js';
import { type InstanceRow, someInstancesAfter } from '../../store/table/resource-instance.js';
import { Tenant } from '../../store/table/tenant.js';
import { someUsersAfter, User } from '../../store/table/user.js';
import { rowsWithIds } from '../../store/unit/keyed-rows.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { ConditionPreview, ConditionPreviewRead } from '../../wire/schema/condition-preview.js';
import { readInstance } from '../facts/resource-instance.js';
import { readUsers } from '../facts/user.js';
import { asksForRoles, resolveSelection } from './condition-selection.js';
import {
	type CheckSides,
	instanceRecord,
	readHeldRoles,
	readSides,
	type Subject,
	tenantRecord,
	userRecord,
} from './condition-subject.js';
import { ConditionSelector } from './condition-thread.js';
import { withRelated } from './related-instances.js';
import { refuseNamedRoles } from './resource-roles.js';

/**
 * Checks all users, or all instances of a resource, and returns the rows that the set currently selects. Reads in
 * chunks so a large environment neither fills memory nor blocks other requests. `closed` returns true if the
 * client has disconnected. Throws like `resolveSelection`, `readSides` and `ConditionSelector`.
 */
export async function previewConditions(
	unit: ReadingUnit,
	body: ConditionPreview,
	closed: () => boolean,
): Promise<ConditionPreviewRead> {
	const selection = await resolveSelection(unit, body);
	refuseNamedRoles(selection);
	const sides = await readSides(unit, body);
	const conditions = [selection.own, ...selection.ancestors.map(({ condition }) => condition)];
	const selector = new ConditionSelector(conditions);
	const page = new MatchPage<User | InstanceRow>(body.page, body.per_page);
	const chunks =
		selection.resource === null || selection.type === 'userset'
			? usersAsked(unit, sides, asksForRoles(selection))
			: instancesAsked(unit, sides, selection.resource.id, body.user !== undefined);
	for await (const chunk of chunks) {
		if (closed()) throw new Failure('unavailable', 'the client disconnected');
		const subjects = chunk.map(({ subject }) => subject);
		const selected = await selector.select(await withRelated(unit, conditions, subjects));
		for (const [index, { row }] of chunk.entries()) page.count(row, selected[index] === true);
	}
	const { total_count, checked } = page;
	const page_count = Math.ceil(total_count / body.per_page);
	return { data: await readFound(unit, page.rows), total_count, page_count, checked };
}

/** A user or instance, and the subject that conditions are evaluated on. */
interface Asked<R> {
	readonly row: R;
	readonly subject: Subject;
}

async function* usersAsked(
	unit: ReadingUnit,
	sides: CheckSides,
	withRoles: boolean,
): AsyncGenerator<readonly Asked<User>[]> {
	const next = (after: string) => someUsersAfter(unit, after);
	for await (const users of chunksById(next)) {
		const heldRoles = withRoles ? await readHeldRoles(unit, users, sides.tenant) : () => ({ roles: [], tenants: [] });
		yield users.map((row) => {
			const held = heldRoles(row);
			const { resource, context, now } = sides;
			const [user, tenant] = [userRecord(row, held), tenantRecord(sides.tenant, held)];
			return { row, subject: { user, resource, tenant, context, now } };
		});
	}
}

/**
 * Yields the instances in chunks. Each instance determines the check's tenant. The tenant's attributes are visible,
 * unless the request contains a user without roles in the tenant.
 */
async function* instancesAsked(
	unit: ReadingUnit,
	sides: CheckSides,
	resource_id: string,
	userNamed: boolean,
): AsyncGenerator<readonly Asked<InstanceRow>[]> {
	const tenant_ids = sides.tenant === null ? undefined : [sides.tenant.id];
	const filter = { resource_ids: [resource_id], tenant_ids };
	const next = (after: string) => someInstancesAfter(unit, filter, after);
	for await (const instances of chunksById(next)) {
		const tenants = await rowsWithIds(unit, Tenant, [...new Set(instances.map(({ tenant_id }) => tenant_id))]);
		yield instances.map((row) => {
			const tenant = tenants.get(row.tenant_id) ?? null;
			const held = userNamed ? sides.held : { roles: [], tenants: [row.tenant] };
			const { user, context, now } = sides;
			return {
				row,
				subject: { user, resource: instanceRecord(row), tenant: tenantRecord(tenant, held), context, now },
			};
		});
	}
}

const firstId = '00000000-0000-0000-0000-000000000000';

/** Yields all rows in id order, in chunks. Other requests can run between two chunks. */
async function* chunksById<R extends { readonly id: string }>(
	next: (after: string) => PromiseLike<readonly R[]>,
): AsyncGenerator<readonly R[]> {
	for (let after = firstId; ; ) {
		const rows = await next(after);
		if (rows.length > 0) yield rows;
		const last = rows.at(-1);
		if (last === undefined || rows.length < rowsPerStatement) return;
		after = last.id;
	}
}

/** Counts matches and keeps the rows on the requested page. */
class MatchPage<R> {
	readonly rows: R[] = [];
	total_count = 0;
	checked = 0;
	readonly #first: number;

	constructor(
		page: number,
		readonly perPage: number,
	) {
		this.#first = (page - 1) * perPage;
	}

	count(row: R, matches: boolean): void {
		this.checked += 1;
		if (!matches) return;
		if (this.total_count >= this.#first && this.rows.length < this.perPage) this.rows.push(row);
		this.total_count += 1;
	}
}

async function readFound(
	unit: ReadingUnit,
	rows: readonly (User | InstanceRow)[],
): Promise<ConditionPreviewRead['data']> {
	const users = rows.filter((row) => row instanceof User);
	if (users.length > 0) return [...(await readUsers(unit, users))];
	return rows.flatMap((row) => (row instanceof User ? [] : [readInstance(unit, row)]));
}
