/** The `conditions` grammar: parses user input into a tree, or reports its problems. */

import { isObject } from '../../json.js';
import { attributeNamed } from '../attribute.js';
import type { AttributePath, Condition, ConditionPath, ConditionType, Operand } from '../condition.js';
import { excerpt } from '../excerpt.js';
import { type Operator, operatorNamed, operators } from '../operator.js';
import { logical, logicalHint, operatorHint } from './name-hint.js';
import { readOperand, requireWellFormed } from './operand.js';
import {
	type ConditionProblem,
	maxProblems,
	type NamedAttribute,
	ParseRun,
	type PatternMeasure,
	type RelatedName,
} from './parse-run.js';
import { attributeScope, memberScope, type Scope } from './scope.js';

export type { NamedAttribute, RelatedName } from './parse-run.js';

/** A condition, or all problems in the input. */
export type Parsed = ({ readonly condition: Condition } | { readonly problems: readonly ConditionProblem[] }) & {
	/** Every correctly named attribute, in input order, without fields inside `match`. */
	readonly attributes: readonly NamedAttribute[];
	/** Every resource type in a `fk_resource_type`, and every attribute of its instances. */
	readonly related: readonly RelatedName[];
};

/** Parser input in addition to the conditions. */
export interface ParseOptions {
	readonly type: ConditionType;
	/** Parameter names of a `grant` condition. */
	readonly parameters?: Iterable<string>;
	/** True if the set has a resource. A user set can then name roles on the resource. */
	readonly bound: boolean;
	/**
	 * Measures a regular expression. If absent, every expression is accepted, because the compiler has no regular
	 * expression engine.
	 */
	readonly measurePattern?: (pattern: string) => PatternMeasure;
}

function acceptPattern(): PatternMeasure {
	return { steps: 0, problem: null };
}

/** Parses `conditions`. Reports the first twenty problems together, each with its location. Never throws. */
export function parseConditions(
	conditions: unknown,
	{ type, bound, parameters = [], measurePattern = acceptPattern }: ParseOptions,
): Parsed {
	const run = new ParseRun(measurePattern, type === 'grant' ? new Set(parameters) : undefined);
	const condition = readWhole(conditions, [], 0, attributeScope(run, type, bound));
	const { problems, attributes, related } = run;
	const [first] = type === 'grant' ? related : [];
	if (first !== undefined) {
		run.refuse('wrong_operand', first.at, 'a condition of type `grant` cannot read related instances');
	}
	return problems.length === 0 ? { condition, attributes, related } : { problems, attributes, related };
}

/** Returns every attribute in a condition, in order, without fields inside `match`. */
export function attributesIn(condition: Condition): readonly AttributePath[] {
	if (condition.kind === 'not') {
		return attributesIn(condition.condition);
	}
	if (condition.kind !== 'comparison') {
		return condition.conditions.flatMap(attributesIn);
	}
	const { attribute, operand } = condition;
	return 'ref' in operand ? [attribute, operand.ref] : [attribute];
}

/** Returns the durations in a condition, including those inside `match`. */
export function durationsIn<A>(condition: Condition<A>): readonly string[] {
	if (condition.kind === 'not') return durationsIn(condition.condition);
	if (condition.kind !== 'comparison') return condition.conditions.flatMap(durationsIn);
	const { operand } = condition;
	if ('match' in operand) return durationsIn(operand.match);
	const isDuration = operatorNamed(condition.operator)?.operand === 'duration';
	return isDuration && 'value' in operand ? [String(operand.value)] : [];
}

type Reader<Attribute> = (value: unknown, at: ConditionPath, depth: number) => Condition<Attribute>;

/** Placeholder for an unreadable condition. It is never evaluated, because the problem has been recorded. */
const nothing = { kind: 'all', conditions: [] } as const;

/** Reads `conditions` or a `match` as a whole. Only there, an empty object is allowed; it restricts nothing. */
function readWhole<A>(value: unknown, at: ConditionPath, depth: number, scope: Scope<A>): Condition<A> {
	return isObject(value) && Object.keys(value).length === 0 ? nothing : readCondition(value, at, depth, scope);
}

function readCondition<A>(value: unknown, at: ConditionPath, depth: number, scope: Scope<A>): Condition<A> {
	const { run } = scope;
	const inner: Reader<A> = (below, place, deeper) => readCondition(below, place, deeper, scope);
	if (!run.enter(at, depth)) {
		return nothing;
	}
	if (!isObject(value)) {
		run.refuse('wrong_shape', at, `a condition must be an object, not ${excerpt(value)}`, value);
		return nothing;
	}
	return readMembers(run, value, at, (name, member, place) => {
		const kind = logical.get(name);
		if (kind !== undefined) {
			return readLogical(run, kind, name, member, place, depth, inner);
		}
		const before = run.problems.length;
		const attribute = scope.attribute(name, member, place);
		// The value below a wrong name may not be a comparison at all, so it is not checked.
		const wrong = run.problems.length > before;
		return wrong ? nothing : readComparison(member, place, depth, scope, attribute);
	});
}

/** Reads the value below an attribute: an operator, or a logical operator with nested values of the same form. */
function readComparison<A>(
	value: unknown,
	at: ConditionPath,
	depth: number,
	scope: Scope<A>,
	attribute: A,
): Condition<A> {
	const { run } = scope;
	if (!isObject(value)) {
		const operator = Array.isArray(value) ? 'in' : 'equals';
		const msg = `a comparison must be an object such as {"${operator}": ${excerpt(value)}}`;
		run.refuse('wrong_shape', at, msg, value);
		return nothing;
	}
	return readMembers(run, value, at, (name, member, place) => {
		const kind = logical.get(name);
		if (kind !== undefined) {
			return readLogical(run, kind, name, member, place, depth, (below, there, deeper) =>
				run.enter(there, deeper) ? readComparison(below, there, deeper, scope, attribute) : nothing,
			);
		}
		const operator = operatorNamed(name);
		if (operator === undefined) {
			run.refuse('unknown_operator', place, unknownOperator(name, member), name);
			return nothing;
		}
		const special = scope.special(attribute, operator, member, place);
		if (special !== undefined) return special ?? nothing;
		const operand = readAnyOperand(scope, operator, member, place, depth);
		if (operand !== null) {
			scope.compared(attribute, operator, 'value' in operand ? operand.value : undefined, place);
		}
		return operand === null ? nothing : { kind: 'comparison', attribute, operator: operator.name, operand, at: place };
	});
}

function unknownOperator(name: string, value: unknown): string {
	if (attributeNamed(name) !== undefined) {
		return `the attribute ${excerpt(name)} cannot be nested in a different attribute: use \`allOf\` above both`;
	}
	const hint = (Array.isArray(value) || isObject(value) ? logicalHint(name) : undefined) ?? operatorHint(name);
	const names = operators.map((operator) => operator.name).join(', ');
	return `unknown operator ${excerpt(name)}: did you mean ${hint}? Available: ${names}`;
}

/**
 * Reads an object with a single field. If the object has more fields, reads the first few to find further problems.
 */
function readMembers<A>(
	run: ParseRun,
	value: Readonly<Record<string, unknown>>,
	at: ConditionPath,
	read: (name: string, member: unknown, at: ConditionPath) => Condition<A>,
): Condition<A> {
	const members = Object.entries(value);
	if (members.length === 0) {
		run.refuse('wrong_shape', at, 'must not be empty: only `conditions` as a whole can be {}');
	} else if (members.length > 1) {
		const names = members.slice(0, 3).map(([name]) => `{${excerpt(name)}: …}`);
		const more = members.length > names.length ? ', …' : '';
		const msg = `must have one field, not ${members.length}: to require all, use {"allOf": [${names.join(', ')}${more}]}`;
		run.refuse('wrong_shape', at, msg);
	}
	return members.slice(0, maxProblems).map(([name, member]) => read(name, member, [...at, name]))[0] ?? nothing;
}

function readLogical<A>(
	run: ParseRun,
	kind: 'all' | 'any' | 'not',
	name: string,
	value: unknown,
	at: ConditionPath,
	depth: number,
	read: Reader<A>,
): Condition<A> {
	if (kind === 'not') {
		if (isObject(value)) {
			return { kind, condition: read(value, at, depth + 1) };
		}
		const hint = Array.isArray(value) ? '; to negate several, use {"not": {"anyOf": […]}}' : '';
		run.refuse('wrong_shape', at, `\`not\` takes one condition object, not ${excerpt(value)}${hint}`, value);
		return nothing;
	}
	if (!Array.isArray(value)) {
		run.refuse('wrong_shape', at, `\`${name}\` takes an array of conditions, not ${excerpt(value)}`, value);
		return nothing;
	}
	return { kind, conditions: value.map((item: unknown, index) => read(item, [...at, index], depth + 1)) };
}

function readAnyOperand<A>(
	scope: Scope<A>,
	operator: Operator,
	value: unknown,
	at: ConditionPath,
	depth: number,
): Operand | null {
	const { run } = scope;
	if (operator.match === undefined) {
		return readOperand(run, operator, value, at, scope.refs);
	}
	const isRelated = isObject(value) && Object.hasOwn(value, 'fk_resource_type');
	if (!isObject(value) || !Object.hasOwn(value, 'match') || Object.keys(value).length > (isRelated ? 2 : 1)) {
		const msg = `the operand of \`${operator.name}\` must be {"match": {…}}, a condition on fields, not ${excerpt(value)}`;
		run.refuse('wrong_operand', at, msg, value);
		return null;
	}
	const related = isRelated
		? readRelatedType(scope, value['fk_resource_type'], [...at, 'fk_resource_type'])
		: undefined;
	const match = readWhole(value['match'], [...at, 'match'], depth + 1, memberScope(run, related));
	return { match, ...(related !== undefined && { related }) };
}

function readRelatedType<A>({ run, refs }: Scope<A>, value: unknown, at: ConditionPath): string | undefined {
	if (!refs) {
		run.refuse('wrong_operand', at, 'inside `match`, `fk_resource_type` is not supported');
	} else if (typeof value !== 'string') {
		run.refuse('wrong_operand', at, `\`fk_resource_type\` must be the key of a resource, not ${excerpt(value)}`, value);
	} else if (requireWellFormed(run, value, at)) {
		run.related.push({ type: value, at });
		return value;
	}
	return undefined;
}
