// @alone @rest

import type { ExecutionContext } from 'ava';
import { maxSteps } from '../../src/domain/check-limit/check-steps.js';
import type { Answer } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { fails } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import { newPlace, type Place } from '../support/management.js';
import { addRelation } from '../support/relation.js';

/**
 * A check may follow relationships only for a maximum number of steps. Every kind of write beyond this limit is
 * rejected.
 */

const journey = onEachStore();

const count = 20;
const keys = Array.from({ length: count }, (_, index) => `r${index}`);
/**
 * Each role on a room is derived from each role on the room's box, and each role on a box from each role on the box's
 * shelves. Therefore, each relationship takes 400 steps.
 */
const derivedFrom = (on_resource: string, linked_by_relation: string) => ({
	users_with_role: keys.map((role) => ({ role, on_resource, linked_by_relation })),
});
const rolesFrom = (granted_to: object | null) => {
	return Object.fromEntries(keys.map((key) => [key, { name: key, granted_to }]));
};
/**
 * Maximum number of shelves per box within the limit for checks on a room in the box. A check visits all shelves for
 * each role on the room.
 */
const most = Math.floor(maxSteps / count / (count * count)) - 1;

/** Creates the resources for rooms in boxes on shelves. Derives roles on boxes and, if `whole`, also on rooms. */
async function rooms(place: Place, whole = true): Promise<void> {
	const { http, schema } = place;
	for (const key of ['shelf', 'box', 'room']) {
		await http.post(`${schema}/resources`, { key, name: key, actions: {}, roles: rolesFrom(null) });
	}
	await addRelation(place, 'box', 'on', 'shelf');
	await addRelation(place, 'room', 'of', 'box');
	await http.patch(`${schema}/resources/box`, { roles: rolesFrom(derivedFrom('shelf', 'on')) });
	if (whole) await http.patch(`${schema}/resources/room`, { roles: rolesFrom(derivedFrom('box', 'of')) });
}

const onShelf = (shelf: number, box = 'b') => {
	return { subject: `shelf:s${shelf}`, relation: 'on', object: `box:${box}`, tenant: 'default' };
};
const ofBox = (room: string, box = 'b') => {
	return { subject: `box:${box}`, relation: 'of', object: `room:${room}`, tenant: 'default' };
};
const onShelves = (first: number, last: number) =>
	Array.from({ length: last - first + 1 }, (_, index) => onShelf(first + index));

function refused(t: ExecutionContext, answer: Answer<unknown>, instance: string): void {
	fails(t, answer, 400, `check on \`${instance}\``);
	fails(t, answer, 400, `more than ${maxSteps} steps`);
	fails(t, answer, 400, 'where `r');
}

journey('relationships are created up to the check limit, and no more', async (t, place) => {
	await rooms(place);
	const { http, facts } = place;
	const ledger = await openLedger(t, place);
	const path = `${facts}/relationship_tuples`;
	await ledger.wrote(await http.post(`${path}/bulk`, { operations: onShelves(1, most) }));
	await ledger.wrote(await http.post(path, ofBox('r')));
	// One more shelf for the box exceeds the limit for the room in the box.
	refused(t, await http.post(path, onShelf(0)), 'room:r');
	refused(t, await http.post(`${path}/bulk`, { operations: [onShelf(1, 'other'), onShelf(0)] }), 'room:r');
	await ledger.balanced();
	await ledger.wrote(await http.post(path, onShelf(1, 'other')));
	refused(t, await http.post(path, ofBox('r', 'other')), 'room:r');
	await ledger.wrote(await http.delete(path, onShelf(1)), 204);
	await ledger.wrote(await http.post(path, onShelf(0)));
	await ledger.balanced();
});

/** Puts rooms into the box, bypassing the limit and the API. */
async function crowd({ store, id: environment }: Place, rooms: number): Promise<void> {
	await store.database.knex.raw(
		`with made as (
			insert into resource_instances
				(environment_id, id, resource_id, tenant_id, key, attributes, created_at, updated_at)
			select tenants.environment_id, gen_random_uuid(), resources.id, tenants.id, 'many' || number, '{}', now(), now()
			from generate_series(1, :rooms::int) as number
			join tenants on tenants.environment_id = :environment
			join resources on resources.environment_id = :environment and resources.key = 'room'
			returning *
		)
		insert into relationship_tuples
			(environment_id, id, subject_id, relation_id, object_id, tenant_id, created_at, updated_at)
		select made.environment_id, gen_random_uuid(), box.id, relations.id, made.id, made.tenant_id, now(), now()
		from made
		join resource_instances as box on box.environment_id = :environment and box.key = 'b'
		join relations on relations.environment_id = :environment and relations.key = 'of'`,
		{ environment, rooms },
	);
}

journey('the same limit applies if too many instances are affected to visit each one', async (t, place) => {
	await rooms(place);
	const { http, facts } = place;
	const path = `${facts}/relationship_tuples`;
	await http.post(path, onShelf(1));
	await crowd(place, 2_100);
	const ledger = await openLedger(t, place);
	for (let shelf = 2; shelf <= most; shelf += 1) await ledger.wrote(await http.post(path, onShelf(shelf)));
	fails(t, await http.post(path, onShelf(0)), 400, 'check on `room:many');
	await ledger.balanced();
	await ledger.wrote(await http.delete(path, onShelf(1)), 204);
	await ledger.wrote(await http.post(path, onShelf(0)));
});

journey('every request with derivations over the check limit is rejected', async (t, place) => {
	await rooms(place, false);
	const { http, schema, facts } = place;
	const operations = [...onShelves(0, most), ofBox('r')];
	t.is((await http.post(`${facts}/relationship_tuples/bulk`, { operations })).status, 200);
	const ledger = await openLedger(t, place);
	const room = `${schema}/resources/room`;
	const roles = rolesFrom(derivedFrom('box', 'of'));
	refused(t, await http.patch(room, { roles }), 'room:r');
	const bulk = Object.entries(roles).map(([key, role]) => ({ key, resource: 'room', ...role }));
	refused(t, await http.put(`${schema}/bulk/roles`, { operations: bulk }), 'room:r');
	await ledger.balanced();
	// Adds roles until the limit is reached. Removals are never rejected.
	let last: Answer<unknown> | undefined;
	for (const key of keys) {
		last = await http.patch(`${room}/roles/${key}`, { granted_to: derivedFrom('box', 'of') });
		if (last.status !== 200) break;
	}
	t.is(last?.status, 400);
	t.is((await http.patch(`${room}/roles/r0`, { granted_to: null })).status, 200);
});

journey('a document that exceeds the check limit is rejected', async (t, place) => {
	await rooms(place);
	const document = (shelves: number) => {
		const relationship_tuples = [...onShelves(1, shelves), ofBox('r')];
		const names = new Set(relationship_tuples.flatMap(({ subject, object }) => [subject, object]));
		const resource_instances = Object.fromEntries([...names].map((name) => [name, { tenant: 'default' }]));
		const tuples = relationship_tuples.map(({ tenant: _, ...ends }) => ends);
		return {
			format: 'regolith-environment',
			version: 1,
			facts: { resource_instances, relationship_tuples: tuples },
		};
	};
	const path = `/v2/projects/${place.project}/envs/${place.key}/import`;
	const ledger = await openLedger(t, place);
	for (const query of ['', '?dry_run=true']) {
		refused(t, await place.http.post(path + query, document(most + 1)), 'room:r');
	}
	await ledger.wrote(await place.http.post(path, document(most)));
});

journey('a schema is not copied to an environment where it exceeds the check limit', async (t, place, management) => {
	const target = await newPlace(management, management.project);
	await rooms(target, false);
	const operations = [...onShelves(0, most), ofBox('r')];
	t.is((await target.http.post(`${target.facts}/relationship_tuples/bulk`, { operations })).status, 200);
	await rooms(place);
	const ledger = await openLedger(t, target);
	const body = { target_env: { existing: target.key }, conflict_strategy: 'overwrite' };
	const answer = await management.project.post(`/v2/projects/${place.project}/envs/${place.key}/copy`, body);
	refused(t, answer, 'room:r');
	await ledger.balanced();
});

/** Maximum number of assignments with the condition `listed` in a check. */
const mostListed = 23;
const listed = { 'context.regions': { array_contains: { ref: 'grant.region' } } };
const equal = { 'context.region': { equals: { ref: 'grant.region' } } };

/**
 * Creates the resources `account` and `bill` and the grant condition `region`. If `derived`, the payers of an account
 * are the payers of its bills.
 */
async function accounts({ http, schema }: Place, conditions: object, derived = true): Promise<void> {
	const parameters = { region: { type: 'string' } };
	await http.post(`${schema}/condition_sets`, { key: 'region', name: 'Region', type: 'grant', parameters, conditions });
	const payer = { name: 'Payer', permissions: ['pay'], grant_conditions: ['region'] };
	await http.post(`${schema}/resources`, { key: 'account', name: 'Account', actions: { pay: {} }, roles: { payer } });
	const bill = { roles: { payer: { name: 'Payer', permissions: ['pay'] } } };
	const relations = { of: 'account' };
	await http.post(`${schema}/resources`, { key: 'bill', name: 'Bill', actions: { pay: {} }, ...bill, relations });
	if (derived) await http.post(`${schema}/resources/bill/roles/payer/implicit_grants`, fromAccount);
}

const fromAccount = { role: 'payer', on_resource: 'account', linked_by_relation: 'of' };
const payerOf = (account: number, user = 'ann') => ({
	...{ user, role: 'payer', resource_instance: `account:a${account}`, tenant: 'default' },
	condition: { set: 'region', values: { region: 'eu' } },
});
const payersOf = (count: number) => Array.from({ length: count }, (_, account) => payerOf(account));

function refusedConditions(t: ExecutionContext, answer: Answer<unknown>): void {
	fails(t, answer, 400, 'check of `ann` in the tenant `default`');
	fails(t, answer, 400, `more than the limit of ${maxSteps} steps for conditions`);
}

journey('a user has conditional assignments in a tenant up to the check limit, and no more', async (t, place) => {
	const { http, facts, schema } = place;
	await accounts(place, listed);
	for (const key of ['ann', 'ben']) await http.post(`${facts}/users`, { key });
	await http.post(`${facts}/tenants`, { key: 'other', name: 'Other' });
	const ledger = await openLedger(t, place);
	const path = `${facts}/role_assignments`;
	await ledger.wrote(await http.post(`${path}/bulk`, payersOf(mostListed)));
	refusedConditions(t, await http.post(path, payerOf(mostListed)));
	refusedConditions(t, await http.post(`${path}/bulk`, [payerOf(0, 'ben'), payerOf(mostListed)]));
	refusedConditions(
		t,
		await http.put(`${facts}/users/ann`, { key: 'ann', role_assignments: payersOf(mostListed + 1) }),
	);
	const { user: _, condition: __, ...plain } = payerOf(mostListed);
	await ledger.balanced();
	await ledger.wrote(await http.post(path, payerOf(0, 'ben')));
	await ledger.wrote(await http.post(path, { user: 'ann', ...plain }));
	await ledger.wrote(await http.post(path, { ...payerOf(mostListed + 1), tenant: 'other' }));
	await ledger.wrote(await http.delete(path, payerOf(0)), 204);
	// A declaration alone changes no check.
	await ledger.wrote(await http.patch(`${schema}/resources/bill/roles/payer`, { grant_conditions: ['region'] }));
	await ledger.wrote(await http.post(path, payerOf(mostListed)));
	const onBill = await http.post(path, { ...payerOf(0), resource_instance: 'bill:b' });
	fails(t, onBill, 400, 'check of `ann` on `bill:b`');
	await ledger.balanced();
});

journey('the limit counts each evaluation of a condition in a check', async (t, place) => {
	const { http, facts, schema } = place;
	await accounts(place, { 'context.regions': { array_subset: ['eu'] } }, false);
	await http.post(`${facts}/users`, { key: 'ann' });
	const ledger = await openLedger(t, place);
	await ledger.wrote(await http.post(`${facts}/role_assignments`, payerOf(0)));
	const roles = `${schema}/resources/account/roles`;
	const twice = { key: 'twice', name: 'Twice', computed: { anyOf: ['payer', 'payer'] } };
	const onAccount = 'check of `ann` on `account:a0`';
	fails(t, await http.post(roles, twice), 400, onAccount);
	await ledger.balanced();
	await ledger.wrote(await http.post(roles, { key: 'once', name: 'Once', computed: { anyOf: ['payer'] } }));
	const payers = { 'user.resource_roles': { array_contains: 'payer' } };
	const set = { key: 'payers', name: 'Payers', type: 'userset', resource_id: 'account', conditions: payers };
	fails(t, await http.post(`${schema}/condition_sets`, set), 400, onAccount);
	await ledger.balanced();
});

journey('without derived roles, the limit counts the conditional assignments on an instance', async (t, place) => {
	const { http, facts, schema } = place;
	await accounts(place, listed, false);
	await http.post(`${facts}/users`, { key: 'ann' });
	const ledger = await openLedger(t, place);
	await ledger.wrote(await http.post(`${facts}/role_assignments/bulk`, payersOf(mostListed + 1)));
	refusedConditions(t, await http.post(`${schema}/resources/bill/roles/payer/implicit_grants`, fromAccount));
	const granted_to = { users_with_role: [fromAccount] };
	refusedConditions(t, await http.patch(`${schema}/resources/bill/roles/payer`, { granted_to }));
	await ledger.balanced();
});

journey('conditions and documents that exceed the check limit are rejected', async (t, place) => {
	const { http, facts, schema } = place;
	await accounts(place, equal);
	await http.post(`${facts}/users`, { key: 'ann' });
	await http.post(`${facts}/role_assignments/bulk`, payersOf(mostListed + 1));
	const ledger = await openLedger(t, place);
	refusedConditions(t, await http.patch(`${schema}/condition_sets/region`, { conditions: listed }));
	const env = `/v2/projects/${place.project}/envs/${place.key}`;
	const document = (await http.get<{ schema: { condition_sets: { region: object } } }>(`${env}/export`)).body;
	const { condition_sets } = document.schema;
	const region = { ...condition_sets.region, conditions: listed };
	const changed = { ...document, schema: { ...document.schema, condition_sets: { ...condition_sets, region } } };
	refusedConditions(t, await http.post(`${env}/import?conflict_strategy=overwrite`, changed));
	const changes = [{ kind: 'condition_set', key: 'region', operation: 'update', value: region }];
	const draft = { base_revision: await place.revision(), changes };
	refusedConditions(t, await http.post(`${env}/drafts/apply`, draft));
	await ledger.balanced();
});
