import { client } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { fails } from '../support/failure.js';
import type { Listed } from '../support/listed.js';
import { createSecret, type Place } from '../support/management.js';
import { endpointBody, endpointPath, keyedEndpoints as endpoints, furnish } from '../support/tour.js';

/** An environment's history: author, change, time and revision. */

const journey = onEachStore();

interface History {
	readonly data: readonly (Readonly<Record<string, unknown>> & { readonly revision: number; readonly key: string })[];
	readonly total_count: number;
	readonly page_count: number;
	readonly revision: number;
}

const readHistory = async ({ http, project, key }: Place, query = '') =>
	(await http.get<History>(`/v2/projects/${project}/envs/${key}/changes?${query}`)).body;

const changeKeys = ({ data }: History) => data.map(({ key }) => key);

journey('a write is logged with its author, time, and the values before and after', async (t, place) => {
	const { http, facts, key_id, key } = place;
	const made = await http.post<Record<string, unknown>>(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	const changed = await http.patch<Record<string, unknown>>(`${facts}/tenants/acme`, { name: 'Acme Ltd' });
	await http.patch(`${facts}/tenants/acme`, { name: 'Acme Ltd' });
	await http.delete(`${facts}/tenants/acme`);
	const { data, ...counts } = await readHistory(place, 'kind=tenant&search=acme');
	t.deepEqual(counts, { total_count: 3, page_count: 1, revision: 4 });
	const actor = { id: key_id, name: `${key} environment key` };
	const common = { kind: 'tenant', key: 'acme', actor, position: 0 };
	const [before, after] = [{ name: 'Acme' }, { name: 'Acme Ltd' }];
	t.like(data[0], { ...common, operation: 'delete', revision: 4, before: after, after: null });
	t.like(data[1], { ...common, operation: 'update', revision: 3, before, after });
	t.like(data[2], { ...common, operation: 'create', revision: 2, before: null, after: before });
	t.like(data[1], { created_at: changed.body['updated_at'], after: { id: made.body['id'] } });

	const first = await readHistory(place, 'revision_to=1');
	t.true(first.data.every(({ revision }) => revision === 1));
	const kinds = new Set(first.data.map(({ kind }) => kind));
	t.deepEqual([...kinds].sort(), ['pdp_config', 'resource', 'resource_attribute', 'tenant']);
	t.not((first.data[0]?.['actor'] as { id: string } | null)?.id, key_id, 'made with the project key');
});

journey('changes to the environment itself and to its decision point keys are logged', async (t, place) => {
	const { http, organization_id, store, id: environment_id, project, key, url } = place;
	await http.patch(`/v2/projects/${project}/envs/${key}`, { description: 'for trying out' });
	const [update] = (await readHistory(place, 'kind=environment')).data;
	t.like(update, { operation: 'update', key, before: { description: null }, after: { description: 'for trying out' } });
	const body = { environment_id, owner_type: 'pdp_config', name: 'second' };
	const made = await http.post<{ id: string; secret: string }>('/v2/api-key', body);
	t.is(made.revision, 3);
	const writer = await http.post<{ id: string; secret: string }>('/v2/api-key', { environment_id, name: 'short' });
	t.is(writer.revision, undefined, 'a member key is not an object in the environment');
	await client(url, writer.body.secret).post(`${place.facts}/tenants`, { key: 'acme', name: 'Acme' });
	await http.delete(`/v2/api-key/${made.body.id}`);
	await http.delete(`/v2/api-key/${writer.body.id}`);
	const history = await readHistory(place, 'kind=pdp_config&revision_from=2');
	t.deepEqual(
		history.data.map(({ operation, key }) => [operation, key]),
		[
			['delete', 'second'],
			['create', 'second'],
		],
	);
	const [tenant] = (await readHistory(place, `actor=${writer.body.id}`)).data;
	t.like(tenant, { key: 'acme', actor: { id: writer.body.id, name: null } }, 'a deleted key has no name');
	await store.writeAccount(organization_id, null, async (account) => {
		const environment = await account.locked(environment_id);
		await account.updateEnvironment(environment, { description: null });
	});
	t.like(
		(await readHistory(place, 'kind=environment')).data[0],
		{ actor: null },
		'a write by the server has no author',
	);
});

journey('the history can be filtered by any combination of fields', async (t, place, { organization }) => {
	const { http, facts, schema } = place;
	for (const key of ['a-1', 'a-2', 'b-1']) await http.post(`${facts}/tenants`, { key, name: key });
	await organization.put(`${facts}/users/ann`, { role_assignments: [] });
	await http.post(`${schema}/roles`, { key: 'a-role', name: 'A' });
	await http.delete(`${facts}/tenants/b-1`);
	const cases: readonly (readonly [query: string, keys: readonly string[]])[] = [
		['kind=tenant&revision_from=2', ['b-1', 'b-1', 'a-2', 'a-1']],
		['kind=user&kind=role', ['a-role', 'ann']],
		['operation=delete', ['b-1']],
		['operation=delete&operation=update', ['b-1']],
		['search=a-', ['a-role', 'a-2', 'a-1']],
		['search=A-*', ['a-role', 'a-2', 'a-1']],
		['search=*-1&kind=tenant', ['b-1', 'b-1', 'a-1']],
		['revision_from=3&revision_to=4', ['b-1', 'a-2']],
		['revision_from=99', []],
		['revision_to=0', []],
		['actor=00000000-0000-4000-8000-000000000000', []],
		[`actor=${place.key_id.replaceAll('-', '')}&operation=delete`, ['b-1']],
		['created_from=2999-01-01T00:00:00Z', []],
		['created_to=2000-01-01T00:00:00%2B02:00', []],
		['created_to=0001-01-01T00:00:00%2B14:00', []],
	];
	for (const [query, keys] of cases) t.deepEqual(changeKeys(await readHistory(place, query)), keys, query);
	const {
		data: [one],
	} = await readHistory(place, 'search=ann');
	const at = encodeURIComponent(String(one?.['created_at']));
	t.true(
		changeKeys(await readHistory(place, `created_from=${at}&created_to=${at}`)).includes('ann'),
		'both ends of the period are included',
	);
	const mine = (await readHistory(place, `actor=${place.key_id}`)).data;
	t.false(
		mine.some(({ key }) => key === 'ann'),
		'authors are distinguished',
	);
});

journey('pages stay consistent during writes', async (t, place) => {
	const { http, facts } = place;
	for (let index = 0; index < 12; index += 1) await http.put(`${facts}/users/u${index}`, {});
	const first = await readHistory(place, 'per_page=5&kind=user');
	t.deepEqual(changeKeys(first), ['u11', 'u10', 'u9', 'u8', 'u7']);
	t.like(first, { total_count: 12, page_count: 3, revision: 13 });
	await http.put(`${facts}/users/later`, {});
	const rest = `per_page=5&kind=user&revision_to=${first.revision}`;
	t.deepEqual(changeKeys(await readHistory(place, `${rest}&page=2`)), ['u6', 'u5', 'u4', 'u3', 'u2']);
	t.deepEqual(changeKeys(await readHistory(place, `${rest}&page=3`)), ['u1', 'u0']);
	t.deepEqual(changeKeys(await readHistory(place, `${rest}&page=4`)), []);

	let writing = true;
	const writers = ['x', 'y'].map(async (mark) => {
		for (let index = 0; writing; index += 1) await http.put(`${facts}/users/${mark}-${index}`, {});
	});
	for (let look = 0; look < 20; look += 1) {
		const { data, total_count, revision } = await readHistory(place, 'per_page=1&revision_from=2');
		t.deepEqual([total_count, data[0]?.revision], [revision - 1, revision], 'the count belongs to the revision');
	}
	writing = false;
	await Promise.all(writers);
});

/** Copies, which write to the history of the target environment. */
const copies: ReadonlySet<string> = new Set(['copyEnvironment', 'beginEnvironmentCopy']);

/** Returns all rows of an environment's objects as text. Skips tables without objects. */
async function storedRows({ id, store }: Place): Promise<string> {
	const { knex } = store.database;
	const tables = await knex('information_schema.columns')
		.where({ column_name: 'environment_id', table_schema: 'public' })
		.whereNotIn('table_name', [
			'changes',
			'publications',
			'pdp_states',
			'api_keys',
			'copy_tasks',
			'element_sessions',
			'webhook_deliveries',
		])
		// The decision log has a table per day.
		.whereNot('table_name', 'like', 'audit_logs%')
		.orderBy('table_name')
		.pluck<string[]>('table_name');
	const rows = [];
	for (const table of tables) {
		const { rows: found } = await knex.raw('select t::text as row from ?? as t where environment_id = ? order by 1', [
			table,
			id,
		]);
		rows.push(...found);
	}
	const [environment] = await knex('environments').where({ id }).select('name', 'description', 'settings', 'jwks');
	return JSON.stringify([environment, rows]);
}

journey('every API write that changes something is logged with its author', async (t, place, management) => {
	const { organization } = management;
	await furnish(place);
	const order = endpoints.filter(
		({ method, path, access }) => method !== 'get' && path.includes(':env_id') && access !== 'public',
	);
	const deletions = order.filter(({ method }) => method === 'delete');
	const { body: scope } = await organization.get<{ data: Listed }>('/v2/api-key?object_type=org&per_page=1');
	const actor_id = scope.data[0]?.['id'];
	let seen = 0;
	for (const endpoint of [...order.filter(({ method }) => method !== 'delete'), ...deletions]) {
		if (endpoint.name === 'deleteEnvironment' || copies.has(endpoint.name)) continue;
		const [before, revision] = [await storedRows(place), await place.revision()];
		const answer = await organization.send(
			endpoint.method.toUpperCase(),
			endpointPath(endpoint, place),
			endpointBody(endpoint),
		);
		const after = await storedRows(place);
		if (before === after) continue;
		seen += 1;
		const { data } = await readHistory({ ...place, http: organization }, `revision_from=${revision + 1}`);
		t.true(data.length > 0, `${endpoint.name} (${answer.status}) was not logged`);
		for (const { actor } of data) t.like(actor, { id: actor_id }, endpoint.name);
	}
	t.true(seen > order.length / 2, `${seen} of ${order.length} changed something`);
});

journey('the writes of a copy are in the target’s history, with their author', async (t, place, { organization }) => {
	await furnish(place);
	const { body: scope } = await organization.get<{ data: Listed }>('/v2/api-key?object_type=org&per_page=1');
	const before = await place.revision();
	for (const endpoint of endpoints.filter(({ name }) => copies.has(name))) {
		const key = `${endpoint.name}-${place.key}`;
		const body = { target_env: { new: { key, name: key } } };
		const answer = await organization.post(`${endpointPath(endpoint, place)}${endpoint.query ? '?wait=30' : ''}`, body);
		t.true(answer.status < 300, JSON.stringify(answer.body));
		const { data } = await readHistory({ ...place, key, http: organization }, 'kind=role&search=editor');
		t.true(data.length > 0, endpoint.name);
		for (const { actor } of data) t.like(actor, { id: scope.data[0]?.['id'] }, endpoint.name);
	}
	t.is(await place.revision(), before, 'the source’s history is unchanged');
});

journey('keys with access to the environment can read its history', async (t, place, { url, organization, store }) => {
	const path = `/v2/projects/${place.project}/envs/${place.key}/changes`;
	const { organization_id, project_id, id: environment_id } = place;
	const reader = client(
		url,
		await createSecret(store, organization_id, { project_id, environment_id, access_level: 'read' }),
	);
	for (const http of [organization, reader]) t.is((await http.get(path)).status, 200);
	fails(t, await client(url).get(path), 401);
	fails(t, await place.http.get(`/v2/projects/default/envs/production/changes`), 403);
	t.false(JSON.stringify(await readHistory(place)).includes('permit_key_'));
});
