/** Compiles conditions into functions, for the evaluation of a condition on many subjects. */
import type { Json } from '../model.js';
import type { AttributePath, Comparison, Condition } from './condition.js';
import { compareWith, evaluateComparison, evaluateMatch, type Truth } from './evaluate-comparison.js';
import { operatorNamed, type PatternMatcher } from './operator.js';
import { lookUp } from './value.js';

/** Reads a value of a subject; `undefined` if it is missing or null. */
export type ReadValue<Subject> = (subject: Subject) => Json | undefined;

/** Evaluates a condition at a time in milliseconds since 1970. Only the result true selects the subject. */
export type ConditionTest<Subject> = (subject: Subject, now: number) => Truth;

/** Functions that compiled conditions call. */
export interface ConditionReaders<Subject, Attribute> {
	/** Returns the reader for an attribute. Called once for each comparison. */
	readonly attribute: (attribute: Attribute) => ReadValue<Subject>;
	/** Returns the reader for an operand. */
	readonly reference: (attribute: AttributePath) => ReadValue<Subject>;
	/** Returns the stored attributes of an instance in the check's tenant; `{}` if there is none. */
	readonly related: (subject: Subject, type: string, key: string) => Json;
	readonly matches: PatternMatcher;
}

/**
 * Compiles a condition. If it is `required`, a part that does not hold ends the evaluation, so the result may be false
 * although a later part is mistyped. Neither result selects the subject.
 */
export function compileCondition<Subject, Attribute>(
	condition: Condition<Attribute>,
	readers: ConditionReaders<Subject, Attribute>,
	required = true,
): ConditionTest<Subject> {
	if (condition.kind === 'comparison') return compileComparison(condition, readers);
	if (condition.kind === 'not') {
		const inside = compileCondition(condition.condition, readers, false);
		return (subject, now) => {
			const holds = inside(subject, now);
			return holds === 'mistyped' ? holds : !holds;
		};
	}
	const { kind, conditions } = condition;
	const isOpen = required && kind === 'all';
	const parts = conditions.map((one) => compileCondition(one, readers, isOpen));
	return (subject, now) => {
		let holds = kind === 'all';
		for (const part of parts) {
			const truth = part(subject, now);
			if (truth === 'mistyped') return truth;
			if (isOpen && !truth) return false;
			if (truth !== (kind === 'all')) holds = truth;
		}
		return holds;
	};
}

function compileComparison<Subject, Attribute>(
	comparison: Comparison<Attribute>,
	{ attribute, reference, related, matches }: ConditionReaders<Subject, Attribute>,
): ConditionTest<Subject> {
	const { operand } = comparison;
	const operator = operatorNamed(comparison.operator);
	if (operator === undefined) return () => 'mistyped';
	const read = attribute(comparison.attribute);
	if ('value' in operand) {
		const compare = compareWith(operator, operand.value, matches);
		return (subject, now) => compare(read(subject), now);
	}
	if ('ref' in operand) {
		const refer = reference(operand.ref);
		return (subject, now) => evaluateComparison(operator, read(subject), refer(subject), { now, matches });
	}
	// Inside `match` there are no references and no related instances.
	const members = { attribute: readMember, reference: () => () => undefined, related: () => ({}), matches };
	const evaluate = compileCondition(operand.match, members, false);
	const type = operand.related;
	return (subject, now) => {
		const find = type === undefined ? undefined : (key: string) => related(subject, type, key);
		return evaluateMatch(operator, read(subject), (thing) => evaluate(thing, now), find);
	};
}

function readMember(path: readonly string[]): ReadValue<Json> {
	return (thing) => lookUp(thing, path);
}

/** True if a condition contains a regular expression. */
export function usesPattern<Attribute>(condition: Condition<Attribute>): boolean {
	if (condition.kind === 'not') return usesPattern(condition.condition);
	if (condition.kind !== 'comparison') return condition.conditions.some(usesPattern);
	const { operand, operator } = condition;
	return 'match' in operand ? usesPattern(operand.match) : operatorNamed(operator)?.attribute === 'matched';
}
