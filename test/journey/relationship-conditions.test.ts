// @rest

import { undoNewest } from '../support/drafts.js';
import { onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import type { Place } from '../support/management.js';

/** Conditional relationships (docs/policy/grant-conditions.md). */

const journey = onEachStore();

const set = {
	name: 'Up to the limit',
	type: 'grant',
	parameters: { limit: { type: 'number' } },
	conditions: { 'context.amount': { 'less-than-equals': { ref: 'grant.limit' } } },
};
const condition = { set: 'below_limit', values: { limit: 500 } };
const pair = { subject: 'team:red', relation: 'shared', object: 'document:plan' };
const derivation = { role: 'member', on_resource: 'team', linked_by_relation: 'shared' };

const furniture = {
	format: 'regolith-environment',
	version: 1,
	schema: {
		resources: {
			team: { name: 'Team', roles: { member: { name: 'Member' } } },
			document: {
				name: 'Document',
				actions: { read: {} },
				relations: { shared: { name: 'Shared', subject_resource: 'team', grant_conditions: ['below_limit'] } },
				roles: {
					reader: { name: 'Reader', permissions: ['read'], granted_to: { users_with_role: [derivation] } },
					owner: { name: 'Owner' },
				},
			},
		},
		condition_sets: { below_limit: set },
	},
	facts: {
		tenants: { acme: { name: 'Acme' } },
		users: { ann: {} },
		resource_instances: { 'document:plan': { tenant: 'acme' }, 'team:red': { tenant: 'acme' } },
		relationship_tuples: [{ ...pair, condition }],
		role_assignments: [{ user: 'ann', role: 'member', resource_instance: 'team:red' }],
	},
};

async function furnished(place: Place): Promise<string> {
	const env = `/v2/projects/${place.project}/envs/${place.key}`;
	const { status, body } = await place.http.post(`${env}/import`, furniture);
	if (status !== 200) throw new Error(JSON.stringify(body));
	return env;
}

const under = (values: object, key = 'below_limit') => ({ ...pair, condition: { set: key, values } });

journey('a conditional relationship is separate, and its values must fit the parameters', async (t, place) => {
	const { http, schema, facts } = place;
	await furnished(place);
	const tuples = `${facts}/relationship_tuples`;
	await http.post(`${schema}/resources/document/relations`, { key: 'by', name: 'By', subject_resource: 'team' });
	const wrong: readonly (readonly [body: object, place: string])[] = [
		[under({}), 'condition.values.limit'],
		[under({ limit: '500' }), 'condition.values.limit'],
		[under({ limit: 1, more: 2 }), 'condition.values.more'],
		[under({ limit: 1 }, 'unknown'), 'condition.set'],
		[{ ...under({ limit: 1 }), relation: 'by' }, 'condition.set'],
	];
	for (const [body, where] of wrong) {
		const answer = await http.post(tuples, body);
		fails(t, answer, 422);
		t.deepEqual(problemPlaces(answer), [`body.${where}`]);
		const bulk = await http.post(`${tuples}/bulk`, { operations: [pair, body] });
		t.deepEqual(problemPlaces(bulk), [`body.operations.1.${where}`]);
	}
	fails(t, await http.post(tuples, under({ limit: 500 })), 409, 'under below_limit');
	const replaced = await http.post(tuples, under({ limit: 200 }));
	t.like(replaced.body, { condition: { set: 'below_limit', values: { limit: 200 } } });
	const plain = await http.post<object>(tuples, pair);
	t.is(plain.status, 200);
	t.false('condition' in plain.body, 'without a condition, the response has no `condition` field');

	const listed = await http.get<readonly object[]>(`${tuples}?subject=team:red`);
	t.is(listed.body.length, 2);
	const conditional = listed.body.filter((row) => 'condition' in row);
	t.deepEqual((await http.get(`${tuples}?conditional=true`)).body, conditional);
	const detailed = await http.get<{ readonly data: readonly object[] }>(`${tuples}/detailed?conditional=true`);
	t.like(detailed.body.data[0], { condition: { values: { limit: 200 } }, object_details: { key: 'plan' } });
	const instance = await http.get(`${facts}/resource_instances/document:plan?detailed=true`);
	t.like(instance.body, { relationships: [{ condition: { values: { limit: 200 } } }, pair] });

	t.is((await http.delete(tuples, pair)).status, 204);
	fails(t, await http.delete(tuples, pair), 404);
	const { body: stored } = await http.get<{ readonly id: string }>(`${schema}/condition_sets/below_limit`);
	const named = { ...pair, condition: { set: stored.id } };
	t.is((await http.delete(`${tuples}/bulk`, { idents: [{ ...pair, condition: { set: 'unknown' } }] })).status, 200);
	t.is((await http.delete(tuples, named)).status, 204);
	fails(t, await http.delete(tuples, named), 404);
	t.deepEqual((await http.get(tuples)).body, []);
});

journey('a relation declares conditions, and a declared set cannot be deleted', async (t, place) => {
	const { http, schema, facts } = place;
	const env = await furnished(place);
	const relations = `${schema}/resources/document/relations`;
	const created = { key: 'lent', name: 'Lent', subject_resource: 'team', grant_conditions: ['below_limit'] };
	t.like((await http.post(relations, created)).body, { grant_conditions: ['below_limit'] });
	const { body: plain } = await http.patch<object>(`${relations}/lent`, { grant_conditions: [] });
	t.false('grant_conditions' in plain, 'without conditions, the response has no `grant_conditions` field');
	fails(t, await http.post(relations, { ...created, key: 'other', grant_conditions: ['unknown'] }), 422, '`unknown`');
	t.like((await http.patch(`${relations}/shared`, { name: 'Shared with', description: 'Read by' })).body, {
		...{ name: 'Shared with', description: 'Read by', grant_conditions: ['below_limit'] },
	});
	t.like((await http.get(`${schema}/resources/document`)).body, {
		relations: { shared: { grant_conditions: ['below_limit'] } },
	});

	fails(t, await http.delete(`${schema}/condition_sets/below_limit`), 409, '`document:shared`');
	fails(t, await http.patch(`${relations}/shared`, { grant_conditions: [] }), 409, '`below_limit`');
	const unknown = await http.patch(`${relations}/shared`, { grant_conditions: ['below_limit', 'unknown'] });
	fails(t, unknown, 422);
	t.deepEqual(problemPlaces(unknown), ['body.grant_conditions.1']);
	fails(t, await http.patch(`${schema}/condition_sets/below_limit`, { parameters: {} }), 409, 'relationships');

	const { body: whole } = await http.get<typeof furniture>(`${env}/export`);
	t.deepEqual(whole.facts.relationship_tuples, furniture.facts.relationship_tuples);
	t.deepEqual(whole.schema.resources.document.relations.shared.grant_conditions, ['below_limit']);
	const replace = `${env}/import?conflict_strategy=replace`;
	t.is((await http.post(replace, whole)).status, 200);
	const changed = (change: (document: typeof furniture) => void) => {
		const copy = structuredClone(whole);
		change(copy);
		return copy;
	};
	const wrong: readonly (readonly [document: object, status: number, text: string])[] = [
		[changed(({ schema }) => Object.assign(schema, { condition_sets: {} })), 409, 'does not exist'],
		[
			changed(({ schema }) => Object.assign(schema.resources.document.relations.shared, { grant_conditions: [] })),
			409,
			'not declared',
		],
		[
			changed(({ facts }) => {
				facts.relationship_tuples = [{ ...pair, condition: { set: 'below_limit', values: { limit: Number.NaN } } }];
			}),
			422,
			'field required',
		],
	];
	for (const [document, status, text] of wrong) fails(t, await http.post(replace, document), status, text);

	t.is((await http.delete(`${facts}/resource_instances/team:red`)).status, 204);
	t.deepEqual((await http.get(`${facts}/relationship_tuples`)).body, [], 'with the instance');
	t.is((await http.patch(`${relations}/shared`, { grant_conditions: [] })).status, 200);
	t.is((await http.delete(`${schema}/condition_sets/below_limit`)).status, 204);
});

journey('roles from conditional relationships cannot be excluded, in any order of writes', async (t, place) => {
	const { http, schema } = place;
	await furnished(place);
	const sets = `${schema}/condition_sets`;
	const document = `${schema}/resources/document`;
	const not = (key: string) => ({ not: { 'user.resource_roles': { array_contains: key } } });
	const excluding = { key: 'others', name: 'Others', resource_id: 'document' };
	fails(t, await http.post(sets, { ...excluding, conditions: not('reader') }), 422, '`document#reader`');
	const computed = { key: 'guest', name: 'Guest', computed: { allOf: ['owner', { not: 'reader' }] } };
	fails(t, await http.post(`${document}/roles`, computed), 422, '`document#reader`');

	t.is((await http.post(sets, { ...excluding, conditions: not('owner') })).status, 200);
	const derived = { granted_to: { users_with_role: [derivation] } };
	fails(t, await http.patch(`${document}/roles/owner`, derived), 422, '`document#owner`');
	fails(t, await http.post(`${document}/roles/owner/implicit_grants`, derivation), 422, '`document#owner`');
	await http.post(`${document}/relations`, { key: 'held', name: 'Held', subject_resource: 'team' });
	const byHeld = { ...derivation, linked_by_relation: 'held' };
	t.is((await http.post(`${document}/roles/owner/implicit_grants`, byHeld)).status, 200);
	const declared = await http.patch(`${document}/relations/held`, { grant_conditions: ['below_limit'] });
	fails(t, declared, 422, '`others`');
	t.deepEqual(problemPlaces(declared), ['body.grant_conditions']);
});

journey('undoing restores conditional relationships and declarations', async (t, place) => {
	const { http, facts, schema } = place;
	await furnished(place);
	const undo = async () => {
		const { status, body } = await undoNewest(place);
		t.is(status, 200, JSON.stringify(body));
	};
	const tuples = `${facts}/relationship_tuples`;
	const limits = async () => {
		const { body } = await http.get<readonly { readonly condition?: typeof condition }[]>(tuples);
		return body.map((row) => row.condition?.values.limit ?? null);
	};
	await http.post(tuples, under({ limit: 200 }));
	await undo();
	t.deepEqual(await limits(), [500]);
	await http.delete(tuples, under({}));
	t.deepEqual(await limits(), []);
	await undo();
	t.deepEqual(await limits(), [500]);
	await http.post(tuples, pair);
	await undo();
	t.deepEqual(await limits(), [500], 'only the unconditional relationship was undone');

	const relation = `${schema}/resources/document/relations/shared`;
	await http.delete(relation);
	await undo();
	t.like((await http.get(relation)).body, { grant_conditions: ['below_limit'] });
	t.deepEqual(await limits(), [500]);
});

journey('graphs show conditions, and paths leave conditional relationships out', async (t, place) => {
	const { http, facts, schema } = place;
	await furnished(place);
	const env = `/v2/projects/${place.project}/envs/${place.key}`;
	const graph = `${env}/graph`;
	type Graph = { readonly edges: readonly { readonly relation?: string }[]; readonly paths: readonly object[] };
	const around = await http.get<Graph>(`${graph}?from=instance:document:plan`);
	const shown = around.body.edges.filter(({ relation }) => relation === 'shared');
	t.like(shown[0], { condition: 'below_limit' });
	const path = `${graph}?mode=path&from=user:ann&to=instance:document:plan%23reader`;
	t.deepEqual((await http.get<Graph>(path)).body.paths, []);
	const roles = `${facts}/users/ann/effective_roles`;
	const held = async () => {
		const { body } = await http.get<{ readonly data: readonly { readonly role: string }[] }>(roles);
		return body.data.map(({ role }) => role);
	};
	t.deepEqual(await held(), ['member']);
	const asked = {
		conditions: { 'user.resource_roles': { array_contains: 'reader' } },
		...{ resource_id: 'document', resource: 'document:plan', user: 'ann' },
	};
	const evaluate = `${schema}/condition_sets/evaluate`;
	fails(t, await http.post(evaluate, asked), 400, 'depends on a conditional assignment or relationship');
	await http.post(`${facts}/relationship_tuples`, pair);
	t.is((await http.get<Graph>(path)).body.paths.length, 1);
	t.deepEqual(await held(), ['member', 'reader']);
	t.like((await http.post(evaluate, asked)).body, { matches: true });
});

journey('groups have only roles without conditions', async (t, place) => {
	const { http, facts, schema } = place;
	await furnished(place);
	const groups = `${schema}/groups`;
	t.is((await http.post(groups, { group_instance_key: 'staff', group_tenant: 'acme' })).status, 200);
	const role = { resource: 'document', resource_instance: 'plan', role: 'owner', tenant: 'acme' };
	t.is((await http.post(`${groups}/staff/roles`, role)).status, 200);
	const { body } = await http.get<{ readonly data: readonly { readonly key: string }[] }>(
		`${schema}/resources/document/relations`,
	);
	const made = body.data.find(({ key }) => key !== 'shared');
	const relation = `${schema}/resources/document/relations/${made?.key}`;
	const declared = await http.patch(relation, { grant_conditions: ['below_limit'] });
	fails(t, declared, 422, 'created for groups');
	t.deepEqual(problemPlaces(declared), ['body.grant_conditions']);

	const own = { key: 'staffed', name: 'Staffed', subject_resource: 'group', grant_conditions: ['below_limit'] };
	t.is((await http.post(`${schema}/resources/document/relations`, own)).status, 200);
	const derived = { role: 'member', on_resource: 'group', linked_by_relation: 'staffed' };
	t.is((await http.post(`${schema}/resources/document/roles/reader/implicit_grants`, derived)).status, 200);
	const tuple = { subject: 'group:staff', relation: 'staffed', object: 'document:plan', condition };
	t.is((await http.post(`${facts}/relationship_tuples`, tuple)).status, 200);
	type Group = { readonly assigned_roles: readonly string[] };
	t.deepEqual((await http.get<Group>(`${groups}/staff`)).body.assigned_roles, ['document:plan#owner']);
	const taken = { ...role, role: 'reader' };
	fails(t, await http.delete(`${groups}/staff/roles`, taken), 404);
});
