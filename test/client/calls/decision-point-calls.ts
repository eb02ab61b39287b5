import createClient from 'openapi-fetch';
import type { components, paths } from './decision-point.ts';

/**
 * Calls as a programmer would write them with the generated client and without a manual. They are compiled but never
 * executed.
 */

const client = createClient<paths>({
	baseUrl: 'http://127.0.0.1:7766',
	headers: { Authorization: 'Bearer permit_key_example' },
});

export async function checkBriefly(): Promise<boolean> {
	const { data } = await client.POST('/allowed', {
		body: { user: 'ann@example.com', action: 'read', resource: 'document:plan' },
	});
	return data?.allow ?? false;
}

export async function checkWithAttributes(revision: number): Promise<boolean> {
	const { data, response } = await client.POST('/allowed', {
		params: { header: { 'X-Min-Revision': revision, 'X-Debug': 'true' } },
		body: {
			user: { key: 'ann@example.com', email: 'ann@example.com', attributes: { level: 3, teams: ['red', 'blue'] } },
			action: 'read',
			resource: { type: 'document', key: 'plan', tenant: 'acme', attributes: { private: true, owner: { key: 'ann' } } },
			context: { ip: '192.0.2.1', at: { hour: 9 } },
		},
	});
	return data?.allow === true && Number(response.headers.get('X-Revision')) >= revision;
}

export async function whyNot(): Promise<readonly string[]> {
	const { data, error } = await client.POST('/allowed', {
		body: { user: 'ann@example.com', action: 'read', resource: { type: 'document' }, use_debugger: true },
	});
	if (error !== undefined) return [typeof error.detail === 'string' ? error.detail : 'malformed'];
	const tenant: string | undefined = data.query?.resource.tenant;
	const attributes: { readonly [name: string]: unknown } = data.debug?.request?.user.attributes ?? {};
	const sources = data.debug?.rebac?.allowing_roles?.flatMap(({ sources }) => sources.map(({ role }) => role)) ?? [];
	const rules = data.debug?.abac?.allowing_rules?.map(({ userset, role }) => userset ?? role ?? '') ?? [];
	return [tenant ?? '', ...Object.keys(attributes), data.debug?.rbac?.code ?? '', ...sources, ...rules];
}

export async function whatWouldHelp(): Promise<readonly components['schemas']['AttemptFact'][]> {
	const { data } = await client.POST('/allowed', {
		body: { user: 'ann@example.com', action: 'read', resource: 'document', use_debugger: 'attempts' },
	});
	for (const { chain } of data?.debug?.attempts ?? []) {
		for (const step of chain) {
			if (step.type === 'role_derivation') console.log(step.relation, step.subject);
		}
	}
	return data?.debug?.attempts?.[0]?.add ?? [];
}

export async function checkMany(): Promise<readonly boolean[]> {
	const { data } = await client.POST('/allowed/bulk', {
		body: [
			{ user: 'ann@example.com', action: 'read', resource: 'document:plan' },
			{ user: { key: 'ben' }, action: 'write', resource: { type: 'document', tenant: 'acme' } },
		],
	});
	return data?.allow.map(({ allow }) => allow) ?? [];
}

export async function checkManyInAnObject(): Promise<number> {
	const checks = [{ user: 'ann@example.com', action: 'read', resource: 'document' }];
	const { data } = await client.POST('/allowed/bulk', { body: { checks } });
	return data?.allow.length ?? 0;
}

export async function checkEverywhere(): Promise<readonly unknown[]> {
	const { data } = await client.POST('/allowed/all-tenants', {
		body: { user: 'ann@example.com', action: 'read', resource: { type: 'document' } },
	});
	return data?.allowed_tenants.map(({ tenant }) => tenant.attributes['region']) ?? [];
}

export async function checkUrl(): Promise<boolean> {
	const { data } = await client.POST('/allowed_url', {
		body: { user: 'ann@example.com', http_method: 'GET', url: 'https://api.example.com/documents/7', tenant: 'acme' },
	});
	return data?.allow ?? false;
}

export async function listPermissions(): Promise<readonly string[]> {
	const { data = {} } = await client.POST('/user-permissions', {
		body: {
			user: { key: 'ann@example.com', attributes: { level: 3 } },
			tenants: ['acme'],
			resource_types: ['document'],
		},
	});
	return Object.entries(data).flatMap(([object, { permissions }]) => permissions.map((one) => `${object} ${one}`));
}

export async function listTenants(): Promise<readonly string[]> {
	const { data } = await client.POST('/user-tenants', { body: { user: 'ann@example.com' } });
	return data?.map(({ key }) => key) ?? [];
}

export async function listUsers(): Promise<readonly string[]> {
	const { data } = await client.POST('/authorized_users', {
		body: { action: 'read', resource: 'document:plan', context: { enable_abac_authorized_users: true } },
	});
	return Object.entries(data?.users ?? {}).map(([user, grants]) => `${user} ${grants[0]?.role ?? ''}`);
}

export async function listRoles(): Promise<readonly string[]> {
	const { data } = await client.GET('/local/role_assignments', {
		params: { query: { user: 'ann@example.com', page: 1, per_page: 50 } },
	});
	return data?.map(({ role, resource_instance }) => `${role} ${resource_instance ?? ''}`) ?? [];
}

export async function evaluate(): Promise<boolean> {
	const { data } = await client.POST('/access/v1/evaluation', {
		params: { header: { 'X-Request-ID': 'bfe9eb29' } },
		body: {
			subject: { type: 'user', id: 'ann@example.com', properties: { level: 3 } },
			action: { name: 'read' },
			resource: { type: 'document', id: 'plan', properties: { tenant: 'acme' } },
			context: { time: '2026-01-31T08:00:00Z' },
		},
	});
	return data?.decision ?? false;
}

export async function evaluateMany(): Promise<readonly boolean[]> {
	const { data } = await client.POST('/access/v1/evaluations', {
		body: {
			subject: { type: 'user', id: 'ann@example.com' },
			resource: { type: 'document', id: 'plan' },
			evaluations: [{ action: { name: 'read' } }, { action: { name: 'write' }, context: { urgent: true } }],
			options: { evaluations_semantic: 'deny_on_first_deny' },
		},
	});
	return data !== undefined && 'evaluations' in data ? data.evaluations.map(({ decision }) => decision) : [];
}

export async function search(): Promise<readonly string[]> {
	const { data } = await client.POST('/access/v1/search/resource', {
		body: {
			subject: { type: 'user', id: 'ann@example.com' },
			action: { name: 'read' },
			resource: { type: 'document' },
			page: { limit: 10 },
		},
	});
	return [...(data?.results.map(({ id }) => id) ?? []), data?.page?.next_token ?? ''];
}

export async function checkForNginx(): Promise<number> {
	const { response } = await client.POST('/nginx_allowed', {
		params: {
			header: {
				'permit-user-key': 'ann@example.com',
				'permit-tenant-id': 'acme',
				'permit-action': 'read',
				'permit-resource-type': 'document',
			},
			query: { deny_status: '403' },
		},
	});
	return response.status;
}

export async function checkForTrino(): Promise<boolean | number[]> {
	const { data } = await client.POST('/trino/allowed', {
		body: {
			input: {
				context: { identity: { user: 'ann@example.com' } },
				action: {
					operation: 'SelectFromColumns',
					resource: { table: { catalogName: 'lake', schemaName: 'sales', tableName: 'orders', columns: ['price'] } },
				},
			},
		},
	});
	return data?.result ?? false;
}

export async function isReady(): Promise<boolean> {
	const { data } = await client.GET('/ready');
	return data?.status === 'ok' && data.degraded === null;
}

export async function wrongCalls(): Promise<void> {
	// @ts-expect-error: `user` is required
	await client.POST('/allowed', { body: { action: 'read', resource: 'document' } });
	// @ts-expect-error: `user` must be a string or an object
	await client.POST('/allowed', { body: { user: 5, action: 'read', resource: 'document' } });
	await client.POST('/allowed', {
		// @ts-expect-error: a revision must be a number or a token
		params: { header: { 'X-Min-Revision': true } },
		body: { user: 'ann@example.com', action: 'read', resource: 'document' },
	});
	// @ts-expect-error: the headers with the check are required
	await client.POST('/nginx_allowed', { params: { query: { deny_status: '403' } } });
}
