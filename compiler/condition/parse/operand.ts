/** Operands as the author writes them: a value, or `{"ref": "…"}`. */

import { isObject } from '../../json.js';
import type { Json } from '../../model.js';
import { acceptedKinds, inexactText } from '../accepted-kinds.js';
import { attributeNamed } from '../attribute.js';
import type { ConditionPath, Operand } from '../condition.js';
import { excerpt } from '../excerpt.js';
import { maxItemsPatternLength, maxPatternLength, type Operator } from '../operator.js';
import { isResourceRoles } from '../resource-roles.js';
import { isInexact } from '../value.js';
import type { ParseRun } from './parse-run.js';

/**
 * Reads the operand for an operator without `match`. If the operand is invalid, records problems and returns null.
 * `refs` allows references.
 */
export function readOperand(
	run: ParseRun,
	operator: Operator,
	value: unknown,
	at: ConditionPath,
	refs: boolean,
): Operand | null {
	if (isObject(value) && Object.hasOwn(value, 'ref')) {
		return readReference(run, operator, value, at, refs);
	}
	const before = run.problems.length;
	const literal = readValue(run, value, at, 0);
	if (run.problems.length === before) {
		checkLiteral(run, operator, literal, at, refs ? maxPatternLength : maxItemsPatternLength);
	}
	return run.problems.length === before ? { value: literal } : null;
}

function readReference(
	run: ParseRun,
	operator: Operator,
	value: Readonly<Record<string, unknown>>,
	at: ConditionPath,
	refs: boolean,
): Operand | null {
	const { ref } = value;
	const attribute = typeof ref === 'string' ? attributeNamed(ref) : undefined;
	if (operator.literal === true) {
		run.refuse('wrong_operand', at, `\`${operator.name}\` takes a value, not a \`ref\``);
	} else if (!refs) {
		run.refuse('wrong_operand', at, 'inside `match` an operand must be a value, not a `ref`');
	} else if (Object.keys(value).length > 1) {
		run.refuse('wrong_shape', at, '`ref` must be the only field of its object');
	} else if (attribute === undefined) {
		const msg = `\`ref\` must name an attribute of user, resource, tenant or context, such as "user.key", or \`now\`, not ${excerpt(ref)}`;
		run.refuse('wrong_attribute', [...at, 'ref'], msg, ref);
	} else if (run.reasonAgainst(attribute) !== undefined) {
		run.refuse('wrong_attribute', [...at, 'ref'], run.reasonAgainst(attribute) ?? '', ref);
	} else if (isResourceRoles(attribute)) {
		const msg = '`user.resource_roles` cannot be a `ref`: compare the attribute `user.resource_roles` with role keys';
		run.refuse('wrong_attribute', [...at, 'ref'], msg, ref);
	} else if (requireWellFormed(run, attribute.path.join('.'), [...at, 'ref'])) {
		return { ref: run.name(attribute, [...at, 'ref']) };
	}
	return null;
}

/** Maximum number of fields in an object operand, because the engine compares objects in quadratic time. */
export const maxMembers = 32;

/** Returns the value if Rego can express it as JSON. Otherwise records problems. */
function readValue(run: ParseRun, value: unknown, at: ConditionPath, depth: number): Json {
	if (!run.enter(at, depth)) {
		return null;
	}
	if (typeof value === 'string') {
		requireWellFormed(run, value, at);
		return value;
	}
	if (typeof value === 'number' && Number.isFinite(value) && isInexact(value)) {
		run.refuse('wrong_operand', at, `${inexactText}; write the number as a string`, value);
		return value;
	}
	if (value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) {
		return value;
	}
	if (Array.isArray(value)) {
		return value.map((item: unknown, index) => readValue(run, item, [...at, index], depth + 1));
	}
	if (isObject(value)) {
		if (Object.keys(value).length > maxMembers) {
			run.refuse('too_large', at, `an object in a condition must not have more than ${maxMembers} fields`);
			return null;
		}
		// `Object.fromEntries` creates an own property for every name, even `__proto__`.
		return Object.fromEntries(
			Object.entries(value).map(([name, member]) => {
				const place = [...at, name];
				requireWellFormed(run, name, place);
				return [name, readValue(run, member, place, depth + 1)];
			}),
		);
	}
	run.refuse('wrong_operand', at, 'must be a JSON value');
	return null;
}

/** Rejects lone surrogates, which engines treat differently: records a problem and returns false. */
export function requireWellFormed(run: ParseRun, text: string, at: ConditionPath): boolean {
	const wellFormed = !/\p{Surrogate}/u.test(text);
	if (!wellFormed) {
		run.refuse('wrong_shape', at, 'must not contain lone surrogates');
	}
	return wellFormed;
}

const absence = 'to test for absence, use {"is-null": true}';

function checkLiteral(run: ParseRun, operator: Operator, value: Json, at: ConditionPath, patternLength: number): void {
	const kind = acceptedKinds[operator.operand];
	if (value === null) {
		run.refuse('wrong_operand', at, `\`${operator.name}\` cannot compare with null: ${absence}`, value);
	} else if (!kind.accepts(value)) {
		run.refuse(
			'wrong_operand',
			at,
			`the operand of \`${operator.name}\` must be ${kind.description}, not ${excerpt(value)}`,
			value,
		);
	} else if (operator.operand === 'list') {
		checkItems(run, operator, value, at);
	} else if (operator.operand === 'range') {
		checkRange(run, operator, value, at);
	} else if (operator.name === 'matches' && typeof value === 'string') {
		checkPattern(run, value, at, patternLength);
	}
}

function checkItems(run: ParseRun, operator: Operator, value: Json, at: ConditionPath): void {
	for (const [index, item] of (Array.isArray(value) ? value : []).entries()) {
		const place = [...at, index];
		if (item === null) {
			run.refuse('wrong_operand', place, `\`${operator.name}\` cannot compare with null: ${absence}`, item);
		} else if (isObject(item) && Object.hasOwn(item, 'ref')) {
			run.refuse('wrong_operand', place, 'a `ref` must be the whole operand');
		}
	}
}

/** Rejects an empty range, which matches no value. */
function checkRange(run: ParseRun, operator: Operator, value: Json, at: ConditionPath): void {
	const [first, last] = Array.isArray(value) ? value : [];
	if (operator.holdsFor([first ?? null, last ?? null], () => false)(first ?? null, 0)) {
		return;
	}
	const msg = `the first bound of \`${operator.name}\` must not be greater than the second: ${excerpt(value)}`;
	run.refuse('wrong_operand', at, msg);
}

function checkPattern(run: ParseRun, pattern: string, at: ConditionPath, most: number): void {
	const problem = pattern.length > most ? `is longer than ${most} characters` : run.patternProblem(pattern);
	if (problem !== null) {
		run.refuse('wrong_operand', at, `the regular expression ${excerpt(pattern)} ${problem}`, pattern);
	}
}
