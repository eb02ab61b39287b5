import { z } from 'zod';
import { Text, Timestamp } from '../common.js';
import { wholeNumberUpTo } from '../query.js';
import { type NodeName, parseNode } from './graph-node.js';

/** What is connected with what: the schema, the facts, and the paths from one to another. */

/** The most nodes of an answer. */
export const maxGraphNodes = 200;
const usualGraphNodes = 60;
/** How far from its start a neighbourhood may reach. */
export const maxGraphDepth = 3;

/** What is asked for: what the schema says, what exists, or how one leads to the other. */
const GraphMode = z.enum(['schema', 'facts', 'path']);
type GraphMode = z.output<typeof GraphMode>;

const forms: Readonly<Record<NodeName['kind'], string>> = {
	user: '`user:<key>`',
	tenant: '`tenant:<key>`',
	instance: '`instance:<resource>:<key>`',
	resource: '`resource:<key>`',
	role: '`role:<key>` or `role:<resource>#<key>`',
};

/** What each mode starts from. */
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

/** Where a graph starts, and how much of it is wanted. */
export const GraphQuery = z
	.object({
		from: Node.describe(
			'Where to start. Facts: `user:<key>`, `tenant:<key>` or `instance:<resource>:<key>`. Schema: `resource:<key>`, ' +
				'`role:<key>` or `role:<resource>#<key>`. Paths: a user or an instance. Keys, not ids.',
		),
		to: Node.optional().describe(
			'Where paths lead to: `instance:<resource>:<key>`, or a role on it, `instance:<resource>:<key>#<role>`.',
		),
		depth: wholeNumberUpTo(maxGraphDepth)
			.default(1)
			.describe('How many steps from the start at most, except for paths.'),
		limit: wholeNumberUpTo(maxGraphNodes).default(usualGraphNodes).describe('How many nodes at most.'),
		mode: GraphMode.default('facts').describe(
			'`facts`: what exists around the start. `schema`: what the schema says around it. `path`: the shortest paths ' +
				'from the start to `to`.',
		),
	})
	.superRefine((query, ctx) => {
		const refuse = (field: 'from' | 'to', message: string) =>
			ctx.addIssue({ code: 'custom', message, path: [field], input: undefined });
		const { from, to, mode } = query;
		const kinds = starts[mode];
		if (!kinds.includes(from.kind) || (from.kind === 'instance' && from.role !== undefined))
			refuse('from', `must be ${kinds.map((kind) => forms[kind]).join(', ')} with the mode \`${mode}\``);
		if (mode !== 'path' && to !== undefined) refuse('to', 'is for the mode `path` only');
		if (mode !== 'path') return;
		if (to?.kind !== 'instance') refuse('to', `must be ${forms.instance}, with or without \`#<role>\``);
		else if (from.kind === 'instance' && from.type === to.type && from.key === to.key)
			refuse('to', 'must be another instance than `from`');
	});
export type GraphQuery = z.output<typeof GraphQuery>;

const NodeId = z.string();

/** Something that is connected. */
const GraphNode = z
	.object({
		id: NodeId.describe('What it is called in this answer, and as `from` of the next one.'),
		kind: z
			.enum(['user', 'tenant', 'instance', 'group', 'resource', 'resource_role', 'role'])
			.describe('What it is: a group is an instance, and a role is one that is held in tenants.'),
		key: z.string().describe('Its key.'),
		type: z.string().optional().describe('The key of its resource, of instances, groups and roles of resources.'),
		name: z.string().optional().describe('A name for people, where it has one.'),
		tenant: z.string().optional().describe('The key of its tenant, of instances and groups.'),
		depth: z.int().min(0).describe('How many steps it is from the start.'),
		more: z
			.int()
			.min(1)
			.optional()
			.describe(
				'How many neighbours it has that are not shown; absent where all are. At least so many where it has ' +
					'more than a thousand.',
			),
	})
	.meta({ id: 'GraphNode', description: 'Something that is connected with other things.' });
export type GraphNode = z.input<typeof GraphNode>;

/** A connection of two nodes. Which members it has follows from its kind. */
const GraphEdge = z
	.object({
		from: NodeId.describe('The id of the node that leads to the other one.'),
		to: NodeId.describe('The id of the node that it leads to.'),
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
					'group. `relationship`: an instance, the subject, is related to another, the object. `relation`: instances ' +
					'of a resource may be related to those of another. `resource_role`: a resource has a role. `derivation`: ' +
					'who holds a role on a subject holds another on its objects. `extends`: a role also grants what another ' +
					'does. `grant`: a role in a tenant allows actions on a resource, or in a path on an instance.',
			),
		relation: z.string().optional().describe('The key of the relation, of relationships, relations and derivations.'),
		role: z
			.string()
			.optional()
			.describe('The key of the role that is held or granted; in a path, the one that a relationship leads to.'),
		via: z
			.string()
			.optional()
			.describe('In a path, the key of the role on the subject from which a relationship derives `role`.'),
		tenant: z.string().optional().describe('The key of the tenant in which a role is held.'),
		expires_at: Timestamp.optional().describe('When it ends; absent for good.'),
		no_direct_roles_on_object: z
			.literal(true)
			.optional()
			.describe('Nothing is derived by this for users with a role assigned on the object itself.'),
		actions: z.array(z.string()).optional().describe('The first actions that it allows, at most twenty.'),
		action_count: z.int().min(0).optional().describe('How many actions it allows.'),
	})
	.meta({ id: 'GraphEdge', description: 'A connection of two nodes.' });
export type GraphEdge = z.input<typeof GraphEdge>;

/** Nodes, what connects them, and paths along these connections. */
export const Graph = z
	.object({
		revision: z.int().min(0).describe('The revision of the environment that all of this is of.'),
		nodes: z.array(GraphNode).describe('The start first, then by distance from it.'),
		edges: z.array(GraphEdge).describe('Every connection between the nodes; of paths, those that they take.'),
		paths: z
			.array(z.array(z.int().min(0)))
			.describe('The paths, the shortest first, each as places in `edges`; empty in other modes.'),
		truncated: z
			.boolean()
			.describe('Whether there is more within `depth`, or there may be more paths, than a limit lets show.'),
	})
	.meta({ id: 'Graph', description: 'Things and what connects them.' });
export type Graph = z.input<typeof Graph>;
