/** Condition set rules for an action, read once for each schema. */

import { isAsked } from '../../../compiler/condition/attribute.js';
import { type ConditionTest, compileCondition, usesPattern } from '../../../compiler/condition/compile-condition.js';
import type { AttributePath, Condition } from '../../../compiler/condition/condition.js';
import { attributesIn, durationsIn } from '../../../compiler/condition/parse/grammar.js';
import { isResourceRoles } from '../../../compiler/condition/resource-roles.js';
import type { Steps } from '../../../compiler/steps.js';
import type { FilterInput } from '../decide/normalise.js';
import { conditionSetsIn, type ReadSet, type RuleOfSets, type SetType } from '../facts/condition-sets.js';
import { ConditionSubject } from '../facts/condition-subject.js';
import type { FactsIndex } from '../facts/facts-index.js';
import { jsonMembers } from '../facts/json-members.js';
import type { SchemaTables } from '../facts/schema-tables.js';

/** A condition set with its ancestors. */
export interface SetChain {
	readonly type: SetType;
	readonly sets: readonly ReadSet[];
	/** True if all sets select the subject. `undefined` if only the row or a regular expression decides. */
	readonly decides: ((subject: ConditionSubject) => boolean) | undefined;
}

export interface RuleChains {
	readonly rule: RuleOfSets;
	readonly users: SetChain;
	readonly resources: SetChain;
}

/** Rules, and the facts on which they depend in addition to the user and the context. */
export interface RulesOfAction {
	readonly rules: readonly RuleChains[];
	/** Resource role keys named in the rules. */
	readonly rolesNamed: ReadonlySet<string>;
	readonly reads: { readonly roles: boolean; readonly tenant: boolean; readonly time: boolean };
}

const known = new WeakMap<SchemaTables, Map<string, RulesOfAction>>();

/** Returns the action's rules evaluated by the active policy. */
export function* rulesOfAction(facts: FactsIndex, { action, resource: { type } }: FilterInput): Steps<RulesOfAction> {
	const standing = facts.pendingAt('set_rules', type, action);
	if (standing !== undefined) {
		const rules = jsonMembers(standing).flatMap(([userSet, resourceSets]) =>
			jsonMembers(resourceSets).map(([resourceSet]) => ({ userSet, resourceSet })),
		);
		return yield* readRules(facts.schema, type, rules);
	}
	const byName = known.get(facts.schema) ?? new Map<string, RulesOfAction>();
	known.set(facts.schema, byName);
	const name = JSON.stringify([type, action]);
	const before = byName.get(name);
	if (before !== undefined) return before;
	const found = yield* readRules(facts.schema, type, conditionSetsIn(facts.schema).rules(type, action));
	byName.set(name, found);
	return found;
}

function* readRules(schema: SchemaTables, resource: string, rules: Iterable<RuleOfSets>): Steps<RulesOfAction> {
	const chains: RuleChains[] = [];
	const byKey = { userset: new Map<string, SetChain>(), resourceset: new Map<string, SetChain>() };
	const rolesNamed = new Set<string>();
	let [roles, tenant, time] = [false, false, false];
	const chainOf = (type: SetType, key: string): SetChain => {
		const before = byKey[type].get(key);
		if (before !== undefined) return before;
		const sets = conditionSetsIn(schema).ancestry(type, resource, key);
		const chain = { type, sets, decides: decisionOf(type, sets) };
		byKey[type].set(key, chain);
		for (const { standsFor, condition, roles: named } of sets) {
			if (type === 'userset') for (const role of named) rolesNamed.add(role);
			roles ||= standsFor !== undefined;
			time ||= condition !== undefined && durationsIn(condition).length > 0;
			for (const attribute of condition === undefined ? [] : attributesIn(condition)) {
				roles ||= attribute.object === 'user' && attribute.path[0] === 'roles';
				tenant ||= attribute.object === 'tenant' && !isAsked(attribute);
				time ||= attribute.object === 'now';
			}
		}
		return chain;
	};
	for (const rule of rules) {
		const users = chainOf('userset', rule.userSet);
		yield;
		chains.push({ rule, users, resources: chainOf('resourceset', rule.resourceSet) });
		yield;
	}
	return { rules: chains, rolesNamed, reads: { roles, tenant, time } };
}

/** Returns a test for sets whose result is the same for every row in a tenant. */
function decisionOf(type: SetType, sets: readonly ReadSet[]): SetChain['decides'] {
	const tests: ((subject: ConditionSubject) => boolean)[] = [];
	for (const { standsFor, condition } of sets) {
		if (standsFor !== undefined) {
			if (type === 'userset') tests.push((subject) => subject.roles.includes(standsFor));
		} else if (condition === undefined) {
			return () => false;
		} else if (readsRow(condition) || usesPattern(condition)) {
			return undefined;
		} else {
			const test = compileDecided(condition);
			tests.push((subject) => test(subject, subject.time) === true);
		}
	}
	return (subject) => tests.every((selects) => selects(subject));
}

function compileDecided(condition: Condition): ConditionTest<ConditionSubject> {
	const read = (attribute: AttributePath) => ConditionSubject.reader(attribute);
	const unreachable = { related: () => ({}), matches: () => false };
	return compileCondition<ConditionSubject, AttributePath>(condition, {
		attribute: read,
		reference: read,
		...unreachable,
	});
}

/** True if a condition may differ between a tenant's rows, or between requests with and without a tenant. */
function readsRow(condition: Condition): boolean {
	if (condition.kind === 'not') return readsRow(condition.condition);
	if (condition.kind !== 'comparison') return condition.conditions.some(readsRow);
	const { operand } = condition;
	if ('match' in operand && operand.related !== undefined) return true;
	return attributesIn(condition).some(
		(attribute) =>
			attribute.object === 'resource' ||
			(attribute.object === 'tenant' && isAsked(attribute)) ||
			isResourceRoles(attribute),
	);
}
