// @alone @rest

import test, { type ExecutionContext } from 'ava';
import { newestChanges } from '../support/changes.js';
import { fill, readContents } from '../support/contents.js';
import { onEachStack, onEachStore } from '../support/each-store.js';
import { fails } from '../support/failure.js';
import { newPlace, oncePerStore, type Place } from '../support/management.js';

/**
 * Cascading deletions delete exactly the dependent objects. The change log names all deleted objects, and creating a
 * new object with the same key brings nothing back.
 */

// Serial, because these tests send many requests, and AVA treats a long time without results as a hang.
const journey = onEachStore({ declare: test.serial, embedded: 'all' });

/** The deletion of an object that `fill` created. */
interface Deletion {
	/** Path below the environment's schema or facts. */
	readonly path: string;
	readonly body?: object;
	/** Deleted objects, with the names that the log and `readContents` use. */
	readonly gone: readonly string[];
	/** Links deleted with these objects or with the changed objects. */
	readonly lost?: readonly string[];
	/** Objects that lose a part, with their names in the log. */
	readonly changed?: readonly string[];
	/** Path and body that recreate an object with the same key, and the only words that the new object adds. */
	readonly again: readonly [path: string, body: object, words: readonly string[]];
}

const held = (...names: readonly string[]) => names.map((name) => `role_assignment ${name}`);
const ofBudget = [
	'resource_instance document:budget',
	'user_invite ian',
	...held('ann#viewer@document:budget'),
	'relationship_tuple document:budget#parent@folder:finance',
	'relationship_tuple document:budget#copy@document:budget',
];
const ofHidden = ['staff', '__autogen_viewer'].map((users) => `condition_set_rule ${users}_can_document_read_hidden`);
const ofAnn = [
	'user ann',
	'tenant_user ann@acme',
	...held('ann#editor@acme', 'ann#viewer@globex', 'ann#viewer@document:budget'),
];
const ofGlobex = ['tenant globex', ...held('ann#viewer@globex', 'ben#editor@document:plan')];
const viewerOfTeam = 'document:viewer from team:member by viewer_team';
const ofTeam = [
	'relation document:viewer_team',
	'relationship_tuple document:plan#viewer_team@team:red',
	'group team:red',
	'resource team',
	'role team:member',
	'resource_instance team:red',
	...held('ben#member@team:red'),
];
const ofRed = [...ofTeam.filter((word) => /^(relationship|group|resource_instance|role_assignment)/.test(word))];
const annIsIn = ['listed ann in acme', 'listed ann in globex'];

const deletions: Readonly<Record<string, Deletion>> = {
	'a resource with incoming relations': {
		path: 'schema/resources/folder',
		gone: [
			'resource folder',
			'resource_action folder:read',
			'role folder:owner',
			'relation document:parent',
			'resource_instance folder:finance',
			...held('ben#owner@folder:finance'),
			'relationship_tuple document:budget#parent@folder:finance',
		],
		lost: ['folder:owner grants read', 'document:editor from folder:owner by parent', 'editor grants folder:read'],
		changed: ['role document:editor', 'role editor'],
		again: ['schema/resources', { key: 'folder', name: 'New', actions: {} }, ['resource folder']],
	},
	'a resource with everything': {
		path: 'schema/resources/document',
		gone: [
			'resource document',
			'resource_action document:read',
			'resource_action document:write',
			'resource_attribute document:private',
			'action_group document:all',
			'condition_set hidden',
			...ofHidden,
			'relation document:parent',
			'relation document:copy',
			'role document:viewer',
			'role document:editor',
			...ofBudget,
			'resource_instance document:plan',
			...held('ben#editor@document:plan'),
			'relation document:viewer_team',
			'relationship_tuple document:plan#viewer_team@team:red',
		],
		lost: [
			'document:viewer grants read',
			'document:editor grants write',
			'document:editor extends viewer',
			'document:editor from folder:owner by parent',
			'group document:all holds read',
			'group document:all holds write',
			'viewer grants document:read',
			'editor grants document:write',
			viewerOfTeam,
		],
		changed: ['role viewer', 'role editor'],
		again: ['schema/resources', { key: 'document', name: 'New', actions: {} }, ['resource document']],
	},
	'an action': {
		path: 'schema/resources/document/actions/read',
		gone: ['resource_action document:read', ...ofHidden],
		lost: ['document:viewer grants read', 'viewer grants document:read', 'group document:all holds read'],
		changed: ['role document:viewer', 'role viewer', 'action_group document:all'],
		again: ['schema/resources/document/actions', { key: 'read', name: 'New' }, ['resource_action document:read']],
	},
	'an attribute': {
		path: 'schema/resources/document/attributes/private',
		gone: ['resource_attribute document:private'],
		again: [
			'schema/resources/document/attributes',
			{ key: 'private', type: 'bool' },
			['resource_attribute document:private'],
		],
	},
	'a user attribute': {
		path: 'schema/users/attributes/plan',
		gone: ['resource_attribute __user:plan'],
		again: ['schema/users/attributes', { key: 'plan', type: 'string' }, ['resource_attribute __user:plan']],
	},
	'an action group': {
		path: 'schema/resources/document/action_groups/all',
		gone: ['action_group document:all'],
		lost: ['group document:all holds read', 'group document:all holds write'],
		again: ['schema/resources/document/action_groups', { key: 'all', name: 'New' }, ['action_group document:all']],
	},
	'a relation': {
		path: 'schema/resources/document/relations/parent',
		gone: ['relation document:parent', 'relationship_tuple document:budget#parent@folder:finance'],
		lost: ['document:editor from folder:owner by parent'],
		changed: ['role document:editor'],
		again: [
			'schema/resources/document/relations',
			{ key: 'parent', name: 'New', subject_resource: 'folder' },
			['relation document:parent'],
		],
	},
	'a condition set': {
		path: 'schema/condition_sets/hidden',
		gone: ['condition_set hidden', ...ofHidden],
		again: [
			'schema/condition_sets',
			{ key: 'hidden', name: 'New', type: 'resourceset', resource_id: 'document' },
			['condition_set hidden'],
		],
	},
	'a tenant role': {
		path: 'schema/roles/viewer',
		gone: [
			'role viewer',
			...held('ann#viewer@globex', 'ben#viewer@acme'),
			'condition_set __autogen_viewer',
			'condition_set_rule __autogen_viewer_can_document_read_hidden',
		],
		lost: ['viewer grants document:read', 'editor extends viewer', 'listed ann in globex'],
		changed: ['role editor'],
		again: ['schema/roles', { key: 'viewer', name: 'New' }, ['role viewer']],
	},
	'a tenant role with an invite': {
		path: 'schema/roles/editor',
		gone: ['role editor', 'user_invite ines', ...held('ann#editor@acme')],
		lost: ['editor grants document:write', 'editor grants folder:read', 'editor extends viewer'],
		again: ['schema/roles', { key: 'editor', name: 'New' }, ['role editor']],
	},
	'a resource role that other roles extend': {
		path: 'schema/resources/document/roles/viewer',
		gone: ['role document:viewer', 'user_invite ian', ...held('ann#viewer@document:budget')],
		lost: ['document:viewer grants read', 'document:editor extends viewer', viewerOfTeam],
		changed: ['role document:editor'],
		again: ['schema/resources/document/roles', { key: 'viewer', name: 'New' }, ['role document:viewer']],
	},
	'a resource role from which other roles are derived': {
		path: 'schema/resources/folder/roles/owner',
		gone: ['role folder:owner', ...held('ben#owner@folder:finance')],
		lost: ['folder:owner grants read', 'document:editor from folder:owner by parent'],
		changed: ['role document:editor'],
		again: ['schema/resources/folder/roles', { key: 'owner', name: 'New' }, ['role folder:owner']],
	},
	'a derived resource role': {
		path: 'schema/resources/document/roles/editor',
		gone: ['role document:editor', ...held('ben#editor@document:plan')],
		lost: [
			'document:editor grants write',
			'document:editor extends viewer',
			'document:editor from folder:owner by parent',
		],
		again: ['schema/resources/document/roles', { key: 'editor', name: 'New' }, ['role document:editor']],
	},
	'a tenant': {
		path: 'facts/tenants/acme',
		gone: [
			'tenant acme',
			'tenant_user ann@acme',
			'tenant_user cy@acme',
			'user_invite ines',
			...ofBudget,
			'resource_instance folder:finance',
			...held('ann#editor@acme', 'ben#viewer@acme', 'ben#owner@folder:finance'),
		],
		lost: ['listed ann in acme', 'listed ben in acme', 'listed cy in acme'],
		again: ['facts/tenants', { key: 'acme', name: 'New' }, ['tenant acme']],
	},
	'tenants in bulk': {
		path: 'facts/bulk/tenants',
		body: { idents: ['globex', 'globex'] },
		gone: [...ofGlobex, 'resource_instance document:plan', ...ofRed],
		lost: ['listed ann in globex', 'listed ben in globex'],
		again: ['facts/tenants', { key: 'globex', name: 'New' }, ['tenant globex']],
	},
	'a group': {
		path: 'schema/groups/team:red',
		gone: ofTeam,
		lost: [viewerOfTeam],
		changed: ['role document:viewer'],
		again: [
			'schema/groups',
			{ group_instance_key: 'red', group_resource_type_key: 'team', group_tenant: 'acme' },
			['group team:red', 'resource team', 'resource_instance team:red', 'role team:member'],
		],
	},
	'a group’s instance': {
		path: 'facts/resource_instances/team:red',
		gone: ofRed,
		again: [
			'facts/resource_instances',
			{ key: 'red', resource: 'team', tenant: 'acme' },
			['resource_instance team:red'],
		],
	},
	'a group’s resource': {
		path: 'schema/resources/team',
		gone: ofTeam,
		lost: [viewerOfTeam],
		changed: ['role document:viewer'],
		again: ['schema/resources', { key: 'team', name: 'New', actions: {} }, ['resource team']],
	},
	'an instance': {
		path: 'facts/resource_instances/document:budget',
		gone: ofBudget,
		again: [
			'facts/resource_instances',
			{ key: 'budget', resource: 'document', tenant: 'acme' },
			['resource_instance document:budget'],
		],
	},
	'instances in bulk': {
		path: 'facts/bulk/resource_instances',
		body: { idents: ['document:budget', 'folder:finance'] },
		gone: [...ofBudget, 'resource_instance folder:finance', ...held('ben#owner@folder:finance')],
		again: [
			'facts/resource_instances',
			{ key: 'budget', resource: 'document', tenant: 'globex' },
			['resource_instance document:budget'],
		],
	},
	'a user': {
		path: 'facts/users/ann',
		gone: ofAnn,
		lost: annIsIn,
		again: ['facts/users', { key: 'ann' }, ['user ann']],
	},
	'users in bulk': {
		path: 'facts/bulk/users',
		body: { idents: ['ann', 'cy'] },
		gone: [...ofAnn, 'user cy', 'tenant_user cy@acme'],
		lost: [...annIsIn, 'listed cy in acme'],
		again: ['facts/users', { key: 'ann' }, ['user ann']],
	},
	'a tenant member': {
		path: 'facts/tenants/acme/users/ann',
		gone: ['tenant_user ann@acme', ...held('ann#editor@acme', 'ann#viewer@document:budget')],
		lost: ['listed ann in acme'],
		again: ['facts/tenants/acme/users', { key: 'ann' }, ['tenant_user ann@acme', 'listed ann in acme']],
	},
};

/** Reads the contents once per store, because all filled environments have the same contents. */
const readFilled = oncePerStore(readContents);

for (const [title, deletion] of Object.entries(deletions)) {
	journey(`${title} is deleted with only its dependents, and is recreated without them`, async (t, place) => {
		await fill(place);
		const { gone, lost = [], changed = [] } = deletion;
		const before = await readFilled(place);
		const all = [...gone, ...lost];
		t.deepEqual(
			all.filter((word) => !before.includes(word)),
			[],
			'all objects to delete exist',
		);
		await deleted(t, place, deletion.path, deletion.body);
		const rest = before.filter((word) => !all.includes(word));
		t.deepEqual(await readContents(place), rest);
		const told = [...gone.map((word) => `delete ${word}`), ...changed.map((word) => `update ${word}`)];
		t.deepEqual(await newestChanges(place), told.sort());

		const [path, body, words] = deletion.again;
		const made = await place.http.post(pathIn(place, path), body);
		t.is(made.status, 200, JSON.stringify(made.body));
		t.deepEqual(
			await readContents(place),
			[...rest, ...words].sort(),
			'the new object exists, without the contents of the old object',
		);
	});
}

/** Sequences of deletions after which nothing is left, in orders that clients use. */
const orders: Readonly<Record<string, readonly string[]>> = {
	'tenants, then resources, starting with the subjects of relations': [
		'facts/tenants/acme',
		'facts/tenants/globex',
		'schema/resources/folder',
		'schema/resources/document',
		'schema/resources/team',
		'schema/roles/viewer',
		'schema/roles/editor',
		'facts/users/ann',
		'facts/users/ben',
		'facts/users/cy',
	],
	'assigned roles, then resources, then their users': [
		'schema/roles/viewer',
		'schema/roles/editor',
		'schema/resources/document/roles/viewer',
		'schema/resources/folder/roles/owner',
		'schema/resources/document',
		'schema/resources/folder',
		'schema/resources/team',
		'facts/users/ann',
		'facts/users/ben',
		'facts/users/cy',
		'facts/tenants/acme',
		'facts/tenants/globex',
	],
	'from the inside out': [
		'schema/groups/team:red',
		'facts/resource_instances/document:budget',
		'facts/resource_instances/folder:finance',
		'facts/users/cy',
		'facts/users/ben',
		'facts/users/ann',
		'facts/tenants/globex',
		'facts/tenants/acme',
		'schema/resources/document/relations/parent',
		'schema/resources/document/actions/read',
		'schema/resources/document/roles/editor',
		'schema/resources/document',
		'schema/resources/folder',
		'schema/roles/editor',
		'schema/roles/viewer',
	],
};

for (const [title, order] of Object.entries(orders)) {
	journey(`everything can be deleted: ${title}`, async (t, place) => {
		const before = await readContents(place);
		await fill(place);
		const independent = ['schema/users/attributes/plan', 'facts/proxy_configs/proxy', 'schema/condition_sets/staff'];
		for (const path of [...order, ...independent]) await deleted(t, place, path);
		t.deepEqual(await readContents(place), before);
	});
}

/** Counts the rows that contain an id, in all tables except the table of deleted objects. */
async function rowsWith({ store }: Place, column: string, id: string): Promise<number> {
	const { knex } = store.database;
	const tables = await knex('information_schema.columns')
		.where({ column_name: column, table_schema: 'public' })
		.whereNot({ table_name: 'deleted_environment_keys' })
		.pluck<string[]>('table_name');
	const counts = await Promise.all(tables.map((table) => knex(table).where(column, id).count('* as count').first()));
	return counts.reduce((sum, row) => sum + Number(row?.['count'] ?? 0), 0);
}

journey('an environment is deleted with its contents, and is recreated empty', async (t, place, { project }) => {
	const other = await newPlace(place, project);
	const empty = await readContents(other);
	for (const each of [place, other]) await fill(each);
	const kept = await readContents(other);
	t.true((await rowsWith(place, 'environment_id', place.id)) > 50);
	t.is((await project.delete(`/v2/projects/default/envs/${place.key}`)).status, 204);
	t.is(await rowsWith(place, 'environment_id', place.id), 0);
	fails(t, await place.http.get(`${place.facts}/users`), 401);
	fails(t, await project.get(`${place.facts}/users`), 404);
	fails(t, await project.get(`/v2/projects/default/envs/${place.key}/changes`), 404);
	t.deepEqual(await readContents(other), kept);
	const again = await newPlace(place, project, 'default', place.key);
	t.not(again.id, place.id);
	t.deepEqual(await readContents(again), empty);
	fails(t, await place.http.get(`${place.facts}/users`), 401);
});

journey('a project is deleted with its environments, and is recreated empty', async (t, place, { organization }) => {
	const key = `project-of-${place.key}`;
	const empty = await readContents(place);
	const made = () => organization.post('/v2/projects', { key, name: 'Project', initial_environments: [] });
	await made();
	const inside = await newPlace(place, organization, key, 'inside');
	for (const each of [place, inside]) await fill(each);
	const kept = await readContents(place);
	t.is((await organization.delete(`/v2/projects/${key}`)).status, 204);
	t.is(await rowsWith(place, 'environment_id', inside.id), 0);
	t.is(await rowsWith(place, 'project_id', inside.project_id), 0);
	fails(t, await inside.http.get(`${inside.facts}/users`), 401);
	t.deepEqual(await readContents(place), kept);
	t.is((await made()).status, 200);
	t.deepEqual((await organization.get(`/v2/projects/${key}/envs`)).body, []);
	t.deepEqual(await readContents(await newPlace(place, organization, key, 'inside')), empty);
});

async function deleted(t: ExecutionContext, place: Place, path: string, body?: object): Promise<void> {
	const answer = await place.http.delete(pathIn(place, path), body);
	t.true([200, 204].includes(answer.status), `${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

function pathIn({ schema, facts }: Place, path: string): string {
	return path.replace(/^schema/, schema).replace(/^facts/, facts);
}

/** Steps that together let ann write documents in acme. Each step needs the previous steps. */
const steps: readonly (readonly [path: string, body: object])[] = [
	['schema/resources', { key: 'document', name: 'Document', actions: { write: {} } }],
	['schema/roles', { key: 'writer', name: 'Writer' }],
	['schema/roles/writer/permissions', { permissions: ['document:write'] }],
	['facts/tenants', { key: 'acme', name: 'Acme' }],
	['facts/users', { key: 'ann' }],
	['facts/role_assignments', { user: 'ann', role: 'writer', tenant: 'acme' }],
];
const grant = steps.slice(2, 3);
const assignment = steps.slice(5);

/** Objects to delete. Each comes with the steps to recreate it, and the steps after which ann can write again. */
const lives: readonly (readonly [path: string, body: object | undefined, again: typeof steps, until: typeof steps])[] =
	[
		['schema/resources/document', undefined, steps.slice(0, 1), grant],
		[
			'schema/resources/document/actions/write',
			undefined,
			[['schema/resources/document/actions', { key: 'write', name: 'Write' }]],
			grant,
		],
		['schema/roles/writer', undefined, steps.slice(1, 3), assignment],
		['schema/roles/writer', undefined, [...steps.slice(1, 2), ...assignment], grant],
		['facts/tenants/acme', undefined, steps.slice(3, 4), assignment],
		['facts/bulk/tenants', { idents: ['acme'] }, steps.slice(3, 4), assignment],
		['facts/users/ann', undefined, steps.slice(4, 5), assignment],
		['facts/bulk/users', { idents: ['ann'] }, steps.slice(4, 5), assignment],
		['facts/tenants/acme/users/ann', undefined, [['facts/tenants/acme/users', { key: 'ann' }]], assignment],
	];

onEachStack(`the decision point forgets deleted objects, and recreating them restores no access`, async (t, stack) => {
	const send = async (method: 'post' | 'delete', path: string, body?: object) => {
		const answer = await stack.environment[method](`/v2/${path.replace('/', '/default/dev/')}`, body);
		t.true(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
		await stack.reached(answer.revision);
	};
	const allowed = async () => {
		const resource = { type: 'document', tenant: 'acme' };
		return (await stack.pdp.post('/allowed', { user: 'ann', action: 'write', resource })).body['allow'];
	};
	for (const [path, body] of steps) await send('post', path, body);
	for (const [path, named, again, until] of lives) {
		t.true(await allowed(), `before ${path}`);
		await send('delete', path, named);
		t.false(await allowed(), `after ${path}`);
		for (const [where, body] of again) await send('post', where, body);
		t.false(await allowed(), `again, after ${path}`);
		for (const [where, body] of until) await send('post', where, body);
	}
	t.true(await allowed());
});
