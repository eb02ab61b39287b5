// @rest

import { type Answer, client } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { furnishGraph } from '../support/graph-world.js';
import { createSecret, newPlace, type Place } from '../support/management.js';

/** A user's roles and their origins. */

const journey = onEachStore();
const end = '2999-01-01T00:00:00.000Z';

interface Listed {
	readonly revision: number;
	readonly data: readonly Readonly<Record<string, unknown>>[];
	readonly truncated: boolean;
}

const ask = ({ http, facts }: Place, user: string, query = ''): Promise<Answer<Listed>> =>
	http.get(`${facts}/users/${user}/effective_roles${query}`);

const inTenant = { role: 'lead', tenant: 'acme', resource_instance: null, source: 'direct', through: [] };
const member = { role: 'member', tenant: 'acme', resource_instance: 'group:eng', source: 'direct', through: [] };
const fromGroup = { role: 'member', resource_instance: 'group:eng', relation: 'editor_group' };
const fromFolder = { role: 'editor', resource_instance: 'folder:plans', relation: 'parent' };
const onFolder = {
	role: 'editor',
	tenant: 'acme',
	resource_instance: 'folder:plans',
	source: 'group',
	through: [fromGroup],
};
const onDocument = {
	role: 'editor',
	tenant: 'acme',
	resource_instance: 'document:budget',
	source: 'group',
	through: [fromGroup, fromFolder],
};

/** Returns the objects as JSON strings in a fixed order. */
const sorted = (list: readonly object[]) => list.map((one) => JSON.stringify(one)).sort();

journey('roles are listed with their origin: assigned, from a group, or derived', async (t, place) => {
	const { http, facts } = place;
	await furnishGraph(place, end);
	const { status, body } = await ask(place, 'ann');
	t.is(status, 200);
	const [first, second, ...derived] = body.data;
	t.deepEqual(sorted([first ?? {}, second ?? {}]), sorted([inTenant, member]));
	t.deepEqual(derived, [onFolder, onDocument]);
	t.like(body, { revision: await place.revision(), truncated: false });

	const viewed = {
		role: 'viewer',
		tenant: 'acme',
		resource_instance: 'document:budget',
		source: 'direct',
		through: [],
	};
	t.deepEqual((await ask(place, 'ben')).body.data, [{ ...viewed, expires_at: end }]);
	t.deepEqual((await ask(place, 'cy')).body.data, []);

	// A role that the user has twice is listed twice. A role on the document itself blocks the derivations on it.
	await http.post(`${facts}/users/ann/roles`, { role: 'editor', resource_instance: 'folder:plans', expires_at: end });
	const both = (await ask(place, 'ann')).body.data.filter((one) => one['source'] !== 'direct');
	const own = { ...onDocument, source: 'derived', through: [fromFolder], expires_at: end };
	t.deepEqual(sorted(both), sorted([onFolder, own, onDocument]));
	await http.post(`${facts}/users/ann/roles`, { role: 'viewer', resource_instance: 'document:budget' });
	const stopped = (await ask(place, 'ann')).body.data.filter((one) => one['source'] !== 'direct');
	t.deepEqual(stopped, [onFolder]);
});

journey('the expiry of a path is shown, and an expired path is omitted', async (t, place) => {
	const { store, id: environment_id } = place;
	await furnishGraph(place, end);
	const expires_at = (table: string, date: Date) =>
		store.database.knex(table).where({ environment_id }).update({ expires_at: date });
	await expires_at('relationship_tuples', new Date(end));
	const derived = (await ask(place, 'ann')).body.data.filter((one) => one['source'] === 'group');
	t.deepEqual(
		derived.map((role) => role['expires_at']),
		[end, end],
	);
	await expires_at('relationship_tuples', new Date(0));
	t.deepEqual((await ask(place, 'ann')).body.data.map((one) => one['role']).sort(), ['lead', 'member']);
	await expires_at('role_assignments', new Date(0));
	t.deepEqual((await ask(place, 'ann')).body.data, []);
});

journey('the list can be filtered by tenant, and its length is limited', async (t, place) => {
	const { http, facts } = place;
	await furnishGraph(place, end);
	await http.post(`${facts}/users/ann/roles`, { role: 'guest', tenant: 'default' });
	const roles = async (query: string) => (await ask(place, 'ann', query)).body;
	t.deepEqual(
		(await roles('?tenant=default')).data.map((one) => one['role']),
		['guest'],
	);
	t.is((await roles('?tenant=acme')).data.length, 4);
	for (const limit of [1, 2, 3, 4, 5]) {
		const { data, truncated } = await roles(`?limit=${limit}`);
		t.deepEqual([data.length, truncated], [limit, limit < 5]);
	}
	for (const [query, at] of [
		['?limit=0', 'limit'],
		['?limit=1001', 'limit'],
		['?tenant=', 'tenant'],
	] as const) {
		const answer = await ask(place, 'ann', query);
		fails(t, answer, 422);
		t.deepEqual(problemPlaces(answer), [`query.${at}`]);
	}
	fails(t, await ask(place, 'ann', '?tenant=initech'), 404, 'initech');
	fails(t, await ask(place, 'dan'), 404, 'dan');
});

journey(
	'a user’s roles can be read only by keys with access to the environment, at any level',
	async (t, place, management) => {
		const { url, store, organization_id, project_id, id: environment_id } = place;
		await furnishGraph(place, end);
		const secret = await createSecret(store, organization_id, { project_id, environment_id, access_level: 'read' });
		t.is((await ask({ ...place, http: client(url, secret) }, 'ann')).status, 200);
		const other = await newPlace(management, management.project);
		await other.http.post(`${other.facts}/users`, { key: 'ann' });
		t.deepEqual((await ask(other, 'ann')).body.data, []);
		fails(t, await ask({ ...place, http: other.http }, 'ann'), 403);
	},
);
