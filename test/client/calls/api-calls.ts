import createClient from 'openapi-fetch';
import type { paths } from './api.ts';

/**
 * Calls as a programmer would write them with the generated client and without a manual. They are compiled but never
 * executed.
 */

const client = createClient<paths>({
	baseUrl: 'http://127.0.0.1:8000',
	headers: { Authorization: 'Bearer permit_key_example' },
});

const path = { proj_id: 'default', env_id: 'dev' };

export async function createResource(): Promise<string | undefined> {
	const { data } = await client.POST('/v2/schema/{proj_id}/{env_id}/resources', {
		params: { path },
		body: {
			key: 'document',
			name: 'Document',
			actions: { read: {}, write: { name: 'Write', attributes: { dangerous: true } } },
			attributes: { private: { type: 'bool' } },
			roles: { editor: { name: 'Editor', permissions: ['read', 'write'] } },
			relations: { parent: 'folder' },
		},
	});
	return data?.actions['read']?.id;
}

export async function createUser(): Promise<number> {
	const { data, response } = await client.POST('/v2/facts/{proj_id}/{env_id}/users', {
		params: { path },
		body: {
			key: 'ann@example.com',
			first_name: 'Ann',
			attributes: { level: 3, teams: ['red'], address: { city: 'Lisbon' } },
			role_assignments: [{ role: 'editor', tenant: 'acme', expires_at: '2999-12-31T23:59:59Z' }],
		},
	});
	const level: unknown = data?.attributes['level'];
	return level === 3 ? Number(response.headers.get('X-Revision')) : 0;
}

export async function findUser(): Promise<string | null> {
	const { data, error } = await client.GET('/v2/facts/{proj_id}/{env_id}/users/{user_id}', {
		params: { path: { ...path, user_id: 'ann@example.com' } },
	});
	if (error !== undefined) return 'error_code' in error ? error.error_code : null;
	return data.email;
}

export async function changeTenant(): Promise<void> {
	await client.PATCH('/v2/facts/{proj_id}/{env_id}/tenants/{tenant_id}', {
		params: { path: { ...path, tenant_id: 'acme' } },
		body: { description: null, attributes: { region: 'eu', limits: { seats: 5 } } },
	});
}

export async function createConditionSet(): Promise<void> {
	await client.POST('/v2/schema/{proj_id}/{env_id}/condition_sets', {
		params: { path },
		body: {
			key: 'seniors',
			name: 'Seniors',
			type: 'userset',
			conditions: { allOf: [{ 'user.level': { 'greater-than': 2 } }] },
		},
	});
}

export async function listAssignments(): Promise<readonly string[]> {
	const { data } = await client.GET('/v2/facts/{proj_id}/{env_id}/role_assignments', {
		params: { path, query: { user: ['ann@example.com', 'ben'], per_page: 100 } },
	});
	if (data === undefined) return [];
	const list = 'data' in data ? data.data : data;
	return list.map((one) => (typeof one.role === 'string' ? one.role : one.role.key));
}

export async function relate(): Promise<string | undefined> {
	const { data } = await client.POST('/v2/facts/{proj_id}/{env_id}/relationship_tuples', {
		params: { path },
		body: { subject: 'folder:finance', relation: 'parent', object: 'document:budget', tenant: 'acme' },
	});
	return data?.subject_id;
}

export async function history(): Promise<readonly unknown[]> {
	const { data } = await client.GET('/v2/projects/{proj_id}/envs/{env_id}/changes', {
		params: { path, query: { kind: ['user', 'tenant'], revision_from: 3, page: 2 } },
	});
	return data?.data.map(({ key, before, after }) => [key, before?.['name'], after?.['name']]) ?? [];
}

export async function fetchBundle(environment_id: string): Promise<unknown> {
	const { data } = await client.GET('/bundles/{environment_id}', {
		params: { path: { environment_id }, header: { 'If-None-Match': '"r12-0"', Prefer: 'modes=snapshot;wait=30' } },
		parseAs: 'arrayBuffer',
	});
	return data;
}

export async function wrongCalls(): Promise<void> {
	// @ts-expect-error: `name` is required
	await client.POST('/v2/facts/{proj_id}/{env_id}/tenants', { params: { path }, body: { key: 'acme' } });
	await client.POST('/v2/schema/{proj_id}/{env_id}/condition_sets', {
		params: { path },
		// @ts-expect-error: `type` must be `userset` or `resourceset`
		body: { key: 'seniors', name: 'Seniors', type: 'usersets' },
	});
	// @ts-expect-error: `env_id` is required
	await client.GET('/v2/facts/{proj_id}/{env_id}/users', { params: { path: { proj_id: 'default' } } });
}
