// @rest

import type { Answer } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import { type Management, newPlace, type Place } from '../support/management.js';
import { newEnvironmentFacts } from '../support/new-environment-facts.js';

/** Copies of an environment's schema to a second environment in the same project. */

const journey = onEachStore();

type Json = Readonly<Record<string, unknown>>;
type Copies = (body: Json, rest?: string) => Promise<Answer<Json>>;

const header = { format: 'regolith-environment', version: 1 } as const;

const schema = {
	resources: {
		document: { name: 'Document', actions: { read: { name: 'read' }, write: { name: 'write' } }, attributes: {} },
		report: { name: 'Report', actions: { read: { name: 'read' } }, attributes: { public: { type: 'bool' } } },
	},
	roles: {
		editor: { name: 'Editor', permissions: ['document:write'], extends: ['reader'] },
		reader: { name: 'Reader', permissions: ['document:read', 'report:read'] },
		'test-1': { name: 'One' },
		'test-2': { name: 'Two' },
	},
	elements_configs: {
		flow: { name: 'Flow', elements_type: 'approval_flow', settings: { user_management_element: 'people' } },
		people: {
			name: 'People',
			elements_type: 'user_management',
			role_levels: { editor: 'LEVEL_1', reader: 'LEVEL_4' },
		},
	},
} as const;
const { elements_configs, ...resourcesAndRoles } = schema;

async function exported(place: Place): Promise<{ readonly schema: Json; readonly facts: Json }> {
	const { http, project, key } = place;
	return (await http.get<{ schema: Json; facts: Json }>(`/v2/projects/${project}/envs/${key}/export`)).body;
}

/** Returns a place's resources and roles in document form. */
async function exportedSchema(place: Place): Promise<Json> {
	const { resources, roles } = (await exported(place)).schema;
	return { resources, roles };
}

async function filled(place: Place): Promise<void> {
	const facts = { users: { ann: {} }, role_assignments: [{ user: 'ann', role: 'editor', tenant: 'default' }] };
	await place.http.post(`/v2/projects/${place.project}/envs/${place.key}/import`, { ...header, schema, facts });
	await place.http.post(`${place.schema}/resources/__user/attributes`, { key: 'age', type: 'number' });
}

function copyClient(place: Place, { project }: Management): Copies {
	return (body, rest = '') => project.post(`/v2/projects/${place.project}/envs/${place.key}/copy${rest}`, body);
}

journey(
	'a schema can be copied into a new environment, which has its own key and no facts',
	async (t, place, management) => {
		await filled(place);
		const ledger = await openLedger(t, place);
		const key = `${place.key}-copy`;
		const description = 'A copy';
		const answer = await copyClient(place, management)({ target_env: { new: { key, name: 'Copy', description } } });
		t.is(answer.status, 201, JSON.stringify(answer.body));
		t.like(answer.body, { key, name: 'Copy', description, project_id: place.project_id });
		const { project } = management;
		const target = await project.get<{ schema: Json; facts: Json }>(`/v2/projects/${place.project}/envs/${key}/export`);
		t.is(answer.revision, target.revision);
		t.deepEqual(target.body.schema, (await exported(place)).schema, 'user attributes are included');
		t.deepEqual(target.body.facts, newEnvironmentFacts);
		t.is((await project.get(`/v2/api-key/${place.project}/${key}`)).status, 200);
		fails(t, await copyClient(place, management)({ target_env: { new: { key, name: 'Again' } } }), 409, key);
		await ledger.balanced();
	},
);

journey('an existing environment keeps its facts and all objects outside the copy', async (t, place, management) => {
	await filled(place);
	const copy = copyClient(place, management);
	const target = await newPlace(management, management.project);
	await target.http.post(`${target.schema}/roles`, { key: 'own', name: 'Own' });
	await target.http.post(`${target.facts}/users`, {
		key: 'ben',
		role_assignments: [{ role: 'own', tenant: 'default' }],
	});
	const { facts } = await exported(target);
	const ledger = await openLedger(t, target);
	for (const existing of [target.key, target.id]) {
		const answer = await copy({ target_env: { existing } });
		if (existing === target.key) await ledger.wrote(answer, 201);
		else await ledger.kept(answer, 201);
		t.like(answer.body, { id: target.id, key: target.key });
		t.deepEqual(await exportedSchema(target), {
			...resourcesAndRoles,
			roles: { ...schema.roles, own: { name: 'Own' } },
		});
		t.deepEqual((await exported(target)).facts, facts);
	}

	// The target changes independently.
	await ledger.wrote(await target.http.patch(`${target.schema}/roles/reader`, { permissions: [], name: 'Other' }));
	for (const body of [{}, { conflict_strategy: 'fail', scope: { roles: { include: ['r*'] } } }]) {
		fails(t, await copy({ target_env: { existing: target.key }, ...body }), 409, '`reader`');
	}
	const elsewhere = { resources: { include: ['report'] }, roles: { exclude: ['reader'] } };
	await ledger.kept(await copy({ target_env: { existing: target.key }, scope: elsewhere }), 201);
	await ledger.wrote(await copy({ target_env: { existing: target.key }, conflict_strategy: 'overwrite' }), 201);
	t.deepEqual(await exportedSchema(target), {
		...resourcesAndRoles,
		roles: { ...schema.roles, own: { name: 'Own' } },
	});
	await ledger.balanced();
});

journey('a scope selects the copied objects by key, and their references must exist', async (t, place, management) => {
	await filled(place);
	const copy = copyClient(place, management);
	const { resources, roles } = resourcesAndRoles;
	const scopes: readonly (readonly [scope: Json, resources: readonly string[], roles: readonly string[]])[] = [
		[{ roles: { exclude: ['*'] } }, ['document', 'report'], []],
		[{ roles: { include: ['test-*'] } }, ['document', 'report'], ['test-1', 'test-2']],
		[{ roles: { include: ['*'], exclude: ['*-1', 'e*r'] } }, ['document', 'report'], ['reader', 'test-2']],
		[{ resources: { include: ['report', 'nothing'] }, roles: { include: ['test-1'] } }, ['report'], ['test-1']],
		[{ resources: { include: ['.*'] }, roles: { include: ['test.1'] } }, [], []],
		[
			{ user_sets: { include: ['x'] }, custom_policies: { exclude: ['*'] } },
			Object.keys(resources),
			Object.keys(roles),
		],
	];
	const only = (all: Json, keys: readonly string[]) =>
		Object.fromEntries(Object.entries(all).filter(([key]) => keys.includes(key)));
	for (const [scope, resourceKeys, roleKeys] of scopes) {
		const target = await newPlace(management, management.project);
		const answer = await copy({ target_env: { existing: target.key }, scope });
		t.is(answer.status, 201, JSON.stringify([scope, answer.body]));
		t.deepEqual(await exportedSchema(target), {
			resources: only(resources, resourceKeys),
			roles: only(roles, roleKeys),
		});
		// Elements are copied only together with all their roles and the reviewers' element.
		const both = roleKeys.includes('editor') && roleKeys.includes('reader');
		t.deepEqual((await exported(target)).schema['elements_configs'], both ? elements_configs : {});
	}
	const target = await newPlace(management, management.project);
	const ledger = await openLedger(t, target);
	const missing: readonly (readonly [scope: Json, named: string])[] = [
		[{ resources: { exclude: ['report'] } }, 'report:read'],
		[{ roles: { include: ['editor'] } }, 'reader'],
	];
	for (const [scope, named] of missing) {
		fails(t, await copy({ target_env: { existing: target.key }, scope }), 404, named);
		const created = { key: `${target.key}-new`, name: 'New' };
		fails(t, await copy({ target_env: { new: created }, scope }), 404, named);
		fails(t, await management.project.get(`/v2/projects/default/envs/${created.key}`), 404);
	}
	await ledger.balanced();
});

/** Files in folders. Editors of files are derived from owners of folders. */
const nested = {
	file: {
		name: 'File',
		actions: { read: { name: 'read' } },
		attributes: {},
		relations: { parent: { name: 'Parent', subject_resource: 'folder' } },
		action_groups: { all: { name: 'All', actions: ['read'] } },
		roles: {
			editor: {
				name: 'Editor',
				extends: ['reader'],
				granted_to: { users_with_role: [{ role: 'owner', on_resource: 'folder', linked_by_relation: 'parent' }] },
			},
			reader: { name: 'Reader', permissions: ['read'] },
		},
	},
	folder: {
		name: 'Folder',
		actions: {},
		attributes: {},
		relations: { author: { name: 'Author', subject_resource: '__user' } },
		roles: { owner: { name: 'Owner', attributes: { level: 1 } } },
	},
} as const;

journey('a resource is copied with its parts, in any order of references', async (t, place, management) => {
	await place.http.post(`/v2/projects/${place.project}/envs/${place.key}/import`, {
		...header,
		schema: { resources: nested, roles: { viewer: { name: 'Viewer', permissions: ['file:read'] } } },
	});
	const copy = copyClient(place, management);
	const target = await newPlace(management, management.project);
	const ledger = await openLedger(t, target);
	const to = { target_env: { existing: target.key } };

	const missing: readonly (readonly [scope: Json, named: string])[] = [
		[{ resources: { exclude: ['folder'] } }, 'schema.resources.file.relations.parent.subject_resource'],
		[{ resources: { include: ['folder'] } }, 'schema.roles.viewer.permissions.0'],
	];
	for (const [scope, named] of missing) fails(t, await copy({ ...to, scope }), 404, named);
	await ledger.wrote(
		await copy({ ...to, scope: { resources: { include: ['fold*'] }, roles: { exclude: ['*'] } } }),
		201,
	);
	t.deepEqual(await exportedSchema(target), { resources: { folder: nested.folder }, roles: {} });
	// The source role of the derivation on files exists, but differs from the role in the source environment.
	await ledger.wrote(await target.http.delete(`${target.schema}/resources/folder/roles/owner`), 204);
	const files = { scope: { resources: { include: ['file'] } } };
	fails(t, await copy({ ...to, ...files }), 404, 'roles.editor.granted_to.users_with_role.0.role');
	const own = { key: 'owner', name: 'Their owner' };
	await ledger.wrote(await target.http.post(`${target.schema}/resources/folder/roles`, own));
	await ledger.wrote(await copy({ ...to, ...files }), 201);
	t.deepEqual((await exported(target)).schema['resources'], {
		file: nested.file,
		folder: { ...nested.folder, roles: { owner: { name: 'Their owner' } } },
	});
	await ledger.wrote(await target.http.post(`${target.schema}/resources/file/roles`, { key: 'own', name: 'Own' }));
	fails(t, await copy({ ...to, conflict_strategy: 'fail' }), 409, '`folder/owner`');
	await ledger.wrote(await copy({ ...to, conflict_strategy: 'overwrite' }), 201);
	t.deepEqual((await exported(target)).schema['resources'], {
		...nested,
		file: { ...nested.file, roles: { ...nested.file.roles, own: { name: 'Own' } } },
	});
	await ledger.kept(await copy(to), 201);
	await ledger.balanced();
});

journey('the target must be a different environment in the same project', async (t, place, management) => {
	const copy = copyClient(place, management);
	const other = await management.organization.post<Json>('/v2/projects', { key: `${place.key}-p`, name: 'P' });
	t.is(other.status, 200);
	const theirs = await management.organization.get<Json>(`/v2/projects/${place.key}-p/envs/dev`);
	for (const existing of ['nothing', String(theirs.body['id'])]) {
		fails(t, await copy({ target_env: { existing } }), 404, existing);
		fails(t, await copy({ target_env: { existing } }, '/async'), 404, existing);
	}
	const same = await copy({ target_env: { existing: place.id } });
	fails(t, same, 422, place.id);
	t.deepEqual(problemPlaces(same), ['body.target_env.existing']);
	fails(
		t,
		await place.http.post(`/v2/projects/default/envs/${place.key}/copy`, { target_env: { existing: 'dev' } }),
		403,
	);
});

journey('a copy may continue after the response, and its result can be requested', async (t, place, management) => {
	await filled(place);
	const copy = copyClient(place, management);
	const resultPath = (id: unknown) => `/v2/projects/default/envs/${place.key}/copy/async/${String(id)}/result`;
	const begun = await copy({ target_env: { new: { key: `${place.key}-async`, name: 'Later' } } }, '/async');
	t.is(begun.status, 202, JSON.stringify(begun.body));
	const ended = await management.project.get<Json>(`${resultPath(begun.body['task_id'])}?wait=30`);
	t.like(ended.body, { task_id: begun.body['task_id'], status: 'success', error: null });
	const { body: target } = await management.project.get(`/v2/projects/default/envs/${place.key}-async`);
	t.deepEqual(ended.body['result'], target);
	t.is((await management.project.get<Json>(`${resultPath(begun.body['task_id'])}`)).body['status'], 'success');
	fails(t, await place.http.get(resultPath(begun.body['task_id'])), 403);

	const again = await copy({ target_env: { new: { key: `${place.key}-async`, name: 'Later' } } }, '/async?wait=30');
	t.is(again.status, 202);
	t.like(again.body, { status: 'failure', result: null });
	t.true(String(again.body['error']).includes(`${place.key}-async`));
	fails(t, await management.project.get(resultPath(place.id)), 404, place.id);

	const many = await Promise.all(
		Array.from({ length: 12 }, async (_, index) => {
			let { body } = await copy(
				{ target_env: { new: { key: `${place.key}-${index}`, name: 'Many' } } },
				'/async?wait=60',
			);
			// On a busy machine, a copy may take longer than a request can wait.
			while (body['status'] === 'processing') {
				body = (await management.project.get<Json>(`${resultPath(body['task_id'])}?wait=60`)).body;
			}
			return body;
		}),
	);
	t.true(
		many.every(({ status }) => status === 'success'),
		JSON.stringify(many),
	);
});

journey('a copy fails if its process exits, and is not resumed', async (t, place, management) => {
	const { store } = management;
	const tasks = store.copyTasks(place.id);
	const id = store.clock.newId();
	await tasks.add(id);
	const path = `/v2/projects/default/envs/${place.key}/copy/async/${id}/result`;
	t.like((await management.project.get(path)).body, { status: 'processing', result: null, error: null });
	await store.database
		.knex('copy_tasks')
		.where({ id })
		.update({ lease_until: new Date(0) });
	t.like((await management.project.get(`${path}?wait=30`)).body, { status: 'failure', result: null });
	t.false(await tasks.end(id, { result: {} }), 'a failed copy cannot succeed later');
	t.like((await management.project.get(path)).body, { status: 'failure', result: null });
});
