/** Writes comparisons as Rego: between an attribute and a value, or between two attributes. */
import type { Json } from '../../model.js';
import { jsonValue } from '../../rego/json-value.js';
import { type Fragment, rego } from '../../rego/rego.js';
import type { Body } from '../../rego/rule.js';
import { type AcceptedKind, acceptedKinds, orderedKind } from '../accepted-kinds.js';
import { isAsked } from '../attribute.js';
import type { Operand } from '../condition.js';
import type { Operator, Sides } from '../operator.js';
import { attributeRego, type RegoScope } from './rego-scope.js';

/** An operand other than a condition. */
export type ComparedOperand = Exclude<Operand, { readonly match: unknown }>;

/** Returns the statements for a comparison, which holds if and only if all statements are true. */
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

/** Returns guard statements. The operator accepts both values if and only if all statements are true. */
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

/**
 * Returns alternative bodies. At least one body is true if and only if the operator rejects the kind of a value in the
 * comparison.
 */
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
	// Values from the check are always exact.
	const alwaysAccepted = operator.operand === 'compared' && isAsked(ref);
	const ofTwoKinds = rego`compare.of_two_kinds(${attribute}, ${firstBound(operator, reference)})`;
	return [
		...refusing(operator.attribute, attribute),
		...(alwaysAccepted ? [] : refusing(operator.operand, reference)),
		...(operator.ordered === true ? [[ofTwoKinds]] : []),
	];
}

/**
 * Returns the required attribute kind for a comparison with this literal. An ordering operator requires the literal's
 * own kind.
 */
function kindToCompareWith(literal: Json, operator: Operator): AcceptedKind {
	if (operator.ordered !== true) {
		return operator.attribute;
	}
	return orderedKind(literal) === 'number' ? 'number' : 'string';
}

/**
 * Returns the value with which an attribute is compared by order. For a range this is the lower bound, because both
 * bounds have the same kind.
 */
function firstBound(operator: Operator, operand: Fragment): Fragment {
	return operator.operand === 'range' ? rego`${operand}[0]` : operand;
}

/** Returns a statement to accept only values of this kind. Returns no statement if every value is accepted. */
function accepting(kind: AcceptedKind, value: Fragment): Body {
	const { accepted } = acceptedKinds[kind];
	return accepted === undefined ? [] : [rego`${accepted}(${value})`];
}

/** Returns a body to detect present values of all other kinds. Returns no body if every value is accepted. */
export function refusing(kind: AcceptedKind, value: Fragment): readonly Body[] {
	const { refused } = acceptedKinds[kind];
	return refused === undefined ? [] : [[rego`${refused}(${value})`]];
}
