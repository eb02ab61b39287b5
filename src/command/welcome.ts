import { programCommand } from './program-command.js';

/** URLs of a running process. */
export interface Addresses {
	readonly api: string | null;
	readonly decision_point: string | null;
	/** Console URL, from `consoleLink`; `null` if the process has no API. */
	readonly console: string | null;
}

/**
 * Returns an API's console URL. A ticket goes into the fragment: browsers do not send fragments, so no server log
 * contains it.
 */
export function consoleLink(api: string, ticket: string | null): string {
	return ticket === null ? `${api}/console` : `${api}/console#ticket=${ticket}`;
}

/**
 * Returns the lines printed by every start: each URL and, with an API, the command for creating a key in this data
 * directory.
 */
export function addressLines({ api, decision_point, console }: Addresses, dataDirectory: string): string {
	const lines = [
		...(console === null ? [] : [`  Console         ${console}`]),
		...(console === null || console.includes('#')
			? []
			: [`  Sign in         ${programCommand({ DATA_DIR: dataDirectory })} console`]),
		...(api === null ? [] : [`  API             ${api}    (reference: ${api}/docs)`]),
		...(decision_point === null ? [] : [`  Decision point  ${decision_point}    (reference: ${decision_point}/docs)`]),
		...(api === null ? [] : [`  New API key     ${programCommand({ DATA_DIR: dataDirectory })} keys create`]),
	];
	return `Regolith is running.\n\n${lines.join('\n')}\n`;
}

/**
 * Returns a shell command that exports the first key of the environment `dev`. Used if no decision point serves `dev`.
 */
export function firstKey(secret: string): string {
	return `
The API key of the environment \`dev\`. It is shown only once. Paste this line into another terminal:

  export PERMIT_API_KEY=${secret}
`;
}

/** Returns the first key and three commands that use it. Used if a decision point serves `dev`. */
export function firstSteps(api: string, decisionPoint: string, secret: string): string {
	const post = (url: string, body: object, ...headers: readonly string[]) => {
		const options = [
			'-H "Authorization: Bearer $PERMIT_API_KEY"',
			...['Content-Type: application/json', ...headers].map((header) => `-H '${header}'`),
			`-d '${JSON.stringify(body)}'`,
		];
		return [`curl -sS -X POST ${url}`, ...options].join(' \\\n    ');
	};
	const resource = { key: 'document', name: 'Document', actions: { read: {}, write: {} } };
	const role = { key: 'viewer', name: 'Viewer', permissions: ['document:read'] };
	const user = { key: 'alice', role_assignments: [{ role: 'viewer', tenant: 'default' }] };
	const creations = [
		post(`${api}/v2/schema/default/dev/resources`, resource),
		post(`${api}/v2/schema/default/dev/roles`, role),
		post(`${api}/v2/facts/default/dev/users`, user),
	];
	// Revision 1 created the environment. If the user pastes all commands together, the checks wait until the decision
	// point has every change.
	const revision = 1 + creations.length;
	const check = (action: string) => {
		const query = { user: 'alice', action, resource: { type: 'document', tenant: 'default' } };
		return post(`${decisionPoint}/allowed`, query, `X-Min-Revision: ${revision}`);
	};
	return `${firstKey(secret)}
Then paste these three commands:

1. Create a resource, a role with read permission, and a user with this role:

  ${creations.join(' &&\n  ')}

2. Check read access. The response contains "allow":true:

  ${check('read')}

3. Check write access. The response contains "allow":false:

  ${check('write')}
`;
}
