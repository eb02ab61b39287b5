// @rest

import type { ExecutionContext } from 'ava';
import type { Loose } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { fails } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import type { Place } from '../support/management.js';
import { addRelation } from '../support/relation.js';

/** Roles derived from roles on related objects. */

const journey = onEachStore();

interface Rule extends Loose {
	readonly when: Loose;
}

interface Block {
	readonly id: string;
	readonly users_with_role: readonly Rule[];
	readonly when: Loose;
}

type Derived = Loose & { readonly id: string; readonly granted_to: Block | null };

const always = { no_direct_roles_on_object: false };
const unlessDirect = { no_direct_roles_on_object: true };
const fromFolder = { role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' };
const fromTeam = { role: 'member', on_resource: 'team', linked_by_relation: 'owner' };

/** Creates documents in folders, which may be nested, and the teams that own them. Each resource has a role. */
async function relatedResources(place: Place) {
	const { http, schema } = place;
	for (const [key, role] of [
		['document', 'reader'],
		['folder', 'viewer'],
		['team', 'member'],
	] as const) {
		await http.post(`${schema}/resources`, { key, name: key, actions: {}, roles: { [role]: { name: role } } });
	}
	await addRelation(place, 'document', 'parent', 'folder');
	await addRelation(place, 'document', 'owner', 'team');
	await addRelation(place, 'folder', 'parent', 'folder');
	const roles = (resource: string) => `${schema}/resources/${resource}/roles`;
	const grants = `${roles('document')}/reader/implicit_grants`;
	return { roles, reader: `${roles('document')}/reader`, grants, conditions: `${grants}/conditions` };
}

/** Returns a role's derivation rules in the form in which clients send them. */
function sentRules(t: ExecutionContext, role: Derived): readonly object[] {
	t.not(role.granted_to, null);
	return (role.granted_to?.users_with_role ?? []).map(({ role: source, on_resource, linked_by_relation, when }) => {
		return { role: source, on_resource, linked_by_relation, when };
	});
}

journey('a role can be created with its derivations, and is returned as created', async (t, place) => {
	const { http, schema } = place;
	const { roles } = await relatedResources(place);
	const ledger = await openLedger(t, place);
	const { body: folder } = await http.get<{ id: string }>(`${schema}/resources/folder`);
	const { body: viewer } = await http.get<{ id: string }>(`${roles('folder')}/viewer`);
	const byIds = { role: viewer.id, on_resource: folder.id.replaceAll('-', ''), linked_by_relation: 'parent' };
	const granted_to = { users_with_role: [fromTeam, { ...byIds, when: unlessDirect }, fromTeam], when: null };
	const body = { key: 'editor', name: 'Editor', granted_to };
	const made = await ledger.wrote(await http.post<Derived>(roles('document'), body));
	t.deepEqual(
		sentRules(t, made),
		[
			{ ...fromTeam, when: always },
			{ ...fromFolder, when: unlessDirect },
		],
		'by keys, in the order given, each once',
	);
	t.deepEqual(made.granted_to?.when, always);
	t.like(made.granted_to?.users_with_role[1], { role_id: viewer.id, resource_id: folder.id });
	t.deepEqual(await ledger.read(await http.get(`${roles('document')}/editor`)), made);

	const itself = { users_with_role: [fromFolder] };
	const nested = await ledger.wrote(await http.patch<Derived>(`${roles('folder')}/viewer`, { granted_to: itself }));
	t.deepEqual(sentRules(t, nested), [{ ...fromFolder, when: always }], 'from itself, on a different folder');
	await ledger.balanced();
});

journey('PATCH replaces derivations as a whole, and null removes them', async (t, place) => {
	const { http } = place;
	const { reader } = await relatedResources(place);
	const ledger = await openLedger(t, place);
	const both = { users_with_role: [fromFolder, fromTeam], when: unlessDirect };
	const first = await ledger.wrote(await http.patch<Derived>(reader, { granted_to: both }));
	t.deepEqual(
		sentRules(t, first),
		[fromFolder, fromTeam].map((rule) => ({ ...rule, when: always })),
	);
	t.deepEqual(first.granted_to?.when, unlessDirect);
	for (const nothing of [{}, { granted_to: both }, { granted_to: first.granted_to }]) {
		t.deepEqual(await ledger.kept(await http.patch<Derived>(reader, nothing)), first);
	}
	const { granted_to } = await ledger.wrote(await http.patch<Derived>(reader, { granted_to: {} }));
	t.deepEqual(
		granted_to,
		{ id: first.granted_to?.id ?? '', users_with_role: [], when: always },
		'the same block, reset',
	);
	await ledger.wrote(await http.patch(reader, { granted_to: both }));
	t.is((await ledger.wrote(await http.patch<Derived>(reader, { granted_to: null }))).granted_to, null);
	t.is((await ledger.kept(await http.patch<Derived>(reader, { granted_to: null }))).granted_to, null);
	await ledger.balanced();
});

journey('implicit grants can be added individually with their own settings, and removed', async (t, place) => {
	const { http } = place;
	const { reader, grants, conditions } = await relatedResources(place);
	const ledger = await openLedger(t, place);
	const read = async () => ledger.read(await http.get<Derived>(reader));
	t.is((await read()).granted_to, null);

	const rule = await ledger.wrote(await http.post<Rule>(grants, fromFolder));
	t.like(rule, fromFolder);
	t.deepEqual(rule.when, always);
	const { id } = (await read()).granted_to ?? {};
	t.deepEqual((await read()).granted_to, { id: id ?? '', users_with_role: [rule], when: always });
	await ledger.wrote(await http.post(grants, { ...fromTeam, when: unlessDirect }));
	t.deepEqual(await ledger.kept(await http.post<Rule>(grants, fromFolder)), rule, 'existing rules remain');
	const changed = await ledger.wrote(await http.post<Rule>(grants, { ...fromFolder, when: unlessDirect }));
	t.deepEqual(changed, { ...rule, when: unlessDirect }, 'but get the sent settings');

	t.deepEqual(await ledger.wrote(await http.put(conditions, unlessDirect)), unlessDirect);
	t.deepEqual(await ledger.kept(await http.put(conditions, unlessDirect)), unlessDirect);
	t.like((await read()).granted_to, { id, when: unlessDirect }, 'the block is unchanged');
	t.deepEqual(await ledger.wrote(await http.put(conditions, {})), always, 'absent fields are reset');

	await ledger.wrote(await http.delete(grants, fromFolder), 204);
	fails(t, await http.delete(grants, fromFolder), 404, 'viewer');
	t.deepEqual(sentRules(t, await read()), [{ ...fromTeam, when: unlessDirect }]);
	await ledger.wrote(await http.delete(grants, { ...fromTeam, when: always }), 204);
	t.deepEqual((await read()).granted_to, { id: id ?? '', users_with_role: [], when: always });
	await ledger.balanced();
});

journey('a derivation refers to a role, its resource, and a relation between both resources', async (t, place) => {
	const { http, schema } = place;
	const { roles, reader, grants, conditions } = await relatedResources(place);
	await http.post(`${schema}/roles`, { key: 'tenant-wide', name: 'Tenant wide' });
	const before = await place.revision();
	const wrong: readonly (readonly [rule: object, status: number, text: string])[] = [
		[{ ...fromFolder, role: 'nobody' }, 404, 'nobody'],
		[{ ...fromFolder, role: 'member' }, 404, 'member'],
		[{ ...fromFolder, role: 'tenant-wide' }, 404, 'tenant-wide'],
		[{ ...fromFolder, on_resource: 'nothing' }, 404, 'nothing'],
		[{ ...fromFolder, linked_by_relation: 'child' }, 404, 'child'],
		[{ ...fromFolder, linked_by_relation: 'owner' }, 400, 'owner'],
		[{ ...fromTeam, linked_by_relation: 'parent' }, 400, 'parent'],
	];
	for (const [rule, status, text] of wrong) {
		const granted_to = { users_with_role: [fromFolder, rule] };
		for (const answer of [
			await http.post(grants, rule),
			await http.delete(grants, rule),
			await http.patch(reader, { granted_to }),
			await http.post(roles('document'), { key: 'x', name: 'X', granted_to }),
			await http.patch(`${schema}/resources/document`, { roles: { x: { name: 'X', granted_to } } }),
			await http.put(`${schema}/bulk/roles`, {
				operations: [{ key: 'x', name: 'X', resource: 'document', granted_to }],
			}),
		]) {
			fails(t, answer, status, text);
			if (status === 400) t.is(answer.body['error_code'], 'MISMATCH_RELATION_TYPE');
		}
	}
	fails(t, await http.put(conditions.replace('reader', 'nobody'), {}), 404, 'nobody');
	t.is(await place.revision(), before, 'all or none');

	const granted_to = { users_with_role: [fromFolder] };
	for (const answer of [
		await http.post(`${schema}/roles`, { key: 'x', name: 'X', granted_to }),
		await http.patch(`${schema}/roles/tenant-wide`, { granted_to }),
	]) {
		fails(t, answer, 422, 'only resource roles can be derived');
	}
	const plain = await http.post(`${schema}/roles`, { key: 'x', name: 'X', granted_to: {} });
	t.is(plain.body['granted_to'], null, 'never an empty object');
});

journey('roles in a resource body and in bulk requests can also be derived', async (t, place) => {
	const { http, schema } = place;
	const { roles } = await relatedResources(place);
	const ledger = await openLedger(t, place);
	const inFolder = { users_with_role: [{ role: 'owner', on_resource: 'folder', linked_by_relation: 'parent' }] };
	const blocks = { viewer: { name: 'Viewer', granted_to: inFolder }, owner: { name: 'Owner' } };
	type Whole = { readonly roles: Record<string, Derived> };
	const whole = await ledger.wrote(await http.patch<Whole>(`${schema}/resources/folder`, { roles: blocks }));
	t.is(whole.roles['viewer']?.granted_to?.users_with_role[0]?.['role_id'], whole.roles['owner']?.id);
	t.deepEqual(await ledger.kept(await http.patch<Whole>(`${schema}/resources/folder`, { roles: blocks })), whole);

	const operations = [
		{ key: 'reader', name: 'Reader', resource: 'document', granted_to: inFolder },
		{ key: 'chief', name: 'Chief', resource: 'folder' },
	];
	await ledger.wrote(await http.put(`${schema}/bulk/roles`, { operations }));
	await ledger.kept(await http.put(`${schema}/bulk/roles`, { operations }));
	const reader = await http.get<Derived>(`${roles('document')}/reader`);
	t.is(reader.body.granted_to?.users_with_role[0]?.['role'], 'owner');
	await ledger.balanced();
});

journey('a resource body can contain relations and roles derived through them', async (t, place) => {
	const { http, schema } = place;
	const { roles } = await relatedResources(place);
	const ledger = await openLedger(t, place);
	const nested = { role: 'writer', on_resource: 'note', linked_by_relation: 'about' };
	const body = {
		key: 'note',
		name: 'Note',
		actions: { read: {} },
		relations: { parent: 'folder' },
		roles: { reader: { name: 'Reader', permissions: ['read'], granted_to: { users_with_role: [fromFolder] } } },
	};
	const made = await ledger.wrote(await http.post<{ roles: Record<string, Derived> }>(`${schema}/resources`, body));
	t.like(made.roles['reader']?.granted_to?.users_with_role[0], fromFolder);
	const more = {
		relations: { parent: 'folder', about: 'note' },
		roles: { writer: { name: 'Writer' }, reader: { name: 'Reader', granted_to: { users_with_role: [nested] } } },
	};
	await ledger.wrote(await http.patch(`${schema}/resources/note`, more));
	t.deepEqual(sentRules(t, (await http.get<Derived>(`${roles('note')}/reader`)).body), [{ ...nested, when: always }]);

	await ledger.wrote(await http.delete(`${schema}/resources/note/relations/about`), 204);
	t.deepEqual(sentRules(t, (await http.get<Derived>(`${roles('note')}/reader`)).body), [], 'deleted with the relation');
	await ledger.balanced();
});

journey('concurrently created grants are all kept', async (t, place) => {
	const { http } = place;
	const { roles, reader, grants } = await relatedResources(place);
	const keys = Array.from({ length: 6 }, (_, index) => `viewer-${index}`);
	for (const key of keys) await http.post(roles('folder'), { key, name: key });
	const sent = [...keys, ...keys].map((role) => http.post(grants, { ...fromFolder, role }));
	t.deepEqual(new Set((await Promise.all(sent)).map(({ status }) => status)), new Set([200]));
	const { body } = await http.get<Derived>(reader);
	t.deepEqual(body.granted_to?.users_with_role.map(({ role }) => role).sort(), keys);
});

journey('derivations are deleted with their source and either resource, and not recreated', async (t, place) => {
	const { http, schema, store } = place;
	const { roles, reader, grants } = await relatedResources(place);
	const ledger = await openLedger(t, place);
	await ledger.wrote(await http.post(grants, fromFolder));
	await ledger.wrote(await http.post(grants, fromTeam));
	const deleted = async () => {
		const changes = store.database
			.knex('changes')
			.where({ environment_id: place.id, revision: await place.revision() });
		return changes
			.orderBy('position')
			.select<{ kind: string; operation: string; key: string; after: Derived | null }[]>();
	};

	await ledger.wrote(await http.delete(`${roles('folder')}/viewer`), 204);
	t.deepEqual(sentRules(t, (await http.get<Derived>(reader)).body), [{ ...fromTeam, when: always }]);
	const [gone, changed, ...rest] = await deleted();
	t.like(gone, { kind: 'role', operation: 'delete', key: 'folder:viewer' });
	t.like(changed, { kind: 'role', operation: 'update', key: 'document:reader' });
	t.like(changed?.after?.granted_to?.users_with_role[0], fromTeam, 'the change log lists the remaining rules by key');
	t.deepEqual(rest, []);
	await ledger.wrote(await http.post(roles('folder'), { key: 'viewer', name: 'Viewer again' }));
	t.is((await http.get<Derived>(reader)).body.granted_to?.users_with_role.length, 1);

	await ledger.wrote(await http.delete(`${schema}/resources/team`), 204);
	t.deepEqual((await http.get<Derived>(reader)).body.granted_to?.users_with_role, []);
	await ledger.wrote(await http.post(grants, fromFolder));
	await ledger.wrote(await http.delete(reader), 204);
	await ledger.wrote(await http.post(roles('document'), { key: 'reader', name: 'Reader again' }));
	t.is((await http.get<Derived>(reader)).body.granted_to, null);
	t.deepEqual(await store.database.knex('role_derivations').where({ environment_id: place.id }), []);
});
