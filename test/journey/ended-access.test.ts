// @rest

import type { Caller } from '../../src/store/account/caller.js';
import { type Answer, client, type Loose } from '../support/client.js';
import { signInToConsole } from '../support/console.js';
import { onEachStore } from '../support/each-store.js';
import { furnishElements } from '../support/element.js';
import { eventually } from '../support/eventually.js';
import { createSecret, type Management, type Place, scopeIn } from '../support/management.js';
import { beginRequest } from '../support/slow-request.js';

/** A request that loses its access before it writes does not write anything (docs/decisions/0053). */

const journey = onEachStore();

/** A write with its required key level. */
interface Write {
	readonly level: 'org' | 'env';
	readonly method: 'POST' | 'PATCH' | 'PUT';
	readonly path: string;
	readonly body: object;
}

/** Returns a write for every kind of access. Each written object is named `late`. */
function writesIn({ facts, project, key, id }: Place, late: string): Readonly<Record<string, Write>> {
	const environment = `/v2/projects/${project}/envs/${key}`;
	const [org, env] = [
		{ level: 'org', method: 'POST' },
		{ level: 'env', method: 'POST' },
	] as const;
	const opened = { environment_id: id, access_level: 'admin', name: late };
	const draft = { base_revision: 1, changes: [{ kind: 'user', operation: 'create', key: late, value: {} }] };
	return {
		'a user': { ...env, path: `${facts}/users`, body: { key: late } },
		'a large user': {
			...env,
			path: `${facts}/users`,
			body: { key: late, attributes: { text: 'x'.repeat(50_000) } },
		},
		'a bulk': {
			...env,
			method: 'PUT',
			path: `/v2/facts/${project}/${key}/bulk/users`,
			body: { operations: [{ key: late }] },
		},
		'a draft': { ...env, path: `${environment}/drafts/apply`, body: draft },
		'the environment': { ...env, method: 'PATCH', path: environment, body: { name: late } },
		'a key of the environment': { ...env, path: '/v2/api-key', body: opened },
		'a key of the organization': {
			...org,
			path: '/v2/api-key',
			body: { object_type: 'org', access_level: 'admin', name: late },
		},
		'a project': { ...org, path: '/v2/projects', body: { key: late, name: late } },
		'an environment': { ...org, path: `/v2/projects/${project}/envs`, body: { key: late, name: late } },
		'a copy': { ...org, path: `${environment}/copy`, body: { target_env: { new: { key: late, name: late } } } },
		'a sign-in to elements': {
			...env,
			path: '/v2/auth/elements_login_as',
			body: { user_id: 'ann', tenant_id: 'acme' },
		},
		'a state report': { ...env, path: '/v2/pdps/me/state', body: { pdp_instance_id: late, state: {} } },
	};
}

/** Returns the objects written to the store, read directly from the database. */
async function found({ store, id }: Place, late: string): Promise<readonly string[]> {
	const { knex } = store.database;
	const rows = {
		users: knex('users').where({ environment_id: id, key: late }),
		environments: knex('environments').where({ key: late }).orWhere({ id, name: late }),
		projects: knex('projects').where({ key: late }),
		api_keys: knex('api_keys').where({ name: late }),
		element_sessions: knex('element_sessions').where({ environment_id: id }),
		pdp_states: knex('pdp_states').where({ environment_id: id, pdp_instance_id: late }),
	};
	const names = await Promise.all(
		Object.entries(rows).map(async ([name, query]) => ((await query).length > 0 ? [name] : [])),
	);
	return names.flat();
}

/** Ways to end access with an API key. */
const endings: Readonly<Record<string, (management: Management, id: string) => Promise<Answer<Loose>>>> = {
	deleted: ({ organization }, id) => organization.delete(`/v2/api-key/${id}`),
	rotated: ({ organization }, id) => organization.post(`/v2/api-key/${id}/rotate-secret`),
};

for (const [ending, end] of Object.entries(endings)) {
	journey(`a key that is ${ending} while a body is being sent writes nothing`, async (t, place, management) => {
		const { store, organization_id, project_id, id, url } = place;
		await furnishElements(place);
		const late = `late-${ending}-${place.key}`;
		for (const [what, { level, method, path, body }] of Object.entries(writesIn(place, late))) {
			const opened = level === 'org' ? {} : { project_id, environment_id: id };
			const secret = await createSecret(store, organization_id, opened);
			const key = (await store.caller(secret))?.key_id ?? '';
			const slow = await beginRequest(url, method, path, { authorization: `Bearer ${secret}` }, body);
			const { status } = await end(management, key);
			t.true(status < 300, what);
			t.is((await slow.finish()).status, 401, what);
			t.deepEqual(await found(place, late), [], what);
		}
	});
}

journey('a key with an access level that is lowered during a request writes nothing', async (t, place) => {
	const { store, organization_id, project_id, id, url, facts } = place;
	const secret = await createSecret(store, organization_id, { project_id, environment_id: id });
	const headers = { authorization: `Bearer ${secret}` };
	const slow = await beginRequest(url, 'POST', `${facts}/users`, headers, { key: 'late' });
	const key_id = (await store.caller(secret))?.key_id ?? '';
	await store.database.knex('api_keys').where({ id: key_id }).update({ access_level: 'read' });
	t.is((await slow.finish()).status, 403);
	t.deepEqual(await found(place, 'late'), []);
});

journey('a console session that ends while a body is being sent writes nothing', async (t, place, management) => {
	const { store, organization_id, project_id, id, url, facts } = place;
	const opened = { project_id, environment_id: id };
	const writes: readonly (readonly [string, object])[] = [
		[`${facts}/users`, { key: 'late' }],
		['/v2/api-key', { ...opened, access_level: 'admin', name: `late-${place.key}` }],
	];
	for (const [path, body] of writes) {
		for (const ending of ['signed out', 'key deleted', 'key rotated']) {
			const secret = await createSecret(store, organization_id, opened);
			const key = (await store.caller(secret))?.key_id ?? '';
			const { headers, http } = await signInToConsole(place, secret);
			const slow = await beginRequest(url, 'POST', path, headers, body);
			if (ending === 'signed out') await http.delete('/v2/auth/console');
			else await endings[ending.slice(4)]?.(management, key);
			t.is((await slow.finish()).status, 401, `${path} ${ending}`);
			t.deepEqual([...(await found(place, 'late')), ...(await found(place, `late-${place.key}`))], [], ending);
		}
	}
});

journey(
	'a key that is deleted while its writes are queued writes nothing, and other keys are not affected',
	async (t, place, management) => {
		const { store, organization_id, project_id, id, url, facts } = place;
		const made = [0, 1].map(() => createSecret(store, organization_id, { project_id, environment_id: id }));
		const [ended = '', other = ''] = await Promise.all(made);
		const key = (await store.caller(ended))?.key_id ?? '';
		const turn = await holdTurn(place);
		const answers = Array.from({ length: 6 }, (_, index) =>
			client(url, index % 2 === 0 ? ended : other).post(`${facts}/users`, { key: `user-${index}` }),
		);
		await eventually(
			() => store.units.waiting,
			(waiting) => waiting >= 6,
		);
		t.is((await management.organization.delete(`/v2/api-key/${key}`)).status, 204);
		turn.end();
		const statuses = (await Promise.all(answers)).map(({ status }) => status);
		t.deepEqual(statuses, [401, 200, 401, 200, 401, 200]);
	},
	['server'],
);

journey(
	'deleting a key waits for its current unit of work',
	async (t, place, management) => {
		const { store, organization_id, project_id, id } = place;
		const secret = await createSecret(store, organization_id, { project_id, environment_id: id });
		const caller = await store.caller(secret);
		const turn = await holdTurn(place, caller);
		const deleted = management.organization.delete(`/v2/api-key/${caller?.key_id}`).then(({ status }) => {
			t.is(status, 204);
			return turn.committed();
		});
		const waiting = `select 1 from pg_locks where locktype = 'advisory' and not granted
			and database = (select oid from pg_database where datname = current_database())`;
		await eventually(async () => (await store.database.knex.raw(waiting)).rows.length > 0);
		turn.end();
		t.true(await deleted);
	},
	['server'],
);

/** Begins a unit of work for a caller or the server itself. It lasts until `end`. */
async function holdTurn(place: Place, caller: Caller | null = null) {
	let end = () => {};
	let committed = false;
	const ended = new Promise<void>((resolve) => {
		end = resolve;
	});
	await new Promise<void>((begun) => {
		const work = async () => {
			begun();
			await ended;
		};
		void place.store.write(scopeIn(place), caller, work, { heavy: true }).then(() => {
			committed = true;
		});
	});
	return { end, committed: () => committed };
}
