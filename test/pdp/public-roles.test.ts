import test, { type ExecutionContext } from 'ava';
import type { Model, ResourceRole } from '../../compiler/model.js';
import { policyWasm, resource, snapshot } from './environment.js';
import { type Served, serve } from './served.js';

/** Public roles in checks and listings, together with computed roles, blocked derivations and contextual facts. */

function role(key: string, more: Partial<ResourceRole> = {}): ResourceRole {
	const own = { key, name: key, description: null, permissions: [], extends: [], derivations: [] };
	return { ...own, no_direct_roles_on_object: false, ...more };
}

const relation = (key: string, subject: string) => ({ key, name: key, description: null, subject });
const fromShelf = { relation: 'shelf', role: 'viewer', no_direct_roles_on_object: true };

/**
 * Everyone is a viewer of the shelf, and a reader of its books unless the user's own role on the book blocks the
 * derivation. Users who are not banned are guests.
 */
const shelves: Model = {
	contextual_facts: true,
	schema: {
		condition_sets: [],
		set_rules: [],
		roles: [],
		resources: [
			{ ...resource('shelf', []), roles: [role('viewer', { public: true })], relations: [] },
			{
				...resource('book', ['read', 'borrow']),
				roles: [
					role('reader', { permissions: ['read'], derivations: [fromShelf], no_direct_roles_on_object: true }),
					role('seen', { public: true }),
					role('banned'),
					role('guest', { permissions: ['borrow'], computed: { allOf: ['seen', { not: 'banned' }] } }),
				],
				relations: [relation('shelf', 'shelf'), relation('sequel', 'book')],
			},
		],
	},
	facts: {
		users: ['ann', 'ben', 'cat'],
		user_attributes: [],
		tenants: [{ key: 'acme', attributes: {} }],
		role_assignments: [],
		instances: [
			{ type: 'shelf', key: 's', tenant: 'acme' },
			...Array.from({ length: 5_001 }, (_, index) => ({ type: 'book', key: `b${index}`, tenant: 'acme' })),
		],
		instance_attributes: [],
		instance_assignments: [
			{ user: '*', role: 'viewer', type: 'shelf', instance: 's' },
			{ user: '*', role: 'seen', type: 'book', instance: 'b0' },
			{ user: 'ben', role: 'banned', type: 'book', instance: 'b0' },
			...Array.from({ length: 5_000 }, (_, index) => ({
				user: 'cat',
				role: 'seen',
				type: 'book',
				instance: `b${index + 1}`,
			})),
		],
		relationships: [{ type: 'book', instance: 'b0', relation: 'shelf', subject_type: 'shelf', subject: 's' }],
	},
};

const book = { type: 'book', key: 'b0', tenant: 'acme' };

test.before('build the policy', async () => {
	await policyWasm(shelves);
});

async function serveShelves(t: ExecutionContext, model = shelves): Promise<Served> {
	const served = await serve(t);
	served.feed.publish({ revision: 7, snapshot: await snapshot({ revision: 7, model }) });
	await served.replica.reached(7);
	return served;
}

test('a computed role that excludes users is not listed for everyone', async (t) => {
	const { http } = await serveShelves(t);
	const allowed: string[] = [];
	for (const user of ['ann', 'ben', 'cat']) {
		const { body } = await http.post('/allowed', { user, action: 'borrow', resource: book });
		if (body['allow']) allowed.push(user);
	}
	t.deepEqual(allowed, ['ann', 'cat']);
	const { body } = await http.post<{ users: object }>('/authorized_users', { action: 'borrow', resource: book });
	t.deepEqual(Object.keys(body.users), allowed);
	const assignment = { user: '*', tenant: 'acme', resource: 'book:b0', role: 'book#seen' };
	t.deepEqual(body.users, { ann: [assignment], cat: [assignment] });
});

test('a set of users with a computed role is rejected', async (t) => {
	const { http } = await serveShelves(t);
	const check = { user: { set: 'book:b1#guest' }, action: 'borrow', resource: book };
	const { status, body } = await http.post('/allowed', check);
	t.is(status, 422);
	t.regex(JSON.stringify(body), /is computed from other roles: use sets of users with the other roles/);
	const bulk = await http.post('/allowed/bulk', [{ ...check, user: 'ann' }, check]);
	t.is(bulk.status, 422);
	t.regex(JSON.stringify(bulk.body), /"body",1,"user","set"/);
	t.is((await http.post('/allowed', { ...check, user: { set: 'book:b1#seen' } })).status, 200);
});

test('contextual facts do not turn public roles into a user’s own roles', async (t) => {
	const { http } = await serveShelves(t);
	const relationship_tuples = [{ subject: 'book:b1', relation: 'sequel', object: 'book:b0' }];
	for (const user of ['ann', 'nobody', '*']) {
		const check = { user, action: 'read', resource: book, contextual_facts: { relationship_tuples } };
		t.is((await http.post('/allowed', check)).body['allow'], true, user);
	}
});

test('attempts for the user `*` are the same as for an unknown user', async (t) => {
	const { http } = await serveShelves(t);
	const attempts = async (user: string) => {
		const check = { user, action: 'read', resource: book, use_debugger: 'attempts' };
		const { body } = await http.post<{ debug: { attempts: object } }>('/allowed', check);
		return JSON.stringify(body.debug.attempts).replaceAll(`\`${user}\``, 'user');
	};
	t.is(await attempts('*'), await attempts('nobody'));
});

test('contextual facts for users with too many roles are rejected', async (t) => {
	const relationship_tuples = [{ subject: 'book:b1', relation: 'sequel', object: 'book:b0' }];
	const role_assignments = [{ user: 'cat', role: 'seen', resource_instance: 'book:b0' }];
	const { instance_assignments } = shelves.facts;
	const more = { user: 'cat', role: 'banned', type: 'book', instance: 'b1' };
	const facts = { ...shelves.facts, instance_assignments: [...instance_assignments, more] };
	for (const [model, contextual_facts, status] of [
		[shelves, { role_assignments }, 200],
		[shelves, { relationship_tuples }, 422],
		[{ ...shelves, facts }, { role_assignments }, 422],
		[{ ...shelves, facts }, { role_assignments: [{ ...role_assignments[0], user: 'ann' }] }, 200],
	] as const) {
		const { http } = await serveShelves(t, model);
		const answer = await http.post('/allowed', { user: 'cat', action: 'read', resource: book, contextual_facts });
		t.is(answer.status, status, JSON.stringify([contextual_facts, answer.body]));
	}
});
