// @rest

import { onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { furnished as importDocument } from '../support/furnished.js';
import type { Place } from '../support/management.js';

/** Computed roles (docs/policy/computed-roles.md). */

const journey = onEachStore();

const reader = { name: 'Reader', permissions: ['read'], computed: { allOf: ['viewer', { not: 'blocked' }] } };

const furniture = {
	format: 'regolith-environment',
	version: 1,
	schema: {
		resources: {
			folder: { name: 'Folder', actions: { read: {} }, roles: { viewer: { name: 'V' }, blocked: { name: 'B' } } },
			document: {
				name: 'Document',
				actions: { read: {} },
				relations: { parent: { name: 'Parent', subject_resource: 'folder' } },
				roles: {
					reader,
					viewer: {
						name: 'Viewer',
						granted_to: { users_with_role: [{ role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' }] },
					},
					blocked: { name: 'Blocked' },
					owner: { name: 'Owner' },
				},
			},
		},
	},
	facts: {
		tenants: { acme: { name: 'Acme' } },
		users: { ann: {}, ben: {} },
		resource_instances: { 'folder:f': { tenant: 'acme' }, 'document:d': { tenant: 'acme' } },
		relationship_tuples: [{ subject: 'folder:f', relation: 'parent', object: 'document:d' }],
		role_assignments: [
			{ user: 'ann', role: 'viewer', resource_instance: 'folder:f' },
			{ user: 'ben', role: 'blocked', resource_instance: 'document:d' },
			{ user: 'ben', role: 'viewer', resource_instance: 'folder:f' },
		],
	},
};

async function furnished(place: Place) {
	const { env } = await importDocument(place, furniture);
	return { roles: `${place.schema}/resources/document/roles`, env };
}

/** Rejected expressions, each with the location of the problem and a part of its message. */
const wrong: readonly (readonly [computed: unknown, place: string, text: RegExp])[] = [
	['viewer', 'body.computed', /must be an object/],
	[{}, 'body.computed', /allOf/],
	[{ allOf: ['viewer'], not: 'blocked' }, 'body.computed', /allOf/],
	[{ some: ['viewer'] }, 'body.computed.some', /unknown field/],
	[{ allOf: [] }, 'body.computed.allOf', /at least one/],
	[{ allOf: ['viewer', 7] }, 'body.computed.allOf.1', /key of a role/],
	[{ allOf: ['viewer', { not: 'a b' }] }, 'body.computed.allOf.1.not', /a-z/],
	[{ anyOf: Array.from({ length: 21 }, () => 'viewer') }, 'body.computed.anyOf', /at most 20/],
	[{ allOf: ['viewer', { not: 'bloked' }] }, 'body.computed.allOf.1.not', /did you mean "blocked"/],
	[{ not: 'blocked' }, 'body.computed', /outside `not`/],
	[{ anyOf: ['viewer', { not: 'blocked' }] }, 'body.computed', /outside `not`/],
	[{ allOf: ['viewer', 'self'] }, 'body.computed', /from itself: `self` from `self`/],
];

journey('a computed role is stored as written, and mistakes are reported with their locations', async (t, place) => {
	const { http } = place;
	const { roles, env } = await furnished(place);
	const stored = await http.get<{ readonly computed: unknown }>(`${roles}/reader`);
	t.deepEqual(stored.body.computed, reader.computed);
	const plain = await http.get<{ readonly computed: unknown }>(`${roles}/viewer`);
	t.is(plain.body.computed, null);
	const exported = await http.get<typeof furniture>(`${env}/export`);
	t.deepEqual(exported.body.schema.resources.document.roles.reader, reader);
	t.false(JSON.stringify(exported.body.schema.resources.document.roles.viewer).includes('computed'));

	for (const [computed, where, text] of wrong) {
		const answer = await http.post(roles, { key: 'self', name: 'Self', computed });
		fails(t, answer, 422);
		t.deepEqual(problemPlaces(answer), [where], JSON.stringify(computed));
		t.regex(JSON.stringify(answer.body).replaceAll('\\"', '"'), text);
	}
	const deep = [1, 2, 3, 4, 5].reduce<unknown>((inner) => ({ allOf: [inner] }), { not: 'viewer' });
	fails(t, await http.post(roles, { key: 'deep', name: 'Deep', computed: deep }), 422, 'nested');
	fails(
		t,
		await http.post(`${place.schema}/roles`, { key: 't', name: 'T', computed: reader.computed }),
		422,
		'resource',
	);

	const lead = { key: 'lead', name: 'Lead', computed: { allOf: ['reader', 'owner'] } };
	t.is((await http.post(roles, lead)).status, 200);
	const circular = await http.patch(`${roles}/reader`, { computed: { allOf: ['viewer', 'lead'] } });
	fails(t, circular, 422, 'from itself');
	const changed = await http.patch<{ readonly computed: unknown }>(`${roles}/reader`, {
		computed: { anyOf: ['owner'] },
	});
	t.deepEqual(changed.body.computed, { anyOf: ['owner'] });
	t.is((await http.patch<{ readonly computed: unknown }>(`${roles}/lead`, { computed: null })).body.computed, null);
});

journey('a computed role can be neither assigned nor derived, and its operands cannot be deleted', async (t, place) => {
	const { http, schema, facts } = place;
	const { roles, env } = await furnished(place);
	const assignment = { user: 'ann', role: 'reader', resource_instance: 'document:d' };
	fails(t, await http.post(`${facts}/role_assignments`, assignment), 400, '`viewer` and not `blocked`');
	const granted_to = { users_with_role: [{ role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' }] };
	fails(t, await http.patch(`${roles}/reader`, { granted_to }), 422, 'neither derived');
	fails(t, await http.patch(`${roles}/viewer`, { computed: { allOf: ['owner'] } }), 422, 'neither derived');
	const [rule] = granted_to.users_with_role;
	fails(t, await http.post(`${roles}/reader/implicit_grants`, rule), 422, 'computed');
	fails(t, await http.patch(`${roles}/blocked`, { computed: { allOf: ['viewer'] } }), 409, '`ben`');
	fails(
		t,
		await http.patch(`${schema}/resources/folder/roles/viewer`, { computed: { allOf: ['blocked'] } }),
		409,
		'`ann`',
	);
	const open = await http.patch(`${roles}/reader`, { public: true });
	fails(t, open, 422, 'never assigned');
	t.deepEqual(problemPlaces(open), ['body.public']);

	fails(t, await http.delete(`${roles}/blocked`), 409, '`reader`');
	const without = { reader, viewer: { name: 'Viewer' } };
	fails(t, await http.patch(`${schema}/resources/document`, { roles: without }), 422, 'blocked');
	const base_revision = await place.revision();
	const gone = { kind: 'resource_role', operation: 'delete', key: 'document:blocked' };
	fails(t, await http.post(`${env}/drafts/apply`, { base_revision, changes: [gone] }), 409, '`reader`');
	const { name, permissions } = reader;
	const fewer = {
		kind: 'resource_role',
		operation: 'update',
		key: 'document:reader',
		value: { name, permissions, computed: { allOf: ['viewer'] } },
	};
	const applied = await http.post(`${env}/drafts/apply`, { base_revision, changes: [gone, fewer] });
	t.is(applied.status, 200, JSON.stringify(applied.body));
	const undone = await http.get<{ readonly computed: unknown }>(`${roles}/reader`);
	t.deepEqual(undone.body.computed, { allOf: ['viewer'] });
});

journey('an expression can contain roles for everyone', async (t, place) => {
	const { http, facts, schema } = place;
	const { roles } = await furnished(place);
	const everywhere = { name: 'Everywhere', public: true };
	t.is((await http.patch(`${schema}/resources/folder/roles/viewer`, everywhere)).status, 200);
	for (const role of [
		{ key: 'hidden', name: 'Hidden', public: true },
		{ key: 'seen', name: 'Seen', computed: { allOf: ['viewer', { not: 'hidden' }] } },
		{ key: 'shown', name: 'Shown', computed: { allOf: ['viewer', 'seen'] } },
	]) {
		t.is((await http.post(roles, role)).status, 200);
	}
	const computed = async (user: string) => {
		const { body } = await http.get<{ data: readonly { role: string; source: string }[] }>(
			`${facts}/users/${user}/effective_roles`,
		);
		return body.data.filter(({ source }) => source === 'computed').map(({ role }) => role);
	};
	const selects = async (role: string, user: string) => {
		const conditions = { 'user.resource_roles': { array_contains: role } };
		const asked = { type: 'userset', resource_id: 'document', conditions, user, resource: 'document:d' };
		return (await http.post<{ matches: boolean }>(`${schema}/condition_sets/evaluate`, asked)).body.matches;
	};
	t.deepEqual([await selects('seen', 'ann'), await selects('shown', 'ann')], [true, true]);
	// Effective roles omit `seen` and `shown`, because only a check knows whether everyone holds the excluded `hidden`.
	t.deepEqual(await computed('ann'), ['reader']);
	const assigned = { user: '*', role: 'hidden', resource_instance: 'document:d' };
	t.is((await http.post(`${facts}/role_assignments`, assigned)).status, 200);
	t.deepEqual([await selects('seen', 'ann'), await selects('shown', 'ann')], [false, false]);
	t.deepEqual(await computed('ann'), ['reader']);
	const toEveryone = { user: '*', role: 'viewer', resource_instance: 'folder:f' };
	t.is((await http.post(`${facts}/role_assignments`, toEveryone)).status, 200);
	const unassigned = { user: 'ann', role: 'viewer', resource_instance: 'folder:f' };
	t.is((await http.delete(`${facts}/role_assignments`, unassigned)).status, 204);
	t.deepEqual([await selects('reader', 'ann'), await selects('reader', 'ben')], [true, false]);
	t.deepEqual(await computed('ann'), [], 'a role assigned to everyone is not listed as a user’s own role');
});

journey('the lookups for nested computed roles are limited', async (t, place) => {
	const { http } = place;
	const { roles } = await furnished(place);
	const twenty = (role: string) => ({ anyOf: Array.from({ length: 20 }, () => role) });
	const wide = (key: string, role: string) => http.post(roles, { key, name: key, computed: twenty(role) });
	t.is((await wide('one', 'viewer')).status, 200);
	const two = await wide('two', 'one');
	fails(t, two, 422, '`two` would take more than 100 role lookups');
	t.deepEqual(problemPlaces(two), ['body.computed']);
	const top = { key: 'top', name: 'Top', computed: twenty('owner') };
	t.is((await http.post(roles, { ...top, computed: { anyOf: ['reader', ...Array(19).fill('owner')] } })).status, 200);
	t.is(
		(await http.post(roles, { key: 'chief', name: 'Chief', computed: { allOf: Array(4).fill('top') } })).status,
		200,
	);
	// A longer operand expression lengthens the expressions that use the operand.
	const longer = await http.patch(`${roles}/reader`, { computed: twenty('owner') });
	fails(t, longer, 422, 'the role `chief`');
	t.is((await http.patch(`${roles}/reader`, { computed: { anyOf: ['owner'] } })).status, 200);
});

journey('effective roles and evaluations include computed roles, and a path to one is rejected', async (t, place) => {
	const { http, facts, schema } = place;
	const { env } = await furnished(place);
	const effective = async (user: string) => {
		const { status, body } = await http.get<{
			readonly data: readonly { readonly role: string; readonly source: string }[];
		}>(`${facts}/users/${user}/effective_roles`);
		t.is(status, 200, JSON.stringify(body));
		return body.data.filter(({ source }) => source === 'computed').map(({ role }) => role);
	};
	t.deepEqual(await effective('ann'), ['reader']);
	t.deepEqual(await effective('ben'), []);
	const set = {
		type: 'userset',
		resource_id: 'document',
		conditions: { 'user.resource_roles': { array_contains: 'reader' } },
	};
	const matches = async (user: string) => {
		const asked = { ...set, user, resource: 'document:d' };
		const { status, body } = await http.post<{ readonly matches: boolean }>(`${schema}/condition_sets/evaluate`, asked);
		t.is(status, 200, JSON.stringify(body));
		return body.matches;
	};
	t.deepEqual([await matches('ann'), await matches('ben')], [true, false]);
	const path = `${env}/graph?mode=path&from=user:ann&to=instance:document:d%23reader`;
	const answer = await http.get(path);
	fails(t, answer, 422, '`viewer` and not `blocked`');
});

journey('undoing a change restores a role’s expression, and keeps a public role public', async (t, place) => {
	const { http } = place;
	const { roles, env } = await furnished(place);
	t.is((await http.patch(`${roles}/owner`, { public: true })).status, 200);
	const undone = async (role: string, change: object) => {
		t.is((await http.patch(`${roles}/${role}`, change)).status, 200);
		const base_revision = await place.revision();
		const undo = await http.post<{ readonly changes: readonly object[] }>(`${env}/changes/${base_revision}/undo`, {});
		const applied = await http.post(`${env}/drafts/apply`, { base_revision, changes: undo.body.changes });
		t.is(applied.status, 200, JSON.stringify(applied.body));
		return (await http.get<{ readonly computed: unknown; readonly public: boolean }>(`${roles}/${role}`)).body;
	};
	t.deepEqual((await undone('reader', { computed: { anyOf: ['viewer'] } })).computed, reader.computed);
	t.true((await undone('owner', { name: 'Other' })).public);
});

const comment = {
	key: 'comment',
	name: 'Comment',
	actions: { read: {} },
	relations: { on: 'document', reply: 'comment' },
	roles: { reader: { name: 'Reader', permissions: ['read'] }, muted: { name: 'Muted' } },
};

journey('roles can be derived from computed roles, but not in a cycle', async (t, place) => {
	const { http, schema, facts } = place;
	const { env } = await furnished(place);
	t.is((await http.post(`${schema}/resources`, comment)).status, 200);
	const grants = (resource: string, role: string) => `${schema}/resources/${resource}/roles/${role}/implicit_grants`;
	const onDocument = { role: 'reader', on_resource: 'document', linked_by_relation: 'on' };
	t.is((await http.post(grants('comment', 'reader'), onDocument)).status, 200);
	const about = { key: 'about', name: 'About', subject_resource: 'comment' };
	t.is((await http.post(`${schema}/resources/folder/relations`, about)).status, 200);
	const back = { role: 'reader', on_resource: 'comment', linked_by_relation: 'about' };
	const circular = await http.post(grants('folder', 'viewer'), back);
	fails(t, circular, 422, '`reader` would be derived from itself through a computed role');
	const roles = { viewer: { name: 'V', granted_to: { users_with_role: [back] } }, blocked: { name: 'B' } };
	const folder = {
		name: 'Folder',
		actions: { read: {} },
		relations: { about: { name: 'About', subject_resource: 'comment' } },
		roles,
	};
	const imported = { format: furniture.format, version: 1, schema: { resources: { folder } } };
	fails(t, await http.post(`${env}/import?conflict_strategy=overwrite`, imported), 422, 'from itself');
	// Roles in a cycle can be derived from a computed role, if the cycle does not lead back to the computed role.
	const reply = { role: 'reader', on_resource: 'comment', linked_by_relation: 'reply' };
	t.is((await http.post(grants('comment', 'reader'), reply)).status, 200);

	// A role is derived from the computed role `author`, so a check looks up comment roles on several comments.
	const author = { key: 'author', name: 'Author', computed: { allOf: ['reader', { not: 'muted' }] } };
	t.is((await http.post(`${schema}/resources/comment/roles`, author)).status, 200);
	const thread = {
		key: 'thread',
		name: 'Thread',
		actions: {},
		relations: { of: 'comment' },
		roles: { a: { name: 'A' } },
	};
	t.is((await http.post(`${schema}/resources`, thread)).status, 200);
	const fromAuthor = { role: 'author', on_resource: 'comment', linked_by_relation: 'of' };
	t.is((await http.post(grants('thread', 'a'), fromAuthor)).status, 200);
	const interrupted = { ...reply, when: { no_direct_roles_on_object: true } };
	fails(t, await http.post(grants('comment', 'reader'), interrupted), 422, 'no_direct_roles_on_object');
	const settings = await http.put(`${grants('comment', 'reader')}/conditions`, { no_direct_roles_on_object: true });
	fails(t, settings, 422, 'no_direct_roles_on_object');

	for (const key of ['c', 'c2']) {
		const instance = { key, resource: 'comment', tenant: 'acme' };
		t.is((await http.post(`${facts}/resource_instances`, instance)).status, 200);
	}
	const on = { subject: 'document:d', relation: 'on', object: 'comment:c' };
	t.is((await http.post(`${facts}/relationship_tuples`, on)).status, 200);
	const replies = { subject: 'comment:c', relation: 'reply', object: 'comment:c2' };
	t.is((await http.post(`${facts}/relationship_tuples`, replies)).status, 200);
	const effective = async (user: string) => {
		const { body } = await http.get<{
			readonly data: readonly {
				readonly role: string;
				readonly resource_instance: string;
				readonly source: string;
				readonly through: readonly { readonly role: string }[];
			}[];
		}>(`${facts}/users/${user}/effective_roles`);
		return body.data.map((one) => [
			one.role,
			one.resource_instance,
			one.source,
			one.through.map(({ role }) => role).join(),
		]);
	};
	t.deepEqual(await effective('ann'), [
		['viewer', 'folder:f', 'direct', ''],
		['viewer', 'document:d', 'derived', 'viewer'],
		['reader', 'comment:c', 'derived', 'reader'],
		['reader', 'comment:c2', 'derived', 'reader,reader'],
		['author', 'comment:c', 'computed', ''],
		['author', 'comment:c2', 'computed', ''],
		['reader', 'document:d', 'computed', ''],
	]);
	t.deepEqual(
		(await effective('ben')).map(([role]) => role),
		['blocked', 'viewer', 'viewer'],
	);
	const path = await http.get(`${env}/graph?mode=path&from=user:ann&to=instance:comment:c%23reader`);
	fails(t, path, 422, 'derived from a computed role');
	const set = {
		type: 'userset',
		resource_id: 'comment',
		conditions: { 'user.resource_roles': { array_contains: 'reader' } },
		user: 'ann',
		resource: 'comment:c',
	};
	fails(t, await http.post(`${schema}/condition_sets/evaluate`, set), 400, 'derived from a computed role');
});

journey('paths through computed roles are rejected if they repeat too many lookups', async (t, place) => {
	const { http, schema } = place;
	await furnished(place);
	t.is((await http.post(`${schema}/resources`, comment)).status, 200);
	const roles = `${schema}/resources/document/roles`;
	const grant = { role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' };
	t.is((await http.post(`${roles}/owner/implicit_grants`, grant)).status, 200);
	const twelve = { allOf: Array.from({ length: 12 }, () => 'viewer') };
	t.is((await http.patch(`${roles}/reader`, { computed: twelve })).status, 200);
	const onDocument = { role: 'reader', on_resource: 'document', linked_by_relation: 'on' };
	const reader = `${schema}/resources/comment/roles/reader/implicit_grants`;
	fails(t, await http.post(reader, onDocument), 422, 'too many times');
	t.is((await http.patch(`${roles}/reader`, { computed: { allOf: Array(3).fill('viewer') } })).status, 200);
	t.is((await http.post(reader, onDocument)).status, 200);
	fails(t, await http.patch(`${roles}/reader`, { computed: twelve }), 422, 'too many times');
});
