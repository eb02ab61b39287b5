/** Decides checks by condition set rules on modified attributes and roles. */

import { z } from 'zod';
import type { Comparison, Condition } from '../../../compiler/condition/condition.js';
import { evaluateComparison, type Truth } from '../../../compiler/condition/evaluate-comparison.js';
import { explainCondition, type Subject } from '../../../compiler/condition/explain-condition.js';
import { operatorNamed } from '../../../compiler/condition/operator.js';
import { lookUp } from '../../../compiler/condition/value.js';
import type { Json } from '../../../compiler/model.js';
import type { Steps } from '../../../compiler/steps.js';
import { CompiledPatterns } from '../../pattern/compiled-patterns.js';
import type { EngineInput } from '../engine/engine.js';
import { conditionSetsIn, countComparisons, type ReadSet, type SetType } from '../facts/condition-sets.js';
import { instanceName } from '../facts/instance-name.js';
import type { FactChanges, RoleFacts } from './role-facts.js';
import type { WorkLimit } from './work-limit.js';

/** Maximum number of rules per action to consider. */
const maxRules = 500;
/** Maximum number of comparisons in all sets used by these rules. */
const maxComparisons = 10_000;
/** Steps charged for comparing two values, and for matching a regular expression. */
const stepsToCompare = 4;
const stepsToMatch = 200;
/** Not `z.record`, because it drops a property named `__proto__`. */
const Attributes = z.custom<{ readonly [name: string]: Json }>((value) => typeof value === 'object' && value !== null);

/** The check as the policy read it: the field `request` in the policy's reasons. */
const Request = z.object({
	request: z.object({
		user: z.object({ attributes: Attributes }),
		resource: z.object({ attributes: Attributes }),
	}),
});

/** New attribute values, keyed by the attribute's name in conditions, such as `user.level`. */
export type AttributeChanges = ReadonlyMap<string, Json>;

export const noChanges: AttributeChanges = new Map();

/** Condition sets that decide a check. */
export class SetFacts {
	readonly #subject: Subject;
	readonly #patterns = new CompiledPatterns();
	readonly #readers = {
		related: (type: string, key: string) => this.#related(type, key),
		matches: this.#patterns.matches,
	};
	/** Cached comparison results, latest first, because most comparisons are repeated with the same values. */
	readonly #outcomes = new Map<Comparison, readonly Outcome[]>();

	/** Keys of the roles on the resource that the action's user sets name. */
	readonly #named: ReadonlySet<string>;

	private constructor(
		readonly roles: RoleFacts,
		subject: Subject,
	) {
		const { facts, check } = roles;
		this.#subject = subject;
		this.#named = conditionSetsIn(facts.schema).rolesNamed(check.type, check.action);
	}

	/** True if the action's user sets name roles on the resource. */
	get nameRoles(): boolean {
		return this.#named.size > 0;
	}

	/**
	 * Reads the check's attributes from its reasons. Returns `undefined` if no set can allow the check: there are no rules
	 * for the action, the instance is in a different tenant, or the decision point skips conditions. Returns `'too_large'`
	 * if there are too many rules or comparisons.
	 */
	static *read(
		roles: RoleFacts,
		{ input, reasons }: { readonly input: EngineInput; readonly reasons: unknown },
		work: WorkLimit,
	): Steps<SetFacts | 'too_large' | undefined> {
		const { facts, check } = roles;
		const { type, action, instance, tenant } = check;
		if (!facts.schema.setsMayGrant(type, action) || input.context?.['pdp_type'] === 'cloud') return undefined;
		const home = instance === undefined ? undefined : facts.tenantKey(instance);
		if (home !== undefined && home !== tenant) return undefined;
		const request = Request.safeParse(reasons).data?.request;
		if (request === undefined) return undefined;
		let rules = 0;
		let comparisons = 0;
		const seen = new Set<string>();
		const sets = conditionSetsIn(facts.schema);
		for (const { userSet, resourceSet } of sets.rules(type, action)) {
			rules += 1;
			if (work.step()) yield;
			for (const [set, key] of [['userset', userSet] as const, ['resourceset', resourceSet] as const]) {
				if (seen.has(`${set} ${key}`)) continue;
				seen.add(`${set} ${key}`);
				for (const one of sets.ancestry(set, type, key)) {
					comparisons += one.comparisons;
					if (work.step(one.comparisons)) yield;
				}
				if (rules > maxRules || comparisons > maxComparisons) return 'too_large';
			}
		}
		return new SetFacts(roles, {
			user: request.user.attributes,
			resource: { ...request.resource.attributes, key: input.resource.key ?? null, type, tenant },
			tenant: {},
			context: (input.context ?? {}) as Json,
			now: input.time,
		});
	}

	/** Returns a set and its ancestors, starting with the set. */
	ancestry(type: SetType, key: string): readonly ReadSet[] {
		const { facts, check } = this.roles;
		return conditionSetsIn(facts.schema).ancestry(type, check.type, key);
	}

	/** Returns the subject of conditions after the changes. */
	*subjectWith(factChanges: FactChanges, changes: AttributeChanges, work: WorkLimit): Steps<Subject> {
		const { facts, check, inTenant } = this.roles;
		const { add } = factChanges;
		const resource_roles: string[] = [];
		for (const role of this.#named) {
			if (yield* this.roles.holdsOneOf([role], factChanges, work)) resource_roles.push(role);
		}
		const added = add.flatMap((fact) =>
			fact.fact === 'role_assignment' && fact.resource_instance === undefined ? [fact.role] : [],
		);
		const roles = [...new Set([...inTenant, ...added])].sort();
		const { user, resource, context, now } = this.#subject;
		const tenants = [...new Set([...textsIn(user, 'tenants'), ...(roles.length > 0 ? [check.tenant] : [])])].sort();
		const attributes = roles.length > 0 ? (facts.tenants.get(check.tenant) ?? {}) : {};
		const before: Subject = {
			user: { ...(user as object), roles, tenants, resource_roles },
			resource,
			tenant: { ...(attributes as object), key: check.tenant },
			context,
			now,
		};
		return [...changes].reduce(withAttribute, before);
	}

	/** True if a set and all its ancestors select the subject after the changes. */
	*selects(
		[type, key]: readonly [SetType, string],
		{ add }: FactChanges,
		subject: Subject,
		work: WorkLimit,
	): Steps<boolean> {
		for (const { standsFor, condition } of this.ancestry(type, key)) {
			if (standsFor !== undefined) {
				if (type === 'userset' && !this.roles.inTenant.has(standsFor) && !addsRole(add, standsFor)) return false;
			} else if (condition === undefined) return false;
			else if ((yield* this.#truth(condition, subject, work)) !== true) return false;
		}
		return true;
	}

	/** Evaluates a comparison. */
	*compare(comparison: Comparison, subject: Subject, work: WorkLimit): Steps<Truth> {
		const { attribute, operand } = comparison;
		const value = lookUp(subject[attribute.object], attribute.path);
		const other =
			'ref' in operand
				? lookUp(subject[operand.ref.object], operand.ref.path)
				: 'value' in operand
					? operand.value
					: undefined;
		const outcomes = this.#outcomes.get(comparison) ?? [];
		const known = outcomes.find((outcome) => outcome.value === value && outcome.other === other);
		if (known !== undefined) return known.truth;
		const operator = operatorNamed(comparison.operator);
		if (work.step(stepsOf(comparison, value))) yield;
		const truth =
			'match' in operand || operator === undefined
				? explainCondition(comparison, subject, this.#readers).holds
				: evaluateComparison(operator, value, other, { now: subject.now, matches: this.#patterns.matches });
		this.#outcomes.set(comparison, [{ value, other, truth }, ...outcomes.slice(0, 3)]);
		return truth;
	}

	#related(type: string, key: string): Json {
		const { facts, check } = this.roles;
		const instance = instanceName({ type, key });
		return (facts.tenantKey(instance) === check.tenant ? facts.instanceAttributes.get(instance) : undefined) ?? {};
	}

	/** Evaluates a condition. The result is `mistyped` if any evaluated part is mistyped. */
	*#truth(condition: Condition, subject: Subject, work: WorkLimit): Steps<Truth> {
		if (condition.kind === 'comparison') return yield* this.compare(condition, subject, work);
		if (condition.kind === 'not') {
			const inside = yield* this.#truth(condition.condition, subject, work);
			return inside === 'mistyped' ? inside : !inside;
		}
		let holds = condition.kind === 'all';
		for (const part of condition.conditions) {
			const inside = yield* this.#truth(part, subject, work);
			if (inside === 'mistyped') return inside;
			holds = condition.kind === 'all' ? holds && inside : holds || inside;
		}
		return holds;
	}

	/** True if a rule allows the check after the changes. */
	*allowWith({ add, remove }: FactChanges, changes: AttributeChanges, work: WorkLimit): Steps<boolean> {
		const { facts, check } = this.roles;
		const { type, action, tenant } = check;
		if (!facts.tenants.has(tenant) && !add.some(({ fact }) => fact === 'tenant')) return false;
		// Roles have no effect if their user does not exist.
		const exists = this.roles.userExists || add.some(({ fact }) => fact === 'user');
		const given = { add: exists ? add : add.filter(({ fact }) => fact !== 'role_assignment'), remove };
		const subject = yield* this.subjectWith(given, changes, work);
		const known = new Map<string, boolean>();
		for (const { userSet, resourceSet } of conditionSetsIn(facts.schema).rules(type, action)) {
			if (work.step()) yield;
			let both = true;
			for (const set of [['userset', userSet] as const, ['resourceset', resourceSet] as const]) {
				if (!both) break;
				const name = set.join(' ');
				both = known.get(name) ?? (yield* this.selects(set, given, subject, work));
				known.set(name, both);
			}
			if (both) return true;
		}
		return false;
	}
}

/** Returns the number of steps charged for a comparison. A `match` compares every array item. */
function stepsOf({ operator, operand }: Comparison, value: Json | undefined): number {
	if ('match' in operand) {
		const items = Array.isArray(value) ? value.length : 1;
		return stepsToMatch + items * countComparisons(operand.match);
	}
	return operator === 'matches' ? stepsToMatch : stepsToCompare;
}

/** Result of comparing two values; `undefined` means a missing value. */
interface Outcome {
	readonly value: Json | undefined;
	readonly other: Json | undefined;
	readonly truth: Truth;
}

function addsRole(add: FactChanges['add'], role: string): boolean {
	return add.some(
		(fact) => fact.fact === 'role_assignment' && fact.resource_instance === undefined && fact.role === role,
	);
}

/** Returns the subject with one attribute changed. The attribute name has the form used in conditions. */
export function withAttribute(subject: Subject, [attribute, value]: readonly [string, Json]): Subject {
	const [object = '', ...path] = attribute.split('.');
	const found = subject[object as keyof Subject];
	return { ...subject, [object]: withValue(found, path, value) };
}

/** Returns a value with a field replaced, at any depth. */
function withValue(whole: Json | undefined, [name, ...below]: readonly string[], value: Json): Json {
	if (name === undefined) return value;
	const members = typeof whole === 'object' && whole !== null && !Array.isArray(whole) ? Object.entries(whole) : [];
	const inner = members.find(([other]) => other === name)?.[1];
	return Object.fromEntries([...members.filter(([other]) => other !== name), [name, withValue(inner, below, value)]]);
}

/** Returns the strings in an array field. */
export function textsIn(value: Json, name: string): readonly string[] {
	const list = (value as Readonly<Record<string, Json>>)[name];
	return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
}
