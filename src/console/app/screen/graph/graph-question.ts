/** Graph modes, with their titles and hints. */
export const graphModes = {
	facts: {
		title: 'Connections of an object',
		hint: 'A user (user:ann@example.com), a tenant (tenant:acme) or an instance (instance:document:budget).',
	},
	schema: {
		title: 'Schema around a resource or role',
		hint: 'A resource (resource:document) or a role (role:admin, role:document#editor).',
	},
	path: {
		title: 'Path between two objects',
		hint: 'From a user or an instance to an instance (instance:document:budget), or to a role on it (…#editor).',
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
}

/** Reads the graph parameters from an address. */
export function readGraphQuestion(get: (name: string) => string): GraphQuestion {
	const mode = get('mode');
	const depth = get('depth');
	return {
		from: get('from'),
		to: get('to'),
		mode: isMode(mode) ? mode : 'facts',
		depth: ['2', '3'].includes(depth) ? depth : '1',
	};
}

export function isMode(text: string): text is GraphMode {
	return Object.hasOwn(graphModes, text);
}
