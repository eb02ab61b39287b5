import type { Json, Resource, ResourceRole, Schema } from '../../compiler/model.js';
import { joinedKeys } from './joined-keys.js';
import { leadTo, rolesInExpression, schemaDerivations } from './relationship-oracle.js';

/**
 * Returns the part of the newer schema that is still valid under the active policy: the derivations and rules with the
 * same meaning in the active schema.
 */
export function standing(inForce: Schema, schema: Schema): Schema {
	const suspended = suspendedConditions(inForce, schema);
	return {
		...schema,
		resources: schema.resources.flatMap((resource) => {
			const before = inForce.resources.find(({ key }) => key === resource.key);
			return before === undefined
				? []
				: [withStandingConditions(before, standingResource([inForce, before], [schema, resource]), suspended)];
		}),
		set_rules: schema.set_rules.filter((rule) => {
			const isSame = (kind: string, key: string) => textOfSet(inForce, kind, key) === textOfSet(schema, kind, key);
			const had = inForce.set_rules.some((other) => JSON.stringify(other) === JSON.stringify(rule));
			return had && isSame('userset', rule.user_set) && isSame('resourceset', rule.resource_set);
		}),
	};
}

/** A role or a relation. */
type Declaring = Pick<ResourceRole, 'key' | 'grant_conditions'>;

/** Returns the keys of changed conditions, and of conditions that a role or relation no longer declares. */
function suspendedConditions(inForce: Schema, schema: Schema): ReadonlySet<string> {
	const texts = ({ grant_conditions = [] }: Schema) =>
		new Map(grant_conditions.map((set) => [set.key, JSON.stringify(set)]));
	const [before, after] = [texts(inForce), texts(schema)];
	const withdrawn = inForce.resources.flatMap(({ key: type, roles, relations }) => {
		const now = schema.resources.find(({ key }) => key === type);
		const lost = (own: readonly Declaring[], others: readonly Declaring[] = []) =>
			own.flatMap(({ key, grant_conditions = [] }) => {
				const declared = others.find((other) => other.key === key)?.grant_conditions;
				return grant_conditions.filter((set) => !declared?.includes(set));
			});
		return [...lost(roles, now?.roles), ...lost(relations, now?.relations)];
	});
	return new Set([...[...before].filter(([key, text]) => after.get(key) !== text).map(([key]) => key), ...withdrawn]);
}

/** Keeps only the conditions that each role and relation declares in both schemas. */
function withStandingConditions(before: Resource, after: Resource, suspended: ReadonlySet<string>): Resource {
	const standing = ({ key, grant_conditions = [] }: Declaring, others: readonly Declaring[]) => {
		const had = others.find((other) => other.key === key)?.grant_conditions ?? [];
		return { grant_conditions: grant_conditions.filter((set) => had.includes(set) && !suspended.has(set)) };
	};
	return {
		...after,
		roles: after.roles.map((role) => ({ ...role, ...standing(role, before.roles) })),
		relations: after.relations.map((relation) => ({ ...relation, ...standing(relation, before.relations) })),
	};
}

/** A resource with its schema. */
type Placed = readonly [schema: Schema, resource: Resource];

function standingResource([inForce, before]: Placed, [schema, after]: Placed): Resource {
	const flat = (key: string): readonly string[] => {
		const role = after.roles.find((other) => other.key === key);
		return role === undefined ? [] : [...role.permissions, ...role.extends.flatMap(flat)];
	};
	const subject = ({ relations }: Resource, relation: string) => relations.find(({ key }) => key === relation)?.subject;
	return {
		...after,
		actions: after.actions.filter(({ key }) => before.actions.some((action) => action.key === key)),
		roles: after.roles.map((role) => {
			const old = before.roles.find(({ key }) => key === role.key);
			if (old === undefined) {
				return { ...role, permissions: [], extends: [], derivations: [], public: false, computed: nobody };
			}
			const isSame = textOfComputed(inForce, before, role.key) === textOfComputed(schema, after, role.key);
			return {
				...role,
				...(isSame ? {} : { computed: nobody }),
				public: (role.public ?? false) && (old.public ?? false),
				permissions: [...new Set(flat(role.key))],
				extends: [],
				// The stricter setting is in effect.
				no_direct_roles_on_object: role.no_direct_roles_on_object || old.no_direct_roles_on_object,
				derivations: role.derivations.flatMap((row) => {
					const other = old.derivations.find(({ relation, role: of }) => relation === row.relation && of === row.role);
					if (other === undefined || subject(before, row.relation) !== subject(after, row.relation)) return [];
					const [was, is] = [
						other.no_direct_roles_on_object || old.no_direct_roles_on_object,
						row.no_direct_roles_on_object || role.no_direct_roles_on_object,
					];
					return is && !was ? [] : [{ ...row, no_direct_roles_on_object: was }];
				}),
			};
		}),
	};
}

/** Expression of a computed role that nobody holds. */
export const nobody = { anyOf: [] };

function textOfComputed(schema: Schema, { key, roles }: Resource, role: string): string {
	const computed = roles.find((other) => other.key === role)?.computed;
	if (computed === undefined) return 'not computed';
	const excluded = rolesInExpression(computed, true).map((operand) => derivationsOf(schema, key, operand));
	return JSON.stringify([computed, excluded]);
}

function textOfSet(schema: Schema, type: string, key: string | null): string {
	const set = schema.condition_sets.find((other) => other.type === type && other.key === key);
	if (set === undefined) return 'none';
	const excluded = 'conditions' in set.selects && set.resource !== null ? excludedRoles(set.selects.conditions) : [];
	const derivations = excluded.map((role) => derivationsOf(schema, set.resource ?? '', role));
	return JSON.stringify([set.selects, set.resource, derivations, textOfSet(schema, type, set.parent)]);
}

/** Returns all roles under an odd number of `not`. */
function excludedRoles(conditions: Json, isExcluded = false): readonly string[] {
	if (typeof conditions === 'string') return isExcluded ? [conditions] : [];
	if (typeof conditions !== 'object' || conditions === null) return [];
	return Object.entries(conditions).flatMap(([name, below]) => excludedRoles(below, isExcluded !== (name === 'not')));
}

/**
 * Returns all derivations and expressions from which a role follows, directly or indirectly, and the public roles among
 * the role and its sources.
 */
function derivationsOf(schema: Schema, type: string, role: string): readonly string[] {
	const roles = leadTo(schema, type, role);
	const open = schema.resources.flatMap((resource) =>
		resource.roles.filter((own) => own.public).map((own) => joinedKeys(resource.key, own.key)),
	);
	const computed = schema.resources.flatMap((resource) =>
		resource.roles.map((row) => ({ type: resource.key, role: row.key, computed: row.computed ?? null })),
	);
	const derivations = [...schemaDerivations(schema), ...computed.filter((row) => row.computed !== null)]
		.filter((row) => roles.has(joinedKeys(row.type, row.role)))
		.map((row) => JSON.stringify(row));
	return [...derivations, ...open.filter((name) => roles.has(name))].sort();
}
