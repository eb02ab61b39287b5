/** Evaluates conditions of role assignments and relationships. */

import { compileCondition, usesPattern } from '../../../compiler/condition/compile-condition.js';
import type { AttributePath, Condition } from '../../../compiler/condition/condition.js';
import { attributesIn, durationsIn, parseConditions } from '../../../compiler/condition/parse/grammar.js';
import { ConditionSubject, type SentAttributes } from './condition-subject.js';
import type { ConditionalRelationship, ConditionalRole } from './conditional-facts.js';
import type { FactsIndex } from './facts-index.js';
import { instanceType } from './instance-name.js';
import { jsonMembers, valueAt } from './json-members.js';
import type { SchemaTables } from './schema-tables.js';

/** A check's user and context. */
export interface GrantQuestion {
	readonly user: { readonly key: string; readonly attributes?: SentAttributes };
	readonly context: SentAttributes;
}

/** A condition as a function. `readsTime` is true if the result depends on the check's time. */
interface GrantCondition {
	readonly holds: (subject: ConditionSubject) => boolean;
	readonly readsTime: boolean;
}

const known = new WeakMap<SchemaTables, Map<string, GrantCondition | 'uncertain'>>();

/** Evaluates conditions in a check. */
export class GrantConditions {
	/** True if a result depended on the check's time. */
	readTime = false;
	/** True if only the engine can evaluate a condition, because it contains a regular expression. */
	uncertain = false;
	readonly #facts: FactsIndex;
	readonly #subject: ConditionSubject;
	/** Cached results for relationships. A walk needs the result once for each role derived through a relationship. */
	readonly #related = new Map<ConditionalRelationship, boolean | 'uncertain'>();

	constructor(facts: FactsIndex, { user, context }: GrantQuestion, time: number) {
		this.#facts = facts;
		this.#subject = new ConditionSubject(facts, time, { context });
		this.setUser(user.key, user.attributes);
	}

	setUser(key: string, sent: SentAttributes): void {
		this.#subject.setUser(key, sent);
		this.#related.clear();
	}

	/**
	 * True if a conditional fact counts in the check. Returns false and sets `uncertain` if only the engine can decide.
	 */
	holds(fact: ConditionalRole | ConditionalRelationship): boolean {
		const isRole = 'role' in fact;
		const known = isRole ? undefined : this.#related.get(fact);
		const result = known ?? this.#decide(fact);
		if (!isRole) this.#related.set(fact, result);
		if (result === 'uncertain') this.uncertain = true;
		return result === true;
	}

	#decide(fact: ConditionalRole | ConditionalRelationship): boolean | 'uncertain' {
		const { schema, instanceTenants } = this.#facts;
		const { set, values } = fact;
		const [table, instance, name] =
			'role' in fact
				? ['grant_conditions', fact.instance, fact.role]
				: ['relation_conditions', fact.object, fact.relation];
		const type = instanceType(instance);
		const declared = valueAt(schema.value, table, type, name);
		const tenant = instanceTenants.get(instance);
		if (tenant === undefined || !Array.isArray(declared) || !declared.includes(set)) return false;
		if (this.#facts.pendingAt('grants', set) !== undefined) return false;
		const condition = conditionNamed(schema, set);
		if (condition === undefined) return false;
		if (condition === 'uncertain') return 'uncertain';
		this.readTime ||= condition.readsTime;
		this.#subject.setResource({ type, tenant }, undefined);
		this.#subject.grant = values;
		return condition.holds(this.#subject);
	}
}

/** Returns a condition; `undefined` if it cannot be read, and `'uncertain'` if only the engine can evaluate it. */
function conditionNamed(schema: SchemaTables, set: string): GrantCondition | 'uncertain' | undefined {
	const conditions = known.get(schema) ?? new Map<string, GrantCondition | 'uncertain'>();
	known.set(schema, conditions);
	const before = conditions.get(set);
	if (before !== undefined) return before;
	const written = valueAt(schema.value, 'conditions', 'grant', set);
	const parameters = jsonMembers(valueAt(written, 'parameters')).map(([name]) => name);
	const parsed = parseConditions(valueAt(written, 'conditions'), { type: 'grant', bound: false, parameters });
	if (!('condition' in parsed)) return undefined;
	const { condition } = parsed;
	const read = usesPattern(condition) ? 'uncertain' : { holds: compile(condition), readsTime: readsTime(condition) };
	conditions.set(set, read);
	return read;
}

function compile(condition: Condition): GrantCondition['holds'] {
	const read = (attribute: AttributePath) => ConditionSubject.reader(attribute);
	const test = compileCondition<ConditionSubject, AttributePath>(condition, {
		attribute: read,
		reference: read,
		related: () => ({}),
		matches: () => false,
	});
	return (subject) => test(subject, subject.time) === true;
}

function readsTime(condition: Condition): boolean {
	return durationsIn(condition).length > 0 || attributesIn(condition).some(({ object }) => object === 'now');
}
