import { Validator } from '@seriousme/openapi-schema-validator';
import test from 'ava';
import { client } from '../support/client.js';
import { startStack } from '../support/stack.js';

/** A decision point describes itself, to anyone. */

test('the document is served, valid, and lists what the decision point serves', async (t) => {
	const stack = await startStack();
	t.teardown(stack.stop);
	const http = client(stack.decisionPoint.listening.url);
	const { status, body } = await http.get<{ openapi: string; paths: Record<string, object> }>('/openapi.json');
	t.is(status, 200);
	const { valid, errors } = await new Validator().validate(structuredClone(body));
	t.true(valid, JSON.stringify(errors));
	t.deepEqual(Object.keys(body.paths).sort(), [
		'/.well-known/authzen-configuration',
		'/.well-known/authzen-configuration/{path}',
		'/access/v1/evaluation',
		'/access/v1/evaluations',
		'/access/v1/search/action',
		'/access/v1/search/resource',
		'/access/v1/search/subject',
		'/allowed',
		'/allowed/all-tenants',
		'/allowed/bulk',
		'/allowed_url',
		'/authorized_users',
		'/data-updater/trigger',
		'/health',
		'/healthcheck',
		'/healthy',
		'/kong',
		'/local/role_assignments',
		'/metrics',
		'/nginx_allowed',
		'/openapi.json',
		'/operation_approvals/{operation_approval_id}/consume',
		'/policy-updater/trigger',
		'/ready',
		'/trino/allowed',
		'/trino/batch-column-masking',
		'/trino/row-filter',
		'/update_policy',
		'/update_policy_data',
		'/user-permissions',
		'/user-tenants',
		'/version',
	]);
	t.is((await http.get('/docs')).status, 200);
});
