import { groupBy } from '../../../compiler/group-by.js';
import type { Resource, ResourceRole, Role, Schema } from '../../../compiler/model.js';
import { isSetRelation } from '../../../compiler/user-set.js';
import { notFound } from '../../failure.js';
import type { GraphEdge, GraphNode } from '../../wire/facts/graph.js';
import { type NodeName, nodeText } from '../../wire/facts/graph-node.js';
import { allowed, type GraphExtent, type GraphParts, maxGraphEdges, sizeAfterExpansion } from './graph-parts.js';
import { takeNeighbours } from './take-neighbours.js';

/**
 * Returns the resources and roles around a start node, and every relation, derivation, extension and grant between
 * them. Throws `not_found` if the schema does not contain the start node or an expanded node.
 */
export function schemaAround(schema: Schema, start: NodeName, extent: GraphExtent<NodeName>): GraphParts {
	const nodes = new Map(schemaNodes(schema).map((node) => [node.id, node]));
	const edges = schemaEdges(schema).filter(({ from, to }) => nodes.has(from) && nodes.has(to));
	const idOf = (name: NodeName) => {
		const text = nodeText(name);
		if (nodes.has(text)) return text;
		throw notFound(name.kind === 'role' ? 'Role' : 'Resource', text.slice(name.kind.length + 1));
	};
	const id = idOf(start);
	const expanded = extent.expand.map(idOf);
	const leaving = groupBy(edges, ({ from }) => from);
	const arriving = groupBy(edges, ({ to }) => to);
	const neighbours = (node: string) => [
		...groupBy(arriving.get(node) ?? [], ({ kind }) => kind).values(),
		...groupBy(leaving.get(node) ?? [], ({ kind }) => kind).values(),
	];
	const otherEnds = (node: string) =>
		neighbours(node).map((list) => list.map(({ from, to }) => ({ id: from === node ? to : from })));
	const found = new Map([[id, 0]]);
	let frontier: readonly { readonly id: string }[] = [{ id }];
	for (let depth = 1; frontier.length > 0 && depth <= extent.depth; depth += 1) {
		const around = frontier.map((node) => otherEnds(node.id));
		frontier = takeNeighbours(found, around, { depth, limit: extent.limit });
	}
	for (const node of expanded) {
		const depth = found.get(node);
		if (depth === undefined) continue;
		takeNeighbours(found, [otherEnds(node)], {
			depth: depth + 1,
			limit: sizeAfterExpansion(found.size, extent.limit),
		});
	}
	const countMore = (node: string) =>
		new Set(
			neighbours(node)
				.flat()
				.flatMap(({ from, to }) => [from, to].filter((end) => !found.has(end))),
		).size;
	const shown = [...found].flatMap(([node, depth]): GraphNode[] => {
		const named = nodes.get(node);
		const more = countMore(node);
		return named === undefined ? [] : [{ ...named, depth, ...(more > 0 ? { more } : {}) }];
	});
	shown.sort((one, other) => one.depth - other.depth);
	const between = edges.filter(({ from, to }) => found.has(from) && found.has(to));
	return {
		nodes: shown,
		edges: between.slice(0, maxGraphEdges),
		truncated:
			between.length > maxGraphEdges || shown.some(({ depth, more }) => more !== undefined && depth < extent.depth),
	};
}

function schemaNodes({ resources, roles }: Schema): readonly Omit<GraphNode, 'depth'>[] {
	const inTenants = roles.map(({ key, name }) => ({ id: tenantRoleId(key), kind: 'role' as const, key, name }));
	const ofResources = resources.flatMap((resource) => [
		{ id: resourceId(resource.key), kind: 'resource' as const, key: resource.key, name: resource.name },
		...resource.roles.map(({ key, name }) => ({
			id: resourceRoleId(resource.key, key),
			kind: 'resource_role' as const,
			key,
			type: resource.key,
			name,
		})),
	]);
	return [...ofResources, ...inTenants];
}

function schemaEdges({ resources, roles }: Schema): readonly GraphEdge[] {
	const subjects = new Map(
		resources.map(({ key, relations }) => [key, new Map(relations.map((one) => [one.key, one.subject]))]),
	);
	return [
		...resources.flatMap((resource) => [
			...relationEdges(resource),
			...resource.roles.flatMap((role) => resourceRoleEdges(resource, role, subjects.get(resource.key))),
		]),
		...roles.flatMap(tenantRoleEdges),
	];
}

function relationEdges({ key, relations }: Resource): readonly GraphEdge[] {
	return relations
		.filter((relation) => !isSetRelation(relation.key))
		.map((relation) => ({
			from: resourceId(relation.subject),
			to: resourceId(key),
			kind: 'relation',
			relation: relation.key,
		}));
}

/** Returns the edges into resource roles. `subjects` maps each relation to the resource of its subjects. */
function resourceRoleEdges(
	{ key: type }: Resource,
	role: ResourceRole,
	subjects: ReadonlyMap<string, string> = new Map(),
): readonly GraphEdge[] {
	const to = resourceRoleId(type, role.key);
	return [
		{ from: resourceId(type), to, kind: 'resource_role', role: role.key, ...allowed(role.permissions) },
		...role.extends.map((parent): GraphEdge => ({ from: to, to: resourceRoleId(type, parent), kind: 'extends' })),
		...role.derivations.map(
			({ relation, role: source, no_direct_roles_on_object }): GraphEdge => ({
				from: resourceRoleId(subjects.get(relation) ?? '', source),
				to,
				kind: 'derivation',
				relation,
				...(no_direct_roles_on_object || role.no_direct_roles_on_object ? { no_direct_roles_on_object: true } : {}),
			}),
		),
	];
}

function tenantRoleEdges({ key, permissions, extends: parents }: Role): readonly GraphEdge[] {
	const from = tenantRoleId(key);
	const grants = [...groupBy(permissions, ({ resource }) => resource)].map(
		([resource, granted]): GraphEdge => ({
			from,
			to: resourceId(resource),
			kind: 'grant',
			role: key,
			...allowed(granted.map(({ action }) => action)),
		}),
	);
	return [...grants, ...parents.map((parent): GraphEdge => ({ from, to: tenantRoleId(parent), kind: 'extends' }))];
}

function resourceId(key: string): string {
	return nodeText({ kind: 'resource', key });
}

function resourceRoleId(type: string, key: string): string {
	return nodeText({ kind: 'role', type, key });
}

function tenantRoleId(key: string): string {
	return nodeText({ kind: 'role', key });
}
