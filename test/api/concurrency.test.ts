// @rest

import { client } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { complaint } from '../support/failure.js';
import type { Listed } from '../support/listed.js';
import { newPlace, type Place } from '../support/management.js';

/** Concurrent callers lose no writes, skip no revisions, and see no internal errors. */

const journey = onEachStore();

/** Number of concurrent requests. */
const width = 24;

function times<T>(count: number, work: (index: number) => Promise<T>): Promise<readonly T[]> {
	return Promise.all(Array.from({ length: count }, (_, index) => work(index)));
}

/** Counts the responses by status. */
function tally(answers: readonly { readonly status: number }[]): Readonly<Record<number, number>> {
	const counts: Record<number, number> = {};
	for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
	return counts;
}

async function revisionsLogged({ store, id }: Place): Promise<readonly number[]> {
	const changes = store.database.knex('changes').where({ environment_id: id });
	const rows: { revision: number }[] = await changes.distinct('revision').orderBy('revision');
	return rows.map(({ revision }) => Number(revision));
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

journey('concurrent writers in one environment lose no write and share no revision', async (t, place) => {
	const { http, schema, facts } = place;
	await http.post(`${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {} } });
	await http.post(`${schema}/roles`, { key: 'viewer', name: 'Viewer', permissions: ['document:read'] });
	const first = await place.revision();
	const answers = await times(width, async (index) => {
		const created = await http.post(`${facts}/users`, { key: `u${index}` });
		const given = await http.post(`${facts}/role_assignments`, {
			user: `u${index}`,
			role: 'viewer',
			tenant: 'default',
		});
		const tenant = await http.post(`${facts}/tenants`, { key: `t${index}`, name: 'T' });
		const action = await http.post(`${schema}/resources/document/actions`, { key: `a${index}`, name: 'A' });
		const granted = await http.post(`${schema}/roles/viewer/permissions`, { permissions: [`document:a${index}`] });
		const synced = await http.put(`${facts}/users/shared`, { first_name: `f${index}` });
		return [created, given, tenant, action, granted, synced];
	});
	const all = answers.flat();
	t.deepEqual(tally(all), { 200: width * 6 - 1, 201: 1 });

	const last = first + width * 6;
	t.is(await place.revision(), last);
	t.deepEqual(await revisionsLogged(place), upTo(last));
	const named = all.map(({ revision = 0 }) => revision).sort((left, right) => left - right);
	t.deepEqual(named, upTo(last).slice(first), 'each write returned its own revision');

	t.is((await http.get(`${facts}/users`)).body['total_count'], width + 1);
	t.is((await http.get(`${facts}/tenants?include_total_count=true`)).body['total_count'], width + 1);
	t.is((await http.get(`${facts}/role_assignments?include_total_count=true`)).body['total_count'], width);
	const role = await http.get<{ permissions: string[] }>(`${schema}/roles/viewer`);
	t.deepEqual(
		role.body.permissions.sort(),
		['document:read', ...upTo(width).map((one) => `document:a${one - 1}`)].sort(),
	);
});

journey('exactly one of several concurrent identical creates succeeds', async (t, place, { project }) => {
	const { http, schema, facts } = place;
	await http.post(`${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {} } });
	await http.post(`${schema}/roles`, { key: 'viewer', name: 'Viewer' });
	await http.post(`${facts}/users`, { key: 'ann' });
	const first = await place.revision();
	const creations: readonly (readonly [path: string, body: object])[] = [
		[`${schema}/resources`, { key: 'same', name: 'Same', actions: { read: {} } }],
		[`${schema}/resources/document/actions`, { key: 'same', name: 'Same' }],
		[`${schema}/resources/document/attributes`, { key: 'same', type: 'bool' }],
		[`${schema}/roles`, { key: 'same', name: 'Same' }],
		[`${facts}/users`, { key: 'same', role_assignments: [{ role: 'viewer', tenant: 'default' }] }],
		[`${facts}/tenants`, { key: 'same', name: 'Same' }],
		[`${facts}/role_assignments`, { user: 'ann', role: 'viewer', tenant: 'default' }],
	];
	for (const [path, body] of creations) {
		const answers = await times(width, () => http.post(path, body));
		t.deepEqual(tally(answers), { 200: 1, 409: width - 1 }, path);
		t.deepEqual(
			answers
				.filter(({ status }) => status === 409)
				.map(complaint)
				.filter(Boolean),
			[],
		);
	}
	t.is(await place.revision(), first + creations.length);
	t.deepEqual(await revisionsLogged(place), upTo(first + creations.length));

	const projects = await times(8, () =>
		project.post('/v2/projects/default/envs', { key: `${place.key}-same`, name: 'Same' }),
	);
	t.deepEqual(tally(projects), { 200: 1, 409: 7 });
	const syncs = await times(width, () => http.put(`${facts}/users/synced`, { first_name: 'S' }));
	t.deepEqual(tally(syncs), { 200: width - 1, 201: 1 }, 'a PUT creates once');
});

journey('exactly one of several concurrent identical deletes succeeds', async (t, place, { project }) => {
	const { http, schema, facts } = place;
	await http.post(`${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {} } });
	await http.post(`${schema}/roles`, { key: 'viewer', name: 'Viewer', permissions: ['document:read'] });
	await http.post(`${facts}/users`, { key: 'ann', role_assignments: [{ role: 'viewer', tenant: 'default' }] });
	const first = await place.revision();
	const deletions: readonly (readonly [path: string, body?: object])[] = [
		[`${facts}/role_assignments`, { user: 'ann', role: 'viewer', tenant: 'default' }],
		[`${schema}/resources/document/actions/read`],
		[`${schema}/resources/document`],
		[`${schema}/roles/viewer`],
		[`${facts}/users/ann`],
		[`${facts}/tenants/default`],
	];
	for (const [path, body] of deletions) {
		t.deepEqual(tally(await times(8, () => http.delete(path, body))), { 204: 1, 404: 7 }, path);
	}
	t.is(await place.revision(), first + deletions.length);
	const environments = await times(8, () => project.delete(`/v2/projects/default/envs/${place.key}`));
	t.deepEqual(tally(environments), { 204: 1, 404: 7 });
});

journey('conflicting writes to the same objects finish in some order, without a deadlock', async (t, place) => {
	const { http, schema, facts } = place;
	await http.post(`${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {} } });
	for (const key of ['a', 'b', 'c']) await http.post(`${schema}/roles`, { key, name: key });
	await http.post(`${facts}/users`, { key: 'ann' });
	const pull = [
		() => http.patch(`${schema}/roles/a`, { extends: ['b'] }),
		() => http.patch(`${schema}/roles/b`, { extends: ['c'] }),
		() => http.patch(`${schema}/roles/c`, { extends: ['a'] }),
		() => http.put(`${facts}/users/ann`, { role_assignments: [{ role: 'a', tenant: 'default' }] }),
		() => http.put(`${facts}/users/ann`, { role_assignments: [{ role: 'b', tenant: 'default' }] }),
		() => http.delete(`${facts}/users/ann`),
		() => http.delete(`${schema}/roles/a`),
		() => http.post(`${schema}/roles`, { key: 'a', name: 'A', permissions: ['document:read'] }),
		() => http.put(`${schema}/resources/document`, { name: 'Document', actions: { read: {} } }),
		() => http.delete(`${schema}/resources/document`),
		() => http.post(`${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {} } }),
		() => http.delete(`${facts}/tenants/default`),
		() => http.post(`${facts}/tenants`, { key: 'default', name: 'Default' }),
	];
	const answers = await times(pull.length * 8, (index) =>
		(pull[(index * 5) % pull.length] ?? (() => http.get('/healthy')))(),
	);
	for (const answer of answers) {
		t.true([200, 201, 204, 404, 409, 422].includes(answer.status), JSON.stringify(answer.body));
		if (answer.status >= 400) t.is(complaint(answer), null);
	}
	t.deepEqual(await revisionsLogged(place), upTo(await place.revision()));
	const roles = (await http.get<Listed>(`${schema}/roles`)).body;
	const parents = new Map(roles.map((role) => [role['key'], role['extends'] as readonly string[]]));
	const reaches = (from: string, to: string, left: number): boolean =>
		left > 0 && (parents.get(from) ?? []).some((parent) => parent === to || reaches(parent, to, left - 1));
	for (const key of ['a', 'b', 'c']) t.false(reaches(key, key, 4), `${key} does not extend itself`);
});

journey('all concurrent first requests get a response', async (t, place, { url }) => {
	const answers = await times(width, (index) => {
		const http = client(url, place.secret);
		return index % 2 ? http.get('/v2/api-key/scope') : http.post(`${place.facts}/users`, { key: `u${index}` });
	});
	t.deepEqual(tally(answers), { 200: width });
});

journey(
	'requests to an environment during its deletion succeed, or fail with a documented error',
	async (t, _, management) => {
		for (const round of [1, 2, 3]) {
			const { http, facts, schema, key, id, store } = await newPlace(management, management.organization);
			const path = `/v2/projects/default/envs/${key}`;
			const writer = async (index: number) => {
				const answers = [];
				for (let step = 0; step < 6; step += 1) {
					// Half of the callers use a key that remains valid after the environment is deleted.
					const caller = index % 2 ? http : management.organization;
					answers.push(await caller.post(`${facts}/users`, { key: `u${index}-${step}` }));
					answers.push(await caller.post(`${schema}/roles`, { key: `r${index}-${step}`, name: 'R' }));
					answers.push(await caller.get(`${facts}/users?search=u`));
					answers.push(await caller.patch(path, { description: `${index}-${step}` }));
					answers.push(await caller.get(`/v2/api-key/default/${key}`));
					answers.push(await caller.get(`/bundles/${id}`));
				}
				return answers;
			};
			const deleter = async () => {
				await http.get(`${facts}/users`);
				return [await management.organization.delete(path)];
			};
			const answers = (
				await Promise.all([...Array.from({ length: 8 }, (_, index) => writer(index)), deleter()])
			).flat();
			for (const answer of answers) {
				const allowed = [200, 204, 401, 404, 410, ...(answer.status === 503 ? [503] : [])];
				t.true(allowed.includes(answer.status), `round ${round}: ${answer.status} ${JSON.stringify(answer.body)}`);
				if ([401, 404, 410].includes(answer.status)) t.is(complaint(answer), null);
			}
			t.is(answers.at(-1)?.status, 204);
			t.is(await store.counters(id), null);
		}
	},
);

journey(
	'deleting a project also deletes environments that are being created in it',
	async (t, place, { organization, store }) => {
		const key = `${place.key}-p`;
		for (const round of [1, 2, 3, 4]) {
			const made = await organization.post<{ id: string }>('/v2/projects', { key, name: 'P' });
			const maker = (index: number) => organization.post(`/v2/projects/${key}/envs`, { key: `e${index}`, name: 'E' });
			const work = [
				...Array.from({ length: 6 }, (_, index) => maker(index)),
				organization.delete(`/v2/projects/${key}`),
				maker(7),
			];
			for (const answer of await Promise.all(work)) {
				t.true(
					[200, 204, 404].includes(answer.status),
					`round ${round}: ${answer.status} ${JSON.stringify(answer.body)}`,
				);
			}
			t.deepEqual(await store.database.knex('environments').where({ project_id: made.body.id }), []);
		}
	},
);
