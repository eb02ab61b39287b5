/** Random schemas, facts and keys. */
import fc from 'fast-check';
import { check } from '../../compiler/check.js';
import { computedLinkProblems } from '../../compiler/computed-check.js';
import { derivationEdges } from '../../compiler/cycle.js';
import { everyone } from '../../compiler/everyone.js';
import type {
	ConditionSet,
	Derivation,
	Facts,
	GrantCondition,
	Instance,
	InstanceAssignment,
	Json,
	Model,
	Relation,
	Relationship,
	Resource,
	ResourceRole,
	Schema,
	SetRule,
} from '../../compiler/model.js';
import type { RoleExpression } from '../../compiler/role-expression.js';
import { setRelationKey } from '../../compiler/user-set.js';
import { anyCodePoint } from '../support/any-code-point.js';

/** Any well-formed string; mostly strings that could break out of a literal, comment, path or object. */
export const text = fc.oneof(
	fc.string({ unit: anyCodePoint }),
	fc.string({
		unit: fc.constantFrom(
			'"',
			'\\',
			'`',
			'\n',
			'\r',
			'\t',
			'#',
			'{',
			'}',
			'[',
			']',
			'$',
			':',
			'-',
			'/',
			'.',
			' ',
			'\u2028',
		),
	}),
	fc.constantFrom('package', 'default', 'if', 'contains', 'true', '__proto__', 'data', 'input', '---', 'con', ''),
);

/** Suffixes of all keys in random models. */
export const names = ['a', 'b', '1', '__proto__'] as const;

/** Keys for a kind of object. There are only a few, so that random parts of a model refer to the same objects. */
const key = (kind: string) => fc.constantFrom(...names).map((name) => `${kind}${name}`);

/**
 * Content and size of random schemas. `least` and `most` limit the number of resource types, and of actions, roles and
 * relations in each type.
 */
export interface Material {
	/** Returns keys with a prefix: a letter for roles and relations, empty for types and actions. */
	readonly key: (kind: string) => fc.Arbitrary<string>;
	readonly name: fc.Arbitrary<string>;
	readonly description: fc.Arbitrary<string | null>;
	readonly least: number;
	readonly most: number;
}

/** Material with short keys and a constant name. */
export const plain: Material = { key, name: fc.constant('Name'), description: fc.constant(null), least: 0, most: 4 };

function unique<T extends { readonly key: string }>(item: fc.Arbitrary<T>, minLength = 0, maxLength = 4) {
	return fc.uniqueArray(item, { selector: ({ key }) => key, minLength, maxLength });
}

/** True in an eighth of all cases. This gives enough exceptions, and enough cycles without exceptions. */
const seldom = fc.integer({ min: 0, max: 7 }).map((number) => number === 7);

/** Index into a list of any length (see `pick`). */
const choice = fc.nat({ max: 11 });

/** A derivation whose relation and role are not chosen yet. */
interface Choice {
	readonly relation: number;
	readonly role: number;
	readonly no_direct_roles_on_object: boolean;
}

/** A role whose derivations and expression are not chosen yet. `computes` is null unless the role may be computed. */
type GeneratedRole = Omit<ResourceRole, 'derivations' | 'computed'> & {
	readonly derivations: readonly Choice[];
	readonly computes: number | null;
	/** Index into the grant conditions; `undefined` if the role declares none. */
	readonly conditions?: number | undefined;
	/** Chooses the role of the sets of users to which this role can be assigned; `undefined` if there are none. */
	readonly grantable?: number | undefined;
};
type GeneratedRelation = Omit<Relation, 'subject'> & {
	readonly subject: number;
	/** Index into the grant conditions; `undefined` if the relation declares none. */
	readonly conditions?: number | undefined;
};
type GeneratedResource = Omit<Resource, 'relations' | 'roles'> & {
	readonly roles: readonly GeneratedRole[];
	readonly relations: readonly GeneratedRelation[];
};

function resourceArbitrary({ key, name, description, least }: Material): fc.Arbitrary<GeneratedResource> {
	const named = { name, description };
	const role = fc.record({
		key: key('r'),
		...named,
		permissions: fc.uniqueArray(key(''), { maxLength: 2 }),
		extends: fc.uniqueArray(key('r'), { maxLength: 2 }),
		derivations: fc.array(fc.record({ relation: choice, role: choice, no_direct_roles_on_object: seldom }), {
			maxLength: 3,
		}),
		no_direct_roles_on_object: seldom,
		public: fc.integer({ min: 0, max: 3 }).map((number) => number === 3),
		computes: fc.option(fc.nat({ max: 59 }), { freq: 2 }),
		conditions: fc.option(choice, { nil: undefined, freq: 2 }),
		grantable: fc.nat({ max: 239 }).map((number) => (number < 20 ? number * 3 : undefined)),
	});
	return fc.record({
		key: key(''),
		...named,
		actions: unique(fc.record({ key: key(''), ...named }), least),
		roles: unique(role, least),
		relations: unique(
			fc.record({
				key: key('n'),
				...named,
				subject: choice,
				conditions: fc.oneof({ arbitrary: fc.constant(undefined), weight: 2 }, choice),
			}),
			least,
		),
	});
}

/** Schemas without errors: drops missing permissions and circular extensions. */
export function schemaArbitrary(material: Material): fc.Arbitrary<Schema> {
	const { key, name, description, least, most } = material;
	const role = fc.record({
		key: key('r'),
		name,
		description,
		permissions: fc.array(fc.record({ resource: key(''), action: key('') }), { maxLength: 4 }),
		extends: fc.array(key('r'), { maxLength: 2 }),
	});
	return fc
		.record({
			resources: unique(resourceArbitrary(material), least, most),
			roles: unique(role),
			kinds: fc.constantFrom('computed', 'public', 'both'),
			sets: fc.array(setArbitrary(material), { maxLength: 6 }),
			rules: fc.array(choice, { maxLength: 4 }),
		})
		.map(({ sets, rules, kinds, ...generated }) =>
			withoutExcluded(withSets(withSoundLinks(soundSchema(withKinds(generated, kinds))), sets, rules)),
		);
}

/** Returns a schema with computed roles, roles for everyone, or both. */
function withKinds({ resources, ...others }: GeneratedSchema, kinds: 'computed' | 'public' | 'both'): GeneratedSchema {
	const choose = (role: GeneratedRole) => ({
		...role,
		...(kinds === 'computed' && { public: false }),
		...(kinds === 'public' && { computes: null }),
	});
	return { ...others, resources: resources.map((own) => ({ ...own, roles: own.roles.map(choose) })) };
}

/** Removes derivations from computed roles, the last first, until they cause no schema errors. */
export function withSoundLinks(schema: Schema): Schema {
	if (computedLinkProblems(schema).length === 0) return schema;
	const from = derivationEdges(schema).filter(({ source: { type, role } }) =>
		schema.resources.some((own) => own.key === type && own.roles.some(({ key, computed }) => key === role && computed)),
	);
	const last = from.at(-1);
	const isLast = (type: string, role: string, row: Derivation) =>
		type === last?.target.type &&
		role === last.target.role &&
		row.relation === last.relation &&
		row.role === last.source.role;
	return withSoundLinks({
		...schema,
		resources: schema.resources.map((own) => ({
			...own,
			roles: own.roles.map((role) => ({
				...role,
				derivations: role.derivations.filter((row) => !isLast(own.key, role.key, row)),
			})),
		})),
	});
}

/** Grant conditions for roles in random schemas. */
const grantConditions: readonly GrantCondition[] = (
	[
		['amount', { limit: 'number' }, { 'context.amount': { 'less-than-equals': { ref: 'grant.limit' } } }],
		['level', { limit: 'number' }, { 'user.level': { equals: { ref: 'grant.limit' } } }],
		['unless', { limit: 'number' }, { not: { 'context.amount': { 'greater-than': { ref: 'grant.limit' } } } }],
		['always', {}, {}],
	] as const
).map(([key, parameters, conditions]) => ({ key: `g${key}`, name: 'Name', description: null, parameters, conditions }));

/** Returns some condition keys for a role or a relation. */
export function chosenConditions(number: number): readonly string[] {
	return [...new Set([number, number * 5].map((one) => pick(grantConditions, one)?.key ?? ''))];
}

/**
 * Adds the conditions that roles and relations declare. Drops declarations that would make a set or a computed role
 * exclude a role that users may hold under a condition.
 */
export function withoutExcluded(schema: Schema): Schema {
	const isSound = (one: Schema) => check(one).every(({ code }) => code !== 'excluded_condition');
	const whole = withDeclared(schema);
	if (isSound(whole)) return whole;
	const kept = new Set<ResourceRole | Relation>();
	for (const one of schema.resources.flatMap(({ roles, relations }) => [...relations, ...roles])) {
		if (one.grant_conditions === undefined) continue;
		kept.add(one);
		if (!isSound(declaringOnly(schema, kept))) kept.delete(one);
	}
	return declaringOnly(schema, kept);
}

/** Removes the declared conditions of all other roles and relations. */
export function declaringOnly(schema: Schema, kept: ReadonlySet<ResourceRole | Relation>): Schema {
	const without = <T extends ResourceRole | Relation>(item: T) => {
		const { grant_conditions: _, ...others } = item;
		return kept.has(item) ? item : others;
	};
	return withDeclared({
		...schema,
		resources: schema.resources.map((resource) => ({
			...resource,
			roles: resource.roles.map(without),
			relations: resource.relations.map(without),
		})),
	});
}

/** Returns a schema with exactly the conditions that its roles and relations declare. */
function withDeclared(schema: Schema): Schema {
	const declared = new Set(
		schema.resources.flatMap(({ roles, relations }) =>
			[...roles, ...relations].flatMap((one) => one.grant_conditions ?? []),
		),
	);
	const { grant_conditions: _, ...others } = schema;
	if (declared.size === 0) return others;
	const known = schema.grant_conditions ?? [];
	return {
		...others,
		grant_conditions: [
			...known.filter(({ key }) => declared.has(key)),
			...grantConditions.filter(({ key }) => declared.has(key) && !known.some((own) => own.key === key)),
		],
	};
}

/** Returns a schema without errors and without sets. */
function soundSchema({ resources, roles }: GeneratedSchema): Schema {
	return {
		condition_sets: [],
		set_rules: [],
		resources: resources.map((own) => soundResource(own, resources)),
		roles: roles.map((own, index) => ({
			...own,
			permissions: own.permissions.filter((permission) =>
				resources.some(
					(type) => type.key === permission.resource && type.actions.some((a) => a.key === permission.action),
				),
			),
			extends: later(own.extends, roles, index),
		})),
	};
}

interface GeneratedSchema {
	readonly resources: readonly GeneratedResource[];
	readonly roles: Schema['roles'];
}

/** A condition set whose resource type, parent and role are not chosen yet. */
type GeneratedSet = Pick<ConditionSet, 'key' | 'name' | 'description'> & {
	readonly type: ConditionSet['type'];
	readonly resource: number;
	readonly narrows: boolean;
	readonly selects: 'anything' | 'levels' | 'texts' | 'times' | 'related' | 'role' | 'roles';
	readonly value: number;
};

function setArbitrary({ key, name, description }: Material): fc.Arbitrary<GeneratedSet> {
	return fc.record({
		key: key('s'),
		name,
		description,
		type: fc.constantFrom('userset', 'resourceset'),
		resource: choice,
		narrows: fc.boolean(),
		selects: fc.constantFrom('anything', 'levels', 'texts', 'times', 'related', 'role', 'roles', 'roles', 'roles'),
		value: fc.nat({ max: 59 }),
	});
}

/** Adds these sets and some rules between them. */
function withSets(schema: Schema, generated: readonly GeneratedSet[], rules: readonly number[]): Schema {
	const condition_sets: ConditionSet[] = [];
	for (const [index, { key, type, resource, narrows, selects, value, ...named }] of generated.entries()) {
		const chosen = pick(schema.resources, resource);
		const namesRoles = type === 'userset' && selects === 'roles' && (chosen?.roles.length ?? 0) > 0;
		const of = type === 'userset' && !namesRoles ? null : (chosen?.key ?? null);
		if (type === 'resourceset' && of === null) continue;
		const role = pick(schema.roles, resource)?.key;
		const automatic = selects === 'role' ? (of ?? role) : undefined;
		const related = pick(schema.resources, resource)?.key ?? '';
		const parent = condition_sets.find((set) => set.type === type && set.resource === of);
		condition_sets.push({
			key: `${key}${index}`,
			...named,
			type,
			resource: of,
			parent: narrows && automatic === undefined ? (parent?.key ?? null) : null,
			selects:
				namesRoles && chosen !== undefined
					? {
							conditions: roleConditions(
								chosen.roles.map((row) => row.key),
								value,
							),
						}
					: automatic === undefined
						? { conditions: setConditions(type === 'userset' ? 'user' : 'resource', selects, value % 3, related) }
						: type === 'userset'
							? { role: automatic }
							: { resource: automatic },
		});
	}
	const whole = { ...schema, condition_sets };
	return { ...whole, set_rules: chosenSetRules(whole, rules) };
}

function setConditions(
	object: 'user' | 'resource',
	selects: GeneratedSet['selects'],
	value: number,
	related: string,
): Json {
	const level = { [`${object}.level`]: { equals: value } };
	switch (selects) {
		case 'levels':
			return level;
		case 'texts':
			return { allOf: [level, { [`${object}.status`]: { equals: value } }] };
		case 'times':
			return { [`${object}.seen`]: { [value === 0 ? 'older-than' : 'within-last']: 'P1D' } };
		case 'related': {
			const match = { level: value === 0 ? { 'is-null': true } : { equals: value } };
			return { [`${object}.of`]: { object_match: { match, fk_resource_type: related } } };
		}
		default:
			return {};
	}
}

/** Returns conditions that require roles on the resource, exclude them, or both. */
export function roleConditions(roles: readonly string[], value: number): Json {
	const [one = '', other = ''] = [pick(roles, value), pick(roles, value + 1)];
	const holds = { 'user.resource_roles': { array_contains: one } };
	const lacks = { not: { 'subject.resource_roles': { array_contains: other } } };
	const seen = { 'user.seen': { 'within-last': 'P2D' } };
	const forms: readonly Json[] = [
		holds,
		{ not: holds },
		{ allOf: [holds, lacks] },
		{ anyOf: [holds, lacks] },
		{ 'user.resource_roles': { array_superset: [one, other] } },
		{ 'user.resource_roles': { not: { array_intersect: [one, other] } } },
		{ allOf: [{ anyOf: [holds, { 'user.level': { equals: value % 3 } }] }, lacks] },
		{ not: { allOf: [{ 'user.resource_roles': { array_intersect: [one, other] } }, lacks] } },
		{ allOf: [holds, { not: seen }] },
	];
	return pick(forms, Math.floor(value / 4)) ?? {};
}

/** Returns a possible rule between the schema's sets for each choice. */
export function chosenSetRules({ condition_sets, resources }: Schema, choices: readonly number[]): readonly SetRule[] {
	const users = condition_sets.filter(({ type }) => type === 'userset');
	const ofResources = condition_sets.filter(({ type }) => type === 'resourceset');
	const all = ofResources.flatMap(({ key, resource }) =>
		users
			.filter((user) => user.resource === null || user.resource === resource)
			.flatMap((user) =>
				(resources.find((type) => type.key === resource)?.actions ?? []).map((action) => ({
					user_set: user.key,
					resource_set: key,
					resource: resource ?? '',
					action: action.key,
				})),
			),
	);
	const chosen = choices.flatMap((number) => pick(all, number * 7) ?? []);
	return [...new Map(chosen.map((rule) => [JSON.stringify(rule), rule])).values()];
}

/** Any schema without errors, with or without derivation cycles. */
export const schema: fc.Arbitrary<Schema> = schemaArbitrary(plain);

/** A schema that mostly has derivation cycles. */
export const derivingSchema: fc.Arbitrary<Schema> = schemaArbitrary({ ...plain, least: 2 });

/** Chooses the relation subjects and derivation sources from all possible values. */
function soundResource(own: GeneratedResource, resources: readonly GeneratedResource[]): Resource {
	const relations = own.relations.map(({ conditions, ...row }) => ({
		...row,
		subject: pick(resources, row.subject)?.key ?? '',
		...(conditions !== undefined && { grant_conditions: chosenConditions(conditions) }),
	}));
	const sets = own.roles.map(({ grantable, ...held }, index) =>
		grantable === undefined || isComputed(own.roles, index) ? [] : assignableToSets(held, grantable, resources),
	);
	return {
		...own,
		relations: [...relations, ...sets.flatMap((found) => found.map(({ relation }) => relation))],
		roles: own.roles.map(({ computes, conditions, grantable: _, ...held }, index) => {
			const derivations = [
				...new Map(held.derivations.flatMap((row) => derived(row, relations, resources))).values(),
				...(sets[index] ?? []).map(({ derivation }) => derivation),
			];
			return {
				...held,
				permissions: held.permissions.filter((action) => own.actions.some(({ key }) => key === action)),
				extends: later(held.extends, own.roles, index),
				...(isComputed(own.roles, index)
					? { derivations: [], public: false, computed: roleExpression(laterKeys(own.roles, index), computes ?? 0) }
					: {
							derivations,
							...(conditions !== undefined && { grant_conditions: chosenConditions(conditions) }),
						}),
			};
		}),
	};
}

/** Returns the hidden relation and the derivation for assigning a role to sets of users. */
export function assignableToSets(
	{ key, name, description }: Pick<ResourceRole, 'key' | 'name' | 'description'>,
	number: number,
	resources: readonly { readonly key: string; readonly roles: readonly { readonly key: string }[] }[],
): readonly { readonly relation: Relation; readonly derivation: Derivation }[] {
	const subject = pick(resources, number);
	const source = pick(subject?.roles ?? [], Math.floor(number / 5));
	if (subject === undefined || source === undefined) return [];
	const relation = setRelationKey(key, { type: subject.key, role: source.key });
	return [
		{
			relation: { key: relation, name, description, subject: subject.key },
			derivation: { relation, role: source.key, no_direct_roles_on_object: false },
		},
	];
}

/** True if a role is computed: from roles that come later in the list, so that no role is computed from itself. */
function isComputed(roles: readonly GeneratedRole[], index: number): boolean {
	return roles[index]?.computes !== null && index < roles.length - 1;
}

/** Returns the keys of the roles after a role in the list. */
export function laterKeys(roles: readonly { readonly key: string }[], index: number): readonly string[] {
	return roles.slice(index + 1).map(({ key }) => key);
}

/** Returns an expression over roles in which each alternative requires a role. */
export function roleExpression(roles: readonly string[], value: number): RoleExpression {
	const [one = '', other = '', third = ''] = [pick(roles, value), pick(roles, value + 1), pick(roles, value + 2)];
	const forms: readonly RoleExpression[] = [
		{ allOf: [one, { not: other }] },
		{ anyOf: [one, other] },
		{ allOf: [one, other] },
		{ allOf: [one, { anyOf: [other, { not: third }] }] },
		{ anyOf: [{ allOf: [one, other] }, { allOf: [third, { not: one }] }] },
		{ allOf: [one, { not: { allOf: [other, third] } }] },
		{ not: { anyOf: [{ not: one }, other] } },
		{ allOf: [one] },
	];
	return pick(forms, Math.floor(value / 4)) ?? one;
}

/** Returns only parents that come later in the list of roles, so that extensions cannot form a cycle. */
function later(parents: readonly string[], roles: readonly { readonly key: string }[], index: number) {
	return parents.filter((parent) => roles.findIndex((candidate) => candidate.key === parent) > index);
}

/** Returns a derivation, and its identity, because each derivation may occur only once. */
function derived(
	{ relation, role, no_direct_roles_on_object }: Choice,
	relations: readonly Relation[],
	resources: readonly GeneratedResource[],
): readonly (readonly [string, ResourceRole['derivations'][number]])[] {
	const along = pick(relations, relation);
	const subjects = resources.find(({ key }) => key === along?.subject)?.roles ?? [];
	const source = pick(subjects, role);
	return along === undefined || source === undefined
		? []
		: [[JSON.stringify([along.key, source.key]), { relation: along.key, role: source.key, no_direct_roles_on_object }]];
}

/** Returns the item at `number` modulo the length; `undefined` for an empty list. */
export function pick<T>(items: readonly T[], number: number): T | undefined {
	return items[number % items.length];
}

/** User keys allow more characters than schema keys. */
export const userNames = ['ua', 'ub', 'u/%~"#:', '__proto__'] as const;

/** Instance keys also allow more characters than schema keys, except for colons. */
export const instanceNames = ['ia', 'i/%~"#', '__proto__'] as const;

const user = fc.constantFrom(...userNames);
const tenant = fc.record({ key: key('t'), attributes: fc.dictionary(key('x'), fc.integer(), { maxKeys: 2 }) });
const assignment = fc.record({ user, role: key('r'), tenant: key('t') });
/** Tenant keys. Most are the same, because relationships must stay within a tenant. */
const place = fc.constantFrom('ta', 'ta', 'ta', 'ta', 'ta', 'tb', 't1', 't__proto__');
const instance = fc.record({ type: choice, key: fc.constantFrom(...instanceNames), tenant: place });
const holder = fc.constantFrom(...userNames, everyone);
/** A condition and its value, which may have the wrong type. */
const underCondition = { condition: choice, limit: fc.constantFrom<Json>(0, 1, 2, 'one') };
const instanceAssignment = fc.record({ user: holder, instance: choice, role: choice, ...underCondition });
const relationship = fc.record({ object: choice, relation: choice, subject: choice, ...underCondition });

/**
 * Facts for a schema that is not chosen yet, with a minimum number of instances, and a proportional number of
 * relationships.
 */
export const factsOfSize = (least: number) =>
	fc.record({
		users: fc.uniqueArray(user, { minLength: Math.min(least, 3) }),
		tenants: unique(tenant).map((some) => (least === 0 ? some : [homeTenant, ...some.filter(isNotHome)])),
		role_assignments: fc.array(assignment, { maxLength: 12 }),
		instances: fc.array(instance, { minLength: least, maxLength: 14 }),
		instance_assignments: fc.array(instanceAssignment, { minLength: Math.min(least, 4), maxLength: 12 }),
		relationships: fc.array(relationship, { minLength: least, maxLength: 3 * least + 4 }),
		user_attributes: fc.uniqueArray(fc.record({ user, attributes: known }), { selector: (row) => row.user }),
		described: fc.array(fc.record({ which: choice, attributes: known }), { maxLength: 6 }),
	});

const level = fc.nat({ max: 2 });
/**
 * Attributes compared by random sets: numbers, a time before or after every check, and the key of an instance, which
 * may not exist.
 */
const known = fc.record(
	{
		level,
		status: level,
		seen: fc.constantFrom('1900-01-01T00:00:00.000Z', '2999-01-01T00:00:00.000Z'),
		of: fc.constantFrom(...instanceNames, 'inone'),
	},
	{ requiredKeys: [], noNullPrototype: true },
);

const homeTenant = { key: 'ta', attributes: {} };

function isNotHome({ key }: { readonly key: string }): boolean {
	return key !== homeTenant.key;
}

/** Returns facts for a schema. They may include facts about missing users and tenants, which have no effect. */
export function placedFacts({ resources }: Schema, generated: GeneratedFacts): Facts {
	const placed = generated.instances.flatMap((row) => {
		const type = pick(resources, row.type)?.key;
		return type === undefined ? [] : [{ ...row, type }];
	});
	const instances = [...new Map(placed.map((row) => [`${row.type}:${row.key}`, row])).values()];
	const { described, ...others } = generated;
	const descriptions = described.flatMap(({ which, attributes }) => {
		const own = pick(instances, which);
		return own === undefined ? [] : [{ type: own.type, key: own.key, attributes }];
	});
	return {
		...others,
		instance_attributes: [...new Map(descriptions.map((row) => [`${row.type}:${row.key}`, row])).values()],
		instances,
		instance_assignments: distinctConditional(
			generated.instance_assignments.flatMap(({ user, instance, role, condition, limit }) => {
				const on = pick(instances, instance);
				const roles = resources.find(({ key }) => key === on?.type)?.roles ?? [];
				const held = pick(
					roles.filter(({ computed }) => computed === undefined),
					role,
				);
				if (on === undefined || held === undefined || (user === everyone && !held.public)) return [];
				const set = user === everyone ? undefined : pick([undefined, ...(held.grant_conditions ?? [])], condition);
				const assigned = { user, role: held.key, type: on.type, instance: on.key };
				return [set === undefined ? assigned : { ...assigned, condition: { set, values: { limit } } }];
			}),
		),
		relationships: distinctConditional(
			generated.relationships.flatMap(({ object, relation, subject, condition, limit }) => {
				const row = relate(resources, instances, [object, relation, subject]);
				return row === null ? [] : [conditionalRow(resources, row, condition, limit)];
			}),
		),
	};
}

/** Returns a relationship under a condition that its relation declares, or under none. */
export function conditionalRow(
	resources: readonly Resource[],
	row: Relationship,
	condition: number,
	limit: Json,
): Relationship {
	const along = resources.find(({ key }) => key === row.type)?.relations.find(({ key }) => key === row.relation);
	const declared = along?.grant_conditions ?? [];
	const set = pick([undefined, ...declared, ...declared], condition);
	return set === undefined ? row : { ...row, condition: { set, values: { limit } } };
}

/** Returns each conditional fact once. Unconditional facts may be repeated. */
function distinctConditional<T extends InstanceAssignment | Relationship>(rows: readonly T[]): readonly T[] {
	const name = ({ condition, ...row }: T) =>
		JSON.stringify([Object.entries(row).sort(([left], [right]) => (left < right ? -1 : 1)), condition?.set]);
	return rows.filter(
		(row, index) => row.condition === undefined || rows.findIndex((other) => name(other) === name(row)) === index,
	);
}

type GeneratedFacts = ReturnType<typeof factsOfSize> extends fc.Arbitrary<infer F> ? F : never;

/** Returns a valid relationship: an object, a relation on the object's type, and a subject in the object's tenant. */
export function relate(
	resources: readonly Resource[],
	instances: readonly Instance[],
	[object, relation, subject]: readonly [number, number, number],
): Facts['relationships'][number] | null {
	const on = pick(instances, object);
	const along = pick(resources.find(({ key }) => key === on?.type)?.relations ?? [], relation);
	const other = pick(
		instances.filter(({ type, tenant }) => type === along?.subject && tenant === on?.tenant),
		subject,
	);
	return on === undefined || along === undefined || other === undefined
		? null
		: { type: on.type, instance: on.key, relation: along.key, subject_type: other.type, subject: other.key };
}

/** Models without errors. */
export const model: fc.Arbitrary<Model> = fc
	.tuple(schema, factsOfSize(0))
	.map(([schema, facts]) => ({ schema, facts: placedFacts(schema, facts) }));

/** Several models with the same schema, which has derivation cycles. */
export function modelsOfOneSchema(count: number): fc.Arbitrary<readonly Model[]> {
	return fc
		.tuple(derivingSchema, fc.array(factsOfSize(12), { minLength: count, maxLength: count }))
		.map(([own, facts]) => facts.map((generated) => ({ schema: own, facts: placedFacts(own, generated) })));
}
