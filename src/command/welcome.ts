import { programCommand } from './program-command.js';

/** Where a running process is reached. */
export interface Addresses {
	readonly api: string | null;
	readonly decision_point: string | null;
	/** What a browser opens to sign in to the console; `null` without an API. */
	readonly console: string | null;
}

/** Where the console of an API is; with a ticket, which is in no log of servers, because browsers send no fragments. */
export function consoleLink(api: string, ticket: string | null): string {
	return ticket === null ? `${api}/console` : `${api}/console#ticket=${ticket}`;
}

/** What every start prints: one line per address, and with an API, whose data is in this folder, how to get a key. */
export function addressLines({ api, decision_point, console }: Addresses, dataDirectory: string): string {
	const lines = [
		...(console === null ? [] : [`  Console         ${console}`]),
		...(console === null || console.includes('#')
			? []
			: [`  To sign in      ${programCommand({ DATA_DIR: dataDirectory })} console`]),
		...(api === null ? [] : [`  API             ${api}    (its reference: ${api}/docs)`]),
		...(decision_point === null
			? []
			: [`  Decision point  ${decision_point}    (its reference: ${decision_point}/docs)`]),
		...(api === null ? [] : [`  A new API key   ${programCommand({ DATA_DIR: dataDirectory })} keys create`]),
	];
	return `Regolith is running.\n\n${lines.join('\n')}\n`;
}

/**
 * What a start prints, until it was printed once, if no decision point serves the environment `dev`: its key, as a command
 * that puts it into the environment.
 */
export function firstKey(secret: string): string {
	return `
The API key of the environment \`dev\`. It is printed this once; paste the line into another terminal:

  export PERMIT_API_KEY=${secret}
`;
}

/** What it prints otherwise: the same, and three commands to paste, which take the key from there. */
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
	// Revision 1 was the environment itself. If everything is pasted at once, the checks wait until the decision point
	// has it all.
	const revision = 1 + creations.length;
	const check = (action: string) => {
		const query = { user: 'alice', action, resource: { type: 'document', tenant: 'default' } };
		return post(`${decisionPoint}/allowed`, query, `X-Min-Revision: ${revision}`);
	};
	return `${firstKey(secret)}
Then three commands to paste there:

1. Create a resource, a role that may read it, and a user who has the role:

  ${creations.join(' &&\n  ')}

2. Ask whether the user may read. The answer says "allow":true:

  ${check('read')}

3. Ask whether the user may write. The answer says "allow":false:

  ${check('write')}
`;
}
