/** What an attribute is compared with, as written: a value, or `{"ref": "…"}`. */
import type { Json } from '../model.js';
import { attributeNamed } from './attribute.js';
import type { Operand, Place } from './condition.js';
import { inexactText, taken } from './kinds.js';
import { longestPattern, longestPatternOfItems, type Operator } from './operator.js';
import type { Reading } from './reading.js';
import { isObject, shown } from './shown.js';
import { isInexact } from './value.js';

/**
 * Reads the operand of an operator that does not match; problems are noted. `null` when there are any.
 * `refs` says whether a reference may stand here.
 */
export function readOperand(
	reading: Reading,
	operator: Operator,
	value: unknown,
	at: Place,
	refs: boolean,
): Operand | null {
	if (isObject(value) && Object.hasOwn(value, 'ref')) {
		return readReference(reading, operator, value, at, refs);
	}
	const before = reading.problems.length;
	const literal = readValue(reading, value, at, 0);
	if (reading.problems.length === before) {
		checkLiteral(reading, operator, literal, at, refs ? longestPattern : longestPatternOfItems);
	}
	return reading.problems.length === before ? { value: literal } : null;
}

function readReference(
	reading: Reading,
	operator: Operator,
	value: Readonly<Record<string, unknown>>,
	at: Place,
	refs: boolean,
): Operand | null {
	const { ref } = value;
	const attribute = typeof ref === 'string' ? attributeNamed(ref) : undefined;
	if (operator.literal === true) {
		reading.refuse('wrong_operand', at, `\`${operator.name}\` takes a value, not a \`ref\``);
	} else if (!refs) {
		reading.refuse('wrong_operand', at, 'inside `match` an operand must be a value, not a `ref`');
	} else if (Object.keys(value).length > 1) {
		reading.refuse('wrong_shape', at, '`ref` must be the only member of its object');
	} else if (attribute === undefined) {
		const msg = `\`ref\` must name an attribute of user, resource, tenant or context, such as "user.key", not ${shown(ref)}`;
		reading.refuse('wrong_attribute', [...at, 'ref'], msg, ref);
	} else if (isWellFormed(reading, attribute.path.join('.'), [...at, 'ref'])) {
		return { ref: reading.name(attribute, [...at, 'ref']) };
	}
	return null;
}

/** The most members of an object that is compared with: the engine takes time quadratic in them, at each comparison. */
export const mostMembers = 32;

/** The same value, known to be JSON that can be written in Rego. */
function readValue(reading: Reading, value: unknown, at: Place, depth: number): Json {
	if (!reading.enter(at, depth)) {
		return null;
	}
	if (typeof value === 'string') {
		isWellFormed(reading, value, at);
		return value;
	}
	if (typeof value === 'number' && Number.isFinite(value) && isInexact(value)) {
		reading.refuse('wrong_operand', at, `${inexactText}; write this one as a string`, value);
		return value;
	}
	if (value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) {
		return value;
	}
	if (Array.isArray(value)) {
		return value.map((item: unknown, index) => readValue(reading, item, [...at, index], depth + 1));
	}
	if (isObject(value)) {
		if (Object.keys(value).length > mostMembers) {
			reading.refuse('too_large', at, `an object in a condition must not have more than ${mostMembers} members`);
			return null;
		}
		// Makes own members of every name, `__proto__` too.
		return Object.fromEntries(
			Object.entries(value).map(([name, member]) => {
				const place = [...at, name];
				isWellFormed(reading, name, place);
				return [name, readValue(reading, member, place, depth + 1)];
			}),
		);
	}
	reading.refuse('wrong_operand', at, 'must be a JSON value');
	return null;
}

/** Notes halves of surrogate pairs: they are no characters, and engines differ in what they make of them. */
export function isWellFormed(reading: Reading, text: string, at: Place): boolean {
	const wellFormed = !/\p{Surrogate}/u.test(text);
	if (!wellFormed) {
		reading.refuse('wrong_shape', at, 'must not contain lone surrogates');
	}
	return wellFormed;
}

const absence = 'to ask for absence there is {"is-null": true}';

function checkLiteral(reading: Reading, operator: Operator, value: Json, at: Place, patternLength: number): void {
	const { says, takes } = taken[operator.operand];
	if (value === null) {
		reading.refuse('wrong_operand', at, `\`${operator.name}\` cannot compare with null: ${absence}`, value);
	} else if (!takes(value)) {
		reading.refuse(
			'wrong_operand',
			at,
			`the operand of \`${operator.name}\` must be ${says}, not ${shown(value)}`,
			value,
		);
	} else if (operator.operand === 'list') {
		checkItems(reading, operator, value, at);
	} else if (operator.operand === 'range') {
		checkRange(reading, operator, value, at);
	} else if (operator.name === 'matches' && typeof value === 'string') {
		checkPattern(reading, value, at, patternLength);
	}
}

function checkItems(reading: Reading, operator: Operator, value: Json, at: Place): void {
	for (const [index, item] of (Array.isArray(value) ? value : []).entries()) {
		const place = [...at, index];
		if (item === null) {
			reading.refuse('wrong_operand', place, `\`${operator.name}\` cannot compare with null: ${absence}`, item);
		} else if (isObject(item) && Object.hasOwn(item, 'ref')) {
			reading.refuse('wrong_operand', place, 'a `ref` can only stand for the whole operand');
		}
	}
}

/** An empty range is a mistake: nothing is between its ends. */
function checkRange(reading: Reading, operator: Operator, value: Json, at: Place): void {
	const [first, last] = Array.isArray(value) ? value : [];
	if (operator.holds(first ?? null, [first ?? null, last ?? null], () => false)) {
		return;
	}
	const msg = `the first end of \`${operator.name}\` must not be greater than the second: ${shown(value)}`;
	reading.refuse('wrong_operand', at, msg);
}

function checkPattern(reading: Reading, pattern: string, at: Place, most: number): void {
	const problem = pattern.length > most ? `is longer than ${most} characters` : reading.patternProblem(pattern);
	if (problem !== null) {
		reading.refuse('wrong_operand', at, `the regular expression ${shown(pattern)} ${problem}`, pattern);
	}
}
