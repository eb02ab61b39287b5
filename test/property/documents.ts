import fc, { type GeneratorValue } from 'fast-check';
import { exactNumbers } from '../support/exact-numbers.js';
import { instanceType } from './relationship-state.js';

/** Random environment documents with objects of every kind. All references are valid. */

/** JSON object. */
export type Json = Readonly<Record<string, unknown>>;

type Entries<V = Json> = Readonly<Record<string, V>>;

/** A document without the fields about its origin. */
export interface Document {
	readonly schema: Readonly<
		Record<'roles' | 'user_attributes' | 'condition_sets' | 'elements_configs' | 'check_tests', Entries>
	> & {
		readonly resources: Entries<RandomResource>;
		readonly set_rules: readonly Json[];
	};
	readonly facts: Readonly<Record<'tenants' | 'users', Entries>> & Json;
}

interface RandomResource extends Json {
	readonly actions: Entries;
	readonly relations?: Entries<{ readonly subject_resource: string }>;
	readonly roles?: Entries;
}

/**
 * Some of these keys sort differently under different rules. Some look like ids or like inherited object properties.
 */
const keys = ['a', 'b', 'B', '10', '9', '-', 'constructor', '00000000-0000-4000-8000-000000000000'] as const;

const text = fc.constantFrom('x', 'Ä "quoted"\n', '');
const json = fc.dictionary(fc.constantFrom('n', 'm', 'toString'), fc.jsonValue({ maxDepth: 2 }).map(exactNumbers), {
	maxKeys: 2,
});
const attributes = json.filter((value) => !/\\u0000|\\ud[89a-f]|__proto__/i.test(JSON.stringify(value)));
const filled = attributes.filter((value) => Object.keys(value).length > 0);
const described = said({ name: text }, { description: text, attributes });
const attribute = said({ type: fc.constantFrom('bool', 'json') }, { description: text });

/** Generates records with required and optional fields. */
function said(required: Record<string, fc.Arbitrary<unknown>>, optional: Record<string, fc.Arbitrary<unknown>>) {
	return fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) });
}

function entriesArbitrary<V>(value: fc.Arbitrary<V>): fc.Arbitrary<Entries<V>> {
	return fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: 4 });
}

/** Draws a document. */
export function drawDocument(random: GeneratorValue): Document & Json {
	const draw = <T>(arbitrary: fc.Arbitrary<T>): T => random((given: fc.Arbitrary<T>) => given, arbitrary);
	const resources = withRelations(draw, draw(entriesArbitrary(resource)));
	const withRoles = mapValues(resources, (one) => {
		return { ...one, ...ifAny('roles', drawRoles(draw, Object.keys(one.actions))) };
	});
	const derived = mapValues(withRoles, (one) => ({ ...one, ...withDerivations(draw, one, withRoles) }));
	const permissions = Object.entries(derived).flatMap(([key, one]) =>
		Object.keys(one.actions).map((action) => `${key}:${action}`),
	);
	const roles = drawRoles(draw, permissions);
	return {
		format: 'regolith-environment',
		version: 1,
		schema: {
			resources: derived,
			user_attributes: draw(entriesArbitrary(attribute)),
			roles,
			...drawSets(draw, derived, Object.keys(roles)),
			elements_configs: drawElements(draw, derived, Object.keys(roles)),
			check_tests: draw(entriesArbitrary(checkTest)),
		},
		facts: drawFacts(draw, derived, Object.keys(roles)),
	};
}

const checkTest = said(
	{
		check: fc.record({
			user: fc.record({ key: fc.constantFrom(...keys) }),
			action: fc.constantFrom(...keys),
			resource: fc.record({ type: fc.constantFrom(...keys) }),
		}),
		expected: fc.constantFrom('allow', 'deny'),
	},
	{ description: text },
) as fc.Arbitrary<Json>;

type Draw = <T>(arbitrary: fc.Arbitrary<T>) => T;

const resource = said(
	{
		name: text,
		actions: entriesArbitrary(said({ name: text }, { attributes })),
		attributes: entriesArbitrary(attribute),
	},
	{ urn: text, description: text, type_attributes: attributes },
) as fc.Arbitrary<RandomResource>;

function withRelations(draw: Draw, resources: Entries<RandomResource>): Entries<RandomResource> {
	const subjects = fc.constantFrom('__user', ...Object.keys(resources));
	const relation = said({ name: text, subject_resource: subjects }, { description: text }) as fc.Arbitrary<
		Json & { readonly subject_resource: string }
	>;
	return mapValues(resources, (one) => {
		const groups = mapValues(draw(entriesArbitrary(described)), (group) => {
			return { ...group, ...ifAny('actions', some(draw, Object.keys(one.actions))) };
		});
		return { ...one, ...ifAny('relations', draw(entriesArbitrary(relation))), ...ifAny('action_groups', groups) };
	});
}

/** Draws roles that extend only earlier roles. */
function drawRoles(draw: Draw, permissions: readonly string[]): Entries {
	const names = draw(fc.uniqueArray(fc.constantFrom(...keys), { maxLength: 4 }));
	return Object.fromEntries(
		names.map((name, index) => {
			const links = {
				...ifAny('permissions', some(draw, permissions)),
				...ifAny('extends', some(draw, names.slice(0, index))),
			};
			return [name, { ...draw(described), ...links }];
		}),
	);
}

interface RandomSet extends Json {
	readonly type: 'userset' | 'resourceset';
	readonly resource?: string;
}

const emailIsNot = (value: string) => ({ not: { 'user.email': { equals: value } } });

const userSet = said({ name: text }, { description: text }).chain((set) =>
	fc
		.constantFrom({}, emailIsNot('x'), emailIsNot('Ä "quoted"'))
		.map((conditions) => ({ ...set, type: 'userset' as const, conditions })),
);

/** Draws condition sets that narrow only earlier sets, and rules between sets, roles and resources. */
function drawSets(draw: Draw, resources: Entries<RandomResource>, roles: readonly string[]) {
	const sets: [string, RandomSet][] = [];
	for (const key of draw(fc.uniqueArray(fc.constantFrom(...keys), { maxLength: 4 }))) {
		const of = draw(fc.constantFrom(undefined, ...Object.keys(resources)));
		const conditions = { 'resource.key': { in: ['a', 'B'] } };
		const set = {
			...draw(userSet),
			...(of !== undefined && { type: 'resourceset' as const, resource: of, conditions }),
		};
		const parents = sets.filter(([, { type, resource }]) => type === set.type && resource === of).map(([name]) => name);
		sets.push([key, { ...set, ...some(draw, parents, 1).reduce<Json>((_, parent) => ({ parent }), {}) }]);
	}
	const users = sets.filter(([, { type }]) => type === 'userset').map(([key]) => key);
	const sides = [...users, ...roles.map((role) => `__autogen_${role}`)];
	const targets = Object.entries(resources).flatMap(([resource, { actions }]) => {
		const own = sets.filter(([, set]) => set.resource === resource).map(([key]) => key);
		return pairs([...own, `__autogen_${resource}`], Object.keys(actions)).map(([resource_set, action]) => {
			return { permission: `${resource}:${action}`, resource_set };
		});
	});
	const set_rules = some(draw, pairs(sides, targets), 6).map(([user_set, target]) => ({ user_set, ...target }));
	return { condition_sets: Object.fromEntries(sets), set_rules };
}

const elementType = fc.constantFrom('user_management', 'approval_flow', 'audit_log');

/**
 * Draws elements with levels for some roles. An `approval_flow` element may have a reviewing `user_management` element,
 * which no other element uses.
 */
function drawElements(draw: Draw, resources: Entries<RandomResource>, roles: readonly string[]): Entries {
	const named = draw(fc.uniqueArray(fc.constantFrom(...keys), { maxLength: 4 }));
	const types = new Map(named.map((key) => [key, draw(elementType)]));
	const free = named.filter((key) => types.get(key) === 'user_management');
	const ofResources = Object.entries(resources).flatMap(([key, one]) =>
		Object.keys(one.roles ?? {}).map((role) => `${key}:${role}`),
	);
	const entry = (elements_type: string | undefined) => {
		const leveled = some(draw, [...roles, ...ofResources], 3);
		const levels = leveled.map((role) => [role, draw(fc.constantFrom('LEVEL_1', 'LEVEL_4', 'HIDDEN'))]);
		const reviewers = elements_type === 'approval_flow' && draw(fc.boolean()) ? free.pop() : undefined;
		const [first] = elements_type === 'user_management' ? roles : [];
		const settings = {
			...(reviewers !== undefined && { user_management_element: reviewers }),
			...(first !== undefined && { default_role: first }),
		};
		return {
			name: draw(text),
			elements_type,
			...ifAny('settings', settings),
			...ifAny('role_levels', Object.fromEntries(levels)),
		};
	};
	return Object.fromEntries(named.map((key) => [key, entry(types.get(key))]));
}

const settings = fc.constantFrom({}, { when: { no_direct_roles_on_object: true } });

/** Derives some roles of a resource from roles on its relations' subjects. */
function withDerivations(
	draw: Draw,
	{ relations = {}, roles = {} }: RandomResource,
	resources: Entries<RandomResource>,
) {
	const rules = Object.entries(relations).flatMap(([linked_by_relation, { subject_resource: on_resource }]) =>
		Object.keys(resources[on_resource]?.roles ?? {}).map((role) => ({ role, on_resource, linked_by_relation })),
	);
	const derived = mapValues(roles, (role) => {
		if (!draw(fc.boolean())) return role;
		const users_with_role = some(draw, rules).map((rule) => ({ ...rule, ...draw(settings) }));
		return { ...role, granted_to: { ...ifAny('users_with_role', users_with_role), ...draw(settings) } };
	});
	return ifAny('roles', derived);
}

function drawFacts(draw: Draw, resources: Entries<RandomResource>, tenantRoles: readonly string[]): Document['facts'] {
	const tenants = draw(entriesArbitrary(described));
	const users = draw(entriesArbitrary(said({}, { first_name: text, attributes: filled })));
	const [userKeys, tenantKeys] = [Object.keys(users), Object.keys(tenants)];
	const instances = drawInstances(draw, Object.keys(resources), tenantKeys);
	const inTenants = pairs(tenantRoles, tenantKeys).map(([role, tenant]) => ({ role, tenant }));
	const onInstances = Object.keys(instances).flatMap((resource_instance) =>
		Object.keys(resources[instanceType(resource_instance)]?.roles ?? {}).map((role) => ({ role, resource_instance })),
	);
	const invitations = [
		...inTenants,
		...pairs(tenantRoles, Object.keys(instances)).map(([role, resource_instance]) => ({ role, resource_instance })),
		...onInstances.map(({ role, resource_instance }) => {
			return { role: `${instanceType(resource_instance)}:${role}`, resource_instance };
		}),
	];
	const invite = said({ email: fc.constant('x@example.com') }, { first_name: text, status: fc.constant('approved') });
	const held = pairs(userKeys, [...inTenants, ...onInstances]);
	return {
		tenants,
		users,
		resource_instances: instances,
		groups: Object.fromEntries(
			some(draw, Object.keys(instances)).map((name) => [name, draw(fc.constantFrom({}, { made_instance: true }))]),
		),
		made_for_groups: some(draw, schemaObjects(resources)),
		tenant_users: some(draw, pairs(userKeys, tenantKeys)).map(([user, tenant]) => ({ user, tenant })),
		relationship_tuples: some(draw, tuplesAmong(instances, resources), 8),
		role_assignments: some(draw, held, 8).map(([user, role]) => ({ user, ...role })),
		user_invites: Object.fromEntries(
			some(draw, pairs(keys, invitations)).map(([key, place]) => [key, { ...draw(invite), ...place }]),
		),
	};
}

type Instances = Entries<Json & { readonly tenant: string }>;

function drawInstances(draw: Draw, resources: readonly string[], tenants: readonly string[]): Instances {
	const names = tenants.length === 0 ? [] : pairs(resources, keys).map(([type, key]) => `${type}:${key}`);
	return Object.fromEntries(
		some(draw, names, 8).map((name) => {
			const tenant = draw(fc.constantFrom(...tenants));
			return [name, { tenant, ...(draw(fc.boolean()) && { attributes: draw(filled) }) }];
		}),
	);
}

/** Returns all resources, roles and relations in the form of `made_for_groups`. */
function schemaObjects(resources: Entries<RandomResource>): readonly Json[] {
	return Object.entries(resources).flatMap(([resource, { roles = {}, relations = {} }]) => [
		{ resource },
		...Object.keys(roles).map((role) => ({ resource, role })),
		...Object.keys(relations).map((relation) => ({ resource, relation })),
	]);
}

function pairs<A, B>(left: readonly A[], right: readonly B[]): readonly (readonly [A, B])[] {
	return left.flatMap((one) => right.map((other) => [one, other] as const));
}

/** Returns all possible relationships. */
function tuplesAmong(instances: Instances, resources: Entries<RandomResource>): readonly Json[] {
	return Object.entries(instances).flatMap(([object, { tenant }]) =>
		Object.entries(resources[instanceType(object)]?.relations ?? {}).flatMap(([relation, { subject_resource }]) =>
			Object.entries(instances)
				.filter(([subject, at]) => at.tenant === tenant && instanceType(subject) === subject_resource)
				.map(([subject]) => ({ subject, relation, object })),
		),
	);
}

function some<T>(draw: Draw, list: readonly T[], most = 4): readonly T[] {
	return draw(fc.shuffledSubarray([...list], { maxLength: Math.min(list.length, most) }));
}

/** Returns a record with only this field, or an empty record if the value is empty. */
function ifAny<V extends object>(member: string, value: V): Record<string, V> {
	return Object.keys(value).length === 0 ? {} : { [member]: value };
}

/** Returns the entries with mapped values. */
export function mapValues<V, W>(map: Entries<V>, change: (value: V) => W): Entries<W> {
	return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));
}
