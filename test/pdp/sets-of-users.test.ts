import test from 'ava';
import { publicRoles, roleText } from '../../compiler/cycle.js';
import { everyone } from '../../compiler/everyone.js';
import type { Model } from '../../compiler/model.js';
import { evaluateResidual } from '../../src/filter/evaluate-residual.js';
import type { Residual, Row } from '../../src/filter/residual.js';
import { patternMatches } from '../support/conditions.js';
import { readCaseModel, serving } from './cases.js';

/** Checks about a set of users instead of a user. */

const d1 = { type: 'my-doc', key: 'd1', tenant: 'acme' };
const ask = (set: unknown, action = 'read', resource: unknown = d1) => ({ user: { set }, action, resource });

const decisions: readonly (readonly [body: object, allow: boolean, because: string])[] = [
	[ask('folder:top#viewer'), true, 'a role derived over several folders'],
	[ask('folder:deep#editor', 'write'), true, 'a role derived in one step'],
	[ask('folder:other#viewer'), false, 'a folder without the document'],
	[ask('folder:top#none'), false, 'an unknown role'],
	[ask('folder:none#viewer'), false, 'an unknown instance'],
	[ask('folder:top#viewer', 'write'), false, 'a role without the permission'],
	[ask('my-doc:d1#reader-1'), true, 'the role on the document itself'],
	[ask('folder:top#viewer', 'read', { ...d1, tenant: 'beta' }), false, 'a different tenant'],
	[ask('__proto__:__proto__#__proto__'), false, 'keys like built-in members'],
];

test('a set of users holds its role, and the roles derived from it', async (t) => {
	const { http } = await serving(t, await readCaseModel('007-folders-and-documents'));
	for (const [body, allow, because] of decisions) {
		t.is((await http.post('/allowed', body)).body['allow'], allow, because);
	}
	const { body } = await http.post<{ allow: { allow: boolean }[] }>(
		'/allowed/bulk',
		decisions.map(([body]) => body),
	);
	t.deepEqual(
		body.allow.map(({ allow }) => allow),
		decisions.map(([, allow]) => allow),
	);
	const explained = await http.post('/allowed', { ...ask('folder:top#viewer'), use_debugger: true });
	t.like(explained.body, { allow: true, query: { user: { key: 'folder:top#viewer' } } });
	t.false(JSON.stringify(explained.body['query']).includes('holdings'));
});

test('rejects malformed sets of users, and sets of users in requests that do not support them', async (t) => {
	const { http } = await serving(t, await readCaseModel('007-folders-and-documents'));
	for (const set of ['', 'team', 'team:eng', 'team#member', 'a:b:c#d', 'a:b#c#d', '#', ':#', 7, null, ['a:b#c']]) {
		t.is((await http.post('/allowed', ask(set))).status, 422, JSON.stringify(set));
	}
	const set = { user: { set: 'folder:top#viewer' } };
	const refused = [['/allowed_url', { ...set, http_method: 'get', url: 'https://example.com' }]] as const;
	for (const [path, body] of refused) t.is((await http.post(path, body)).status, 422, path);
	// A user record may have a field `set`, and no request sets the holdings of a user.
	const holdings = { folder: { viewer: { 'folder:top': null } } };
	for (const user of [
		{ key: 'nobody', set: 'folder:top#viewer' },
		{ key: 'nobody', holdings },
	]) {
		t.is((await http.post('/allowed', { user, action: 'read', resource: d1 })).body['allow'], false);
	}
});

test('attempts propose relationships for a set of users, and nothing that changes the set', async (t) => {
	const { http } = await serving(t, await readCaseModel('007-folders-and-documents'));
	const attempts = async (set: string, action = 'read') => {
		const { body } = await http.post<{ debug: { attempts: Record<string, unknown>[] } }>('/allowed', {
			...ask(set, action),
			use_debugger: 'attempts',
		});
		return body.debug.attempts.map(({ passed, add, remove, compare }) => ({ passed, add, remove, compare }));
	};
	t.deepEqual(await attempts('folder:top#viewer'), [{ passed: true, add: [], remove: [], compare: [] }]);
	const parent = { fact: 'relationship_tuple', subject: 'folder:top', relation: 'parent', object: 'my-doc:d1' };
	t.deepEqual(await attempts('folder:top#editor', 'write'), [
		{ passed: false, add: [{ ...parent, tenant: 'acme' }], remove: [], compare: [] },
	]);
	t.deepEqual(await attempts('folder:other#viewer'), [], 'the folder is in a different tenant');
});

/** Returns all sets of users with assignable roles, and sets with a missing role or a missing instance. */
function everySet({ schema, facts }: Model) {
	const sets = schema.resources.flatMap(({ key: type, roles }) =>
		[...facts.instances.filter((instance) => instance.type === type).map(({ key }) => key), 'none'].flatMap((key) =>
			[...roles.filter(({ computed }) => computed === undefined).map((role) => role.key), 'none'].map((role) => ({
				type,
				id: `${key}#${role}`,
			})),
		),
	);
	return sets.map((subject) => ({ subject, text: `${subject.type}:${subject.id}` }));
}

/**
 * Removes assignments to everyone if the role is not public. The store rejects such assignments, and the facts index
 * relies on this.
 */
function withoutClosedRoles(model: Model): Model {
	const open = new Set(publicRoles(model.schema).map(roleText));
	const kept = model.facts.instance_assignments.filter(
		({ user, type, role }) => user !== everyone || open.has(roleText({ type, role })),
	);
	return { ...model, facts: { ...model.facts, instance_assignments: kept } };
}

for (const name of ['007-folders-and-documents', '010-resource-roles', '012-computed-roles', '013-public-roles']) {
	test(`listings, filters and AuthZEN treat sets of users like checks: ${name}`, async (t) => {
		const model = withoutClosedRoles(await readCaseModel(name));
		const { http } = await serving(t, model);
		const sets = everySet(model);
		const places = model.facts.instances.flatMap(({ type, key, tenant }) => {
			const actions = model.schema.resources.find((resource) => resource.key === type)?.actions ?? [];
			return actions.map((action) => ({ action: action.key, type, key, tenant }));
		});
		const checks = sets.flatMap((set) => places.map((place) => ({ ...set, ...place })));
		const decided = await http.post<{ allow: { allow: boolean }[] }>(
			'/allowed/bulk',
			checks.map(({ text, action, type, key, tenant }) => ask(text, action, { type, key, tenant })),
		);
		const allowed = checks.filter((_, index) => decided.body.allow[index]?.allow);
		t.true(allowed.length > 0 && allowed.length < checks.length);
		const about = ({ subject, action, type, key }: (typeof checks)[number]) => {
			return { subject, action: { name: action }, resource: { type, id: key } };
		};
		const { body } = await http.post<{ evaluations: { decision: boolean }[] }>('/access/v1/evaluations', {
			evaluations: checks.map(about),
		});
		t.deepEqual(
			checks.filter((_, index) => body.evaluations[index]?.decision),
			allowed,
		);
		const search = async (kind: string, question: object) => {
			const found = await http.post<{ results: { id: string; name: string }[] }>(`/access/v1/search/${kind}`, question);
			return (found.body.results ?? t.fail(JSON.stringify(found.body))).map((result) => result.id ?? result.name);
		};
		const attributes = new Map(
			model.facts.instance_attributes.map((one) => [`${one.type}:${one.key}`, one.attributes]),
		);
		/** Returns the keys of the instances that a filter selects, sorted. */
		const filtered = async (set: string, action: string, type: string) => {
			const asked = { user: { set }, action, resource: type };
			const { body: filter } = await http.post<{ condition?: Residual }>('/filter', asked);
			const selects = (row: Row) =>
				filter.condition !== undefined && evaluateResidual(filter.condition, row, patternMatches);
			const ofType = model.facts.instances.filter((one) => one.type === type);
			const selected = ofType.filter(({ key, tenant }) =>
				selects({ key, tenant, attributes: attributes.get(`${type}:${key}`) ?? {} }),
			);
			return selected.map(({ key }) => key).sort();
		};
		for (const place of places) {
			for (const type of new Set(sets.map(({ subject }) => subject.type))) {
				const here = allowed.filter(
					(one) => one.type === place.type && one.key === place.key && one.action === place.action,
				);
				const ids = here.map(({ subject }) => subject).filter((subject) => subject.type === type);
				// A search finds only sets of users on existing instances with existing roles.
				const existing = ids.map(({ id }) => id).filter((id) => !id.includes('none'));
				const question = { action: { name: place.action }, resource: { type: place.type, id: place.key } };
				t.deepEqual(await search('subject', { ...question, subject: { type } }), existing.sort());
			}
		}
		for (const { subject, text } of sets) {
			const own = allowed.filter((one) => one.text === text);
			const [first] = places;
			for (const { key: type, actions } of model.schema.resources) {
				for (const { key: action } of actions) {
					const keys = own.filter((one) => one.type === type && one.action === action).map(({ key }) => key);
					const question = { subject, action: { name: action }, resource: { type } };
					t.deepEqual(await search('resource', question), keys.sort(), text);
					t.deepEqual(await filtered(text, action, type), keys, text);
				}
			}
			const actions = own
				.filter(({ type, key }) => type === first?.type && key === first.key)
				.map(({ action }) => action);
			const resource = { type: first?.type, id: first?.key };
			t.deepEqual(await search('action', { subject, resource }), actions.sort(), text);
			const listed = await http.post<Record<string, { permissions: string[] }>>('/user-permissions', {
				user: { set: text },
				resource_types: model.schema.resources.map(({ key }) => key),
				context: { enable_abac_user_permissions: true },
			});
			const permissions = Object.entries(listed.body).flatMap(([object, entry]) =>
				entry.permissions.map((permission) => `${object} ${permission}`),
			);
			const wanted = own.map(({ type, key, action }) => `${type}:${key} ${type}:${action}`);
			t.deepEqual(permissions.sort(), wanted.sort(), text);
		}
	});
}

test('a set of users with a computed role is rejected in listings and filters, and denied in evaluations', async (t) => {
	const model = await readCaseModel('012-computed-roles');
	const { http } = await serving(t, model);
	const [found] = model.facts.instances.flatMap(({ type, key }) => {
		const roles = model.schema.resources.find((resource) => resource.key === type)?.roles ?? [];
		return roles.filter(({ computed }) => computed !== undefined).map((role) => ({ type, key, role: role.key }));
	});
	const { type = '', key = '', role = '' } = found ?? {};
	const user = { set: `${type}:${key}#${role}` };
	const body = { user, action: 'read', resource: type };
	for (const path of ['/user-permissions', '/user-tenants', '/filter', '/filter/keys', '/filter_resources']) {
		t.is((await http.post(path, body)).status, 422, path);
	}
	const evaluation = { subject: { type, id: `${key}#${role}` }, action: { name: 'read' }, resource: { type, id: key } };
	t.deepEqual((await http.post('/access/v1/evaluation', evaluation)).body, { decision: false });
	t.deepEqual((await http.post('/access/v1/search/action', evaluation)).body['results'], []);
});

test('a set of users belongs to the tenant of its instance', async (t) => {
	const { http } = await serving(t, await readCaseModel('007-folders-and-documents'));
	const tenants = async (set: string) => {
		const { body } = await http.post<{ key: string }[]>('/user-tenants', { user: { set } });
		return body.map(({ key }) => key);
	};
	t.deepEqual(await tenants('folder:top#viewer'), ['acme']);
	t.deepEqual(await tenants('folder:top#none'), []);
	t.deepEqual(await tenants('folder:none#viewer'), []);
});
