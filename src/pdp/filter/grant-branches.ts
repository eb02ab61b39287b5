/** Explains a filter: the rows of each grant, in the wording of a check's explanation. */

import { everyone } from '../../../compiler/everyone.js';
import { mapInSteps, Pauses, type Steps } from '../../../compiler/steps.js';
import type { Residual } from '../../filter/residual.js';
import { simplifyResidual } from '../../filter/simplify-residual.js';
import type { DecisionContext } from '../decide/decide.js';
import type { FilterInput } from '../decide/normalise.js';
import { conditionSetsIn, type SetType } from '../facts/condition-sets.js';
import type { FactsIndex } from '../facts/facts-index.js';
import { GrantConditions } from '../facts/grant-conditions.js';
import { assignedRoles, follows } from '../facts/role-walk.js';
import { keysIn, tenantsIn } from './grant-parts.js';
import type { GrantedRows } from './granted-rows.js';

/** Direct source of a role on instances. */
export type RoleSource =
	| {
			readonly type: 'role_assignment';
			/** Present for a role assigned to everyone. */
			readonly user?: typeof everyone;
	  }
	| {
			readonly type: 'role_derivation';
			/** Role on the related instance: `<type>#<role>`. */
			readonly role: string;
			readonly relation: string;
	  }
	| {
			readonly type: 'computed_role';
			/** A role that the user holds, and from which this role is computed: `<type>#<role>`. */
			readonly role: string;
	  };

/** Rows granted by a role or a rule. */
export interface GrantBranch {
	readonly model: 'rbac' | 'rebac' | 'abac';
	readonly reason: string;
	/** Key of a tenant role, or `<type>#<key>` for a role on instances. */
	readonly allowing_role?: string;
	readonly sources?: readonly RoleSource[];
	/** The rule's sets. An automatic set is represented by its role or resource type. */
	readonly allowing_rule?: Readonly<Record<string, string>>;
	readonly condition: Residual;
}

/** Returns a branch for each tenant role, each source of a role on instances, and each condition set rule. */
export function* grantBranches(
	context: DecisionContext,
	input: FilterInput,
	granted: GrantedRows,
): Steps<readonly GrantBranch[]> {
	return [
		...(yield* roleBranches(context.facts, input, granted)),
		...(yield* keyBranches(context, input, granted)),
		...(yield* ruleBranches(context.facts, input, granted)),
	];
}

function* roleBranches(
	{ names }: FactsIndex,
	input: FilterInput,
	{ tenants }: GrantedRows,
): Steps<readonly GrantBranch[]> {
	const byRole = new Map<string, string[]>();
	for (const [tenant, roles] of tenants) {
		for (const role of roles) addTo(byRole, role, names.text(tenant));
	}
	const branches: GrantBranch[] = [];
	for (const [role, found] of byRole) {
		branches.push({
			model: 'rbac',
			allowing_role: role,
			reason: `user \`${input.user.key}\` holds \`${role}\` in the tenant, which grants \`${permission(input)}\``,
			condition: yield* simplifyResidual(yield* tenantsIn(found)),
		});
	}
	return branches;
}

function* keyBranches(
	{ facts, time }: DecisionContext,
	input: FilterInput,
	{ keys, held }: GrantedRows,
): Steps<readonly GrantBranch[]> {
	const { names, schema } = facts;
	const { type } = input.resource;
	const assigned = new Map<number, Set<string>>();
	const pauses = new Pauses();
	const open = new Map<number, Set<string>>();
	for (const [holder, found] of [
		[input.user, assigned],
		[{ key: everyone }, open],
	] as const) {
		for (const [role, instance] of assignedRoles(facts, holder, time)) {
			if (pauses.step()) yield;
			const roles = found.get(instance) ?? new Set();
			found.set(instance, roles.add(role));
		}
	}
	const conditions = new GrantConditions(facts, { user: input.user, context: input.context }, time);
	for (const grant of facts.conditionalRoles.from(input.user.key, time)) {
		yield;
		const instance = names.number(grant.instance);
		if (instance === undefined) continue;
		// A conditional assignment blocks derivations whether its condition holds or not.
		const roles = assigned.get(instance) ?? new Set();
		assigned.set(instance, conditions.holds(grant) ? roles.add(grant.role) : roles);
	}
	const groups = new Map<string, { role: string; sources: readonly RoleSource[]; byTenant: Map<number, string[]> }>();
	for (const [tenant, found] of keys) {
		for (const { instance, key, roles } of found) {
			if (pauses.step()) yield;
			const direct = assigned.get(instance);
			for (const role of roles) {
				const sources: RoleSource[] = direct?.has(role) ? [{ type: 'role_assignment' }] : [];
				if (open.get(instance)?.has(role)) sources.push({ type: 'role_assignment', user: everyone });
				for (const derivation of schema.derivations(type, role)) {
					if (derivation.no_direct_roles_on_object && direct !== undefined) continue;
					for (const [subject, relation] of facts.relations.numbersFrom(instance, time)) {
						if (pauses.step()) yield;
						if (!follows(derivation, names.text(relation), names.text(subject))) continue;
						if (!held.get(subject)?.includes(derivation.role)) continue;
						const source = `${derivation.resource}#${derivation.role}`;
						sources.push({ type: 'role_derivation', role: source, relation: derivation.relation });
						break;
					}
					for (const row of facts.conditionalRelations.from(names.text(instance), time)) {
						yield;
						if (!follows(derivation, row.relation, row.subject)) continue;
						if (!held.get(names.number(row.subject) ?? -1)?.includes(derivation.role) || !conditions.holds(row))
							continue;
						const source = `${derivation.resource}#${derivation.role}`;
						sources.push({ type: 'role_derivation', role: source, relation: derivation.relation });
						break;
					}
				}
				for (const operand of schema.computed(type, role)?.operands ?? []) {
					if (held.get(instance)?.includes(operand))
						sources.push({ type: 'computed_role', role: `${type}#${operand}` });
				}
				const name = JSON.stringify([role, sources]);
				const group = groups.get(name) ?? { role, sources, byTenant: new Map() };
				groups.set(name, group);
				addTo(group.byTenant, tenant, key);
			}
		}
	}
	const branches: GrantBranch[] = [];
	for (const { role, sources, byTenant } of groups.values()) {
		const parts: Residual[] = [];
		for (const [tenant, found] of byTenant) {
			parts.push({ kind: 'all', parts: [yield* tenantsIn([names.text(tenant)]), yield* keysIn(found)] });
			if (pauses.step()) yield;
		}
		branches.push({
			model: 'rebac',
			allowing_role: `${type}#${role}`,
			sources,
			reason: `user \`${input.user.key}\` holds \`${role}\` on the instance, which grants \`${permission(input)}\``,
			condition: yield* simplifyResidual({ kind: 'any', parts }),
		});
	}
	return branches;
}

function* ruleBranches(
	{ names, schema }: FactsIndex,
	input: FilterInput,
	{ groups }: GrantedRows,
): Steps<readonly GrantBranch[]> {
	const sets = conditionSetsIn(schema);
	const side = (kind: SetType, key: string, name: string) => {
		const standsFor = sets.find(kind, input.resource.type, key)?.standsFor;
		return standsFor === undefined ? { [kind]: key } : { [name]: standsFor };
	};
	const byRule = new Map<string, { rule: Readonly<Record<string, string>>; parts: Residual[] }>();
	for (const { tenants, rules } of groups) {
		const inTenants = yield* tenantsIn(yield* mapInSteps(tenants, (tenant) => names.text(tenant)));
		for (const { rule, residual } of rules) {
			const name = JSON.stringify([rule.userSet, rule.resourceSet]);
			const found = byRule.get(name) ?? {
				rule: { ...side('userset', rule.userSet, 'role'), ...side('resourceset', rule.resourceSet, 'resource_type') },
				parts: [],
			};
			byRule.set(name, found);
			found.parts.push({ kind: 'all', parts: [inTenants, residual] });
		}
	}
	const branches: GrantBranch[] = [];
	for (const { rule, parts } of byRule.values()) {
		branches.push({
			model: 'abac',
			allowing_rule: rule,
			reason: `a condition set rule grants \`${permission(input)}\``,
			condition: yield* simplifyResidual({ kind: 'any', parts }),
		});
	}
	return branches;
}

function permission({ action, resource }: FilterInput): string {
	return `${resource.type}:${action}`;
}

function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
	const list = lists.get(key);
	if (list === undefined) lists.set(key, [value]);
	else list.push(value);
}
