/** Schema tables in the data document. */

import { z } from 'zod';
import { computedStages } from '../../../compiler/computed-stages.js';
import { groupBy } from '../../../compiler/group-by.js';
import type { Json } from '../../../compiler/model.js';
import {
	type RoleExpression,
	type RoleFormula,
	requiresRole,
	roleFormula,
	roleOperands,
	withoutExclusions,
} from '../../../compiler/role-expression.js';
import { jsonMembers, valueAt } from './json-members.js';

const Derivation = z.object({
	relation: z.string(),
	/** Resource type of the relation's subjects. */
	resource: z.string(),
	/** Source role on a subject. */
	role: z.string(),
	/** True if any role assigned to the user on the object blocks this derivation. */
	no_direct_roles_on_object: z.boolean(),
});

/** A rule that derives a role on an object from a role on a related subject. */
export type Derivation = z.output<typeof Derivation>;

/** A derivation, indexed by its source role. Here, `resource` and `role` are the type and key of the derived role. */
export type Derived = Derivation;

const Derivations = z.array(Derivation).catch([]);

const Expression: z.ZodType<RoleExpression> = z.lazy(() =>
	z.union([
		z.string(),
		z.object({ allOf: z.array(Expression) }),
		z.object({ anyOf: z.array(Expression) }),
		z.object({ not: Expression }),
	]),
);

/** A role that is computed from a user's other roles on the same instance. */
export interface ComputedRole {
	readonly role: string;
	readonly expression: RoleExpression;
	readonly formula: RoleFormula;
	/** The formula without its exclusions, so it is also true for users with excluded roles. */
	readonly superset: RoleFormula;
	/** Roles that the formula requires or excludes. */
	readonly operands: readonly string[];
	/** Roles that the formula requires. Each user with the computed role holds at least one required role. */
	readonly required: readonly string[];
}

/** Tables in a schema. Missing or malformed tables are treated as empty, as in the policy. */
export class SchemaTables {
	readonly #derivations = new Map<string, readonly Derivation[]>();
	/** Roles derived from a role, by its type and its key. */
	readonly #derived = new Map<string, Map<string, Derived[]>>();
	/** Computed roles by type, each after its operands. */
	readonly #computed = new Map<string, readonly ComputedRole[]>();
	/**
	 * Computed roles in evaluation order: stages, each keyed by type. A computed role depends only on roles on the same
	 * instance, and on roles derived from roles in earlier stages.
	 */
	readonly computedStages: readonly ReadonlyMap<string, readonly ComputedRole[]>[];
	/** True if an assigned role may block a derivation. */
	readonly hasStops: boolean;

	/** @param value the value at `regolith.schema`. */
	constructor(readonly value: Json) {
		let hasStops = false;
		for (const [type, roles] of jsonMembers(valueAt(value, 'resource_roles'))) {
			for (const [role, ways] of jsonMembers(roles)) {
				const derivations = Derivations.parse(ways);
				this.#derivations.set(roleName(type, role), derivations);
				for (const derivation of derivations) {
					const { resource, role: source } = derivation;
					hasStops ||= derivation.no_direct_roles_on_object;
					const ofType = this.#derived.get(resource) ?? new Map<string, Derived[]>();
					this.#derived.set(resource, ofType);
					const derived = ofType.get(source) ?? [];
					ofType.set(source, derived);
					derived.push({ ...derivation, resource: type, role });
				}
			}
		}
		this.hasStops = hasStops;
		for (const [type, roles] of jsonMembers(valueAt(value, 'computed_roles'))) {
			this.#computed.set(type, computedRolesIn(roles));
		}
		this.computedStages = this.#computed.size === 0 ? [] : this.#findStages();
	}

	/** True if roles are derived from computed roles. */
	get derivesFromComputed(): boolean {
		return [...this.#computed.keys()].some((type) => this.computedSources(type).length > 0);
	}

	/** Finds the stages, and removes computed roles derived from themselves. */
	#findStages(): ReadonlyMap<string, readonly ComputedRole[]>[] {
		const operands = new Map(
			[...this.#computed].flatMap(([type, roles]) =>
				roles.map((one) => [roleName(type, one.role), one.operands.map((operand) => roleName(type, operand))] as const),
			),
		);
		const derivations = [...this.#derivations].flatMap(([target, rows]) =>
			rows.map(({ resource, role }) => ({ target, source: roleName(resource, role) })),
		);
		const stageOf = computedStages(operands, derivations);
		const stages: Map<string, readonly ComputedRole[]>[] = [];
		for (const [type, roles] of this.#computed) {
			const sound = roles.filter(({ role }) => stageOf.has(roleName(type, role)));
			this.#computed.set(type, sound);
			for (const [stage, own] of groupBy(sound, ({ role }) => stageOf.get(roleName(type, role)) ?? 0)) {
				while (stages.length <= stage) stages.push(new Map());
				stages[stage]?.set(type, own);
			}
		}
		return stages;
	}

	/** True if there are computed roles. */
	get hasComputed(): boolean {
		return this.#computed.size > 0;
	}

	/** Returns the computed roles of a resource type, each after the computed roles in its expression. */
	computedOn(type: string): readonly ComputedRole[] {
		return this.#computed.get(type) ?? [];
	}

	/** Returns a computed role; `undefined` for any other role. */
	computed(type: string, role: string): ComputedRole | undefined {
		return this.computedOn(type).find((one) => one.role === role);
	}

	/** Returns a resource type's computed roles from which roles are derived. */
	computedSources(type: string): readonly ComputedRole[] {
		return this.computedOn(type).filter(({ role }) => this.derivedFrom(type, role).length > 0);
	}

	derivations(type: string, role: string): readonly Derivation[] {
		return this.#derivations.get(roleName(type, role)) ?? [];
	}

	/** Returns the roles derived from a role on a resource type. */
	derivedFrom(type: string, role: string): readonly Derived[] {
		return this.#derived.get(type)?.get(role) ?? [];
	}

	/** Returns the role keys of a resource type. */
	rolesOn(type: string): readonly string[] {
		return memberKeys(valueAt(this.value, 'resource_roles', type));
	}

	/** Returns the tenant roles that grant an action on a resource type. */
	tenantRolesThatGrant(type: string, action: string): readonly string[] {
		return memberKeys(valueAt(this.value, 'grants', type, action));
	}

	/** Returns the tenant roles that grant any action on a resource type. */
	tenantRolesThatGrantSomething(type: string): ReadonlySet<string> {
		return new Set(jsonMembers(valueAt(this.value, 'grants', type)).flatMap(([, roles]) => memberKeys(roles)));
	}

	/** All resource type keys. */
	get types(): readonly string[] {
		return memberKeys(valueAt(this.value, 'actions'));
	}

	/** Returns the keys of all actions on a resource type. */
	actions(type: string): readonly string[] {
		return memberKeys(valueAt(this.value, 'actions', type));
	}

	/** True if condition sets may grant an action on a resource type. Without `action`, considers all actions. */
	setsMayGrant(type: string, ...action: readonly string[]): boolean {
		return jsonMembers(valueAt(this.value, 'set_rules', type, ...action)).length > 0;
	}

	/** Returns the instance roles that grant an action on a resource type. */
	instanceRolesThatGrant(type: string, action: string): readonly string[] {
		return memberKeys(valueAt(this.value, 'resource_grants', type, action));
	}
}

/** Returns the computed roles in a table, each after the computed roles in its expression. */
function computedRolesIn(roles: Json): readonly ComputedRole[] {
	const open = new Map(
		jsonMembers(roles).flatMap(([role, written]) => {
			const expression = Expression.safeParse(written).data;
			if (expression === undefined) return [];
			const formula = roleFormula(expression);
			const all = roleOperands(expression);
			if (!requiresRole(formula)) return [];
			const keys = (wanted: boolean) => [
				...new Set(all.filter(({ negated }) => wanted || !negated).map((operand) => operand.role)),
			];
			const superset = withoutExclusions(formula);
			return [[role, { role, expression, formula, superset, operands: keys(true), required: keys(false) }] as const];
		}),
	);
	const sorted: ComputedRole[] = [];
	// Roles that are computed from each other are not in the policy, so nobody holds them.
	for (let before = -1; before !== open.size; ) {
		before = open.size;
		for (const [role, computed] of open) {
			if (computed.operands.some((operand) => open.has(operand))) continue;
			sorted.push(computed);
			open.delete(role);
		}
	}
	return sorted;
}

function memberKeys(value: Json | undefined): readonly string[] {
	return jsonMembers(value).map(([key]) => key);
}

/** Returns a unique string for a type and role, even if their keys contain special characters. */
function roleName(type: string, role: string): string {
	return JSON.stringify([type, role]);
}
