// @alone @rest

import type { ExecutionContext } from 'ava';
import { maxLeading, maxWalked } from '../../compiler/cycle.js';
import type { Answer } from '../support/client.js';
import { applyDraft } from '../support/drafts.js';
import { onEachStore } from '../support/each-store.js';
import { fails } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import type { Paginated } from '../support/listed.js';
import { newPlace, type Place } from '../support/management.js';
import { addRelation } from '../support/relation.js';

/**
 * In a cycle, a role on an instance may be derived from only a limited number of roles on other instances. Every kind
 * of write beyond this limit is rejected.
 */

const journey = onEachStore();

const inFolder = { role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' };
const viewer = { name: 'Viewer', granted_to: { users_with_role: [inFolder] } };
const tuple = (subject: string, object: string) => {
	return { subject: `folder:${subject}`, relation: 'parent', object: `folder:${object}` };
};

/** Creates nested folders. If `derived`, viewers of a folder view its contents. */
async function folders(place: Place, derived: boolean): Promise<void> {
	const { http, schema } = place;
	await http.post(`${schema}/resources`, { key: 'folder', name: 'Folder', actions: {} });
	await addRelation(place, 'folder', 'parent', 'folder');
	await http.post(`${schema}/resources/folder/roles`, { key: 'viewer', ...(derived ? viewer : { name: 'Viewer' }) });
}

/** Puts `f0` into `f1` and so on, bypassing the limit and the API. */
async function chain({ store, id: environment }: Place, tuples: number): Promise<void> {
	await store.database.knex.raw(
		`with made as (
			insert into resource_instances
				(environment_id, id, resource_id, tenant_id, key, attributes, created_at, updated_at)
			select tenants.environment_id, gen_random_uuid(), resources.id, tenants.id, 'f' || number, '{}', now(), now()
			from generate_series(0, :tuples::int) as number
			join tenants on tenants.environment_id = :environment
			join resources on resources.environment_id = :environment and resources.key = 'folder'
			returning *, cast(substr(key, 2) as int) as number
		)
		insert into relationship_tuples
			(environment_id, id, subject_id, relation_id, object_id, tenant_id, created_at, updated_at)
		select relations.environment_id, gen_random_uuid(), subjects.id, relations.id, objects.id, objects.tenant_id,
			now(), now()
		from made as subjects
		join made as objects on objects.number = subjects.number + 1
		join relations on relations.environment_id = :environment and relations.key = 'parent'`,
		{ environment, tuples },
	);
}

/** The end of the chain, reachable from all other folders. */
const last = `folder:f${maxLeading}`;

function refused(
	t: ExecutionContext,
	answer: Answer<unknown>,
	instance: string,
	role = 'viewer',
	most = maxLeading,
): void {
	fails(t, answer, 400, `\`${role}\` on \`${instance}\``);
	fails(t, answer, 400, `more than ${most} `);
}

journey('a role can be derived from the maximum number of roles, but not from one more', async (t, place) => {
	await folders(place, true);
	await chain(place, maxLeading - 1);
	const { http, facts } = place;
	const ledger = await openLedger(t, place);
	const path = `${facts}/relationship_tuples`;
	await ledger.wrote(await http.post(path, { ...tuple(`f${maxLeading - 1}`, `f${maxLeading}`), tenant: 'default' }));
	const below = { ...tuple(`f${maxLeading}`, 'below'), tenant: 'default' };
	refused(t, await http.post(path, below), 'folder:below');
	// A folder above the first folder is above all folders in the chain.
	refused(t, await http.post(path, { ...tuple('above', 'f0'), tenant: 'default' }), last);
	const bulk = { operations: [{ ...tuple('elsewhere', 'too'), tenant: 'default' }, below] };
	refused(t, await http.post(`${path}/bulk`, bulk), 'folder:below');
	const { body } = await http.get<Paginated>(`${facts}/resource_instances?per_page=1&include_total_count=true`);
	t.is(body.total_count, maxLeading + 1, 'an instance from a refused relationship remained');
	await ledger.balanced();
	// In a ring, each role is derived from all other roles, but not from itself.
	await ledger.wrote(await http.post(path, tuple(`f${maxLeading}`, 'f0')));
	fails(t, await http.post(path, { ...tuple('above', 'f9'), tenant: 'default' }), 400, 'limit');
	await ledger.wrote(await http.delete(path, tuple('f7', 'f8')), 204);
	await ledger.wrote(await http.delete(path, tuple('f8', 'f9')), 204);
	await ledger.wrote(await http.post(path, { ...tuple('above', 'f9'), tenant: 'default' }));
});

journey('the limit is lower if an assigned role can block the derivation', async (t, place) => {
	await folders(place, true);
	await chain(place, maxWalked + 1);
	const { http, schema, facts } = place;
	const ledger = await openLedger(t, place);
	const role = `${schema}/resources/folder/roles/viewer`;
	const when = { no_direct_roles_on_object: true };
	const end = `folder:f${maxWalked + 1}`;
	refused(t, await http.put(`${role}/implicit_grants/conditions`, when), end, 'viewer', maxWalked);
	refused(t, await http.post(`${role}/implicit_grants`, { ...inFolder, when }), end, 'viewer', maxWalked);
	refused(t, await http.patch(role, { granted_to: { ...viewer.granted_to, when } }), end, 'viewer', maxWalked);
	const path = `${facts}/relationship_tuples`;
	await ledger.wrote(await http.delete(path, tuple(`f${maxWalked}`, `f${maxWalked + 1}`)), 204);
	await ledger.wrote(await http.put(`${role}/implicit_grants/conditions`, when));
	const again = tuple(`f${maxWalked}`, `f${maxWalked + 1}`);
	refused(t, await http.post(path, again), end, 'viewer', maxWalked);
	await ledger.wrote(await http.put(`${role}/implicit_grants/conditions`, { no_direct_roles_on_object: false }));
	await ledger.wrote(await http.post(path, again));
	await ledger.balanced();
});

journey('the limit does not apply to relationships outside cycles', async (t, place) => {
	await folders(place, false);
	await chain(place, maxLeading);
	const more = { ...tuple(`f${maxLeading}`, 'below'), tenant: 'default' };
	t.is((await place.http.post(`${place.facts}/relationship_tuples`, more)).status, 200);
});

journey('derivations that exceed the limit are rejected, in every request that creates them', async (t, place) => {
	await folders(place, false);
	await chain(place, maxLeading + 1);
	const { http, schema } = place;
	const ledger = await openLedger(t, place);
	const folder = `${schema}/resources/folder`;
	const instance = `folder:f${maxLeading + 1}`;
	refused(t, await http.post(`${folder}/roles/viewer/implicit_grants`, inFolder), instance);
	refused(t, await http.patch(`${folder}/roles/viewer`, { granted_to: viewer.granted_to }), instance);
	refused(t, await http.patch(folder, { roles: { viewer } }), instance);
	const operations = [{ key: 'viewer', resource: 'folder', ...viewer }];
	refused(t, await http.put(`${schema}/bulk/roles`, { operations }), instance);
	const reader = { key: 'reader', name: 'Reader', granted_to: { users_with_role: [{ ...inFolder, role: 'reader' }] } };
	refused(t, await http.post(`${folder}/roles`, reader), instance, 'reader');
	await ledger.balanced();
	t.is((await ledger.read(await http.get<{ granted_to: unknown }>(`${folder}/roles/viewer`))).granted_to, null);
});

journey('a document that exceeds the limit is rejected', async (t, place) => {
	await folders(place, true);
	const names = Array.from({ length: maxLeading + 2 }, (_, index) => `f${index}`);
	const pairs = names.slice(1).map((name, index) => tuple(`f${index}`, name));
	const resource_instances = Object.fromEntries(names.map((name) => [`folder:${name}`, { tenant: 'default' }]));
	const document = (relationship_tuples: readonly object[]) => ({
		format: 'regolith-environment',
		version: 1,
		facts: { resource_instances, relationship_tuples },
	});
	const path = `/v2/projects/${place.project}/envs/${place.key}/import`;
	const ledger = await openLedger(t, place);
	for (const query of ['', '?dry_run=true']) {
		refused(t, await place.http.post(path + query, document(pairs)), `folder:f${maxLeading + 1}`);
	}
	await ledger.wrote(await place.http.post(path, document(pairs.slice(1))));
});

journey('a schema is not copied to an environment where it exceeds the limit', async (t, place, management) => {
	const target = await newPlace(management, management.project);
	await folders(target, false);
	await chain(target, maxLeading + 1);
	await folders(place, true);
	const ledger = await openLedger(t, target);
	const body = { target_env: { existing: target.key }, conflict_strategy: 'overwrite' };
	const answer = await management.project.post(`/v2/projects/${place.project}/envs/${place.key}/copy`, body);
	refused(t, answer, `folder:f${maxLeading + 1}`);
	await ledger.balanced();
});

journey('a relation in a cycle can declare conditions only below the lower limit', async (t, place) => {
	await folders(place, true);
	await chain(place, maxWalked + 1);
	const { http, schema, facts } = place;
	const set = { key: 'paid', name: 'Paid', type: 'grant', conditions: { 'context.paid': { equals: true } } };
	t.is((await http.post(`${schema}/condition_sets`, set)).status, 200);
	const declare = () => http.patch(`${schema}/resources/folder/relations/parent`, { grant_conditions: ['paid'] });
	refused(t, await declare(), `folder:f${maxWalked + 1}`, 'viewer', maxWalked);
	const value = { name: 'parent', subject_resource: 'folder', grant_conditions: ['paid'] };
	const change = { kind: 'relation', operation: 'update', key: 'folder:parent', value };
	refused(t, await applyDraft(place, [change]), `folder:f${maxWalked + 1}`, 'viewer', maxWalked);
	// The other relation has no relationships yet, but its conditions also change how checks visit the cycle.
	await addRelation(place, 'folder', 'shared', 'folder');
	const byShared = { ...inFolder, linked_by_relation: 'shared' };
	t.is((await http.post(`${schema}/resources/folder/roles/viewer/implicit_grants`, byShared)).status, 200);
	const shared = await http.patch(`${schema}/resources/folder/relations/shared`, { grant_conditions: ['paid'] });
	refused(t, shared, `folder:f${maxWalked + 1}`, 'viewer', maxWalked);
	t.is((await http.delete(`${facts}/resource_instances/folder:f0`)).status, 204);
	t.is((await declare()).status, 200);
	const above = { ...tuple('above', 'f1'), tenant: 'default', condition: { set: 'paid' } };
	refused(t, await http.post(`${facts}/relationship_tuples`, above), `folder:f${maxWalked + 1}`, 'viewer', maxWalked);
});
