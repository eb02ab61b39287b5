import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { Text, Timestamp } from '../common.js';
import { named } from '../named.js';
import { wholeNumberUpTo } from '../query.js';
import { type NodeName, parseNode } from './graph-node.js';

/** Graphs of schema and facts, and the paths between their nodes. */

/** Maximum number of nodes in a response. */
export const maxGraphNodes = 200;
const usualGraphNodes = 60;
/** Maximum distance from the start node. */
export const maxGraphDepth = 3;
/** Maximum number of expanded nodes. */
const maxExpandedNodes = 20;

/** Graph mode: the schema, the facts, or the paths between nodes. */
const GraphMode = z.enum(['schema', 'facts', 'path']);
type GraphMode = z.output<typeof GraphMode>;

const forms: Readonly<Record<NodeName['kind'], string>> = {
	user: '`user:<key>`',
	tenant: '`tenant:<key>`',
	instance: '`instance:<resource>:<key>`',
	resource: '`resource:<key>`',
	role: '`role:<key>` or `role:<resource>#<key>`',
};

/** Node kinds from which each mode can start. */
const starts: Readonly<Record<GraphMode, readonly NodeName['kind'][]>> = {
	facts: ['user', 'tenant', 'instance'],
	schema: ['resource', 'role'],
	path: ['user', 'instance'],
};

const Node = Text.transform((text, ctx) => {
	const name = parseNode(text);
	if (name !== null) return name;
	ctx.addIssue({ code: 'custom', message: `must be ${Object.values(forms).join(', ')}`, input: text });
	return z.NEVER;
});

/** Graph start and limits. */
export const GraphQuery = z
	.object({
		from: Node.describe(
			'Start node. Facts: `user:<key>`, `tenant:<key>` or `instance:<resource>:<key>`. Schema: ' +
				'`resource:<key>`, `role:<key>` or `role:<resource>#<key>`. Paths: a user or an instance. Keys, not ids.',
		),
		to: Node.optional().describe(
			'Path target: `instance:<resource>:<key>`, or a role on it, `instance:<resource>:<key>#<role>`.',
		),
		depth: wholeNumberUpTo(maxGraphDepth)
			.default(1)
			.describe('Maximum number of steps from the start; ignored for paths.'),
		limit: wholeNumberUpTo(maxGraphNodes)
			.default(usualGraphNodes)
			.describe('Maximum number of nodes, and maximum number of nodes added by each expanded node.'),
		expand: z
			.preprocess(
				(value) => (typeof value === 'string' ? [value] : value),
				boundedArray(Node, maxExpandedNodes, `must be given at most ${maxExpandedNodes} times`),
			)
			.default([])
			.describe('Nodes in the graph whose neighbors are added, in this order; may be repeated. Not for paths.'),
		mode: GraphMode.default('facts').describe(
			'`facts`: objects around the start. `schema`: schema objects around ' +
				'the start. `path`: the shortest paths from the start to `to`.',
		),
	})
	.superRefine((query, ctx) => {
		const refuse = (field: 'from' | 'to' | 'expand', message: string) =>
			ctx.addIssue({ code: 'custom', message, path: [field], input: undefined });
		const { from, to, mode, expand } = query;
		const kinds = starts[mode];
		const isNode = (name: NodeName) =>
			kinds.includes(name.kind) && !(name.kind === 'instance' && name.role !== undefined);
		const message = `must be ${kinds.map((kind) => forms[kind]).join(', ')} with the mode \`${mode}\``;
		if (!isNode(from)) refuse('from', message);
		if (mode === 'path' && expand.length > 0) refuse('expand', 'is not allowed with the mode `path`');
		else if (!expand.every(isNode)) refuse('expand', message);
		if (mode !== 'path' && to !== undefined) refuse('to', 'is only for the mode `path`');
		if (mode !== 'path') return;
		if (to?.kind !== 'instance') refuse('to', `must be ${forms.instance}, with or without \`#<role>\``);
		else if (from.kind === 'instance' && from.type === to.type && from.key === to.key)
			refuse('to', 'must be a different instance than `from`');
	});
export type GraphQuery = z.output<typeof GraphQuery>;

const NodeId = z.string();

const GraphNode = named('GraphNode', 'An object with connections to other objects.', {
	id: NodeId.describe('Node name, usable as `from` in the next request.'),
	kind: z
		.enum(['user', 'tenant', 'instance', 'group', 'resource', 'resource_role', 'role'])
		.describe('Node kind. A group is also an instance, and `role` is a tenant role.'),
	key: z.string().describe('Object key.'),
	type: z.string().optional().describe('Resource key for an instance, group or resource role.'),
	name: z.string().optional().describe('Display name, if any.'),
	tenant: z.string().optional().describe('Tenant key for an instance or group.'),
	depth: z.int().min(0).describe('Number of steps from the start.'),
	more: z
		.int()
		.min(1)
		.optional()
		.describe(
			'Number of hidden neighbors; absent if all are shown. A lower bound if the node has more than a thousand neighbors.',
		),
});
export type GraphNode = z.input<typeof GraphNode>;

/** An edge between two nodes. Its fields depend on the edge kind. */
const GraphEdge = named('GraphEdge', 'A connection between two nodes.', {
	from: NodeId.describe('Source node id.'),
	to: NodeId.describe('Target node id.'),
	kind: z
		.enum([
			'role_assignment',
			'group_membership',
			'relationship',
			'relation',
			'resource_role',
			'derivation',
			'extends',
			'grant',
		])
		.describe(
			'`role_assignment`: a user holds a role in a tenant or on an instance. `group_membership`: a user is in a ' +
				'group. `relationship`: an instance, the subject, is related to a second instance, the object. ' +
				'`relation`: instances from two resources may be related. `resource_role`: a resource has a role. ' +
				'`derivation`: a role on a subject gives a role on its objects. `extends`: a role includes the grants from a ' +
				'second role. `grant`: a role in a tenant allows actions on a resource, or in a path on an instance.',
		),
	relation: z.string().optional().describe('Relation key for a relationship, relation or derivation.'),
	role: z
		.string()
		.optional()
		.describe('Role key: the role held or granted; in a path, the role derived through a relationship.'),
	via: z
		.string()
		.optional()
		.describe('In a path, the key of the subject role from which a relationship derives `role`.'),
	tenant: z.string().optional().describe('Tenant key for a held role.'),
	expires_at: Timestamp.optional().describe('Expiry; absent if there is none.'),
	condition: z
		.string()
		.optional()
		.describe('Condition key of an assignment or a relationship; absent if there is none.'),
	no_direct_roles_on_object: z
		.literal(true)
		.optional()
		.describe('True if a role assigned on the object itself disables the derivation for the user.'),
	actions: z.array(z.string()).optional().describe('The first allowed actions, at most twenty.'),
	action_count: z.int().min(0).optional().describe('Number of allowed actions.'),
});
export type GraphEdge = z.input<typeof GraphEdge>;

/** Nodes, edges, and paths along the edges. */
export const Graph = named('Graph', 'Objects and their connections.', {
	revision: z.int().min(0).describe('Environment revision for the whole response.'),
	nodes: z.array(GraphNode).describe('The start node first, then by distance.'),
	edges: z.array(GraphEdge).describe('All connections between the nodes; for paths, only the edges used.'),
	paths: z
		.array(z.array(z.int().min(0)))
		.describe('Paths as index lists into `edges`, shortest first; empty in other modes.'),
	truncated: z.boolean().describe('True if a limit hides nodes within `depth`, or may hide paths.'),
});
export type Graph = z.input<typeof Graph>;
