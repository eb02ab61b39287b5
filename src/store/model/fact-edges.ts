import { groupBy } from '../../../compiler/group-by.js';
import { holdsNow } from '../query/holds-now.js';
import { matchesAll, matchesBoth } from '../query/matches-both.js';
import { type TupleRow, tupleKey } from '../table/relationship-tuple.js';
import type { AssignmentRow } from '../table/role-assignment.js';
import type { ReadingUnit } from '../unit/reading-unit.js';

/**
 * Edges between users, tenants and instances: role assignments and relationship tuples, without expired rows.
 * INVARIANT: each part of a statement reads a single index, starting from the node, up to a limit. The cost does not
 * depend on the environment's size, even without statistics.
 */

/** Kinds of objects connected by role assignments and relationship tuples. */
export type FactNodeKind = 'user' | 'tenant' | 'instance';

export interface FactNode {
	readonly kind: FactNodeKind;
	readonly id: string;
}

/** A role assignment or relationship tuple, by ids. */
export interface FactEdge {
	readonly id: string;
	/** The assigned user, or the relationship's subject. */
	readonly from: FactNode;
	/** The assigned role's tenant or instance, or the relationship's object. */
	readonly to: FactNode;
	/** The assigned role, or the relation. */
	readonly by: { readonly kind: 'role' | 'relation'; readonly id: string };
	/** Tenant in which the role is held; `null` for relationships. */
	readonly tenant_id: string | null;
	/** Expiry; `null` if it does not expire. */
	readonly expires_at: Date | null;
	/** Condition key; absent if there is none. */
	readonly condition?: string;
}

/** A kind of connection: the condition that finds a node's edges through an index, and the node at the other end. */
interface Source {
	readonly table: 'role_assignments' | 'relationship_tuples';
	/** Returns the SQL condition for a node, which is passed as SQL. */
	readonly where: (node: string) => string;
	/** SQL for the id of the node at the other end. */
	readonly other: string;
}

/**
 * INVARIANT: the test for a missing instance compares the column as text, like the index `role_assignments_in_tenant`.
 */
const inTenant = 'cast(resource_instance_id as text) is null';

const sources: Readonly<Record<FactNodeKind, readonly Source[]>> = {
	user: [
		{
			table: 'role_assignments',
			where: (node) => `user_id = ${node}`,
			other: 'coalesce(resource_instance_id, tenant_id)',
		},
	],
	tenant: [{ table: 'role_assignments', where: (node) => `tenant_id = ${node} and ${inTenant}`, other: 'user_id' }],
	instance: [
		{ table: 'relationship_tuples', where: (node) => `object_id = ${node}`, other: 'subject_id' },
		{ table: 'relationship_tuples', where: (node) => `subject_id = ${node}`, other: 'object_id' },
		{ table: 'role_assignments', where: (node) => `resource_instance_id = ${node}`, other: 'user_id' },
	],
};

const columns: Readonly<Record<Source['table'], string>> = {
	role_assignments: 'id, user_id, role_id, tenant_id, resource_instance_id, expires_at, condition_set',
	relationship_tuples: 'id, subject_id, relation_id, object_id, expires_at, condition_set',
};

type AssignmentIds = Pick<
	AssignmentRow,
	'id' | 'user_id' | 'role_id' | 'tenant_id' | 'resource_instance_id' | 'expires_at' | 'condition_set'
>;

/** A relationship tuple, by ids. */
export type TupleStep = Pick<
	TupleRow,
	'id' | 'subject_id' | 'relation_id' | 'object_id' | 'expires_at' | 'condition_set'
>;

/** A node's edges. */
export interface EdgesOfNode {
	readonly node: FactNode;
	/** A list for each kind of connection. */
	readonly lists: readonly (readonly FactEdge[])[];
	/** True if a list was truncated at the limit. */
	readonly cut: boolean;
}

/**
 * Returns each node's edges, oldest first. For each kind of connection, reads at most the first `most` index entries.
 */
export async function edgesAround(
	unit: ReadingUnit,
	nodes: readonly FactNode[],
	most: number,
): Promise<readonly EdgesOfNode[]> {
	const lists = new Map<string, (readonly FactEdge[])[]>(nodes.map(({ id }) => [id, []]));
	for (const [kind, same] of groupBy(nodes, (node) => node.kind)) {
		for (const { table, where } of sources[kind]) {
			const { rows } = await unit.raw<(AssignmentIds | TupleStep) & { readonly node: string }>(
				`select wanted.id as node, edge.* from unnest(:ids::uuid[]) as wanted (id) cross join lateral (
					select ${columns[table]} from ${table}
					where environment_id = :environment_id and ${where('wanted.id')} and ${holdsNow(table)}
					limit :most offset 0
				) as edge order by edge.id`,
				{ ids: same.map(({ id }) => id), most: most + 1 },
			);
			const byNode = groupBy(rows, ({ node }) => node);
			for (const { id } of same) lists.get(id)?.push((byNode.get(id) ?? []).map(asEdge));
		}
	}
	return nodes.map((node) => {
		const own = lists.get(node.id) ?? [];
		return { node, lists: own.map((list) => list.slice(0, most)), cut: own.some((list) => list.length > most) };
	});
}

/** Returns all edges between these nodes. Needed for nodes whose edge lists were truncated at the limit. */
export async function edgesAmong(unit: ReadingUnit, nodes: readonly FactNode[]): Promise<readonly FactEdge[]> {
	const idsIn = (kind: FactNodeKind) => nodes.filter((node) => node.kind === kind).map(({ id }) => id);
	const [users, tenants, instances] = [idsIn('user'), idsIn('tenant'), idsIn('instance')];
	const assigned = async (places: readonly string[], condition: string) =>
		places.length === 0 || users.length === 0
			? []
			: (
					await unit.raw<AssignmentIds>(
						`select edge.* from unnest(:users::uuid[]) as users (id) cross join unnest(:places::uuid[]) as places (id)
						cross join lateral (
							select ${columns.role_assignments} from role_assignments
							where environment_id = :environment_id and ${condition} and ${holdsNow('role_assignments')} offset 0
						) as edge`,
						{ users, places: [...places] },
					)
				).rows;
	const rows = [
		...(await assigned(tenants, `${matchesBoth('tenant_id', 'user_id', 'places.id', 'users.id')} and ${inTenant}`)),
		...(await assigned(
			instances,
			'resource_instance_id = places.id and cast(user_id as text) = cast(users.id as text)',
		)),
		...(await tuplesBetween(unit, instances, instances, { conditional: true })),
	];
	return rows.map(asEdge);
}

/** Returns the tuples from these subjects to these objects, without conditional tuples unless `conditional` is true. */
export async function tuplesBetween(
	unit: ReadingUnit,
	subjectIds: readonly string[],
	objectIds: readonly string[],
	{ conditional }: { readonly conditional: boolean },
): Promise<readonly TupleStep[]> {
	if (subjectIds.length === 0 || objectIds.length === 0) return [];
	const typed = (name: string) =>
		`select resource_instances.id, resource_id from unnest(:${name}::uuid[]) as wanted (id)
		join resource_instances on resource_instances.environment_id = :environment_id
			and resource_instances.id = wanted.id`;
	const { rows } = await unit.raw<TupleStep>(
		`with subjects as materialized (${typed('subjects')}), objects as materialized (${typed('objects')})
		select step.* from objects
		join relations on relations.environment_id = :environment_id and relations.resource_id = objects.resource_id
		join subjects on subjects.resource_id = relations.subject_resource_id
		cross join lateral (
			select ${columns.relationship_tuples} from relationship_tuples
			where environment_id = :environment_id
				and ${matchesAll(tupleKey, ['objects.id', 'relations.id', 'subjects.id'])}
				${conditional ? '' : 'and condition_set is null'}
				and ${holdsNow('relationship_tuples')} offset 0
		) as step`,
		{ subjects: [...subjectIds], objects: [...objectIds] },
	);
	return rows;
}

/**
 * Counts the neighbors of each node, except the nodes in `shownIds`. Reads at most `most` edges of each node for each
 * kind of connection. The result is keyed by node id.
 */
export async function countNeighbours(
	unit: ReadingUnit,
	nodes: readonly FactNode[],
	shownIds: readonly string[],
	most: number,
): Promise<ReadonlyMap<string, number>> {
	const counts = new Map<string, number>();
	for (const [kind, same] of groupBy(nodes, (node) => node.kind)) {
		const parts = sources[kind].map(
			({ table, where, other }) => `(
				select ${other} as id from ${table}
				where environment_id = :environment_id and ${where('wanted.id')} and ${holdsNow(table)}
					and ${other} <> all(:shown::uuid[])
				limit :most offset 0
			)`,
		);
		const { rows } = await unit.raw<{ readonly id: string; readonly count: number }>(
			`select wanted.id, count(distinct other.id)::int as count from unnest(:ids::uuid[]) as wanted (id)
			cross join lateral (${parts.join(' union all ')}) as other group by wanted.id`,
			{ ids: same.map(({ id }) => id), shown: [...shownIds], most },
		);
		for (const { id, count } of rows) counts.set(id, count);
	}
	return counts;
}

function asEdge(row: AssignmentIds | TupleStep): FactEdge {
	const { id, expires_at, condition_set } = row;
	const condition = condition_set !== null && { condition: condition_set };
	if ('relation_id' in row) {
		const { subject_id, relation_id, object_id } = row;
		return {
			...condition,
			id,
			from: { kind: 'instance', id: subject_id },
			to: { kind: 'instance', id: object_id },
			by: { kind: 'relation', id: relation_id },
			tenant_id: null,
			expires_at,
		};
	}
	const { user_id, role_id, tenant_id, resource_instance_id } = row;
	return {
		...condition,
		id,
		from: { kind: 'user', id: user_id },
		to:
			resource_instance_id === null
				? { kind: 'tenant', id: tenant_id }
				: { kind: 'instance', id: resource_instance_id },
		by: { kind: 'role', id: role_id },
		tenant_id,
		expires_at,
	};
}
