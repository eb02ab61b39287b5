/** Random schema edits. The schema has no errors after any edit. */
import fc from 'fast-check';
import { everyone } from '../../compiler/everyone.js';
import type { ConditionSet, Facts, Json, Resource, ResourceRole, Schema } from '../../compiler/model.js';
import { grantOf, isSetRelation } from '../../compiler/user-set.js';
import {
	assignableToSets,
	chosenConditions,
	chosenSetRules,
	laterKeys,
	pick,
	roleConditions,
	roleExpression,
	withoutExcluded,
	withSoundLinks,
} from '../compiler/model.js';
import { rolesInExpression } from './relationship-oracle.js';

/** An edit, with its kind and numbers to select objects. */
export interface SchemaEdit {
	readonly kind: keyof typeof edits;
	readonly which: number;
	readonly other: number;
}

/** Returns the schema after an edit. An edit of a missing object changes nothing. */
export function edited(schema: Schema, { kind, which, other }: SchemaEdit): Schema {
	return withoutExcluded(soundSchema(edits[kind](schema, which, other)));
}

const edits = {
	'drop a rule': (schema: Schema, which: number): Schema => ({
		...schema,
		set_rules: without(schema.set_rules, which),
	}),
	'add a rule': (schema: Schema, which: number): Schema => {
		const rules = [...schema.set_rules, ...chosenSetRules(schema, [which])];
		return { ...schema, set_rules: [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()] };
	},
	'edit a set': (schema: Schema, which: number, other: number): Schema => ({
		...schema,
		condition_sets: replaced(schema.condition_sets, which, (set) => {
			if (!('conditions' in set.selects)) return set;
			const roles = schema.resources.find(({ key }) => key === set.resource)?.roles.map(({ key }) => key) ?? [];
			const object = set.type === 'userset' ? 'user' : 'resource';
			const conditions =
				set.type === 'userset' && roles.length > 0 && other % 3 > 0
					? roleConditions(roles, other)
					: { [`${object}.level`]: { equals: other % 3 } };
			return { ...set, selects: { conditions } };
		}),
	}),
	'remove the parent of a set': (schema: Schema, which: number): Schema => ({
		...schema,
		condition_sets: replaced(schema.condition_sets, which, (set) => ({ ...set, parent: null })),
	}),
	'drop a set': (schema: Schema, which: number): Schema => ({
		...schema,
		condition_sets: without(schema.condition_sets, which),
	}),
	'drop a derivation': (schema: Schema, which: number, other: number): Schema =>
		inRole(schema, which, (role) => ({ ...role, derivations: without(role.derivations, other) })),
	'add a derivation': (schema: Schema, which: number, other: number): Schema =>
		inResource(schema, which, (resource) => ({
			...resource,
			roles: replaced(resource.roles, other, (role) => withDerivation(schema, resource, role, [which, other])),
		})),
	'add a derivation to a role named in a set': (schema: Schema, which: number, other: number): Schema => {
		const set = pick(
			schema.condition_sets.filter(({ selects }) => rolesIn(selects).length > 0),
			which,
		);
		const named = set === undefined ? undefined : pick(rolesIn(set.selects), other);
		return derivedFurther(schema, { type: set?.resource, key: named }, [which, other]);
	},
	'add a derivation to a source of a role named in a set': (schema: Schema, which: number, other: number): Schema => {
		const sources = schema.condition_sets.flatMap((set) => {
			const resource = schema.resources.find(({ key }) => key === set.resource);
			const named = rolesIn(set.selects);
			const roles = resource?.roles.filter(({ key }) => named.includes(key)) ?? [];
			return roles.flatMap(({ derivations }) =>
				derivations.map(({ relation, role }) => {
					return { type: resource?.relations.find(({ key }) => key === relation)?.subject, key: role };
				}),
			);
		});
		const source = pick(sources, which);
		return source === undefined ? schema : derivedFurther(schema, source, [which, other]);
	},
	'set the expression of a role': (schema: Schema, which: number, other: number): Schema =>
		inResource(schema, which, (resource) => ({
			...resource,
			roles: resource.roles.map((role, index) => {
				const later = laterKeys(resource.roles, index);
				if (later.length === 0 || index !== other % (resource.roles.length - 1)) return role;
				return { ...role, derivations: [], computed: roleExpression(later, which + other) };
			}),
		})),
	'turn a computed role into an assigned role': (schema: Schema, which: number): Schema => {
		const computed = schema.resources.flatMap(({ roles }) => roles.filter((role) => role.computed !== undefined));
		const chosen = pick(computed, which);
		return {
			...schema,
			resources: schema.resources.map((resource) => ({
				...resource,
				roles: resource.roles.map((role) => (role === chosen ? asAssigned(role) : role)),
			})),
		};
	},
	'add a derivation to an operand of a computed role': (schema: Schema, which: number, other: number): Schema =>
		inResource(schema, which, (resource) => {
			const operands = resource.roles.flatMap(({ computed }) =>
				computed === undefined ? [] : rolesInExpression(computed, other % 4 > 0),
			);
			const named = pick(operands, other);
			return {
				...resource,
				roles: resource.roles.map((role) =>
					role.key === named ? withDerivation(schema, resource, role, [which, other]) : role,
				),
			};
		}),
	'toggle whether assignments block a derivation': (schema: Schema, which: number, other: number): Schema =>
		inRole(schema, which, (role) => ({
			...role,
			derivations: replaced(role.derivations, other, (row) => ({
				...row,
				no_direct_roles_on_object: !row.no_direct_roles_on_object,
			})),
		})),
	'toggle whether assignments block all derivations of a role': (schema: Schema, which: number): Schema =>
		inRole(schema, which, (role) => ({ ...role, no_direct_roles_on_object: !role.no_direct_roles_on_object })),
	'toggle whether a role is public': (schema: Schema, which: number): Schema =>
		inRole(schema, which, (role) => ({ ...role, public: !role.public })),
	'change the sets of users to which a role can be assigned': (schema: Schema, which: number, other: number): Schema =>
		inResource(schema, which, (resource) => {
			const role = pick(
				resource.roles.filter(({ computed }) => computed === undefined),
				other,
			);
			if (role === undefined) return resource;
			const isOwn = (relation: string) => isSetRelation(relation) && grantOf('', relation).role === role.key;
			const sets = other % 3 === 0 ? [] : assignableToSets(role, which + other, schema.resources);
			const derivations = [
				...role.derivations.filter(({ relation }) => !isOwn(relation)),
				...sets.map(({ derivation }) => derivation),
			];
			return {
				...resource,
				relations: [...resource.relations.filter(({ key }) => !isOwn(key)), ...sets.map(({ relation }) => relation)],
				roles: resource.roles.map((one) => (one === role ? { ...one, derivations } : one)),
			};
		}),
	'drop a resource role': (schema: Schema, which: number, other: number): Schema =>
		inResource(schema, which, (resource) => ({ ...resource, roles: without(resource.roles, other) })),
	'add a resource role': (schema: Schema, which: number, other: number): Schema =>
		inResource(schema, which, (resource) => {
			const permissions = pick(resource.actions, other);
			const role = {
				key: `rnew${other % 2}`,
				name: 'New',
				description: null,
				permissions: permissions === undefined ? [] : [permissions.key],
				extends: [],
				derivations: [],
				no_direct_roles_on_object: false,
			};
			return { ...resource, roles: [...resource.roles.filter(({ key }) => key !== role.key), role] };
		}),
	'change the grant conditions of a role': (schema: Schema, which: number, other: number): Schema =>
		inRole(schema, which, ({ grant_conditions: _, ...role }) =>
			other % 3 === 0 ? role : { ...role, grant_conditions: chosenConditions(other) },
		),
	'change the grant conditions of a relation': (schema: Schema, which: number, other: number): Schema =>
		inResource(schema, which, (resource) => ({
			...resource,
			relations: replaced(resource.relations, other, ({ grant_conditions: _, ...relation }) =>
				other % 3 === 0 ? relation : { ...relation, grant_conditions: chosenConditions(other) },
			),
		})),
	'edit a grant condition': (schema: Schema, which: number, other: number): Schema => {
		const { grant_conditions } = schema;
		if (grant_conditions === undefined) return schema;
		const conditions: Json =
			pick(
				[{}, { 'context.amount': { equals: 1 } }, { not: { 'context.amount': { equals: 1 } } }, { anyOf: [] }],
				other,
			) ?? {};
		return { ...schema, grant_conditions: replaced(grant_conditions, which, (set) => ({ ...set, conditions })) };
	},
	'drop a relation': (schema: Schema, which: number, other: number): Schema =>
		inResource(schema, which, (resource) => ({ ...resource, relations: without(resource.relations, other) })),
	'drop an action': (schema: Schema, which: number, other: number): Schema =>
		inResource(schema, which, (resource) => ({ ...resource, actions: without(resource.actions, other) })),
	'add an action': (schema: Schema, which: number, other: number): Schema =>
		inResource(schema, which, (resource) => ({
			...resource,
			actions: [
				...resource.actions.filter(({ key }) => key !== `new${other % 2}`),
				{ key: `new${other % 2}`, name: 'New', description: null },
			],
			roles: replaced(resource.roles, other, (role) => ({
				...role,
				permissions: [...new Set([...role.permissions, `new${other % 2}`])],
			})),
		})),
	'drop a permission': (schema: Schema, which: number, other: number): Schema =>
		inRole(schema, which, (role) => ({ ...role, permissions: without(role.permissions, other) })),
	'drop a resource': (schema: Schema, which: number): Schema => ({
		...schema,
		resources: schema.resources.length < 3 ? schema.resources : without(schema.resources, which),
	}),
} as const;

/** Any edit. Edits of sets and rules are more likely, because few schemas have many. */
export const schemaEdit: fc.Arbitrary<SchemaEdit> = fc.record({
	kind: fc.constantFrom(
		...(Object.keys(edits) as SchemaEdit['kind'][]),
		'edit a set',
		'edit a set',
		'add a derivation to a role named in a set',
		'add a derivation to a role named in a set',
		'add a derivation to a role named in a set',
		'add a derivation to a source of a role named in a set',
		'add a derivation to a source of a role named in a set',
		'set the expression of a role',
		'set the expression of a role',
		'add a derivation to an operand of a computed role',
		'add a derivation to an operand of a computed role',
		'add a derivation to an operand of a computed role',
		'drop a rule',
		'add a rule',
	),
	which: fc.nat({ max: 60 }),
	other: fc.nat({ max: 60 }),
});

/**
 * Returns the facts that are still valid under a schema. Their types, roles and relations are in the schema, and their
 * tenants exist.
 */
export function factsUnder(schema: Schema, facts: Facts): Facts {
	const types = new Map(schema.resources.map((resource) => [resource.key, resource]));
	const roles = new Set(schema.roles.map(({ key }) => key));
	const tenants = new Set(facts.tenants.map(({ key }) => key));
	const instances = facts.instances.filter(({ type, tenant }) => types.has(type) && tenants.has(tenant));
	const names = new Set(instances.map(({ type, key }) => `${type}:${key}`));
	return {
		...facts,
		role_assignments: facts.role_assignments.filter(({ role }) => roles.has(role)),
		instances,
		instance_assignments: facts.instance_assignments.filter(
			({ user, type, instance, role, condition }) =>
				names.has(`${type}:${instance}`) &&
				types
					.get(type)
					?.roles.some(
						({ key, public: open, computed, grant_conditions = [] }) =>
							key === role &&
							computed === undefined &&
							(user !== everyone || open) &&
							(condition === undefined || grant_conditions.includes(condition.set)),
					),
		),
		relationships: facts.relationships.filter(
			({ type, instance, relation, subject_type, subject, condition }) =>
				names.has(`${type}:${instance}`) &&
				names.has(`${subject_type}:${subject}`) &&
				types
					.get(type)
					?.relations.some(
						(row) =>
							row.key === relation &&
							row.subject === subject_type &&
							(condition === undefined || row.grant_conditions?.includes(condition.set)),
					),
		),
		instance_attributes: facts.instance_attributes.filter(({ type, key }) => names.has(`${type}:${key}`)),
	};
}

/** Adds a derivation to a role, or replaces its settings. */
function withDerivation(
	schema: Schema,
	resource: Resource,
	role: ResourceRole,
	[which, other]: readonly [number, number],
): ResourceRole {
	const relation = pick(resource.relations, other);
	const subject = schema.resources.find(({ key }) => key === relation?.subject);
	const source = pick(subject?.roles ?? [], which);
	if (relation === undefined || source === undefined || role.computed !== undefined) return role;
	const others = role.derivations.filter((row) => row.relation !== relation.key || row.role !== source.key);
	const derivation = { relation: relation.key, role: source.key, no_direct_roles_on_object: other % 3 === 0 };
	return { ...role, derivations: [...others, derivation] };
}

function derivedFurther(
	schema: Schema,
	{ type, key }: { readonly type: string | null | undefined; readonly key: string | undefined },
	choices: readonly [number, number],
): Schema {
	return {
		...schema,
		resources: schema.resources.map((resource) => ({
			...resource,
			roles: resource.roles.map((role) =>
				resource.key === type && role.key === key ? withDerivation(schema, resource, role, choices) : role,
			),
		})),
	};
}

function inResource(schema: Schema, which: number, edit: (resource: Resource) => Resource): Schema {
	return { ...schema, resources: replaced(schema.resources, which, edit) };
}

/** Edits a role. `which` is an index into the roles on all resources. */
function inRole(schema: Schema, which: number, edit: (role: ResourceRole) => ResourceRole): Schema {
	const chosen = pick(
		schema.resources.flatMap(({ roles }) => roles),
		which,
	);
	return {
		...schema,
		resources: schema.resources.map((resource) => ({
			...resource,
			roles: resource.roles.map((role) => (role === chosen ? edit(role) : role)),
		})),
	};
}

function without<T>(items: readonly T[], which: number): readonly T[] {
	return items.filter((_, index) => index !== which % items.length);
}

function replaced<T>(items: readonly T[], which: number, edit: (item: T) => T): readonly T[] {
	return items.map((item, index) => (index === which % items.length ? edit(item) : item));
}

/** Removes dangling references. Repeats this, because a removal can cause further dangling references. */
function soundSchema(schema: Schema): Schema {
	const next = withSoundLinks(pruned(schema));
	return JSON.stringify(next) === JSON.stringify(schema) ? schema : soundSchema(next);
}

function pruned(schema: Schema): Schema {
	const type = (key: string | null) => schema.resources.find((resource) => resource.key === key);
	const hasAction = (resource: string, action: string) => type(resource)?.actions.some(({ key }) => key === action);
	const hasRole = (role: string) => schema.roles.some(({ key }) => key === role);
	const set = (kind: string, key: string | null) =>
		schema.condition_sets.find((other) => other.type === kind && other.key === key);
	return {
		...(schema.grant_conditions !== undefined && { grant_conditions: schema.grant_conditions }),
		resources: schema.resources.map((resource) => ({
			...resource,
			relations: resource.relations.filter(({ subject }) => type(subject) !== undefined),
			roles: resource.roles
				.map(withoutMissingOperands)
				.map(withoutUnusedConditions)
				.map((role) => ({
					...role,
					...(role.computed !== undefined && { public: false }),
					permissions: role.permissions.filter((action) => hasAction(resource.key, action)),
					extends: role.extends.filter((other) => resource.roles.some(({ key }) => key === other)),
					derivations: role.derivations.filter((derivation) => {
						const relation = resource.relations.find(({ key }) => key === derivation.relation);
						return type(relation?.subject ?? null)?.roles.some(({ key }) => key === derivation.role);
					}),
				})),
		})),
		roles: schema.roles.map((role) => ({
			...role,
			permissions: role.permissions.filter(({ resource, action }) => hasAction(resource, action)),
			extends: role.extends.filter(hasRole),
		})),
		condition_sets: schema.condition_sets
			.filter(({ resource, type: kind }) => (kind === 'userset' && resource === null) || type(resource) !== undefined)
			.filter(({ resource, selects }) =>
				rolesIn(selects).every((role) => type(resource)?.roles.some(({ key }) => key === role)),
			)
			.filter(({ selects }) => !('role' in selects) || hasRole(selects.role))
			.map((own) => (set(own.type, own.parent) === undefined ? { ...own, parent: null } : own)),
		set_rules: schema.set_rules.filter(
			({ user_set, resource_set, resource, action }) =>
				schema.condition_sets.some(
					(own) =>
						own.type === 'userset' && own.key === user_set && (own.resource === null || own.resource === resource),
				) &&
				set('resourceset', resource_set) !== undefined &&
				hasAction(resource, action),
		),
	};
}

/** Turns a computed role into an assigned role if its expression names a role that does not come later in the list. */
function withoutMissingOperands(role: ResourceRole, index: number, roles: readonly ResourceRole[]): ResourceRole {
	const later = laterKeys(roles, index);
	if (role.computed === undefined || rolesInExpression(role.computed).every((key) => later.includes(key))) return role;
	return asAssigned(role);
}

/** Removes a computed role's grant conditions, because the role is never assigned. */
function withoutUnusedConditions(role: ResourceRole): ResourceRole {
	if (role.computed === undefined) return role;
	const { grant_conditions: _, ...others } = role;
	return others;
}

function asAssigned({ computed: _, ...role }: ResourceRole): ResourceRole {
	return role;
}

/** Returns the roles that a set's conditions name, as written. */
export function rolesIn(selects: ConditionSet['selects']): readonly string[] {
	if (!('conditions' in selects)) return [];
	const found: string[] = [];
	JSON.stringify(selects.conditions, (name, value) => {
		if (name === 'array_contains') found.push(value);
		if (name === 'array_superset' || name === 'array_intersect') found.push(...value);
		return value;
	});
	return found;
}
