/** Explains why a condition holds or fails for a subject, with an entry for each part, in the author's order. */
import type { Json } from '../model.js';
import { type AcceptedKind, acceptedKinds, inexactText, orderedKind } from './accepted-kinds.js';
import { attributeText } from './attribute.js';
import type { AttributePath, Comparison, Condition, ConditionPath, MatchOperand } from './condition.js';
import { timeBefore } from './duration.js';
import { evaluateComparison, evaluateMatch, joinTruths, type Surroundings, type Truth } from './evaluate-comparison.js';
import { excerpt } from './excerpt.js';
import { type Operator, operatorNamed, type PatternMatcher } from './operator.js';
import { arrayItems, isInexact, jsonKind, lookUp } from './value.js';

/**
 * Values that conditions can refer to. Built-in attributes are ordinary fields, such as `roles` in `user`. An absent
 * field or null means a missing value.
 */
export interface Subject {
	readonly user: Json;
	readonly resource: Json;
	readonly tenant: Json;
	readonly context: Json;
	/** The values stored with the conditional assignment or relationship; absent for sets. */
	readonly grant?: Json;
	/** Check time, in milliseconds since 1970. */
	readonly now: number;
}

/** Returns the stored attributes of an instance in the check's tenant; `{}` if there is none. */
export type ReadRelated = (type: string, key: string) => Json;

/** Outcome for a part of a condition. A part is mistyped if any part inside it is mistyped. */
export type Trace =
	| { readonly kind: 'all' | 'any'; readonly holds: Truth; readonly conditions: readonly Trace[] }
	| { readonly kind: 'not'; readonly holds: Truth; readonly condition: Trace }
	| ComparisonTrace;

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
	/**
	 * The compared value: the operand itself, the value its `ref` refers to, or, for a duration, the check time
	 * minus the duration. Null if this value is missing.
	 */
	readonly operand_value: Json;
	/** The reason, as a sentence. */
	readonly why: string;
	readonly at: ConditionPath;
	/** For a `match`: the outcome for the object, or for each array item, in order. */
	readonly items?: readonly Trace[];
}

/** Explains a condition. The condition selects the subject only if `holds === true`. */
export function explainCondition(
	condition: Condition,
	subject: Subject,
	{ related, matches }: { readonly related: ReadRelated; readonly matches: PatternMatcher },
): Trace {
	const find = ({ object, path }: AttributePath) => lookUp(subject[object], path);
	return traceCondition(condition, { find, text: attributeText, refer: find, related, now: subject.now, matches });
}

/** Looks up attributes and formats their names. */
interface AttributeSource<Attribute> extends Surroundings {
	find(attribute: Attribute): Json | undefined;
	text(attribute: Attribute): string;
	refer(attribute: AttributePath): Json | undefined;
	readonly related: ReadRelated;
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
		return { ...said, operand: null, operand_value: null, ...traceMatch(operator, text, value, operand, source) };
	}
	const other = 'ref' in operand ? source.refer(operand.ref) : operand.value;
	const holds = evaluateComparison(operator, value, other, source);
	const compared = operator.operand === 'duration' ? timeBefore(source.now, String(other)) : other;
	const written = 'ref' in operand ? attributeText(operand.ref) : compared === other ? undefined : excerpt(other);
	return {
		...said,
		holds,
		operand: 'ref' in operand ? { ref: attributeText(operand.ref) } : operand.value,
		operand_value: compared ?? null,
		why:
			text === 'user.resource_roles'
				? `the user ${holds === true ? 'holds' : 'does not hold'} ${excerpt(compared)} on the resource`
				: reason(operator, holds, { text, value }, { text: written, value: compared }),
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
		return `${named(attribute)} is present`;
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
	{ match, related }: MatchOperand,
	source: AttributeSource<A>,
): MatchTrace {
	const items: Trace[] = [];
	const evaluate = (thing: Json) => {
		const item = traceCondition(match, memberSource(thing, source));
		items.push(item);
		return item.holds;
	};
	const find = related === undefined ? undefined : (key: string) => source.related(related, key);
	const holds = evaluateMatch(operator, value, evaluate, find);
	if (value === undefined) {
		return { holds, why: `${text} is missing` };
	}
	const wanted = related === undefined ? acceptedKinds.object : instanceKey;
	if (holds === 'mistyped' && items.length === 0) {
		const isObject = operator.match === 'object';
		const stranger =
			isObject || !acceptedKinds[operator.attribute].accepts(value)
				? undefined
				: arrayItems(value).find((thing) => !wanted.accepts(thing));
		const whole = isObject ? wanted : acceptedKinds[operator.attribute];
		const why =
			stranger === undefined
				? `${named({ text, value })} must be ${whole.description}`
				: `an item of ${text} (${excerpt(stranger)}) must be ${wanted.description}`;
		return { holds, why };
	}
	return { holds, why: matchReason(operator, holds, { text, value }, related), items };
}

const instanceKey = { ...acceptedKinds.string, description: 'a string, the key of an instance' };

function matchReason(operator: Operator, holds: Truth, attribute: Side, related: string | undefined): string {
	const { text } = attribute;
	const isObject = operator.match === 'object';
	if (holds === 'mistyped') return `${isObject ? 'a field' : 'an item'} of ${text} cannot be compared`;
	return isObject && related !== undefined
		? `${named(attribute)} refers to an instance of ${excerpt(related)} with attributes that ${holds ? 'match' : 'do not match'}`
		: `${text} ${operator.words[holds ? 'holds' : 'fails']}`;
}

function memberSource<A>(thing: Json, source: AttributeSource<A>): AttributeSource<readonly string[]> {
	return { ...source, find: (path) => lookUp(thing, path), text: (path) => path.join('.') };
}
