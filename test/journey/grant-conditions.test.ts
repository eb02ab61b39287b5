// @rest

import { undoNewest } from '../support/drafts.js';
import { onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import type { Place } from '../support/management.js';

/** Conditional assignments (docs/policy/grant-conditions.md). */

const journey = onEachStore();

const set = {
	key: 'below_limit',
	name: 'Up to the limit',
	type: 'grant',
	parameters: { limit: { type: 'number' } },
	conditions: { 'context.amount': { 'less-than-equals': { ref: 'grant.limit' } } },
};

const furniture = {
	format: 'regolith-environment',
	version: 1,
	schema: {
		resources: {
			account: {
				name: 'Account',
				actions: { pay: {} },
				roles: {
					payer: { name: 'Payer', permissions: ['pay'], grant_conditions: ['below_limit'] },
					viewer: { name: 'Viewer' },
				},
			},
		},
		condition_sets: { below_limit: { name: set.name, type: 'grant', ...pick(set) } },
	},
	facts: {
		tenants: { acme: { name: 'Acme' } },
		users: { ann: {}, ben: {} },
		resource_instances: { 'account:a': { tenant: 'acme' } },
		role_assignments: [
			{
				user: 'ann',
				role: 'payer',
				resource_instance: 'account:a',
				condition: { set: 'below_limit', values: { limit: 500 } },
			},
		],
	},
};

function pick({ parameters, conditions }: typeof set) {
	return { parameters, conditions };
}

async function furnished(place: Place): Promise<string> {
	const env = `/v2/projects/${place.project}/envs/${place.key}`;
	const { status, body } = await place.http.post(`${env}/import`, furniture);
	if (status !== 200) throw new Error(JSON.stringify(body));
	return env;
}

const onAccount = { user: 'ben', role: 'payer', resource_instance: 'account:a' };
const under = (values: object, key = 'below_limit') => ({ ...onAccount, condition: { set: key, values } });

journey(
	'a set of type grant has parameters, and mistakes in its conditions are reported',
	async (t, { http, schema }) => {
		const sets = `${schema}/condition_sets`;
		const made = await http.post(sets, set);
		t.is(made.status, 200, JSON.stringify(made.body));
		t.like(made.body, { type: 'grant', parameters: set.parameters, resource: null });
		const wrong: readonly (readonly [conditions: object, place: string, text: RegExp])[] = [
			[
				{ 'context.amount': { equals: { ref: 'grant.limt' } } },
				'body.conditions.context.amount.equals.ref',
				/parameters are `limit`/,
			],
			[{ 'resource.owner': { equals: 1 } }, 'body.conditions.resource.owner', /cannot read the resource/],
			[
				{ 'user.key': { equals: { ref: 'resource.key' } } },
				'body.conditions.user.key.equals.ref',
				/cannot read the resource/,
			],
			[{ 'user.resource_roles': { array_contains: 'a' } }, 'body.conditions.user.resource_roles', /resource_id/],
		];
		for (const [index, [conditions, where, text]] of wrong.entries()) {
			const answer = await http.post(sets, { ...set, key: `wrong-${index}`, conditions });
			fails(t, answer, 422);
			t.deepEqual(problemPlaces(answer), [where]);
			t.regex(JSON.stringify(answer.body), text);
		}
		const elsewhere = { 'user.key': { equals: { ref: 'grant.limit' } } };
		fails(t, await http.post(sets, { key: 'users', name: 'U', conditions: elsewhere }), 422, 'type `grant`');
		fails(t, await http.post(sets, { key: 'users', name: 'U', parameters: set.parameters }), 422, 'type `grant`');
		fails(t, await http.post(sets, { ...set, key: 'child', parent_id: 'below_limit' }), 422);
		t.is((await http.patch(`${sets}/below_limit`, { description: 'For payers' })).status, 200);
	},
);

journey('a conditional assignment is separate, and its values must fit the parameters', async (t, place) => {
	const { http, facts } = place;
	await furnished(place);
	const assignments = `${facts}/role_assignments`;
	const wrong: readonly (readonly [body: object, place: string])[] = [
		[under({}), 'body.condition.values.limit'],
		[under({ limit: '500' }), 'body.condition.values.limit'],
		[under({ limit: 1, more: 2 }), 'body.condition.values.more'],
		[under({ limit: 1 }, 'unknown'), 'body.condition.set'],
		[{ ...under({ limit: 1 }), role: 'viewer' }, 'body.condition.set'],
	];
	for (const [body, where] of wrong) {
		const answer = await http.post(assignments, body);
		fails(t, answer, 422);
		t.deepEqual(problemPlaces(answer), [where]);
		const bulk = await http.post(`${assignments}/bulk`, [onAccount, body]);
		t.deepEqual(problemPlaces(bulk), [where.replace('body', 'body.1')]);
	}
	const given = await http.post(assignments, under({ limit: 100 }));
	t.is(given.status, 200, JSON.stringify(given.body));
	t.like(given.body, { condition: { set: 'below_limit', values: { limit: 100 } } });
	fails(t, await http.post(assignments, under({ limit: 100 })), 409);
	t.like((await http.post(assignments, under({ limit: 200 }))).body, { condition: { values: { limit: 200 } } });
	const plain = await http.post<object>(assignments, onAccount);
	t.is(plain.status, 200);
	t.false('condition' in plain.body, 'without a condition, the response has no `condition` field');
	const listed = await http.get<readonly object[]>(`${assignments}?user=ben`);
	t.is(listed.body.length, 2);
	const conditional = await http.get<readonly object[]>(`${assignments}?user=ben&conditional=true`);
	t.deepEqual(
		conditional.body,
		listed.body.filter((row) => 'condition' in row),
	);
	t.is((await http.delete(assignments, onAccount)).status, 204);
	fails(t, await http.delete(assignments, onAccount), 404);
	t.is((await http.delete(assignments, { ...onAccount, condition: { set: 'below_limit' } })).status, 204);
	t.deepEqual((await http.get(`${assignments}?user=ben`)).body, []);
});

journey('a declared set cannot be deleted, and a used declaration cannot be removed', async (t, place) => {
	const { http, schema } = place;
	const env = await furnished(place);
	const role = `${schema}/resources/account/roles/payer`;
	fails(t, await http.delete(`${schema}/condition_sets/below_limit`), 409, '`account#payer`');
	fails(t, await http.patch(role, { grant_conditions: [] }), 409, '`below_limit`');
	fails(t, await http.patch(role, { grant_conditions: ['unknown'] }), 422, '`unknown`');
	fails(t, await http.patch(`${schema}/condition_sets/below_limit`, { parameters: {} }), 409, '`below_limit`');
	const { body: whole } = await http.get<typeof furniture>(`${env}/export`);
	t.deepEqual(whole.facts.role_assignments, furniture.facts.role_assignments, 'the export has conditions and values');
	t.deepEqual(whole.schema.condition_sets.below_limit.parameters, set.parameters);
	const { condition_sets: _, ...schemaWithout } = whole.schema;
	const without = { ...whole, schema: schemaWithout };
	fails(t, await http.post(`${env}/import?conflict_strategy=replace`, without), 409, '`below_limit`');
	t.is((await http.post(`${env}/import?conflict_strategy=replace`, whole)).status, 200);
});

journey('no set can exclude a role that users hold conditionally, in any order of writes', async (t, place) => {
	const { http, schema } = place;
	await furnished(place);
	const sets = `${schema}/condition_sets`;
	const conditions = (key: string) => ({ not: { 'user.resource_roles': { array_contains: key } } });
	const excluding = { key: 'others', name: 'Others', resource_id: 'account' };
	fails(t, await http.post(sets, { ...excluding, conditions: conditions('payer') }), 422, '`account#payer`');
	t.is((await http.post(sets, { ...excluding, conditions: conditions('viewer') })).status, 200);
	const viewer = `${schema}/resources/account/roles/viewer`;
	fails(t, await http.patch(viewer, { grant_conditions: ['below_limit'] }), 422, '`others`');
});

journey('no computed role can exclude a role that may be conditional, in any order of writes', async (t, place) => {
	const { http, schema } = place;
	await furnished(place);
	const roles = `${schema}/resources/account/roles`;
	const named = { key: 'reader', name: 'Reader' };
	const excluding = (role: string) => ({ allOf: ['owner', { not: role }] });
	t.is((await http.post(roles, { key: 'owner', name: 'Owner' })).status, 200);
	fails(t, await http.post(roles, { ...named, computed: excluding('payer') }), 422, '`account#payer`');
	const paying = { key: 'paying', name: 'Paying', computed: { allOf: ['payer'] } };
	t.is((await http.post(roles, paying)).status, 200, 'a role outside `not` may have conditions');
	fails(t, await http.post(roles, { ...named, computed: excluding('paying') }), 422, '`account#paying`');
	t.is((await http.post(roles, { ...named, computed: excluding('viewer') })).status, 200);
	fails(t, await http.patch(`${roles}/viewer`, { grant_conditions: ['below_limit'] }), 422, '`account#reader`');
	t.is((await http.patch(`${roles}/owner`, { grant_conditions: ['below_limit'] })).status, 200);
	const declared = await http.patch(`${roles}/reader`, { grant_conditions: ['below_limit'] });
	fails(t, declared, 422);
	t.deepEqual(problemPlaces(declared), ['body.grant_conditions']);
});

journey('undoing deletions restores conditional assignments, declarations and parameters', async (t, place) => {
	const { http, facts, schema } = place;
	const env = await furnished(place);
	const undo = async () => {
		const { status, body } = await undoNewest(place);
		t.is(status, 200, JSON.stringify(body));
	};
	const held = async () => (await http.get<readonly object[]>(`${facts}/role_assignments?user=ben`)).body;
	await http.post(`${facts}/role_assignments`, under({ limit: 100 }));
	await http.post(`${facts}/role_assignments`, under({ limit: 200 }));
	await undo();
	t.like((await held())[0], { condition: { values: { limit: 100 } } });
	await http.delete(`${facts}/role_assignments`, under({}));
	await undo();
	t.like((await held())[0], { condition: { values: { limit: 100 } } });

	const other = { ...set, key: 'other', parameters: { code: { type: 'string' } }, conditions: {} };
	t.is((await http.post(`${schema}/condition_sets`, other)).status, 200);
	await http.patch(`${schema}/condition_sets/other`, { parameters: {} });
	await undo();
	t.like((await http.get(`${schema}/condition_sets/other`)).body, { parameters: other.parameters });
	const role = `${schema}/resources/account/roles/viewer`;
	await http.patch(role, { grant_conditions: ['other'] });
	await http.patch(role, { grant_conditions: [] });
	await undo();
	t.like((await http.get(role)).body, { grant_conditions: ['other'] });
	const base_revision = await place.revision();
	const changes = [{ kind: 'condition_set', key: 'other', operation: 'delete' }];
	fails(t, await http.post(`${env}/drafts/apply`, { base_revision, changes }), 409, '`other`');
});

journey('requests that cannot evaluate a condition are rejected', async (t, place) => {
	const { http, facts, schema } = place;
	const env = await furnished(place);
	const preview = `${schema}/condition_sets/preview`;
	fails(t, await http.post(preview, { condition_set: 'below_limit' }), 422, 'has no preview');
	fails(t, await http.post(preview, { type: 'grant', conditions: {} }), 422, 'has no preview');
	const payers = { 'user.resource_roles': { array_contains: 'payer' } };
	const asked = { conditions: payers, resource_id: 'account', resource: 'account:a' };
	const evaluate = async (user: string) => http.post(`${schema}/condition_sets/evaluate`, { ...asked, user });
	t.like(await evaluate('ben'), { status: 200, body: { matches: false } });
	t.regex(JSON.stringify((await evaluate('ann')).body), /depends on a conditional assignment/);

	const role = `${schema}/resources/account/roles/payer`;
	const grantable_to = [{ role: 'viewer', on_resource: 'account' }];
	t.is((await http.patch(role, { public: true, grantable_to })).status, 200);
	for (const user of ['*', 'account:a#viewer']) {
		const answer = await http.post(`${facts}/role_assignments`, { ...under({ limit: 1 }), user });
		fails(t, answer, 422);
		t.deepEqual(problemPlaces(answer), ['body.condition'], user);
	}
	t.is((await http.get(`${env}/export`)).status, 200);
});

journey('lists of users and group members distinguish conditional roles from other roles', async (t, place) => {
	const { http, facts, schema } = place;
	await furnished(place);
	await http.post(`${facts}/role_assignments`, { ...onAccount, user: 'ann' });
	const onA = { resource_instance: 'a', resource: 'account', role: 'payer' };
	const condition = { set: 'below_limit', values: { limit: 500 } };
	type Users = { readonly data: readonly { readonly associated_tenants: readonly object[] }[] };
	for (const path of ['users', 'tenants/acme/users']) {
		const listed = await http.get<Users>(`${facts}/${path}?include_resource_instance_roles=true&search=ann`);
		const [tenant] = listed.body.data[0]?.associated_tenants ?? [];
		const expected = [{ ...onA, condition }, onA];
		t.deepEqual(tenant, { tenant: 'acme', roles: [], status: 'active', resource_instance_roles: expected }, path);
	}

	const groups = `${schema}/groups`;
	const made = await http.post(groups, { group_instance_key: 'team', group_tenant: 'acme' });
	t.is(made.status, 200, JSON.stringify(made.body));
	await http.put(`${groups}/team/users/ann`, { tenant: 'acme' });
	await http.patch(`${schema}/resources/group/roles/member`, { grant_conditions: ['below_limit'] });
	const member = { user: 'ben', role: 'member', resource_instance: 'group:team', condition };
	t.is((await http.post(`${facts}/role_assignments`, member)).status, 200);
	const users = await http.get<{ readonly data: readonly { readonly key: string }[] }>(`${groups}/team/users`);
	t.deepEqual(
		users.body.data.map(({ key }) => key),
		['ann'],
	);
	t.is((await http.get<{ readonly users: readonly string[] }>(`${groups}/team`)).body.users.length, 1);
	fails(t, await http.delete(`${groups}/team/users/ben`, { tenant: 'acme' }), 404, 'GroupUser');
});
