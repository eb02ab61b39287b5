/** A comparison of an attribute with a value or with another attribute, as Rego. */
import type { Json } from '../model.js';
import { jsonValue } from '../rego/json-value.js';
import { type Fragment, rego } from '../rego/rego.js';
import type { Body } from '../rego/rule.js';
import { type AcceptedKind, acceptedKinds, orderedKind } from './accepted-kinds.js';
import { isAsked } from './attribute.js';
import type { Operand } from './condition.js';
import type { Operator, Sides } from './operator.js';
import { attributeRego, type RegoScope } from './rego-scope.js';

/** An operand that is no condition. */
export type ComparedOperand = Exclude<Operand, { readonly match: unknown }>;

/** Statements that are all true exactly when the comparison holds: guards, and the operator's own `rego`. */
export function writeComparison<A>(
	operator: Operator,
	attribute: Fragment,
	operand: ComparedOperand,
	scope: RegoScope<A>,
): Body {
	const sides = writeSides(attribute, operand, scope.required);
	const guards = scope.required ? writeGuards(operator, sides) : [];
	const statements = [...guards, ...operator.rego(sides)];
	const holdsOfMissing = 'value' in operand && operator.missing?.(operand.value) === true;
	return holdsOfMissing ? [rego`not ${scope.helpers.add('present', () => [statements])}`] : statements;
}

function writeSides(attribute: Fragment, operand: ComparedOperand, guarded: boolean): Sides {
	if ('value' in operand) {
		return { attribute, operand: literalRego(operand.value), literal: operand.value, guarded, exact: true };
	}
	const { ref } = operand;
	return { attribute, operand: attributeRego(ref), literal: undefined, guarded, exact: isAsked(ref) };
}

function literalRego(value: Json): Fragment {
	return jsonValue(value, '\t');
}

/** Statements that are all true exactly of values that the operator accepts. */
function writeGuards(operator: Operator, { attribute, operand, literal }: Sides): Body {
	if (operator.guards === true) {
		return [];
	}
	if (literal !== undefined) {
		return accepting(kindToCompareWith(literal, operator), attribute);
	}
	if (operator.ordered !== true) {
		return [...accepting(operator.attribute, attribute), ...accepting(operator.operand, operand)];
	}
	const bound = firstBound(operator, operand);
	return [...accepting(operator.operand, operand), rego`compare.orderable(${attribute}, ${bound})`];
}

/** Bodies of which one is true exactly when a value of the comparison is of a kind that the operator refuses. */
export function writeMistypedComparison(
	operator: Operator,
	attribute: Fragment,
	operand: ComparedOperand,
): readonly Body[] {
	return 'value' in operand
		? [...refusing(kindToCompareWith(operand.value, operator), attribute), ...unusable(operator, operand.value)]
		: mistypedReference(operator, attribute, operand);
}

function unusable(operator: Operator, literal: Json): readonly Body[] {
	const statement = operator.unusable?.(literalRego(literal));
	return statement === undefined ? [] : [[statement]];
}

function mistypedReference(
	operator: Operator,
	attribute: Fragment,
	{ ref }: Extract<ComparedOperand, { readonly ref: unknown }>,
): readonly Body[] {
	const reference = attributeRego(ref);
	// What a check asks for is always exact.
	const alwaysAccepted = operator.operand === 'compared' && isAsked(ref);
	const ofTwoKinds = rego`compare.of_two_kinds(${attribute}, ${firstBound(operator, reference)})`;
	return [
		...refusing(operator.attribute, attribute),
		...(alwaysAccepted ? [] : refusing(operator.operand, reference)),
		...(operator.ordered === true ? [[ofTwoKinds]] : []),
	];
}

/** What an attribute must be to be compared with a literal: to be ordered, of the kind of the literal. */
function kindToCompareWith(literal: Json, operator: Operator): AcceptedKind {
	if (operator.ordered !== true) {
		return operator.attribute;
	}
	return orderedKind(literal) === 'number' ? 'number' : 'string';
}

/** The value that an attribute is ordered against: of a range, its first end, because both are of one kind. */
function firstBound(operator: Operator, operand: Fragment): Fragment {
	return operator.operand === 'range' ? rego`${operand}[0]` : operand;
}

/** A statement that is true of a value that is of this kind; none where every value is. */
function accepting(kind: AcceptedKind, value: Fragment): Body {
	const { accepted } = acceptedKinds[kind];
	return accepted === undefined ? [] : [rego`${accepted}(${value})`];
}

/** A body that is true of a value that is present and not of this kind; none where every value is. */
export function refusing(kind: AcceptedKind, value: Fragment): readonly Body[] {
	const { refused } = acceptedKinds[kind];
	return refused === undefined ? [] : [[rego`${refused}(${value})`]];
}
