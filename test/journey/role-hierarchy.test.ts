// @rest

import { type Journey, onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import { type Listed, listedKeys, type Paginated, shape } from '../support/listed.js';

/** Parent and child roles, both for tenant roles and resource roles. */

const journey = onEachStore();

/** Declares a journey for both kinds of roles. `path` is the path of their endpoints. */
function ofEachKind(title: string, run: (path: string, ...journey: Parameters<Journey>) => Promise<void>): void {
	journey(`${title}: tenant roles`, (t, place, ...rest) => run(`${place.schema}/roles`, t, place, ...rest));
	journey(`${title}: resource roles`, async (t, place, ...rest) => {
		const { http, schema } = place;
		await http.post(`${schema}/resources`, { key: 'document', name: 'Document', actions: {} });
		// Tenant roles with the same keys, which the API must not confuse with the resource roles.
		for (const key of ['top', 'left']) await http.post(`${schema}/roles`, { key, name: key });
		await run(`${schema}/resources/document/roles`, t, place, ...rest);
	});
}

interface Family {
	readonly roles: Listed;
}

ofEachKind('ancestors and descendants are found across all generations, each once', async (path, t, place) => {
	const { http } = place;
	for (const [key, parents] of Object.entries({
		top: [],
		left: ['top'],
		right: ['top'],
		bottom: ['right', 'left'],
		alone: [],
	})) {
		await http.post(path, { key, name: key, extends: parents });
	}
	const ledger = await openLedger(t, place);
	const family = async (key: string, side: string) =>
		listedKeys((await ledger.read(await http.get<Family>(`${path}/${key}/${side}`))).roles);
	t.deepEqual(await family('bottom', 'ancestors'), ['top', 'left', 'right'], 'the oldest first');
	t.deepEqual(await family('left', 'ancestors'), ['top']);
	t.deepEqual(await family('top', 'descendants'), ['left', 'right', 'bottom']);
	for (const [key, side] of [
		['top', 'ancestors'],
		['bottom', 'descendants'],
		['alone', 'ancestors'],
		['alone', 'descendants'],
	] as const) {
		t.deepEqual(await family(key, side), []);
	}
	const { body } = await http.get<Family>(`${path}/left/ancestors`);
	t.deepEqual(body.roles, [(await http.get(`${path}/top`)).body], 'the same form as in other responses');
	const query = 'include_total_count=true&per_page=2&page=2';
	const counted = await http.get<{ roles: Paginated }>(`${path}/bottom/ancestors?${query}`);
	t.deepEqual(shape(counted.body.roles), { data: ['right'], total_count: 3, page_count: 2 });
	for (const side of ['ancestors', 'descendants']) fails(t, await http.get(`${path}/nobody/${side}`), 404, 'nobody');
	await ledger.balanced();
});

ofEachKind('a parent is added and removed by the path', async (path, t, place) => {
	const { http } = place;
	for (const key of ['top', 'left', 'bottom']) await http.post(path, { key, name: key });
	const ledger = await openLedger(t, place);
	const { body: left } = await http.get<{ id: string }>(`${path}/left`);
	const added = await ledger.wrote(await http.put(`${path}/left/parents/top`));
	t.like(added, { key: 'left', id: left.id });
	t.deepEqual(added['extends'], ['top']);
	t.deepEqual(
		await ledger.kept(await http.put(`${path}/left/parents/top`)),
		added,
		'adding a parent twice has no effect',
	);
	await ledger.wrote(await http.put(`${path}/bottom/parents/top`));
	const both = await ledger.wrote(await http.put(`${path}/bottom/parents/${left.id}`));
	t.deepEqual(both['extends'], ['top', 'left']);

	for (const [role, parent] of [
		['top', 'bottom'],
		['top', 'left'],
		['left', 'left'],
	]) {
		const refused = await http.put(`${path}/${role}/parents/${parent}`);
		fails(t, refused, 422, 'would extend itself');
		t.deepEqual(problemPlaces(refused), ['path.parent_role_id']);
	}
	fails(t, await http.put(`${path}/top/parents/nobody`), 404, 'nobody');
	fails(t, await http.put(`${path}/nobody/parents/top`), 404, 'nobody');

	const removed = await ledger.wrote(await http.delete(`${path}/bottom/parents/top`));
	t.deepEqual(removed['extends'], ['left']);
	fails(t, await http.delete(`${path}/bottom/parents/top`), 404, 'top');
	fails(t, await http.delete(`${path}/bottom/parents/nobody`), 404, 'nobody');
	await ledger.wrote(await http.delete(`${path}/left/parents/top`));
	t.deepEqual(
		(await ledger.wrote(await http.put(`${path}/top/parents/left`)))['extends'],
		['left'],
		'in the other direction',
	);
	await ledger.balanced();
});
