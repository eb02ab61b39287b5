/** Why a condition holds of a subject, or does not: one entry for each part of it, in the order of its author. */
import type { Json } from '../model.js';
import { attributeText } from './attribute.js';
import type { AttributePath, Comparison, Condition, Place } from './condition.js';
import { inexactText, kindToOrder, type Taken, taken } from './kinds.js';
import { type Operator, operatorNamed, type PatternMatcher } from './operator.js';
import { shown } from './shown.js';
import { type Truth, truthOf } from './truth.js';
import { isInexact, itemsOf, kindOf, lookUp } from './value.js';

/**
 * What conditions can know. Built-in attributes are members here, as `roles` of `user`; what is missing is absent
 * or null.
 */
export interface Subject {
	readonly user: Json;
	readonly resource: Json;
	readonly tenant: Json;
	readonly context: Json;
}

/** What one part of a condition comes to. A part is mistyped when anything in it is. */
export type Trace =
	| { readonly kind: 'all' | 'any'; readonly holds: Truth; readonly conditions: readonly Trace[] }
	| { readonly kind: 'not'; readonly holds: Truth; readonly condition: Trace }
	| ComparisonTrace;

/** What a comparison comes to. */
export interface ComparisonTrace {
	readonly kind: 'comparison';
	readonly holds: Truth;
	/** Such as `user.age`; inside a match, the names from the member on. */
	readonly attribute: string;
	/** What was found; null when the attribute is missing. */
	readonly value: Json;
	readonly operator: string;
	/** As it was written, but for a `match`, which is null. */
	readonly operand: Json;
	/** What was compared with: the operand itself, or what its `ref` led to, null when that is missing. */
	readonly operand_value: Json;
	/** A sentence. */
	readonly why: string;
	readonly at: Place;
	/** Of a `match`: what it came to, for the object or for each item of the array, in its order. */
	readonly items?: readonly Trace[];
}

/** Explains a condition. What decides is `holds === true` of the result. */
export function traceOf(condition: Condition, subject: Subject, matches: PatternMatcher): Trace {
	const find = ({ object, path }: AttributePath) => lookUp(subject[object], path);
	return trace(condition, { find, text: attributeText, refer: find, matches });
}

/** Where attributes are found, and how they are called. */
interface Sight<Attribute> {
	find(attribute: Attribute): Json | undefined;
	text(attribute: Attribute): string;
	refer(attribute: AttributePath): Json | undefined;
	readonly matches: PatternMatcher;
}

function trace<A>(condition: Condition<A>, sight: Sight<A>): Trace {
	if (condition.kind === 'comparison') {
		return traceComparison(condition, sight);
	}
	if (condition.kind === 'not') {
		const inside = trace(condition.condition, sight);
		return { kind: 'not', holds: inside.holds === 'mistyped' ? 'mistyped' : !inside.holds, condition: inside };
	}
	const { kind } = condition;
	const conditions = condition.conditions.map((one) => trace(one, sight));
	return { kind, holds: joined(kind, conditions), conditions };
}

function joined(kind: 'all' | 'any', parts: readonly Trace[]): Truth {
	if (parts.some(({ holds }) => holds === 'mistyped')) {
		return 'mistyped';
	}
	return kind === 'all' ? parts.every(({ holds }) => holds === true) : parts.some(({ holds }) => holds === true);
}

function traceComparison<A>(comparison: Comparison<A>, sight: Sight<A>): ComparisonTrace {
	const { attribute, operand, at } = comparison;
	const operator = operatorNamed(comparison.operator);
	const value = sight.find(attribute);
	const text = sight.text(attribute);
	const said = {
		kind: 'comparison',
		attribute: text,
		value: value ?? null,
		operator: comparison.operator,
		at,
	} as const;
	if (operator === undefined) {
		return { ...said, holds: 'mistyped', operand: null, operand_value: null, why: 'there is no such operator' };
	}
	if ('match' in operand) {
		return { ...said, operand: null, operand_value: null, ...traceMatch(operator, text, value, operand.match, sight) };
	}
	const other = 'ref' in operand ? sight.refer(operand.ref) : operand.value;
	const holds = truthOf(operator, value, other, sight.matches);
	const written = 'ref' in operand ? attributeText(operand.ref) : undefined;
	return {
		...said,
		holds,
		operand: 'ref' in operand ? { ref: attributeText(operand.ref) } : operand.value,
		operand_value: other ?? null,
		why: reason(operator, holds, { text, value }, { text: written, value: other }),
	};
}

/** One side of a comparison, by its name if it has one. */
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

/** What takes numbers, but for those that are not exact. */
const exactKinds: ReadonlySet<Taken> = new Set(['compared', 'list', 'number', 'orderable', 'range']);

function typeReason(operator: Operator, attribute: Side, operand: Side): string {
	const sides = [
		{ ...attribute, kind: operator.attribute },
		{ ...operand, kind: operator.operand },
	];
	const wrong = sides.find(({ value, kind }) => value !== undefined && !taken[kind].takes(value));
	if (wrong?.value !== undefined && exactKinds.has(wrong.kind) && isInexact(wrong.value)) {
		return `${named(wrong)} cannot be compared: ${inexactText}`;
	}
	if (wrong !== undefined) {
		return `${named(wrong)} must be ${taken[wrong.kind].says}`;
	}
	const kinds = [kindOf(attribute.value ?? null), kindToOrder(operand.value ?? null)];
	return `${named(attribute)} cannot be compared with ${named(operand)}: a ${kinds.join(' and a ')}`;
}

function named({ text, value }: Side): string {
	return text === undefined ? shown(value) : `${text} (${shown(value)})`;
}

type MatchTrace = Pick<ComparisonTrace, 'holds' | 'why' | 'items'>;

function traceMatch<A>(
	operator: Operator,
	text: string,
	value: Json | undefined,
	match: Condition<readonly string[]>,
	sight: Sight<A>,
): MatchTrace {
	const side = { text, value };
	if (value === undefined) {
		return { holds: false, why: `${text} is missing` };
	}
	if (!taken[operator.attribute].takes(value)) {
		return { holds: 'mistyped', why: typeReason(operator, side, { text: undefined, value: undefined }) };
	}
	const things = operator.match === 'object' ? [value] : itemsOf(value);
	const stranger = things.find((thing) => !taken.object.takes(thing));
	if (stranger !== undefined) {
		return { holds: 'mistyped', why: `an item of ${text} (${shown(stranger)}) must be an object` };
	}
	const items = things.map((thing) => trace(match, memberSight(thing, sight)));
	const holds = joined(operator.match === 'any' ? 'any' : 'all', items);
	const mistyped = operator.match === 'object' ? `a member of ${text}` : `an item of ${text}`;
	const why =
		holds === 'mistyped' ? `${mistyped} cannot be compared` : `${text} ${operator.words[holds ? 'holds' : 'fails']}`;
	return { holds, why, items };
}

function memberSight<A>(thing: Json, { refer, matches }: Sight<A>): Sight<readonly string[]> {
	return { find: (path) => lookUp(thing, path), text: (path) => path.join('.'), refer, matches };
}
