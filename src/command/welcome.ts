/** Where a running process is reached. */
export interface Addresses {
	readonly api: string | null;
	readonly decision_point: string | null;
}

/** What every start prints: one line per address. */
export function addressLines({ api, decision_point }: Addresses): string {
	const lines = [
		...(api === null ? [] : [`  API             ${api}    (its reference: ${api}/docs)`]),
		...(decision_point === null ? [] : [`  Decision point  ${decision_point}`]),
	];
	return `Regolith is running.\n\n${lines.join('\n')}\n`;
}

/** What a first start prints if no decision point serves the environment `dev`: its key. */
export function firstKey(secret: string): string {
	return `\nThe API key of the environment \`dev\` (this is the only time it is printed; \`npx regolith keys create\` makes more):\n\n  ${secret}\n`;
}

/** What a first start prints otherwise: the key of the environment `dev`, and three commands to paste. */
export function firstSteps(api: string, decisionPoint: string, secret: string): string {
	const post = (url: string, body: object, ...headers: readonly string[]) => {
		const all = [`Authorization: Bearer ${secret}`, 'Content-Type: application/json', ...headers];
		const options = [...all.map((header) => `-H '${header}'`), `-d '${JSON.stringify(body)}'`];
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
Three commands to paste into another terminal:

1. Create a resource, a role that may read it, and a user who has the role:

  ${creations.join(' &&\n  ')}

2. Ask whether the user may read. The answer says "allow":true:

  ${check('read')}

3. Ask whether the user may write. The answer says "allow":false:

  ${check('write')}
`;
}
