import test from 'ava';
import fc from 'fast-check';
import type { Json, Patch } from '../../compiler/model.js';
import { runToEnd } from '../../compiler/steps.js';
import { FactsIndex } from '../../src/pdp/facts/facts-index.js';
import { replaceAt } from '../../src/pdp/facts/json-members.js';

/** A facts index built from a document has the same content as an index updated by patches. */

const keys = {
	tenants: ['acme', '__proto__', 'ü"\\'],
	users: ['ann', 'ben', '__proto__', 'o’brien\n'],
	roles: ['reader', 'editor', 'constructor'],
	relations: ['parent', 'owner'],
	instances: ['document:d1', 'document:d2', 'folder:f1', 'folder:__proto__', '__proto:__proto__'],
} as const;

type Table = { readonly [member: string]: Json };

/** Generates a table with some of these members. All values come from the same arbitrary. */
function uniformTable(members: readonly string[], value: fc.Arbitrary<Json>): fc.Arbitrary<Table> {
	return tableBy(members, () => value);
}

/** Generates a table with some of these members. Each member's value comes from its own arbitrary. */
function tableBy(members: readonly string[], valueFor: (key: string) => fc.Arbitrary<Json>): fc.Arbitrary<Table> {
	return fc
		.subarray([...members])
		.chain((some) => fc.tuple(...some.map((key) => fc.tuple(fc.constant(key), valueFor(key)))))
		.map((entries) => Object.fromEntries(entries));
}

const present = fc.constant(null);
/** Fact expiry: no expiry, 1 or 3. */
const fact = fc.constantFrom(null, null, 1, 3);
const roles = uniformTable(keys.roles, present);
const instanceTypes = ['document', 'folder', '__proto'];
const conditions = ['limit', '__proto__'];
const grant = fc.record({ until: fact, values: fc.constantFrom({}, { limit: 1 }) });

function typeInstances(type: string): readonly string[] {
	return keys.instances.filter((instance) => instance.startsWith(`${type}:`));
}

const tables: Readonly<Record<string, fc.Arbitrary<Json>>> = {
	instances: uniformTable(keys.instances, fc.constantFrom(...keys.tenants)),
	relations: uniformTable(keys.instances, uniformTable(keys.relations, uniformTable(keys.instances, fact))),
	tenant_roles: uniformTable(keys.tenants, uniformTable(keys.users, uniformTable(keys.roles, fact))),
	user_roles: uniformTable(
		keys.users,
		tableBy(instanceTypes, (type) => uniformTable(keys.roles, uniformTable(typeInstances(type), fact))),
	),
	conditional_relations: uniformTable(
		keys.instances,
		uniformTable(keys.relations, uniformTable(keys.instances, uniformTable(conditions, grant))),
	),
	conditional_roles: uniformTable(
		keys.users,
		tableBy(instanceTypes, (type) =>
			uniformTable(keys.roles, uniformTable(typeInstances(type), uniformTable(conditions, grant))),
		),
	),
	users: uniformTable(keys.users, uniformTable(keys.tenants, present)),
	tenants: uniformTable(keys.tenants, fc.jsonValue() as fc.Arbitrary<Json>),
	user_attributes: uniformTable(keys.users, fc.jsonValue() as fc.Arbitrary<Json>),
	instance_attributes: uniformTable(keys.instances, fc.jsonValue() as fc.Arbitrary<Json>),
	// The index ignores this table.
	closures: uniformTable(keys.instances, uniformTable(keys.roles, present)),
};
const derivations = fc.array(
	fc.record({
		relation: fc.constantFrom(...keys.relations),
		resource: fc.constantFrom('folder', 'document'),
		role: fc.constantFrom(...keys.roles),
		no_direct_roles_on_object: fc.boolean(),
	}),
	{ maxLength: 2 },
);
const actions = uniformTable(['read', 'write'], roles);
const types = ['document', 'folder'];
const schema = fc.record({
	resource_roles: uniformTable(types, uniformTable(keys.roles, derivations)),
	grants: uniformTable(types, actions),
	resource_grants: uniformTable(types, actions),
	set_rules: uniformTable(types, actions),
});
const rule = fc.record({
	url: fc.constantFrom('https://x/{id}', '('),
	http_method: fc.constantFrom('get', 'put'),
	resource: fc.constantFrom('document', 'folder'),
	priority: fc.constantFrom(null, 0, 1),
});
const mappingRules = uniformTable(['first', '__proto__'], fc.array(rule, { maxLength: 2 }));
const document: fc.Arbitrary<Table> = fc
	.record(
		{ facts: fc.record(tables), schema, mapping_rules: mappingRules, pending: fc.constant({ actions: {} }) },
		{ requiredKeys: ['facts', 'schema', 'mapping_rules'] },
	)
	.map((regolith) => ({ other: [1, '"'], regolith }));

/** Paths for patches: every prefix of the path to a table's innermost member. */
const places: readonly (readonly (readonly string[])[])[] = [
	[['instances'], keys.instances],
	[['relations'], keys.instances, keys.relations, keys.instances],
	[['conditional_relations'], keys.instances, keys.relations, keys.instances, conditions],
	[['tenant_roles'], keys.tenants, keys.users, keys.roles],
	...instanceTypes.map((type) => [['user_roles'], keys.users, [type], keys.roles, typeInstances(type)]),
	...instanceTypes.map((type) => [
		...[['conditional_roles'], keys.users, [type], keys.roles, typeInstances(type)],
		conditions,
	]),
	[['users'], keys.users, keys.tenants],
	[['tenants'], keys.tenants],
	[['user_attributes'], keys.users],
	[['instance_attributes'], keys.instances],
];

const path = fc
	.constantFrom(...places)
	.chain((steps) =>
		fc.tuple(fc.tuple(...steps.map((names) => fc.constantFrom(...names))), fc.integer({ min: 0, max: steps.length })),
	)
	.map(([steps, depth]) => ['regolith', 'facts', ...steps.slice(0, depth)]);

const patch: fc.Arbitrary<Patch> = fc.oneof(
	path.map((to) => ({ op: 'remove', path: to }) as const),
	fc
		.tuple(path, document)
		.map(([to, from]) => ({ op: 'upsert', path: to, value: at(from, to) ?? fallback(to) }) as const),
	schema.map((value) => ({ op: 'upsert', path: ['regolith', 'schema'], value }) as const),
	fc.constant({ op: 'remove', path: ['regolith', 'schema', 'resource_roles', 'document'] } as const),
	mappingRules.map((value) => ({ op: 'upsert', path: ['regolith', 'mapping_rules'], value }) as const),
	fc.array(rule).map((value) => ({ op: 'upsert', path: ['regolith', 'mapping_rules', 'first'], value }) as const),
	fc.constant({ op: 'remove', path: ['regolith', 'mapping_rules', '__proto__'] } as const),
	document.map((value) => ({ op: 'upsert', path: ['regolith'], value: value['regolith'] ?? null }) as const),
);

test('a patched index equals the index of the patched document', (t) => {
	const law = fc.property(document, fc.array(patch, { maxLength: 12 }), (start, patches) => {
		const index = read(start);
		index.patch(patches);
		const end = patches.reduce<Json>(
			(whole, { path: to, ...step }) => replaceAt(whole, to, step.op === 'upsert' ? step.value : undefined) ?? {},
			start,
		);
		t.deepEqual(contents(index), contents(read(end)));
	});
	t.notThrows(() => fc.assert(law, { numRuns: 300 }));
});

test('a copy is an equal index, and patches to one index do not affect the other', (t) => {
	const law = fc.property(
		document,
		fc.array(patch, { maxLength: 6 }),
		fc.array(patch, { maxLength: 6 }),
		(start, one, two) => {
			const index = read(start);
			index.patch(one);
			const before = contents(index);
			const copy = runToEnd(index.copying());
			t.deepEqual(contents(copy), before);
			copy.patch(two);
			t.deepEqual(contents(index), before);
			index.patch(two);
			t.deepEqual(contents(index), contents(copy));
		},
	);
	t.notThrows(() => fc.assert(law, { numRuns: 150 }));
});

test('stores every link once, and finds it from both sides', (t) => {
	const law = fc.property(document, (start) => {
		const { tenantRoles, relations } = read(start);
		const facts = at(start, ['regolith', 'facts']) as Readonly<Record<string, Readonly<Record<string, Table>>>>;
		const expected = Object.entries(facts['relations'] ?? {}).flatMap(([object, table]) =>
			Object.entries(table).flatMap(([relation, subjects]) =>
				Object.keys(subjects as Table).map((subject) => [object, subject, relation]),
			),
		);
		const fromObjects = keys.instances.flatMap((object) =>
			[...relations.from(object, 0)].map((link) => [object, ...link]),
		);
		const fromSubjects = keys.instances.flatMap((subject) =>
			[...relations.to(subject, 0)].map(([object, relation]) => [object, subject, relation]),
		);
		t.deepEqual(sorted(fromObjects), sorted(expected));
		t.deepEqual(sorted(fromSubjects), sorted(expected));
		const users = Object.values(facts['tenant_roles'] ?? {}).flatMap((table) =>
			Object.entries(table).flatMap(([user, held]) => (Object.keys(held as Table).length > 0 ? [user] : [])),
		);
		t.deepEqual(runToEnd(tenantRoles.sortedLeftNames()), [...new Set(users)].sort());
	});
	t.notThrows(() => fc.assert(law, { numRuns: 200 }));
});

test('a link exists until it expires', (t) => {
	const index = read({ regolith: { facts: { tenant_roles: { acme: { ann: { reader: null, editor: 3 } } } } } });
	const held = (time: number) => [...index.tenantRoles.from('ann', time)].map(([, role]) => role).sort();
	t.deepEqual([held(2), held(3)], [['editor', 'reader'], ['reader']]);
	const path = ['regolith', 'facts', 'tenant_roles', 'acme', 'ann'];
	index.patch([
		{ op: 'upsert', path: [...path, 'editor'], value: 5 },
		{ op: 'upsert', path: [...path, 'reader'], value: 4 },
	]);
	t.deepEqual([held(3), held(4), held(5)], [['editor', 'reader'], ['editor'], []]);
	index.patch([{ op: 'upsert', path: [...path, 'editor'], value: null }]);
	t.deepEqual(held(9), ['editor']);
	index.patch([
		{ op: 'remove', path },
		{ op: 'upsert', path, value: { guest: null, editor: null } },
	]);
	t.deepEqual(held(9), ['editor', 'guest'], 'the slot of an expired link is used again');
});

for (const [title, table, facts] of [
	['assignments of a user', ['conditional_roles', 'ann', 'document', 'reader'], 'conditionalRoles'],
	['relationships of an object', ['conditional_relations', 'folder:f', 'reader'], 'conditionalRelations'],
] as const) {
	test(`many conditional ${title} are read, changed and copied, each in a short time`, (t) => {
		const count = 30_000;
		const path = ['regolith', 'facts', ...table];
		const left = table[1];
		const under = { limit: { until: null, values: {} } };
		const held = Object.fromEntries(Array.from({ length: count }, (_, number) => [`document:${number}`, under]));
		const document = path.reduceRight<Json>((value, name) => ({ [name]: value }), held);
		const index = read(document);
		const copy = runToEnd(index.copying());
		const names = Object.keys(held);
		// A delta that removes an instance's last condition removes the instance's whole table.
		copy.patch(names.map((instance) => ({ op: 'remove', path: [...path, instance] })));
		t.true(copy[facts].isEmpty);
		copy.patch(names.map((instance) => ({ op: 'upsert', path: [...path, instance, 'limit'], value: under.limit })));
		t.is([...copy[facts].from(left, 0)].length, count);
		copy.patch(names.map((instance) => ({ op: 'remove', path: [...path, instance, 'limit'] })));
		t.true(copy[facts].isEmpty);
		t.is([...index[facts].from(left, 0)].length, count);
		t.is([...index[facts].to('document:7', 0)].length, 1);
	});
}

test('white space and escapes have no effect', (t) => {
	const law = fc.property(document, fc.constantFrom(undefined, 1, '\t \r\n'), (start, space) => {
		const escaped = JSON.stringify(start, null, space).replaceAll('d', '\\u0064');
		t.deepEqual(contents(FactsIndex.read(Buffer.from(escaped))), contents(read(start)));
	});
	t.notThrows(() => fc.assert(law, { numRuns: 100 }));
});

const shapeless: readonly Json[] = [[], 7, 'facts', null, { regolith: [] }, { regolith: { facts: 1, schema: 2 } }];

test('values with an unexpected shape are ignored', (t) => {
	const empty = contents(read({}));
	for (const value of shapeless) t.deepEqual(contents(read(value)), empty, JSON.stringify(value));
	const odd = {
		instances: { 'document:d1': 7 },
		relations: { 'document:d1': ['folder:f1'] },
		tenant_roles: { acme: 1 },
	};
	t.deepEqual(
		contents(read({ regolith: { facts: odd, schema: { resource_roles: { document: { reader: 'all' } } } } })),
		empty,
	);
	const index = read({});
	index.patch([
		{ op: 'upsert', path: ['regolith', 'facts', 'tenant_roles', 'acme', 'ann', 'reader', 'more'], value: null },
		{ op: 'upsert', path: ['other', 'facts'], value: {} },
		{ op: 'upsert', path: ['regolith', 'facts', 'relations', 'document:d1'], value: 'folder:f1' },
		{ op: 'remove', path: ['regolith', 'facts', 'instances', 'document:d1'] },
	]);
	t.deepEqual(contents(index), empty);
});

test('truncated text is rejected', (t) => {
	const whole = JSON.stringify({ regolith: { facts: { instances: { 'document:d1': 'acme' } } } });
	for (let end = 0; end < whole.length; end += 1) {
		t.throws(() => FactsIndex.read(Buffer.from(whole.slice(0, end))), undefined, whole.slice(0, end));
	}
});

test('added and removed names leak no memory', (t) => {
	const index = read({});
	const rounds = 3_000;
	for (let round = 0; round < rounds; round += 1) {
		const place = ['regolith', 'facts', 'user_roles', `user-${round}`];
		const held = { [`document:${round}`]: null };
		index.patch([{ op: 'upsert', path: place, value: { document: { reader: held, editor: held } } }]);
		t.is([...index.instanceRoles.to(`document:${round}`, 0)].length, 2);
		index.patch([{ op: 'remove', path: place }]);
	}
	t.is(index.size, 0);
});

function read(value: Json): FactsIndex {
	return FactsIndex.read(Buffer.from(JSON.stringify(value)));
}

/** Returns the whole index content. */
function contents(index: FactsIndex): unknown {
	const { tenantRoles, instanceRoles, conditionalRoles, conditionalRelations, relations, schema: ofSchema } = index;
	const pairs = types.flatMap((type) => keys.roles.map((role) => [type, role] as const));
	const granted = types.flatMap((type) => ['read', 'write'].map((action) => [type, action] as const));
	const linksAt = (time: number) => ({
		tenantRoles: keys.tenants.map((tenant) => sorted([...tenantRoles.to(tenant, time)])),
		readUserTenants: keys.users.map((user) => sorted([...tenantRoles.from(user, time)])),
		instanceRoles: keys.instances.map((instance) => sorted([...instanceRoles.to(instance, time)])),
		instancesOfUsers: keys.users.map((user) => sorted([...instanceRoles.from(user, time)])),
		usersUnderConditions: keys.instances.map((instance) => sorted([...conditionalRoles.to(instance, time)])),
		conditionsOfUsers: keys.users.map((user) => sorted([...conditionalRoles.from(user, time)])),
		conditionalSubjects: keys.instances.map((object) => sorted([...conditionalRelations.from(object, time)])),
		conditionalObjects: keys.instances.map((subject) => sorted([...conditionalRelations.to(subject, time)])),
		subjects: keys.instances.map((object) => sorted([...relations.from(object, time)])),
		objects: keys.instances.map((subject) => sorted([...relations.to(subject, time)])),
	});
	return {
		links: [0, 2, 4].map(linksAt),
		tenants: keys.instances.map((instance) => index.tenantKey(instance)),
		attributes: [index.tenants, index.userAttributes, index.instanceAttributes].map((table) => sorted([...table])),
		pending: index.pending,
		rules: ['GET', 'put'].map((method) =>
			index.mappingRules.forMethod(method).map(({ resource, priority, action }) => [resource, priority, action]),
		),
		hasUser: keys.users.map((user) => index.hasUser(user)),
		users: [
			runToEnd(tenantRoles.sortedLeftNames()),
			runToEnd(instanceRoles.sortedLeftNames()),
			[...conditionalRoles.leftNames].sort(),
			[...conditionalRelations.leftNames].sort(),
			[...index.users].sort(),
		],
		instances: [...index.instances].sort(),
		mayGrant: granted.map((pair) => ofSchema.setsMayGrant(...pair)),
		derivations: pairs.map((pair) => ofSchema.derivations(...pair)),
		derived: pairs.map((pair) => sorted(ofSchema.derivedFrom(...pair).map((way) => Object.values(way)))),
		grants: granted.map((pair) =>
			[ofSchema.tenantRolesThatGrant(...pair), ofSchema.instanceRolesThatGrant(...pair)].map((found) =>
				found.toSorted(),
			),
		),
	};
}

function at(value: Json, members: readonly string[]): Json | undefined {
	return members.reduce<Json | undefined>(
		(inner, key) =>
			typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key) ? (inner as Table)[key] : undefined,
		value,
	);
}

function fallback(to: readonly string[]): Json {
	return to[2] === 'instances' && to.length === 4 ? 'acme' : to.length < 6 ? {} : null;
}

/** Sorts rows by their JSON, because the default `sort` converts rows to strings, which fails for some values. */
function sorted(rows: readonly unknown[]): readonly string[] {
	return rows.map((row) => JSON.stringify(row)).sort();
}
