/** Graph modes, with their titles and hints. */
export const graphModes = {
	facts: {
		title: 'Connections of an object',
		hint: 'A user (user:ann@example.com), a tenant (tenant:acme) or an instance (document:budget).',
	},
	schema: {
		title: 'Schema around a resource or role',
		hint: 'A resource (document) or a role (role:admin, document#editor).',
	},
	path: {
		title: 'Path between two objects',
		hint: 'From a user or an instance to an instance (document:budget), or to a role on it (document:budget#editor).',
	},
} as const;

export type GraphMode = keyof typeof graphModes;

/** Graph parameters. */
export interface GraphQuestion {
	readonly from: string;
	readonly to: string;
	readonly mode: GraphMode;
	/** Depth, from 1 to 3. */
	readonly depth: string;
	/** Node ids whose neighbors are shown too, in this order. */
	readonly expand: readonly string[];
}

/** Maximum number of expanded nodes. */
export const maxExpanded = 20;

/** Reads the graph parameters from an address. */
export function readGraphQuestion(get: (name: string) => string): GraphQuestion {
	const named = get('mode');
	const mode = isMode(named) ? named : 'facts';
	const depth = get('depth');
	return {
		from: nodeId(get('from'), mode),
		to: nodeId(get('to'), mode),
		mode,
		depth: ['2', '3'].includes(depth) ? depth : '1',
		expand: readExpanded(get('expand')),
	};
}

/** Formats the expanded nodes for an address. */
export function expandedText(ids: readonly string[]): string {
	return ids.length === 0 ? '' : JSON.stringify(ids);
}

function readExpanded(text: string): readonly string[] {
	try {
		const read: unknown = JSON.parse(text);
		return Array.isArray(read) ? read.filter((id) => typeof id === 'string').slice(0, maxExpanded) : [];
	} catch {
		return [];
	}
}

function isMode(text: string): text is GraphMode {
	return Object.hasOwn(graphModes, text);
}

/** Kinds with which a node id begins. */
const nodeKinds = { schema: ['resource', 'role'], facts: ['user', 'tenant', 'instance'] } as const;

/**
 * Returns the node id for a typed name: without a kind, `<type>:<key>` is an instance, and a name without a colon is a
 * user. In the schema, `<type>#<key>` is a role, and any other name is a resource.
 */
export function nodeId(typed: string, mode: GraphMode): string {
	const kinds: readonly string[] = nodeKinds[mode === 'schema' ? 'schema' : 'facts'];
	if (typed === '' || kinds.some((kind) => typed.startsWith(`${kind}:`))) return typed;
	if (mode === 'schema') return `${typed.includes('#') ? 'role' : 'resource'}:${typed}`;
	return `${typed.includes(':') ? 'instance' : 'user'}:${typed}`;
}
