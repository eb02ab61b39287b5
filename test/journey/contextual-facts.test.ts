// @rest

import test from 'ava';
import { client } from '../support/client.js';
import { fails } from '../support/failure.js';
import { facts, type Stack, schema, startStack } from '../support/stack.js';

/** The environment setting for contextual facts, from the API to decisions (docs/develop/contextual-facts.md). */

const environmentPath = '/v2/projects/default/envs/dev';

async function setSettings({ organization, reached }: Stack, settings: object) {
	const answer = await organization.patch(environmentPath, { settings });
	await reached(answer.revision);
	return answer;
}

const engineersRead = {
	user: 'ann',
	action: 'read',
	resource: { type: 'document', key: 'plan', tenant: 'acme' },
	contextual_facts: {
		role_assignments: [{ user: 'ann', role: 'member', resource_instance: 'team:engineers' }],
	},
};

test('groups in a token affect checks while the environment allows contextual facts', async (t) => {
	const stack = await startStack();
	t.teardown(stack.stop);
	const { environment: http, pdp, reached } = stack;
	const imported = await http.post(`${environmentPath}/import`, {
		format: 'regolith-environment',
		version: 1,
		schema: {
			resources: {
				team: { name: 'Team', actions: {}, roles: { member: { name: 'Member' } } },
				document: {
					name: 'Document',
					actions: { read: {} },
					relations: { readers: { name: 'Readers', subject_resource: 'team' } },
					roles: {
						reader: {
							name: 'Reader',
							permissions: ['read'],
							granted_to: {
								users_with_role: [{ role: 'member', on_resource: 'team', linked_by_relation: 'readers' }],
							},
						},
					},
				},
			},
		},
		facts: {
			tenants: { acme: { name: 'Acme' } },
			users: { ann: {} },
			resource_instances: { 'team:engineers': { tenant: 'acme' }, 'document:plan': { tenant: 'acme' } },
			relationship_tuples: [{ subject: 'team:engineers', relation: 'readers', object: 'document:plan' }],
		},
	});
	t.is(imported.status, 200, JSON.stringify(imported.body));
	await reached(imported.revision);
	t.is((await pdp.post('/allowed', engineersRead)).status, 403);
	fails(t, await setSettings(stack, { contextual_facts: 'yes' }), 422, 'contextual_facts');
	t.is((await setSettings(stack, { contextual_facts: true })).status, 200);
	t.is((await pdp.post('/allowed', engineersRead)).body['allow'], true);
	t.is((await pdp.post('/allowed', { ...engineersRead, contextual_facts: null })).body['allow'], false);

	const { dataApi } = stack.decisionPoint;
	const opa = client(dataApi?.url ?? '', stack.keys.environment);
	t.like((await opa.post('/v1/data/permit/root', { input: engineersRead })).body, { result: { allow: true } });
	const asDocument = { input: { user: 'ann', contextual_facts: engineersRead.contextual_facts } };
	t.like((await opa.post('/v1/data/permit/user_permissions', asDocument)).body, { code: 'invalid_parameter' });
	// `holdings` in the user of a request are ignored.
	const holdings = { team: { member: { 'team:engineers': null } } };
	const { contextual_facts: _, ...plain } = engineersRead;
	const claims = { input: { ...plain, user: { key: 'ann', holdings } } };
	t.like((await opa.post('/v1/data/permit/root', claims)).body, { result: { allow: false } });

	// A schema change keeps the setting, and contextual facts can use the new role.
	const made = await http.post(`${schema}/resources/team/roles`, { key: 'lead', name: 'Lead' });
	await reached(made.revision);
	const leads = { role_assignments: [{ user: 'ann', role: 'lead', resource_instance: 'team:engineers' }] };
	t.is((await pdp.post('/allowed', { ...engineersRead, contextual_facts: leads })).body['allow'], false);
	await setSettings(stack, { contextual_facts: false });
	t.is((await pdp.post('/allowed', engineersRead)).status, 403);
	await setSettings(stack, { contextual_facts: true });
	const { body } = await http.get<{ data: unknown[] }>(`${facts}/role_assignments?include_total_count=true`);
	t.deepEqual(body.data, [], 'contextual facts are not stored');
	const check = { ...engineersRead, revision: made.revision };
	fails(t, await http.post(`${environmentPath}/explanation`, check), 422, 'contextual_facts');
});
