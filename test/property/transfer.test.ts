import fc from 'fast-check';
import { onEachStore } from '../support/each-store.js';
import { type Management, newPlace, type Place } from '../support/management.js';

/** Any environment goes through a document and comes back, whatever was there before. */

const journey = onEachStore();

type Json = Readonly<Record<string, unknown>>;

const keys = ['a', 'b', 'B', '10', '9', '-', 'constructor', '00000000-0000-4000-8000-000000000000'] as const;
const text = fc.constantFrom('x', 'Ä "quoted"\n', '');
const attributes = fc.dictionary(fc.constantFrom('n', 'm', 'toString'), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 });
const storable = attributes.filter((value) => !/\\u0000|\\ud[89a-f]|__proto__/i.test(JSON.stringify(value)));

function mapOf<V>(value: fc.Arbitrary<V>): fc.Arbitrary<Record<string, V>> {
	return fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: 4 });
}

/** A record some of whose members may be missing. */
function said(required: Record<string, fc.Arbitrary<unknown>>, optional: Record<string, fc.Arbitrary<unknown>>) {
	return fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) });
}

const attributeMap = mapOf(said({ type: fc.constantFrom('bool', 'json') }, { description: text }));
const resources = mapOf(
	said(
		{ name: text, actions: mapOf(said({ name: text }, { attributes: storable })), attributes: attributeMap },
		{ urn: text, description: text, type_attributes: storable },
	),
);

/** Pairs or triples of what is there, some of them. */
function linksOf(lists: Readonly<Record<string, readonly string[]>>): fc.Arbitrary<Record<string, string>[]> {
	if (Object.values(lists).some((list) => list.length === 0)) return fc.constant([]);
	const link = fc.record(
		Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, fc.constantFrom(...list)])),
	);
	return fc.uniqueArray(link, { maxLength: 5, selector: (made) => JSON.stringify(made) });
}

/** Roles that extend only those before them. */
function rolesOf(permissions: readonly string[]): fc.Arbitrary<Record<string, Json>> {
	const role = said({ name: text }, { description: text, attributes: storable });
	return fc.uniqueArray(fc.constantFrom(...keys), { maxLength: 4 }).chain((names) =>
		fc
			.tuple(
				...names.map((_, index) => fc.tuple(role, fc.subarray([...permissions]), fc.subarray(names.slice(0, index)))),
			)
			.map((made) =>
				Object.fromEntries(
					made.map(([fields, granted, parents], index) => [
						names[index] ?? '',
						{
							...fields,
							...(granted.length > 0 && { permissions: granted }),
							...(parents.length > 0 && { extends: parents }),
						},
					]),
				),
			),
	);
}

const tenants = mapOf(said({ name: text }, { description: text, attributes: storable }));
const users = mapOf(
	said({}, { first_name: text, attributes: storable.filter((value) => Object.keys(value).length > 0) }),
);

const documents = fc.record({ resources, user_attributes: attributeMap, tenants, users }).chain((made) => {
	const permissions = Object.entries(made.resources).flatMap(([key, resource]) =>
		Object.keys(resource['actions'] as Json).map((action) => `${key}:${action}`),
	);
	return rolesOf(permissions).chain((roles) => {
		const places = { user: Object.keys(made.users), tenant: Object.keys(made.tenants) };
		return fc
			.tuple(linksOf(places), linksOf({ ...places, role: Object.keys(roles) }))
			.map(([tenant_users, role_assignments]) => ({
				...{ format: 'regolith-environment', version: 1 },
				schema: { resources: made.resources, user_attributes: made.user_attributes, roles },
				facts: { tenants: made.tenants, users: made.users, tenant_users, role_assignments },
			}));
	});
});

function listed(list: unknown): readonly string[] {
	const order = (link: Json) => JSON.stringify([link['user'], link['role'], link['tenant']]);
	return (list as readonly Json[]).map(order).sort();
}

/** A document in which neither the order of links nor where it is from matters. */
function comparable({ environment: _, facts, ...document }: Json): Json {
	const { tenant_users, role_assignments, ...others } = facts as Json;
	const links = { tenant_users: listed(tenant_users), role_assignments: listed(role_assignments) };
	return JSON.parse(JSON.stringify({ ...document, facts: { ...others, ...links } }));
}

async function textOf({ url, secret, project, key }: Place): Promise<string> {
	const path = `${url}/v2/projects/${project}/envs/${key}/export`;
	return (await fetch(path, { headers: { authorization: `Bearer ${secret}` } })).text();
}

/** The document without the lines that say where it is from. */
function content(text: string): string {
	return text.replace(/^\t"environment": .*$/m, '');
}

const runs = 12;

journey('any document becomes an environment that exports it, whatever was there', async (t, place, management) => {
	const seed = Date.now() % 2 ** 31;
	t.log(`seed ${seed}`);
	const path = `/v2/projects/default/envs/${place.key}/import?conflict_strategy=replace`;
	const property = fc.asyncProperty(documents, async (document) => {
		const dry = await place.http.post(`${path}&dry_run=true`, document);
		const real = await place.http.post(path, document);
		if (real.status !== 200) throw new Error(JSON.stringify(real.body));
		t.deepEqual({ ...dry.body, dry_run: false }, real.body, 'the dry run said so');
		const text = await textOf(place);
		t.deepEqual(comparable(JSON.parse(text)), comparable(document));
		t.is(content(await fresh(management, document)), content(text), 'as in an environment without a past');
	});
	await fc.assert(property, { numRuns: runs, seed });
});

async function fresh(management: Management, document: unknown): Promise<string> {
	const other = await newPlace(management, management.project);
	const path = `/v2/projects/default/envs/${other.key}`;
	await other.http.post(`${path}/import?conflict_strategy=replace`, document);
	const text = await textOf(other);
	await management.project.delete(path);
	return text;
}
