import type { FactEdge, FactNode } from '../../store/model/fact-edges.js';
import type { RoleStep } from '../../store/model/role-steps.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { Graph, GraphEdge } from '../../wire/facts/graph.js';
import { FactLabels } from './fact-labels.js';
import type { FoundPath } from './find-paths.js';
import { allowed } from './graph-parts.js';

/** A path between two nodes, edge by edge. */
export type Path = readonly PathEdge[];

/**
 * A path edge is either a fact, with the step that it forms, or a grant by a tenant role on an instance in the tenant.
 */
export type PathEdge = PathFact | PathGrant;

/** A role assignment or a relationship. */
interface PathFact {
	readonly fact: FactEdge;
	/** Derivation step for a relationship. */
	readonly by?: RoleStep;
}

/** A grant by a tenant role. */
interface PathGrant {
	readonly tenant_id: string;
	readonly instance_id: string;
	/** Role key. */
	readonly role: string;
	/** Action keys. */
	readonly actions: readonly string[];
}

/** A path graph without `truncated` and without the fields that all graphs have in common. */
export type WrittenPaths = Pick<Graph, 'nodes' | 'edges' | 'paths'>;

/** Converts a found path that begins at `start`. */
export function asPath(start: FactNode, { assigned, steps }: FoundPath): Path {
	const relationships = steps.map(({ tuple, by }): PathEdge => {
		const { id, subject_id, relation_id, object_id, expires_at } = tuple;
		const fact: FactEdge = {
			id,
			from: { kind: 'instance', id: subject_id },
			to: { kind: 'instance', id: object_id },
			by: { kind: 'relation', id: relation_id },
			tenant_id: null,
			expires_at,
		};
		return { fact, by };
	});
	if (assigned === null) return relationships;
	const { id, role_id, instance_id, tenant_id, expires_at } = assigned;
	const to = { kind: 'instance', id: instance_id } as const;
	return [
		{ fact: { id, from: start, to, by: { kind: 'role', id: role_id }, tenant_id, expires_at } },
		...relationships,
	];
}

/** Converts paths to a graph. Omits paths that would exceed `limit` nodes. */
export async function writePaths(
	unit: ReadingUnit,
	start: FactNode,
	paths: readonly Path[],
	limit: number,
): Promise<WrittenPaths> {
	const nodes = new Map([[start.id, { node: start, depth: 0 }]]);
	const fitting = paths.filter((path) => addNodes(nodes, path, limit));
	const labels = await readLabels(
		unit,
		[...nodes.values()].map(({ node }) => node),
		fitting.flat(),
	);
	const edges = new Map<string, { readonly edge: GraphEdge; readonly place: number }>();
	const places = fitting.map((path) =>
		path.map((pathEdge) => {
			const edge = writeEdge(labels, pathEdge);
			const name = JSON.stringify(edge);
			const known = edges.get(name) ?? { edge, place: edges.size };
			edges.set(name, known);
			return known.place;
		}),
	);
	return {
		nodes: [...nodes.values()]
			.sort((left, right) => left.depth - right.depth)
			.map(({ node, depth }) => labels.node(node, depth)),
		edges: [...edges.values()].map(({ edge }) => edge),
		paths: places,
	};
}

/** Adds a path's nodes, unless they would exceed `limit`; returns true if added. */
function addNodes(nodes: Map<string, { node: FactNode; depth: number }>, path: Path, limit: number): boolean {
	const ends = path.map(farEnd);
	const fresh = new Set(ends.map(({ id }) => id).filter((id) => !nodes.has(id)));
	if (nodes.size + fresh.size > limit) return false;
	for (const [index, node] of ends.entries()) {
		const depth = Math.min(index + 1, nodes.get(node.id)?.depth ?? index + 1);
		nodes.set(node.id, { node, depth });
	}
	return true;
}

function farEnd(edge: PathEdge): FactNode {
	return 'fact' in edge ? edge.fact.to : { kind: 'instance', id: edge.instance_id };
}

function readLabels(unit: ReadingUnit, nodes: readonly FactNode[], edges: readonly PathEdge[]): Promise<FactLabels> {
	const facts = edges.flatMap((edge) => ('fact' in edge ? edge : []));
	const roles = facts.flatMap(({ by }) => (by === undefined ? [] : [by.source_id, by.target_id]));
	const written = facts.map(({ fact }) => fact);
	return FactLabels.read(unit, nodes, written, roles);
}

function writeEdge(labels: FactLabels, edge: PathEdge): GraphEdge {
	if (!('fact' in edge)) {
		return {
			from: labels.id({ kind: 'tenant', id: edge.tenant_id }),
			to: labels.id({ kind: 'instance', id: edge.instance_id }),
			kind: 'grant',
			role: edge.role,
			...allowed(edge.actions),
		};
	}
	const written = labels.edge(edge.fact);
	const [role, via] = [edge.by?.target_id, edge.by?.source_id].map((id) => labels.keys.get(id ?? ''));
	// A path of relationships alone involves no roles: its steps connect resources.
	if (role === undefined || via === undefined) return written;
	return { ...written, role, via, ...(edge.by?.stops ? { no_direct_roles_on_object: true } : {}) };
}
