/** An environment that changes step by step. Deletions cascade in the same way as in a store. */

import fc from 'fast-check';
import { everyone } from '../../compiler/everyone.js';
import type {
	Attributes,
	Expiring,
	Facts,
	Model,
	Resource,
	ResourceRole,
	RoleAssignment,
	Schema,
} from '../../compiler/model.js';
import { factExpiry, outlasts } from '../../compiler/policy/expiry.js';
import {
	schema as anySchema,
	chosenSetRules as anySetRules,
	derivingSchema,
	instanceNames,
	pick,
	relate,
	roleConditions,
	withoutExcluded,
} from '../compiler/model.js';
import { noFacts } from '../support/no-facts.js';
import { circularEdges } from './relationship-oracle.js';

/** Number that `pick` maps to an item of any list. */
type Choice = number;

/** A write. If a write does not apply to the current state, it changes nothing. */
export type Step =
	| { readonly kind: 'create_user' | 'delete_user'; readonly user: string }
	| { readonly kind: 'create_tenant' | 'update_tenant'; readonly tenant: string; readonly plan: number }
	| { readonly kind: 'delete_tenant'; readonly tenant: string }
	| ({ readonly kind: 'assign' } & RoleAssignment)
	| { readonly kind: 'unassign'; readonly user: string; readonly role: string; readonly tenant: string }
	| { readonly kind: 'create_instance'; readonly type: Choice; readonly key: string; readonly tenant: string }
	| ({
			readonly kind: 'assign_on_instance';
			readonly user: string;
			readonly instance: Choice;
			readonly role: Choice;
			readonly condition: Choice;
	  } & Expiring)
	| { readonly kind: 'describe_user'; readonly user: string; readonly attributes: Attributes }
	| { readonly kind: 'describe_instance'; readonly which: Choice; readonly attributes: Attributes }
	| { readonly kind: 'change_rules'; readonly rules: readonly Choice[] }
	| { readonly kind: 'allow_facts'; readonly allowed: boolean }
	| { readonly kind: 'name_roles'; readonly which: Choice; readonly value: number }
	| { readonly kind: 'map_urls'; readonly config: string; readonly urls: readonly string[] | null }
	| ({ readonly kind: 'relate'; readonly at: readonly [object: Choice, relation: Choice, subject: Choice] } & Expiring)
	| { readonly kind: 'delete_instance' | 'unassign_on_instance' | 'unrelate'; readonly which: Choice }
	| { readonly kind: 'change_schema'; readonly schema: Schema }
	| { readonly kind: Edit; readonly at: readonly [type: Choice, role: Choice, relation: Choice, source: Choice] };

type Edit = 'drop_resource' | 'drop_role' | 'drop_relation' | 'derive' | 'underive' | 'switch_block';

const user = fc.constantFrom('ann', 'bob', '__proto__', 'a/b~c%20');
const tenant = fc.constantFrom('acme', 'beta', '1');
/** Tenant keys. Most are the same, because relationships must stay within a tenant. */
const home = fc.constantFrom('acme', 'acme', 'acme', 'acme', 'acme', 'acme', 'beta', '1');
const role = fc.constantFrom('ra', 'rb', 'r1', 'r__proto__');
/** Attributes, which are sometimes empty. */
const attributes = fc.dictionary(fc.constantFrom('level', 'status', '__proto__'), fc.nat({ max: 2 }), { maxKeys: 2 });
const plan = fc.integer({ min: 0, max: 3 });
/** Grant expiry: mostly none. */
export const expiry: fc.Arbitrary<Expiring> = fc.oneof(
	{ weight: 2, arbitrary: fc.constant({}) },
	{ weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }).map((expires_at) => ({ expires_at })) },
);
const choice = fc.nat({ max: 11 });
const places = fc.tuple(choice, choice, choice, choice);
const key = fc.constantFrom(...instanceNames);
const kind = <K extends Step['kind']>(...kinds: K[]) => fc.constantFrom(...kinds);
/** A grant, sometimes with an expiry. */
const expiring = <G>(grant: { [K in keyof G]: fc.Arbitrary<G[K]> }): fc.Arbitrary<G & Expiring> =>
	fc.tuple(fc.record(grant) as fc.Arbitrary<G>, expiry).map(([what, when]) => ({ ...what, ...when }));
const weighted = <S extends Step>(weight: number, arbitrary: fc.Arbitrary<S>) => ({ weight, arbitrary });

/** The beginning of each history: a schema with a derivation cycle, a tenant and a user. */
export const opening: fc.Arbitrary<readonly Step[]> = derivingSchema.filter(hasCycle).map((schema) => [
	{ kind: 'change_schema', schema },
	{ kind: 'create_tenant', tenant: 'acme', plan: 0 },
	{ kind: 'create_user', user: 'ann' },
]);

/** Any step. Creations and assignments are more likely, so there are objects to delete. */
export const step: fc.Arbitrary<Step> = fc.oneof(
	weighted(4, fc.record({ kind: kind('create_user'), user })),
	weighted(1, fc.record({ kind: kind('delete_user'), user })),
	weighted(4, fc.record({ kind: kind('create_tenant', 'update_tenant'), tenant, plan })),
	weighted(
		1,
		fc.record({ kind: kind('delete_tenant'), tenant: home.map((key) => (key === 'beta' ? 'acme' : 'beta')) }),
	),
	weighted(6, expiring({ kind: kind('assign'), user, role, tenant })),
	weighted(2, fc.record({ kind: kind('unassign'), user, role, tenant })),
	weighted(24, fc.record({ kind: kind('create_instance'), type: choice, key, tenant: home })),
	weighted(4, fc.record({ kind: kind('describe_user'), user, attributes })),
	weighted(8, fc.record({ kind: kind('describe_instance'), which: choice, attributes })),
	weighted(2, fc.record({ kind: kind('change_rules'), rules: fc.array(choice, { maxLength: 3 }) })),
	weighted(2, fc.record({ kind: kind('name_roles'), which: choice, value: fc.nat({ max: 59 }) })),
	weighted(
		3,
		fc.record({
			kind: kind('map_urls'),
			config: fc.constantFrom('pa', 'pb', 'p__proto__'),
			urls: fc.option(fc.array(fc.constantFrom('https://a/{b}', '(?P<"\\n>\\d)', ''), { maxLength: 2 })),
		}),
	),
	weighted(2, fc.record({ kind: kind('allow_facts'), allowed: fc.boolean() })),
	weighted(2, fc.record({ kind: kind('delete_instance'), which: choice })),
	weighted(16, expiring({ kind: kind('assign_on_instance'), user, instance: choice, role: choice, condition: choice })),
	weighted(40, expiring({ kind: kind('relate'), at: fc.tuple(choice, choice, choice) })),
	weighted(12, fc.record({ kind: kind('unassign_on_instance', 'unrelate', 'unrelate'), which: choice })),
	weighted(1, fc.record({ kind: kind('change_schema'), schema: anySchema })),
	weighted(1, fc.record({ kind: kind('drop_role', 'drop_relation', 'drop_resource'), at: places })),
	weighted(4, fc.record({ kind: kind('derive', 'underive', 'switch_block'), at: places })),
);

/** True if some roles form a derivation cycle that nothing blocks. */
function hasCycle(schema: Schema): boolean {
	return circularEdges(schema).some(({ blocked }) => !blocked);
}

export const emptyModel: Model = {
	schema: { condition_sets: [], set_rules: [], resources: [], roles: [] },
	facts: noFacts,
};

/** Returns the model after a step. */
export function take(model: Model, taken: Step): Model {
	switch (taken.kind) {
		case 'change_schema':
			return settled(model.schema, { ...model, schema: taken.schema });
		case 'change_rules': {
			const set_rules = anySetRules(model.schema, taken.rules);
			return { ...model, schema: { ...model.schema, set_rules } };
		}
		case 'allow_facts':
			return { ...model, contextual_facts: taken.allowed };
		case 'name_roles':
			return { ...model, schema: namingRoles(model.schema, taken.which, taken.value) };
		case 'map_urls': {
			const { config, urls } = taken;
			const others = (model.mapping_rules ?? []).filter((row) => row.config !== config);
			const rules = (urls ?? []).map((url, priority) => ({
				url,
				url_type: priority === 0 ? null : ('regex' as const),
				http_method: 'get',
				resource: 'ra',
				action: priority === 0 ? null : 'read',
				priority,
			}));
			return { ...model, mapping_rules: urls === null ? others : [...others, { config, rules }] };
		}
		case 'derive':
		case 'underive':
		case 'switch_block':
		case 'drop_role':
		case 'drop_relation':
		case 'drop_resource':
			return settled(model.schema, { ...model, schema: edited(model.schema, taken) });
		default:
			return settled(model.schema, { ...model, facts: written(model, taken) });
	}
}

type FactStep = Exclude<
	Step,
	{ readonly kind: Edit | 'allow_facts' | 'change_rules' | 'change_schema' | 'map_urls' | 'name_roles' }
>;

/** Returns the facts after a step, before cascading deletions. */
function written({ schema, facts }: Model, taken: FactStep): Facts {
	const { users, tenants, role_assignments, instances, instance_assignments, relationships } = facts;
	switch (taken.kind) {
		case 'create_user':
			return { ...facts, users: added(users, taken.user) };
		case 'delete_user':
			return { ...facts, users: users.filter((key) => key !== taken.user) };
		case 'create_tenant':
		case 'update_tenant': {
			const others = tenants.filter((candidate) => candidate.key !== taken.tenant);
			const exists = others.length < tenants.length;
			const tenant = { key: taken.tenant, attributes: { plan: taken.plan } };
			return exists === (taken.kind === 'update_tenant') ? { ...facts, tenants: [...others, tenant] } : facts;
		}
		case 'delete_tenant':
			return { ...facts, tenants: tenants.filter(({ key }) => key !== taken.tenant) };
		case 'assign': {
			const { kind: _, ...assignment } = taken;
			return { ...facts, role_assignments: granted(role_assignments, assignment) };
		}
		case 'unassign': {
			const { kind: _, ...assignment } = taken;
			return { ...facts, role_assignments: role_assignments.filter((row) => !same(lasting(row), assignment)) };
		}
		case 'create_instance': {
			const type = pick(schema.resources, taken.type)?.key;
			const exists = instances.some((row) => row.type === type && row.key === taken.key);
			return type === undefined || exists
				? facts
				: { ...facts, instances: [...instances, { type, key: taken.key, tenant: taken.tenant }] };
		}
		case 'describe_user': {
			const others = facts.user_attributes.filter((row) => row.user !== taken.user);
			return { ...facts, user_attributes: [...others, { user: taken.user, attributes: taken.attributes }] };
		}
		case 'describe_instance': {
			const own = pick(instances, taken.which);
			const others = facts.instance_attributes.filter((row) => row.type !== own?.type || row.key !== own?.key);
			return own === undefined
				? facts
				: {
						...facts,
						instance_attributes: [...others, { type: own.type, key: own.key, attributes: taken.attributes }],
					};
		}
		case 'delete_instance':
			return { ...facts, instances: without(instances, taken.which) };
		case 'assign_on_instance': {
			const on = pick(instances, taken.instance);
			const held = pick(schema.resources.find(({ key }) => key === on?.type)?.roles ?? [], taken.role);
			if (on === undefined || held === undefined) return facts;
			const holder = held.public && taken.role % 3 === 0 ? everyone : taken.user;
			const set = holder === everyone ? undefined : pick(mostly(held.grant_conditions ?? []), taken.condition);
			return {
				...facts,
				instance_assignments: granted(instance_assignments, {
					user: holder,
					role: held.key,
					type: on.type,
					instance: on.key,
					...(set !== undefined && { condition: { set, values: { limit: 1 } } }),
					...expiryOf(taken),
				}),
			};
		}
		case 'unassign_on_instance':
			return { ...facts, instance_assignments: without(instance_assignments, taken.which) };
		case 'relate': {
			const row = relate(schema.resources, instances, taken.at);
			return row === null ? facts : { ...facts, relationships: granted(relationships, { ...row, ...expiryOf(taken) }) };
		}
		case 'unrelate':
			return { ...facts, relationships: without(relationships, taken.which) };
	}
}

/** Returns a list to choose from: mostly a role's conditions, because few roles have any. */
function mostly(conditions: readonly string[]): readonly (string | undefined)[] {
	return [...conditions, ...conditions, undefined];
}

/** Removes dangling facts from the model. A relation whose subject type has changed counts as a new relation. */
function settled(before: Schema, { schema, facts, ...others }: Model): Model {
	const types = new Map(schema.resources.map((type) => [type.key, type]));
	const earlier = new Map(before.resources.map((type) => [type.key, type]));
	const isTenant = (key: string) => facts.tenants.some((tenant) => tenant.key === key);
	const instances = facts.instances.filter(({ type, tenant }) => types.has(type) && isTenant(tenant));
	const isInstance = (type: string, key: string) => instances.some((row) => row.type === type && row.key === key);
	const leadsTo = (type: Resource | undefined, relation: string) =>
		type?.relations.find(({ key }) => key === relation)?.subject;
	return {
		...others,
		schema,
		facts: {
			...facts,
			instances,
			user_attributes: facts.user_attributes.filter(
				({ user, attributes }) => facts.users.includes(user) && Object.keys(attributes).length > 0,
			),
			instance_attributes: facts.instance_attributes.filter(
				({ type, key, attributes }) => isInstance(type, key) && Object.keys(attributes).length > 0,
			),
			role_assignments: facts.role_assignments.filter(
				({ user, tenant }) => facts.users.includes(user) && isTenant(tenant),
			),
			instance_assignments: facts.instance_assignments.filter(
				({ user, role, type, instance, condition }) =>
					(facts.users.includes(user) || user === everyone) &&
					isInstance(type, instance) &&
					types
						.get(type)
						?.roles.some(
							({ key, grant_conditions = [] }) =>
								key === role && (condition === undefined || grant_conditions.includes(condition.set)),
						),
			),
			relationships: facts.relationships.filter(
				({ type, instance, relation, subject_type, subject }) =>
					isInstance(type, instance) &&
					isInstance(subject_type, subject) &&
					leadsTo(types.get(type), relation) === subject_type &&
					leadsTo(earlier.get(type), relation) === subject_type,
			),
		},
	};
}

/** Returns the schema after an edit, without dangling derivations. */
function edited(schema: Schema, { kind, at: [type, role, relation, source] }: Step & { readonly kind: Edit }): Schema {
	const own = pick(schema.resources, type);
	const held = pick(own?.roles ?? [], role);
	const along = pick(own?.relations ?? [], relation);
	if (own === undefined || kind === 'drop_resource') {
		return sound(
			schema.resources.filter((other) => other !== own),
			schema,
		);
	}
	const roles = kind === 'drop_role' ? own.roles.filter((other) => other !== held) : own.roles;
	const relations = kind === 'drop_relation' ? own.relations.filter((other) => other !== along) : own.relations;
	const from = pick(schema.resources.find(({ key }) => key === along?.subject)?.roles ?? [], source);
	const next = {
		...own,
		relations,
		roles: roles.map((other) => (other === held ? rederived(other, kind, along?.key, from?.key) : other)),
	};
	return sound(
		schema.resources.map((other) => (other === own ? next : other)),
		schema,
	);
}

/** Replaces the conditions of a user set with conditions on roles on its resource. */
function namingRoles(schema: Schema, which: Choice, value: number): Schema {
	const set = pick(
		schema.condition_sets.filter(({ type, resource }) => type === 'userset' && resource !== null),
		which,
	);
	const roles = schema.resources.find(({ key }) => key === set?.resource)?.roles.map(({ key }) => key) ?? [];
	if (roles.length === 0) return schema;
	const selects = { conditions: roleConditions(roles, value) };
	return { ...schema, condition_sets: schema.condition_sets.map((one) => (one === set ? { ...one, selects } : one)) };
}

function rederived(role: ResourceRole, kind: Edit, relation?: string, source?: string): ResourceRole {
	const others = role.derivations.filter((row) => row.relation !== relation || row.role !== source);
	switch (kind) {
		case 'switch_block':
			return { ...role, no_direct_roles_on_object: !role.no_direct_roles_on_object };
		case 'underive':
			return { ...role, derivations: role.derivations.slice(1) };
		case 'derive':
			return relation === undefined || source === undefined
				? role
				: { ...role, derivations: [...others, { relation, role: source, no_direct_roles_on_object: false }] };
		default:
			return role;
	}
}

/** Removes references to missing types, roles and relations. */
function sound(resources: readonly Resource[], { roles, condition_sets, set_rules, ...others }: Schema): Schema {
	const byKey = new Map(resources.map((type) => [type.key, type]));
	const related = resources.map((type) => ({
		...type,
		relations: type.relations.filter(({ subject }) => byKey.has(subject)),
	}));
	const sets = condition_sets.filter(({ resource }) => resource === null || byKey.has(resource));
	return withoutExcluded({
		...others,
		condition_sets: sets,
		set_rules: set_rules.filter(({ resource }) => byKey.has(resource)),
		roles: roles.map((role) => ({
			...role,
			permissions: role.permissions.filter(({ resource }) => byKey.has(resource)),
		})),
		resources: related.map((type) => ({
			...type,
			roles: type.roles.map((role) => ({
				...role,
				extends: role.extends.filter((parent) => type.roles.some(({ key }) => key === parent)),
				derivations: role.derivations.filter((derivation) => {
					const along = type.relations.find(({ key }) => key === derivation.relation);
					return byKey.get(along?.subject ?? '')?.roles.some(({ key }) => key === derivation.role);
				}),
			})),
		})),
	});
}

function added<T>(rows: readonly T[], row: T): readonly T[] {
	return rows.some((other) => same(other, row)) ? rows : [...rows, row];
}

/** Adds a row, or extends its expiry. */
function granted<T extends Expiring>(rows: readonly T[], row: T): readonly T[] {
	const known = rows.find((other) => same(lasting(other), lasting(row)));
	if (known === undefined) return [...rows, row];
	return outlasts(factExpiry(row), factExpiry(known)) ? rows.map((other) => (other === known ? row : other)) : rows;
}

function expiryOf({ expires_at }: Expiring): Expiring {
	return expires_at === undefined ? {} : { expires_at };
}

function lasting<T extends Expiring>({ expires_at: _, ...row }: T): Omit<T, 'expires_at'> {
	return row;
}

function without<T>(rows: readonly T[], which: Choice): readonly T[] {
	const gone = pick(rows, which);
	return rows.filter((row) => row !== gone);
}

function same(left: unknown, right: unknown): boolean {
	return JSON.stringify(left) === JSON.stringify(right);
}
