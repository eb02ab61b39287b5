/** A simple, slow model of roles on instances. Shares only the model types with the compiler and the policy. */

import { everyone } from '../../compiler/everyone.js';
import type { Model, Schema } from '../../compiler/model.js';
import type { RoleExpression } from '../../compiler/role-expression.js';
import { type Asked, counts, relates } from './grant-oracle.js';
import { joinedKeys } from './joined-keys.js';

/**
 * A derivation in a schema: users with the role `source` on a subject of `relation` get `role` on the relation's
 * object.
 */
export interface DerivationInSchema {
	readonly type: string;
	readonly role: string;
	readonly relation: string;
	readonly sourceType: string;
	readonly source: string;
	/** True if a role assigned on the object blocks the derivation. */
	readonly blocked: boolean;
	/** True if the relation declares grant conditions. */
	readonly declares: boolean;
}

/** Returns every derivation in a schema. */
export function schemaDerivations({ resources }: Schema): readonly DerivationInSchema[] {
	return resources.flatMap((resource) =>
		resource.roles.flatMap((role) =>
			role.derivations.map((derivation) => {
				const relation = resource.relations.find(({ key }) => key === derivation.relation);
				return {
					type: resource.key,
					role: role.key,
					relation: derivation.relation,
					sourceType: relation?.subject ?? '',
					source: derivation.role,
					blocked: role.no_direct_roles_on_object || derivation.no_direct_roles_on_object,
					declares: (relation?.grant_conditions ?? []).length > 0,
				};
			}),
		),
	);
}

/**
 * Returns the keys of a user's assigned, derived and computed roles on an instance, in a check. Every user also holds
 * roles assigned to everyone, but only own assignments block derivations, and only stored users have own assignments. A
 * conditional assignment blocks derivations whether its condition holds or not.
 */
export function rolesOn(model: Model, asked: Asked, type: string, instance: string): ReadonlySet<string> {
	const roles = model.schema.resources.find(({ key }) => key === type)?.roles ?? [];
	const held = rolesHeld(model, asked);
	return new Set(roles.map(({ key }) => key).filter((role) => held.has(joinedKeys(type, instance, role))));
}

/** Held roles of each model, because tests ask many questions about a user. */
const known = new WeakMap<Model, Map<string, ReadonlySet<string>>>();

function rolesHeld(model: Model, asked: Asked): ReadonlySet<string> {
	const name = JSON.stringify([asked.user, asked.context]);
	const ofModel = known.get(model) ?? new Map<string, ReadonlySet<string>>();
	known.set(model, ofModel);
	const held = ofModel.get(name) ?? findRolesHeld(model, asked);
	ofModel.set(name, held);
	return held;
}

/**
 * Returns all instance roles a user holds. Repeats the search until the result no longer changes, because each search
 * evaluates the exclusions in computed roles against the previous result. No role leads to itself through a computed
 * role, so the results converge.
 */
function findRolesHeld(model: Model, asked: Asked): ReadonlySet<string> {
	const text = (roles: ReadonlySet<string>) => JSON.stringify([...roles].sort());
	let held: ReadonlySet<string> = new Set();
	for (let before = ''; before !== text(held); ) {
		before = text(held);
		held = rolesUnless(model, asked, held);
	}
	return held;
}

/** Returns all roles a user holds. Under an odd number of `not`, exactly the roles in `excluded` count as held. */
function rolesUnless(model: Model, asked: Asked, excluded: ReadonlySet<string>): ReadonlySet<string> {
	const user = asked.user.key;
	const { schema, facts } = model;
	const held = new Set<string>();
	const placed = facts.instance_assignments.filter(
		(row) => instanceTenant(model, row.type, row.instance) !== undefined,
	);
	const assigned = facts.users.includes(user) ? placed.filter((row) => row.user === user) : [];
	const isPublic = (row: { readonly type: string; readonly role: string }) =>
		schema.resources.find(({ key }) => key === row.type)?.roles.find(({ key }) => key === row.role)?.public;
	const computed = schema.resources.flatMap(({ key, roles }) =>
		roles.flatMap((row) => (row.computed === undefined ? [] : [{ type: key, role: row.key, computed: row.computed }])),
	);
	const isComputed = (row: { readonly type: string; readonly role: string }) =>
		computed.some((other) => other.type === row.type && other.role === row.role);
	const related = facts.relationships.filter((row) => relates(model, row, asked));
	for (const row of [...assigned, ...placed.filter((other) => other.user === everyone && isPublic(other))]) {
		if (isComputed(row) || !counts(model, row, asked)) continue;
		held.add(joinedKeys(row.type, row.instance, row.role));
	}
	for (let before = -1; before < held.size; ) {
		before = held.size;
		for (const row of computed) {
			for (const { type, key } of facts.instances) {
				if (type !== row.type) continue;
				const holds = (expression: RoleExpression, negated: boolean): boolean => {
					if (typeof expression === 'string') {
						return (negated ? excluded : held).has(joinedKeys(type, key, expression));
					}
					if ('not' in expression) return !holds(expression.not, !negated);
					return 'allOf' in expression
						? expression.allOf.every((part) => holds(part, negated))
						: expression.anyOf.some((part) => holds(part, negated));
				};
				if (holds(row.computed, false)) held.add(joinedKeys(type, key, row.role));
			}
		}
		for (const { type, role, relation, sourceType, source, blocked } of schemaDerivations(schema)) {
			for (const row of related) {
				const tenant = instanceTenant(model, row.type, row.instance);
				const follows =
					row.type === type &&
					row.relation === relation &&
					row.subject_type === sourceType &&
					tenant !== undefined &&
					tenant === instanceTenant(model, row.subject_type, row.subject) &&
					held.has(joinedKeys(sourceType, row.subject, source));
				const stopped = blocked && assigned.some((own) => own.type === type && own.instance === row.instance);
				if (follows && !stopped) {
					held.add(joinedKeys(type, row.instance, role));
				}
			}
		}
	}
	return held;
}

/** Returns an instance's tenant, or `undefined` if the instance does not exist. */
export function instanceTenant({ facts }: Model, type: string, instance: string): string | undefined {
	const tenant = facts.instances.find((row) => row.type === type && row.key === instance)?.tenant;
	return facts.tenants.some(({ key }) => key === tenant) ? tenant : undefined;
}

/** Returns the derivations in cycles: each source is directly or indirectly derived from the derived role. */
export function circularEdges(schema: Schema): readonly DerivationInSchema[] {
	return schemaDerivations(schema).filter(({ type, role, sourceType, source }) =>
		leadTo(schema, sourceType, source).has(joinedKeys(type, role)),
	);
}

/** Returns the derivations that lead into cycles without being part of a cycle. */
export function edgesIntoCycles(schema: Schema): readonly DerivationInSchema[] {
	const circular = new Set(circularEdges(schema));
	const members = new Set([...circular].map(({ type, role }) => joinedKeys(type, role)));
	const isCircular = (edge: DerivationInSchema) =>
		[...circular].some((other) => JSON.stringify(other) === JSON.stringify(edge));
	return schemaDerivations(schema).filter((edge) => members.has(joinedKeys(edge.type, edge.role)) && !isCircular(edge));
}

/** Returns the role, and all roles from which it is directly or indirectly derived or computed. */
export function leadTo(schema: Schema, type: string, role: string): ReadonlySet<string> {
	const found = new Set([joinedKeys(type, role)]);
	for (const name of found) {
		for (const { key, roles } of schema.resources) {
			for (const { key: reader, computed } of roles) {
				if (computed === undefined || joinedKeys(key, reader) !== name) continue;
				for (const operand of rolesInExpression(computed)) found.add(joinedKeys(key, operand));
			}
		}
		for (const edge of schemaDerivations(schema)) {
			if (joinedKeys(edge.type, edge.role) === name) {
				found.add(joinedKeys(edge.sourceType, edge.source));
			}
		}
	}
	return found;
}

/** Returns all roles in an expression. With `negated`, returns only roles under an odd number of `not`. */
export function rolesInExpression(
	expression: RoleExpression,
	negated: boolean | undefined = undefined,
	under = false,
): readonly string[] {
	if (typeof expression === 'string') return negated === undefined || negated === under ? [expression] : [];
	if ('not' in expression) return rolesInExpression(expression.not, negated, !under);
	const parts = 'allOf' in expression ? expression.allOf : expression.anyOf;
	return parts.flatMap((part) => rolesInExpression(part, negated, under));
}
