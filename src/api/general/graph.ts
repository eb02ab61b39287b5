import { findGraph } from '../../domain/graph/find-graph.js';
import { reply } from '../../http/endpoint.js';
import { Graph, GraphQuery, maxGraphDepth, maxGraphNodes } from '../../wire/facts/graph.js';
import { EnvironmentPath, endpoint } from '../access.js';

/** Connections between objects in an environment. */
export const graph = [
	endpoint({
		name: 'getGraph',
		summary: 'What is connected with a user, a tenant, an instance, a resource or a role, and how one leads to another',
		description:
			`Starts from one thing, reaches ${maxGraphDepth} steps at most and has ${maxGraphNodes} nodes at most, all at one ` +
			'revision. Expired facts are left out. `mode=facts` has every role assignment and relationship between its nodes; ' +
			'`mode=schema` every relation, derivation, extension and grant; `mode=path` the shortest paths by which roles ' +
			'lead from a user to an instance or to a role on it, or relationships from an instance to another.',
		tag: 'Graph',
		method: 'get',
		path: '/v2/projects/:proj_id/envs/:env_id/graph',
		access: 'environment.snapshot',
		params: EnvironmentPath,
		query: GraphQuery,
		returns: { 200: Graph },
		failures: { 404: 'No such project or environment, or what is named does not exist' },
		handle: async ({ query }, { unit, environment }) =>
			reply(200, { revision: environment.revision, ...(await findGraph(unit, query)) }),
	}),
];
