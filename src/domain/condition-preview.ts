import type { Condition } from '../../compiler/condition/condition.js';
import { Failure } from '../failure.js';
import { type InstanceRow, instancesBy } from '../store/table/resource-instance.js';
import { Tenant } from '../store/table/tenant.js';
import { User } from '../store/table/user.js';
import { type ReadingUnit, rowsAtOnce } from '../store/unit.js';
import { rowsWithIds } from '../store/whole.js';
import type { ConditionPreview, ConditionPreviewRead } from '../wire/condition-preview.js';
import { ruleOf } from './condition-logic.js';
import { type AskedSelection, asksForRoles, selectionOf } from './condition-selection.js';
import {
	heldBy,
	instanceRecord,
	type Sides,
	type Subject,
	sidesOf,
	tenantRecord,
	userRecord,
} from './condition-subject.js';
import { readInstance } from './resource-instance.js';
import { readUsers } from './user.js';

/**
 * Looks at all users, or all instances of a resource, and tells which of them a set selects now. They come in portions,
 * so that neither memory nor other requests wait for a large environment; `closed` says that nobody does any more.
 * Throws as `selectionOf` and `sidesOf`.
 */
export async function previewConditions(
	unit: ReadingUnit,
	body: ConditionPreview,
	closed: () => boolean,
): Promise<ConditionPreviewRead> {
	const selection = await selectionOf(unit, body);
	const sides = await sidesOf(unit, body);
	const selects = matcherOf(selection);
	const found = new PageFound<User | InstanceRow>(body.page, body.per_page);
	const portions =
		selection.resource === null
			? usersAsked(unit, sides, asksForRoles(selection))
			: instancesAsked(unit, sides, selection.resource.id, body.user !== undefined);
	for await (const portion of portions) {
		if (closed()) throw new Failure('unavailable', 'nobody waits for the answer any more');
		for (const { row, subject } of portion) found.count(row, selects(subject));
	}
	const { total_count, checked } = found;
	const page_count = Math.ceil(total_count / body.per_page);
	return { data: await readFound(unit, found.rows), total_count, page_count, checked };
}

/** One user or instance, and what conditions know when they are asked about it. */
interface Asked<R> {
	readonly row: R;
	readonly subject: Subject;
}

async function* usersAsked(
	unit: ReadingUnit,
	sides: Sides,
	withRoles: boolean,
): AsyncGenerator<readonly Asked<User>[]> {
	const next = (after: string) => unit.query(User).where('users.id', '>', after).orderBy('users.id').limit(rowsAtOnce);
	for await (const users of portionsOf(next)) {
		const heldOf = withRoles ? await heldBy(unit, users, sides.tenant) : () => ({ roles: [], tenants: [] });
		yield users.map((row) => {
			const held = heldOf(row);
			return { row, subject: { ...sides, user: userRecord(row, held), tenant: tenantRecord(sides.tenant, held) } };
		});
	}
}

/** Of each instance the tenant is that of the check: its attributes are known unless the user has no role there. */
async function* instancesAsked(
	unit: ReadingUnit,
	sides: Sides,
	resource_id: string,
	userNamed: boolean,
): AsyncGenerator<readonly Asked<InstanceRow>[]> {
	const tenant_ids = sides.tenant === null ? undefined : [sides.tenant.id];
	const next = (after: string) =>
		instancesBy(unit, { resource_ids: [resource_id], tenant_ids })
			.where('resource_instances.id', '>', after)
			.limit(rowsAtOnce)
			.castTo<InstanceRow[]>();
	for await (const instances of portionsOf(next)) {
		const tenants = await rowsWithIds(unit, Tenant, [...new Set(instances.map(({ tenant_id }) => tenant_id))]);
		yield instances.map((row) => {
			const tenant = tenants.get(row.tenant_id) ?? null;
			const held = userNamed ? sides.held : { roles: [], tenants: [row.tenant] };
			return { row, subject: { ...sides, resource: instanceRecord(row), tenant: tenantRecord(tenant, held) } };
		});
	}
}

const firstId = '00000000-0000-0000-0000-000000000000';

/** Rows in the order of their ids, until none follow. Others get their turn between two portions. */
async function* portionsOf<R extends { readonly id: string }>(
	next: (after: string) => PromiseLike<readonly R[]>,
): AsyncGenerator<readonly R[]> {
	for (let after = firstId; ; ) {
		const rows = await next(after);
		if (rows.length > 0) yield rows;
		const last = rows.at(-1);
		if (last === undefined || rows.length < rowsAtOnce) return;
		after = last.id;
	}
}

/** Counts what matches and keeps the rows of one page. */
class PageFound<R> {
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

function matcherOf({ own, ancestors }: AskedSelection): (subject: Subject) => boolean {
	const conditions: readonly Condition[] = [own, ...ancestors.map(({ condition }) => condition)];
	const rules = conditions.map(ruleOf);
	return (subject) => rules.every((holds) => holds(subject));
}

async function readFound(
	unit: ReadingUnit,
	rows: readonly (User | InstanceRow)[],
): Promise<ConditionPreviewRead['data']> {
	const users = rows.filter((row) => row instanceof User);
	if (users.length > 0) return [...(await readUsers(unit, users))];
	return rows.flatMap((row) => (row instanceof User ? [] : [readInstance(unit, row)]));
}
