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
 * Maximum number of shelves per box that still allow checks on a room in the box. A check visits all shelves for each
 * role on the room.
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
