// @rest

import { onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { furnished as importDocument } from '../support/furnished.js';
import type { Place } from '../support/management.js';

/** User sets that name roles on the resource (docs/policy/condition-semantics.md: Roles on the resource). */

const journey = onEachStore();

const derivedFrom = (role: string) => ({
	granted_to: { users_with_role: [{ role, on_resource: 'folder', linked_by_relation: 'parent' }] },
});

/** Folders and documents with roles, and two users with roles on a document's folder. */
const furniture = {
	format: 'regolith-environment',
	version: 1,
	schema: {
		resources: {
			folder: { name: 'Folder', actions: { read: {} }, roles: { viewer: { name: 'V' }, blocked: { name: 'B' } } },
			document: {
				name: 'Document',
				actions: { read: {}, sign: {} },
				relations: { parent: { name: 'Parent', subject_resource: 'folder' } },
				roles: {
					viewer: { name: 'Viewer', ...derivedFrom('viewer') },
					blocked: { name: 'Blocked', ...derivedFrom('blocked') },
					approver: { name: 'Approver' },
				},
			},
		},
		user_attributes: { level: { type: 'number' } },
	},
	facts: {
		tenants: { acme: { name: 'Acme' } },
		users: { ann: {}, ben: {} },
		resource_instances: { 'folder:f': { tenant: 'acme' }, 'document:d': { tenant: 'acme' } },
		relationship_tuples: [{ subject: 'folder:f', relation: 'parent', object: 'document:d' }],
		role_assignments: [
			{ user: 'ann', role: 'viewer', resource_instance: 'folder:f' },
			{ user: 'ben', role: 'viewer', resource_instance: 'folder:f' },
			{ user: 'ben', role: 'blocked', resource_instance: 'folder:f' },
		],
	},
};

const holds = { 'user.resource_roles': { array_contains: 'viewer' } };
const lacks = { not: { 'user.resource_roles': { array_contains: 'blocked' } } };
const welcome = { key: 'welcome', name: 'Welcome', resource_id: 'document', conditions: { allOf: [holds, lacks] } };

async function furnished(place: Place) {
	const { env } = await importDocument(place, furniture);
	return { sets: `${place.schema}/condition_sets`, rules: `${place.facts}/set_rules`, env };
}

journey('a user set can name roles on its resource, and errors are located', async (t, place) => {
	const { http } = place;
	const { sets, rules } = await furnished(place);
	const made = await http.post(sets, welcome);
	t.is(made.status, 200, JSON.stringify(made.body));
	t.like(made.body, { type: 'userset', resource: { key: 'document' } });

	const wrong: readonly (readonly [conditions: object, place: string, text: RegExp])[] = [
		[
			{ allOf: [holds, { 'user.resource_roles': { array_superset: ['viewer', 'aprover'] } }] },
			'body.conditions.allOf.1.user.resource_roles.array_superset.1',
			/the resource "document" has no role "aprover": did you mean "approver"\?/,
		],
		[{ 'user.resource_roles': { equals: ['viewer'] } }, 'body.conditions.user.resource_roles.equals', /array_contains/],
		[
			{ 'user.level': { equals: { ref: 'user.resource_roles' } } },
			'body.conditions.user.level.equals.ref',
			/cannot be a `ref`/,
		],
	];
	for (const [index, [conditions, where, text]] of wrong.entries()) {
		const answer = await http.post(sets, { ...welcome, key: `wrong-${index}`, conditions });
		fails(t, answer, 422);
		t.deepEqual(problemPlaces(answer), [where]);
		t.regex(JSON.stringify(answer.body).replaceAll('\\"', '"'), text);
	}
	const unbound = await http.post(sets, { key: 'unbound', name: 'U', conditions: holds });
	fails(t, unbound, 422, '`user.roles`');
	fails(t, await http.post(sets, { ...welcome, key: 'none', conditions: {} }), 422, '`document`');
	fails(t, await http.patch(`${sets}/welcome`, { conditions: { 'user.resource_roles': { is: 1 } } }), 422);
	fails(t, await http.post(sets, { ...welcome, key: 'child', resource_id: 'folder', parent_id: 'welcome' }), 422);
	fails(t, await http.post(sets, { key: 'child', name: 'C', parent_id: 'welcome' }), 422, 'same resource');

	const rule = { user_set: 'welcome', permission: 'document:sign', resource_set: '__autogen_document' };
	t.is((await http.post(rules, rule)).status, 200);
	const foreign = { user_set: 'welcome', permission: 'folder:read', resource_set: '__autogen_folder' };
	fails(t, await http.post(rules, foreign), 422, '`welcome`');
});

journey('no request can remove a role while a set names it', async (t, place) => {
	const { http, schema } = place;
	const { sets, env } = await furnished(place);
	t.is((await http.post(sets, welcome)).status, 200);
	const revision = await place.revision();
	const role = `${schema}/resources/document/roles/blocked`;
	fails(t, await http.delete(role), 409, '`welcome`');
	fails(
		t,
		await http.patch(`${schema}/resources/document`, { roles: { viewer: { name: 'Viewer' } } }),
		409,
		'`welcome`',
	);
	const change = { kind: 'resource_role', operation: 'delete', key: 'document:blocked' };
	fails(t, await http.post(`${env}/drafts/apply`, { base_revision: revision, changes: [change] }), 409, '`welcome`');
	const { body: whole } = await http.get<typeof furniture>(`${env}/export`);
	const { blocked: _, ...roles } = whole.schema.resources.document.roles;
	const document = { ...whole.schema.resources.document, roles };
	const fewer = { ...whole, schema: { ...whole.schema, resources: { ...whole.schema.resources, document } } };
	fails(t, await http.post(`${env}/import?conflict_strategy=replace`, fewer), 409, '`welcome`');
	t.is((await http.get(role)).status, 200);

	// A draft can delete the role together with a change to the set.
	const others = { name: 'Welcome', type: 'userset', resource: 'document', conditions: holds };
	const both = [change, { kind: 'condition_set', operation: 'update', key: 'welcome', value: others }];
	const applied = await http.post(`${env}/drafts/apply`, { base_revision: revision, changes: both });
	t.is(applied.status, 200, JSON.stringify(applied.body));
	t.is((await http.get(role)).status, 404);
	t.is((await http.delete(`${schema}/resources/document`)).status, 204, 'the set is deleted with its resource');
	t.is((await http.get(`${sets}/welcome`)).status, 404);
});

journey('an evaluation includes derived roles, and a preview of all users is rejected', async (t, place) => {
	const { http } = place;
	const { sets } = await furnished(place);
	t.is((await http.post(sets, welcome)).status, 200);
	const ask = async (body: object) => {
		const { status, body: said } = await http.post<{ matches: boolean; trace: object }>(`${sets}/evaluate`, body);
		t.is(status, 200, JSON.stringify(said));
		return said;
	};
	const asked = { condition_set: 'welcome', resource: 'document:d' };
	const found = await ask({ ...asked, user: 'ann' });
	t.true(found.matches);
	t.regex(JSON.stringify(found.trace), /the user holds \\"viewer\\" on the resource/);
	const blocked = await ask({ ...asked, user: 'ben' });
	t.false(blocked.matches);
	t.regex(JSON.stringify(blocked.trace), /the user holds \\"blocked\\" on the resource/);
	t.false((await ask({ ...asked, user: { key: 'nobody', attributes: { resource_roles: ['viewer'] } } })).matches);
	t.true((await ask({ type: 'userset', resource_id: 'document', conditions: lacks, user: 'ann' })).matches);
	const preview = await http.post(`${sets}/preview`, { condition_set: 'welcome' });
	fails(t, preview, 422, 'decision point');
});

journey('an import cannot bind a set to a resource while an unbound set narrows it', async (t, place) => {
	const { sets, env } = await furnished(place);
	const { http } = place;
	const staff = { key: 'staff', name: 'Staff', conditions: { 'user.level': { 'greater-than': 1 } } };
	t.is((await http.post(sets, { ...staff, type: 'userset' })).status, 200);
	const auditor = { key: 'auditors', name: 'A', type: 'userset', conditions: { 'user.level': { 'less-than': 9 } } };
	t.is((await http.post(sets, { ...auditor, parent_id: 'staff' })).status, 200);
	const bound = { name: 'Staff', type: 'userset', resource: 'document', conditions: holds };
	const document = { format: 'regolith-environment', version: 1, schema: { condition_sets: { staff: bound } } };
	const answer = await http.post(`${env}/import?conflict_strategy=overwrite`, document);
	fails(t, answer, 422, '`auditors`');
	t.like((await http.get(`${sets}/auditors`)).body, {
		parent_id: (await http.get<{ id: string }>(`${sets}/staff`)).body.id,
	});
});
