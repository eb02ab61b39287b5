// @alone @rest

import { RE2JS } from 're2js';
import { client } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { creating } from '../support/furnished.js';
import { openLedger } from '../support/ledger.js';
import { type Paginated, shape } from '../support/listed.js';
import { createSecret, type Place } from '../support/management.js';

/**
 * Previews of the objects that a condition set selects, before the set is used (docs/policy/condition-semantics.md).
 */

const journey = onEachStore();

interface Preview extends Paginated {
	readonly checked: number;
}

interface Evaluation {
	readonly matches: boolean;
	readonly trace: Readonly<Record<string, unknown>>;
	readonly ancestors: readonly { readonly key: string; readonly matches: boolean }[];
}

const users = {
	ann: {
		attributes: { age: 40, hired_at: '2999-01-01T00:00:00.000Z', folder: 'none' },
		role_assignments: [{ role: 'admin', tenant: 'acme' }],
	},
	ben: {
		attributes: { age: 17, hired_at: '2020-02-29', folder: 7 },
		role_assignments: [{ role: 'viewer', tenant: 'acme' }],
	},
	cy: {
		attributes: { age: 70, hired_at: '2020-02-29T08:00:00.000Z', folder: 'a' },
		role_assignments: [{ role: 'admin', tenant: 'globex' }],
	},
	dora: { email: 'dora@example.com', attributes: { age: null } },
	eve: { attributes: { age: 'forty' } },
};

/** Creates users of different ages, documents in two tenants, and condition sets. */
async function populated({ http, schema, facts }: Place): Promise<void> {
	const made = creating(http);
	await made(`${schema}/users/attributes`, { key: 'age', type: 'number' });
	await made(`${schema}/users/attributes`, { key: 'hired_at', type: 'time' });
	await made(`${schema}/users/attributes`, { key: 'folder', type: 'json' });
	for (const key of ['admin', 'viewer']) await made(`${schema}/roles`, { key, name: key });
	const attributes = { private: { type: 'bool' }, owner: { type: 'string' }, folders: { type: 'array' } };
	await made(`${schema}/resources`, { key: 'document', name: 'D', actions: { read: {} }, attributes });
	await made(`${schema}/resources`, { key: 'folder', name: 'F', actions: {}, attributes: { open: { type: 'bool' } } });
	for (const key of ['acme', 'globex']) await made(`${facts}/tenants`, { key, name: key, attributes: { plan: key } });
	for (const [key, user] of Object.entries(users)) await made(`${facts}/users`, { key, ...user });
	const documents = [
		{ key: 'a', tenant: 'acme', attributes: { private: true, owner: 'ann', folders: ['a'] } },
		{ key: 'b', tenant: 'acme', attributes: { private: false, owner: 'ben', folders: ['a', 'none'] } },
		{ key: 'g', tenant: 'globex', attributes: { private: true, owner: 'ann', folders: ['a'] } },
	];
	for (const body of documents) await made(`${facts}/resource_instances`, { resource: 'document', ...body });
	await made(`${facts}/resource_instances`, {
		key: 'a',
		resource: 'folder',
		tenant: 'acme',
		attributes: { open: true },
	});
	const sets = `${schema}/condition_sets`;
	await made(sets, { key: 'adults', name: 'A', conditions: { 'user.age': { 'greater-than': 17 } } });
	const admins = { 'user.roles': { array_contains: 'admin' } };
	await made(sets, { key: 'admins', name: 'A', parent_id: 'adults', conditions: admins });
	const own = {
		type: 'resourceset',
		resource_id: 'document',
		conditions: { 'resource.owner': { equals: { ref: 'user.key' } } },
	};
	await made(sets, { key: 'own', name: 'Own', ...own });
}

async function preview({ http, schema }: Place, body: object): Promise<Preview> {
	const answer = await http.post<Preview>(`${schema}/condition_sets/preview`, body);
	if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
	return answer.body;
}

async function evaluate({ http, schema }: Place, body: object): Promise<Evaluation> {
	const answer = await http.post<Evaluation>(`${schema}/condition_sets/evaluate`, body);
	if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
	return answer.body;
}

journey('a preview shows which users a set selects now, without any changes', async (t, place, { store }) => {
	await populated(place);
	const ledger = await openLedger(t, place);
	const found = await preview(place, { condition_set: 'adults' });
	t.deepEqual(shape(found), { data: ['ann', 'cy'], total_count: 2, page_count: 1, checked: 5 });
	t.deepEqual(
		found.data[0],
		(await place.http.get(`${place.facts}/users/ann`)).body,
		'the same fields as in other responses',
	);
	const second = await preview(place, { condition_set: 'adults', page: 2, per_page: 1 });
	t.deepEqual(shape(second), { data: ['cy'], total_count: 2, page_count: 2, checked: 5 });
	t.deepEqual(shape(await preview(place, { condition_set: 'adults', page: 9 })).data, []);

	const reader = client(place.url, await createSecret(store, place.organization_id, { access_level: 'read' }));
	const path = `${place.schema}/condition_sets/preview`;
	t.is(
		(await reader.post<Preview>(path, { condition_set: 'adults' })).body.total_count,
		2,
		'read access is sufficient',
	);
	await ledger.balanced();
});

/** Returns a comparison with attributes of folders. */
function relates(operator: string, match: object): object {
	return { [operator]: { match, fk_resource_type: 'folder' } };
}

/** Requests for a preview, each with the keys of the selected objects. */
const selected: Readonly<Record<string, readonly [body: object, ...keys: readonly string[]]>> = {
	'no conditions': [{}, 'ann', 'ben', 'cy', 'dora', 'eve'],
	'a comparison': [{ conditions: { 'user.age': { 'less-than': 50 } } }, 'ann', 'ben'],
	'a negation, which selects users without the attribute, but not with an attribute of a different type': [
		{ conditions: { not: { 'user.age': { 'less-than': 50 } } } },
		'cy',
		'dora',
	],
	'a built-in attribute': [{ conditions: { 'user.email': { 'ends-with': '@example.com' } } }, 'dora'],
	'a role in any tenant': [{ conditions: { 'user.roles': { array_contains: 'admin' } } }, 'ann', 'cy'],
	'a role in one tenant': [{ conditions: { 'user.roles': { array_contains: 'admin' } }, tenant: 'acme' }, 'ann'],
	'the tenants of a user': [{ conditions: { 'user.tenants': { array_contains: 'globex' } } }, 'cy'],
	'a set with a parent': [{ condition_set: 'admins' }, 'ann', 'cy'],
	'a stored set with replaced conditions': [{ condition_set: 'admins', conditions: {}, tenant: 'acme' }, 'ann', 'cy'],
	'a new set with a parent': [
		{ parent_id: 'admins', conditions: { 'user.age': { 'greater-than': 50 } }, tenant: 'globex' },
		'cy',
	],
	'a reference to the context': [
		{ conditions: { 'user.age': { 'greater-than': { ref: 'context.limit' } } }, context: { limit: 50 } },
		'cy',
	],
	'an attribute of the context': [
		{
			conditions: { allOf: [{ 'user.age': { 'greater-than': 50 } }, { 'context.second_factor': { equals: true } }] },
			context: { second_factor: true },
		},
		'cy',
	],
	'an attribute of an absent context': [{ conditions: { 'context.second_factor': { equals: true } } }],
	'a reference to the resource of the check': [
		{ conditions: { 'user.key': { equals: { ref: 'resource.owner' } } }, resource: 'document:b' },
		'ben',
	],
	'a reference to a resource given by its attributes': [
		{ conditions: { 'user.key': { equals: { ref: 'resource.owner' } } }, resource: { attributes: { owner: 'cy' } } },
		'cy',
	],
	'an attribute that must be present, in a tenant': [
		{ conditions: { 'user.age': { 'is-null': false } }, tenant: 'acme' },
		'ann',
		'ben',
		'cy',
		'eve',
	],
	'a time within a duration, or later': [{ conditions: { 'user.hired_at': { 'within-last': 'P30D' } } }, 'ann'],
	'a time before a duration': [{ conditions: { 'user.hired_at': { 'older-than': 'P30D' } } }, 'cy'],
	'a negated duration, which selects users without a time, but not with a time in a different format': [
		{ conditions: { not: { 'user.hired_at': { 'within-last': 'PT0S' } } } },
		'cy',
		'dora',
		'eve',
	],
	'the time': [
		{ conditions: { allOf: [{ now: { 'greater-than': 1_790_000_000_000 } }, { 'user.age': { equals: 70 } }] } },
		'cy',
	],
	'an attribute of a related instance': [
		{ conditions: { 'user.folder': relates('object_match', { open: { equals: true } }) }, tenant: 'acme' },
		'cy',
	],
	'an attribute of a related instance in a different tenant': [
		{ conditions: { 'user.folder': relates('object_match', { open: { equals: true } }) }, tenant: 'globex' },
	],
	'a related instance without the attribute': [
		{ conditions: { 'user.folder': relates('object_match', { open: { 'is-null': true } }) }, tenant: 'acme' },
		'ann',
	],
	'documents with a related instance': [
		{
			type: 'resourceset',
			resource_id: 'document',
			conditions: { 'resource.folders': relates('any_match', { open: { equals: true } }) },
		},
		'a',
		'b',
	],
	'documents with only matching related instances': [
		{
			type: 'resourceset',
			resource_id: 'document',
			conditions: { 'resource.folders': relates('all_match', { open: { equals: true } }) },
		},
		'a',
	],
	documents: [{ type: 'resourceset', resource_id: 'document' }, 'a', 'b', 'g'],
	'documents of a tenant': [{ type: 'resourceset', resource_id: 'document', tenant: 'globex' }, 'g'],
	'documents by an attribute': [
		{ type: 'resourceset', resource_id: 'document', conditions: { 'resource.private': { equals: true } } },
		'a',
		'g',
	],
	'documents by their tenant': [
		{ type: 'resourceset', resource_id: 'document', conditions: { 'resource.tenant': { in: ['acme'] } } },
		'a',
		'b',
	],
	'documents of a user': [{ condition_set: 'own', user: 'ann' }, 'a', 'g'],
	'documents of a stranger': [{ condition_set: 'own', user: { key: 'zoe' } }],
	'documents without a given user': [{ condition_set: 'own' }],
};

journey('an unsaved set can be previewed with any values that a check could send', async (t, place) => {
	await populated(place);
	for (const [what, [body, ...keys]] of Object.entries(selected)) {
		t.deepEqual(shape(await preview(place, body)).data, keys, what);
	}
	const [document] = (await preview(place, { condition_set: 'own', user: 'ann' })).data;
	t.deepEqual(document, (await place.http.get(`${place.facts}/resource_instances/document:a`)).body);
});

journey('a preview covers every user in a large environment', async (t, place) => {
	await populated(place);
	for (const from of [0, 1]) {
		const operations = Array.from({ length: 800 }, (_, index) => ({
			key: `user-${from}-${index}`,
			attributes: { age: index % 4 },
		}));
		t.is((await place.http.post(`${place.facts}/bulk/users`, { operations })).status, 200);
	}
	const conditions = { 'user.age': { equals: 3 } };
	const { data, ...counts } = await preview(place, { conditions, per_page: 100, page: 4 });
	t.deepEqual({ ...counts, shown: data.length }, { total_count: 400, page_count: 4, checked: 1605, shown: 100 });
});

journey('an evaluation reports whether a single subject matches, and why', async (t, place) => {
	await populated(place);
	const adult = await evaluate(place, { condition_set: 'adults', user: 'ann' });
	t.like(adult, { matches: true, ancestors: [] });
	t.like(adult.trace, { kind: 'comparison', holds: true, attribute: 'user.age', value: 40, operator: 'greater-than' });
	t.like(adult.trace, { operand: 17, at: ['user.age', 'greater-than'] });
	t.like((await evaluate(place, { condition_set: 'adults', user: 'eve' })).trace, {
		holds: 'mistyped',
		value: 'forty',
	});
	t.like(await evaluate(place, { condition_set: 'adults', user: 'dora' }), { matches: false });

	const stands = (body: object) => evaluate(place, { condition_set: 'admins', ...body });
	t.like(await stands({ user: 'ann', tenant: 'acme' }), {
		matches: true,
		ancestors: [{ key: 'adults', matches: true }],
	});
	t.like(await stands({ user: 'ann', tenant: 'globex' }), { matches: false, trace: { value: [] } });
	const young = await stands({ user: { key: 'ann', attributes: { age: 1 } }, tenant: 'acme' });
	t.like(young, { matches: false, trace: { holds: true }, ancestors: [{ key: 'adults', matches: false }] });

	const conditions = { 'user.folder': relates('object_match', { open: { equals: true } }) };
	const related = await evaluate(place, { conditions, user: 'cy', tenant: 'acme' });
	t.like(related, {
		matches: true,
		trace: { why: 'user.folder ("a") refers to an instance of "folder" with attributes that match' },
	});
	t.false((await evaluate(place, { conditions, user: 'cy', tenant: 'globex' })).matches);
	const since = await evaluate(place, { conditions: { 'user.hired_at': { 'older-than': 'P1W' } }, user: 'cy' });
	t.like(since, { matches: true, trace: { operand: 'P1W' } });
	t.regex(String(since.trace['operand_value']), /^20\d\d-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);

	// Attributes in the request replace stored attributes, but grant no roles.
	const sent = { age: 40, roles: ['admin'], key: 'ann' };
	t.false((await stands({ user: { key: 'ben', attributes: sent }, tenant: 'acme' })).matches);
	t.false((await stands({ user: { attributes: sent } })).matches);
	t.true((await evaluate(place, { condition_set: 'adults', user: { attributes: sent } })).matches);
	t.true((await evaluate(place, { condition_set: 'adults', user: { key: 'zoe', attributes: sent } })).matches);
});

journey('an evaluation of a resource set accepts an existing or a hypothetical instance', async (t, place) => {
	await populated(place);
	const own = (body: object) => evaluate(place, { condition_set: 'own', user: 'ann', ...body });
	t.true((await own({ resource: 'document:a' })).matches);
	t.false((await own({ resource: 'document:b' })).matches);
	t.true((await own({ resource: { key: 'document:b', attributes: { owner: 'ann' } } })).matches);
	t.true((await own({ resource: { attributes: { owner: 'ann' } }, tenant: 'acme' })).matches);
	const typed = { condition_set: 'own', conditions: { 'resource.type': { equals: 'document' } } };
	for (const resource of [undefined, { attributes: { type: 'folder' } }, { key: 'new' }, 'document:new']) {
		t.true((await evaluate(place, { ...typed, resource })).matches, 'the type is always the set’s resource');
	}
	const conditions = { 'resource.tenant': { equals: { ref: 'tenant.plan' } } };
	const body = { condition_set: 'own', conditions, resource: 'document:g' };
	t.true((await own({ resource: 'a' })).matches, 'a key alone refers to the set’s resource');
	t.true((await evaluate(place, { ...body, user: 'cy' })).matches, 'a member has the tenant’s attributes');
	t.false((await evaluate(place, { ...body, user: 'ann' })).matches, 'a different user does not');

	const post = (given: object) => place.http.post(`${place.schema}/condition_sets/evaluate`, given);
	fails(t, await post({ condition_set: 'own', resource: 'document:a', tenant: 'globex' }), 400, 'globex');
	const foreign = await post({ condition_set: 'own', resource: 'folder:a' });
	fails(t, foreign, 422, '`document`');
	t.deepEqual(problemPlaces(foreign), ['body.resource']);
});

journey('previews and evaluations require existing objects and consistent fields', async (t, place) => {
	await populated(place);
	for (const kind of ['preview', 'evaluate']) {
		const post = (body: object) => place.http.post(`${place.schema}/condition_sets/${kind}`, body);
		fails(t, await post({ condition_set: 'nothing' }), 404, 'nothing');
		fails(t, await post({ tenant: 'nothing' }), 404, 'nothing');
		fails(t, await post({ parent_id: 'nothing' }), 404, 'nothing');
		fails(t, await post({ type: 'resourceset', resource_id: 'nothing' }), 404, 'nothing');
		const unknown = { 'user.folder': { object_match: { match: { size: { equals: 1 } }, fk_resource_type: 'disk' } } };
		const undefinedSize = { 'user.folder': relates('object_match', { size: { equals: 1 } }) };
		for (const [body, at] of [
			[{ conditions: unknown }, 'conditions.user.folder.object_match.fk_resource_type'],
			[{ conditions: undefinedSize }, 'conditions.user.folder.object_match.match.size'],
			[{ type: 'resourceset' }, 'resource_id'],
			[{ resource_id: 'document' }, 'resource_id'],
			[{ condition_set: 'own', type: 'userset' }, 'type'],
			[{ condition_set: 'own', resource_id: 'document' }, 'resource_id'],
			[{ type: 'resourceset', resource_id: 'folder', parent_id: 'own' }, 'parent_id'],
		] as const) {
			const answer = await post(body);
			fails(t, answer, 422);
			t.deepEqual(problemPlaces(answer), [`body.${at}`], JSON.stringify([kind, body]));
		}
	}
});

/** Conditions on a long string. They never match, and are slow to evaluate for each user. */
const dear = {
	anyOf: Array.from({ length: 120 }, (_, index) => ({ 'user.bio': { contains: `${'a'.repeat(240)}${index}` } })),
};

journey('other requests get a response while an expensive preview runs', async (t, place) => {
	const { http, schema, facts } = place;
	t.is((await http.post(`${schema}/users/attributes`, { key: 'bio', type: 'string' })).status, 200);
	const operations = Array.from({ length: 100 }, (_, index) => ({
		key: `user-${index}`,
		attributes: { bio: 'a'.repeat(19_000) },
	}));
	t.is((await http.post(`${facts}/bulk/users`, { operations })).status, 200);
	const asking = http.post<Preview>(`${schema}/condition_sets/preview`, { conditions: dear });
	let isAnswered = false;
	const ended = asking.finally(() => {
		isAnswered = true;
	});
	let reads = 0;
	while (!isAnswered) {
		t.is((await http.get(`${facts}/users/user-${reads % 100}`)).status, 200);
		if (!isAnswered) reads += 1;
	}
	t.is((await ended).body.checked, 100);
	t.true(reads > 2, `${reads} reads were answered before the preview`);
});

journey('a preview or explanation that exceeds its budget is rejected', async (t, place) => {
	const { http, schema } = place;
	t.is((await http.post(`${schema}/users/attributes`, { key: 'bio', type: 'string' })).status, 200);
	const sets = `${schema}/condition_sets`;
	const patterns = Array.from({ length: 450 }, (_, index) => ({ 'user.bio': { matches: `^(x[0-9]+|y)*${index}$` } }));
	const written = { key: 'many', name: 'Many', type: 'userset', conditions: { anyOf: patterns } };
	for (const [path, body] of [
		[sets, written],
		[`${sets}/preview`, { conditions: written.conditions }],
		[`${sets}/evaluate`, { conditions: written.conditions }],
	] as const) {
		fails(t, await http.post(path, body), 422, '50000 steps');
	}
	const user = { attributes: { bio: 'a'.repeat(60_000) } };
	fails(t, await http.post(`${sets}/evaluate`, { conditions: dear, user }), 400, '2 MiB');
});

journey('other requests run between the condition sets of an import', async (t, { http, schema, project, key }) => {
	t.is((await http.post(`${schema}/users/attributes`, { key: 'bio', type: 'string' })).status, 200);
	const { compile } = RE2JS;
	const turns = new Set<number>();
	let turn = 0;
	let counting = true;
	const count = () => {
		turn += 1;
		if (counting) setImmediate(count);
	};
	setImmediate(count);
	RE2JS.compile = (pattern, flags) => {
		if (pattern.startsWith('imported-')) turns.add(turn);
		return compile.call(RE2JS, pattern, flags);
	};
	try {
		const sets = Array.from({ length: 20 }, (_, index) => [
			`set-${index}`,
			{ name: 'S', type: 'userset', conditions: { 'user.bio': { matches: `imported-${index}` } } },
		]);
		const document = {
			format: 'regolith-environment',
			version: 1,
			schema: { condition_sets: Object.fromEntries(sets) },
		};
		const answer = await http.post(`/v2/projects/${project}/envs/${key}/import`, document);
		t.is(answer.status, 200, JSON.stringify(answer.body));
	} finally {
		RE2JS.compile = compile;
		counting = false;
	}
	t.is(turns.size, 20);
});
