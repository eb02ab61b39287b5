import { findGraph } from '../../domain/graph/find-graph.js';
import { methods, reply } from '../../http/endpoint.js';
import { Graph, GraphQuery, maxGraphDepth, maxGraphNodes } from '../../wire/facts/graph.js';
import { EnvironmentPath, endpoint } from '../access.js';

/** Connections between objects in an environment. */
export const graph = [
	endpoint({
		...methods({ tag: 'Graph', path: '/v2/projects/:proj_id/envs/:env_id/graph', params: EnvironmentPath }).get,
		name: 'getGraph',
		summary: 'Get the connections of an object, or the paths to a second object',
		description:
			`Starts from a user, tenant, instance, resource or role and returns at most ${maxGraphNodes} nodes within ` +
			`${maxGraphDepth} steps, all at one revision. Expired facts are omitted. \`mode=facts\` returns role ` +
			'assignments and relationships between the nodes; `mode=schema` returns relations, derivations, extensions ' +
			'and grants; `mode=path` returns the shortest paths through roles from a user to an instance or a role on it, ' +
			'or through relationships between two instances.',
		access: 'environment.snapshot',
		query: GraphQuery,
		returns: { 200: Graph },
		failures: { 404: 'No such project, environment or object' },
		handle: async ({ query }, { unit, environment }) =>
			reply(200, { revision: environment.revision, ...(await findGraph(unit, query)) }),
	}),
];
