/** Explains why a condition holds or fails for a subject, with an entry for each part, in the author's order. */
import type { Json } from '../model.js';
import { type AcceptedKind, acceptedKinds, inexactText, orderedKind } from './accepted-kinds.js';
import { attributeText } from './attribute.js';
import type { AttributePath, Comparison, Condition, ConditionPath } from './condition.js';
import { evaluateComparison, evaluateMatch, joinTruths, type Truth } from './evaluate-comparison.js';
import { excerpt } from './excerpt.js';
import { type Operator, operatorNamed, type PatternMatcher } from './operator.js';
import { arrayItems, isInexact, jsonKind, lookUp } from './value.js';

/**
 * Values that conditions can refer to. Built-in attributes are ordinary members, such as `roles` in `user`. An absent
 * member or null means a missing value.
 */
export interface Subject {
	readonly user: Json;
	readonly resource: Json;
	readonly tenant: Json;
	readonly context: Json;
}

/** Outcome for a part of a condition. A part is mistyped if any part inside it is mistyped. */
export type Trace =
	| { readonly kind: 'all' | 'any'; readonly holds: Truth; readonly conditions: readonly Trace[] }
	| { readonly kind: 'not'; readonly holds: Truth; readonly condition: Trace }
	| ComparisonTrace;

/** Outcome of a comparison. */
interface ComparisonTrace {
	readonly kind: 'comparison';
	readonly holds: Truth;
	/** Attribute name, such as `user.age`. Inside a `match`, the name is relative to the matched object. */
	readonly attribute: string;
	/** The attribute's value; null if the attribute is missing. */
	readonly value: Json;
	readonly operator: string;
	/** The operand as written; null for a `match`. */
	readonly operand: Json;
	/** The compared value: the operand itself, or the value its `ref` refers to. Null if this value is missing. */
	readonly operand_value: Json;
	/** The reason, as a sentence. */
	readonly why: string;
	readonly at: ConditionPath;
	/** For a `match`: the outcome for the object, or for each array item, in order. */
	readonly items?: readonly Trace[];
}

/** Explains a condition. The condition selects the subject only if `holds === true`. */
export function explainCondition(condition: Condition, subject: Subject, matches: PatternMatcher): Trace {
	const find = ({ object, path }: AttributePath) => lookUp(subject[object], path);
	return traceCondition(condition, { find, text: attributeText, refer: find, matches });
}

/** Looks up attributes and formats their names. */
interface AttributeSource<Attribute> {
	find(attribute: Attribute): Json | undefined;
	text(attribute: Attribute): string;
	refer(attribute: AttributePath): Json | undefined;
	readonly matches: PatternMatcher;
}

function traceCondition<A>(condition: Condition<A>, source: AttributeSource<A>): Trace {
	if (condition.kind === 'comparison') {
		return traceComparison(condition, source);
	}
	if (condition.kind === 'not') {
		const inside = traceCondition(condition.condition, source);
		return { kind: 'not', holds: inside.holds === 'mistyped' ? 'mistyped' : !inside.holds, condition: inside };
	}
	const { kind } = condition;
	const conditions = condition.conditions.map((one) => traceCondition(one, source));
	return {
		kind,
		holds: joinTruths(
			kind,
			conditions.map(({ holds }) => holds),
		),
		conditions,
	};
}

function traceComparison<A>(comparison: Comparison<A>, source: AttributeSource<A>): ComparisonTrace {
	const { attribute, operand, at } = comparison;
	const operator = operatorNamed(comparison.operator);
	const value = source.find(attribute);
	const text = source.text(attribute);
	const said = {
		kind: 'comparison',
		attribute: text,
		value: value ?? null,
		operator: comparison.operator,
		at,
	} as const;
	if (operator === undefined) {
		return { ...said, holds: 'mistyped', operand: null, operand_value: null, why: 'unknown operator' };
	}
	if ('match' in operand) {
		return { ...said, operand: null, operand_value: null, ...traceMatch(operator, text, value, operand.match, source) };
	}
	const other = 'ref' in operand ? source.refer(operand.ref) : operand.value;
	const holds = evaluateComparison(operator, value, other, source.matches);
	const written = 'ref' in operand ? attributeText(operand.ref) : undefined;
	return {
		...said,
		holds,
		operand: 'ref' in operand ? { ref: attributeText(operand.ref) } : operand.value,
		operand_value: other ?? null,
		why: reason(operator, holds, { text, value }, { text: written, value: other }),
	};
}

/** A side of a comparison, with its name if it has one. */
interface Side {
	readonly text: string | undefined;
	readonly value: Json | undefined;
}

function reason(operator: Operator, holds: Truth, attribute: Side, operand: Side): string {
	if (holds === 'mistyped') {
		return typeReason(operator, attribute, operand);
	}
	const missing = [attribute, operand].find(({ value }) => value === undefined);
	if (missing !== undefined) {
		return `${missing.text} is missing`;
	}
	if (operator.missing !== undefined) {
		return `${named(attribute)} is there`;
	}
	return `${named(attribute)} ${operator.words[holds ? 'holds' : 'fails']} ${named(operand)}`;
}

/** Kinds for which numbers must be exact. */
const exactKinds: ReadonlySet<AcceptedKind> = new Set(['compared', 'list', 'number', 'orderable', 'range']);

function typeReason(operator: Operator, attribute: Side, operand: Side): string {
	const sides = [
		{ ...attribute, kind: operator.attribute },
		{ ...operand, kind: operator.operand },
	];
	const wrong = sides.find(({ value, kind }) => value !== undefined && !acceptedKinds[kind].accepts(value));
	if (wrong?.value !== undefined && exactKinds.has(wrong.kind) && isInexact(wrong.value)) {
		return `${named(wrong)} cannot be compared: ${inexactText}`;
	}
	if (wrong !== undefined) {
		return `${named(wrong)} must be ${acceptedKinds[wrong.kind].description}`;
	}
	const kinds = [jsonKind(attribute.value ?? null), orderedKind(operand.value ?? null)];
	return `${named(attribute)} cannot be compared with ${named(operand)}: a ${kinds.join(' and a ')}`;
}

function named({ text, value }: Side): string {
	return text === undefined ? excerpt(value) : `${text} (${excerpt(value)})`;
}

type MatchTrace = Pick<ComparisonTrace, 'holds' | 'why' | 'items'>;

function traceMatch<A>(
	operator: Operator,
	text: string,
	value: Json | undefined,
	match: Condition<readonly string[]>,
	source: AttributeSource<A>,
): MatchTrace {
	const items: Trace[] = [];
	const holds = evaluateMatch(operator, value, (thing) => {
		const item = traceCondition(match, memberSource(thing, source));
		items.push(item);
		return item.holds;
	});
	if (value === undefined) {
		return { holds, why: `${text} is missing` };
	}
	if (holds === 'mistyped' && items.length === 0) {
		const stranger = acceptedKinds[operator.attribute].accepts(value)
			? arrayItems(value).find((thing) => !acceptedKinds.object.accepts(thing))
			: undefined;
		const why =
			stranger === undefined
				? typeReason(operator, { text, value }, { text: undefined, value: undefined })
				: `an item of ${text} (${excerpt(stranger)}) must be an object`;
		return { holds, why };
	}
	const mistyped = operator.match === 'object' ? `a member of ${text}` : `an item of ${text}`;
	const why =
		holds === 'mistyped' ? `${mistyped} cannot be compared` : `${text} ${operator.words[holds ? 'holds' : 'fails']}`;
	return { holds, why, items };
}

function memberSource<A>(thing: Json, { refer, matches }: AttributeSource<A>): AttributeSource<readonly string[]> {
	return { find: (path) => lookUp(thing, path), text: (path) => path.join('.'), refer, matches };
}
