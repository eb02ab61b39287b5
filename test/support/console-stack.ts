import type { Answer, Loose } from './client.js';
import { freePort } from './ports.js';
import { facts, type Stack, schema, startStack } from './stack.js';

/** Starts a stack whose console uses the stack's decision point. The decision point logs all decisions. */
export async function startConsoleStack(more: Readonly<Record<string, string>> = {}): Promise<Stack> {
	const port = String(await freePort());
	return startStack('server', {
		PDP_PORT: port,
		CONSOLE_PDP_URL: `http://127.0.0.1:${port}`,
		PDP_DECISION_LOG: 'api',
		PDP_DECISION_LOG_SAMPLING: '[]',
		...more,
	});
}

/** User key with markup and a text direction override. Checks may name this key, but no user can have it. */
export const hostileUser = '<script>alert(1)</script>\u202eresu';

/**
 * Creates the scene. Folders contain documents, and folder editors are editors of the documents inside. Ann is an
 * editor on the folder `plans`, which contains the document `budget`. Bob has no role. Seniors (users from level 3) may
 * sign contracts.
 */
export async function setDocumentScene({ environment, reached }: Stack): Promise<void> {
	const made = async (path: string, body: object): Promise<Answer<Loose>> => {
		const answer = await environment.post(path, body);
		if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
		return answer;
	};
	await made(`${schema}/resources`, { key: 'folder', name: 'Folder', actions: { list: {} } });
	await made(`${schema}/resources`, {
		key: 'document',
		name: 'Document',
		actions: { read: {}, sign: {} },
		attributes: { kind: { type: 'string' } },
	});
	await made(`${schema}/resources/folder/roles`, { key: 'editor', name: 'Editor', permissions: ['list'] });
	await made(`${schema}/resources/document/roles`, { key: 'editor', name: 'Editor', permissions: ['read'] });
	await made(`${schema}/resources/document/relations`, { key: 'parent', name: 'Parent', subject_resource: 'folder' });
	await made(`${schema}/resources/document/roles/editor/implicit_grants`, {
		role: 'editor',
		on_resource: 'folder',
		linked_by_relation: 'parent',
	});
	await made(`${schema}/roles`, { key: 'reader', name: 'Reader', permissions: ['document:read'] });
	await made(`${schema}/users/attributes`, { key: 'level', type: 'number' });
	await made(`${schema}/condition_sets`, {
		key: 'seniors',
		name: 'Seniors',
		type: 'userset',
		conditions: { allOf: [{ 'user.level': { 'greater-than-equals': 3 } }] },
	});
	await made(`${schema}/condition_sets`, {
		key: 'contracts',
		name: 'Contracts',
		type: 'resourceset',
		resource_id: 'document',
		conditions: { allOf: [{ 'resource.kind': { equals: 'contract' } }] },
	});
	await made(`${facts}/set_rules`, { user_set: 'seniors', permission: 'document:sign', resource_set: 'contracts' });
	await made(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	for (const key of ['ann', 'bob']) await made(`${facts}/users`, { key });
	await made(`${facts}/resource_instances`, { key: 'plans', resource: 'folder', tenant: 'acme' });
	await made(`${facts}/resource_instances`, { key: 'budget', resource: 'document', tenant: 'acme' });
	await made(`${facts}/relationship_tuples`, {
		subject: 'folder:plans',
		relation: 'parent',
		object: 'document:budget',
	});
	const { revision } = await made(`${facts}/role_assignments`, {
		user: 'ann',
		role: 'editor',
		resource_instance: 'folder:plans',
	});
	await reached(revision);
}
