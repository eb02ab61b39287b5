/**
 * The grammar of `conditions` (spec: Conditions grammar): what a person wrote becomes one tree, or what is wrong
 * with it.
 */
import { attributeNamed } from './attribute.js';
import type { AttributePath, Condition, Operand, Place } from './condition.js';
import { logical, logicalHint, operatorHint } from './hint.js';
import { readOperand } from './operand.js';
import { type Operator, operatorNamed, operators } from './operator.js';
import { type ConditionProblem, mostProblems, type NamedAttribute, Reading } from './reading.js';
import { attributeScope, memberScope, type Scope } from './scope.js';
import { isObject, shown } from './shown.js';

export type { ConditionProblem, NamedAttribute } from './reading.js';

/** A condition, or everything that is wrong with what was written. */
export type Parsed = ({ readonly condition: Condition } | { readonly problems: readonly ConditionProblem[] }) & {
	/** Every attribute that is named rightly, in the order in which they stand there; members inside `match` are none. */
	readonly attributes: readonly NamedAttribute[];
};

/** What the conditions are of, and what there is to help. */
export interface ParseOptions {
	readonly type: 'userset' | 'resourceset';
	/** What is wrong with a regular expression, null when nothing is: the compiler has no engine for it. */
	readonly patternProblem?: (pattern: string) => string | null;
}

/** Reads `conditions`. Finds the first twenty problems at once, each with its place, and throws nothing. */
export function parseConditions(conditions: unknown, { type, patternProblem = () => null }: ParseOptions): Parsed {
	const reading = new Reading(patternProblem);
	const condition = readWhole(conditions, [], 0, attributeScope(reading, type === 'userset' ? 'user' : 'resource'));
	const { problems, attributes } = reading;
	return problems.length === 0 ? { condition, attributes } : { problems, attributes };
}

/** Every attribute that a condition names, in the order in which they stand there; members inside `match` are none. */
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

type Reader<Attribute> = (value: unknown, at: Place, depth: number) => Condition<Attribute>;

/** Stands for what cannot be read: the problem is noted, and no condition comes of it. */
const nothing = { kind: 'all', conditions: [] } as const;

/** What nothing is around: there, an empty object restricts nothing. */
function readWhole<A>(value: unknown, at: Place, depth: number, scope: Scope<A>): Condition<A> {
	return isObject(value) && Object.keys(value).length === 0 ? nothing : readCondition(value, at, depth, scope);
}

function readCondition<A>(value: unknown, at: Place, depth: number, scope: Scope<A>): Condition<A> {
	const { reading } = scope;
	const inner: Reader<A> = (below, place, deeper) => readCondition(below, place, deeper, scope);
	if (!reading.enter(at, depth)) {
		return nothing;
	}
	if (!isObject(value)) {
		reading.refuse('wrong_shape', at, `a condition must be an object, not ${shown(value)}`, value);
		return nothing;
	}
	return readMembers(reading, value, at, (name, member, place) => {
		const kind = logical.get(name);
		if (kind !== undefined) {
			return readLogical(reading, kind, name, member, place, depth, inner);
		}
		const before = reading.problems.length;
		const attribute = scope.attribute(name, member, place);
		// What stands below a wrong name may be no comparison at all, so nothing is said of it.
		const wrong = reading.problems.length > before;
		return wrong ? nothing : readComparison(member, place, depth, scope, attribute);
	});
}

/** What stands below an attribute: one operator, or logic over more of such objects. */
function readComparison<A>(value: unknown, at: Place, depth: number, scope: Scope<A>, attribute: A): Condition<A> {
	const { reading } = scope;
	if (!isObject(value)) {
		const operator = Array.isArray(value) ? 'in' : 'equals';
		const msg = `a comparison must be an object such as {"${operator}": ${shown(value)}}`;
		reading.refuse('wrong_shape', at, msg, value);
		return nothing;
	}
	return readMembers(reading, value, at, (name, member, place) => {
		const kind = logical.get(name);
		if (kind !== undefined) {
			return readLogical(reading, kind, name, member, place, depth, (below, there, deeper) =>
				reading.enter(there, deeper) ? readComparison(below, there, deeper, scope, attribute) : nothing,
			);
		}
		const operator = operatorNamed(name);
		if (operator === undefined) {
			reading.refuse('unknown_operator', place, unknownOperator(name, member), name);
			return nothing;
		}
		const operand = readAnyOperand(scope, operator, member, place, depth);
		if (operand !== null && 'value' in operand) {
			scope.compared(attribute, operator, operand.value, place);
		}
		return operand === null ? nothing : { kind: 'comparison', attribute, operator: operator.name, operand, at: place };
	});
}

function unknownOperator(name: string, value: unknown): string {
	if (attributeNamed(name) !== undefined) {
		return `the attribute ${shown(name)} cannot stand below another one: use \`allOf\` above both`;
	}
	const hint = (Array.isArray(value) || isObject(value) ? logicalHint(name) : undefined) ?? operatorHint(name);
	const names = operators.map((operator) => operator.name).join(', ');
	return `unknown operator ${shown(name)}: did you mean ${hint}? There are ${names}`;
}

/** Reads the one member of an object. Where there are more, the first of them are read, for what else is wrong. */
function readMembers<A>(
	reading: Reading,
	value: Readonly<Record<string, unknown>>,
	at: Place,
	read: (name: string, member: unknown, at: Place) => Condition<A>,
): Condition<A> {
	const members = Object.entries(value);
	if (members.length === 0) {
		reading.refuse('wrong_shape', at, 'must not be empty: only the whole of `conditions` can be {}');
	} else if (members.length > 1) {
		const names = members.slice(0, 3).map(([name]) => `{${shown(name)}: …}`);
		const more = members.length > names.length ? ', …' : '';
		const msg = `must have one member, not ${members.length}: to ask for all, {"allOf": [${names.join(', ')}${more}]}`;
		reading.refuse('wrong_shape', at, msg);
	}
	return members.slice(0, mostProblems).map(([name, member]) => read(name, member, [...at, name]))[0] ?? nothing;
}

function readLogical<A>(
	reading: Reading,
	kind: 'all' | 'any' | 'not',
	name: string,
	value: unknown,
	at: Place,
	depth: number,
	read: Reader<A>,
): Condition<A> {
	if (kind === 'not') {
		if (isObject(value)) {
			return { kind, condition: read(value, at, depth + 1) };
		}
		const hint = Array.isArray(value) ? '; to deny several, {"not": {"anyOf": […]}}' : '';
		reading.refuse('wrong_shape', at, `\`not\` takes one condition object, not ${shown(value)}${hint}`, value);
		return nothing;
	}
	if (!Array.isArray(value)) {
		reading.refuse('wrong_shape', at, `\`${name}\` takes an array of conditions, not ${shown(value)}`, value);
		return nothing;
	}
	return { kind, conditions: value.map((item: unknown, index) => read(item, [...at, index], depth + 1)) };
}

function readAnyOperand<A>(
	scope: Scope<A>,
	operator: Operator,
	value: unknown,
	at: Place,
	depth: number,
): Operand | null {
	const { reading } = scope;
	if (operator.match === undefined) {
		return readOperand(reading, operator, value, at, scope.refs);
	}
	if (isObject(value) && Object.hasOwn(value, 'fk_resource_type')) {
		const msg = '`fk_resource_type` is not supported: `match` is about the members of the attribute itself';
		reading.refuse('wrong_operand', [...at, 'fk_resource_type'], msg);
		return null;
	}
	if (!isObject(value) || !Object.hasOwn(value, 'match') || Object.keys(value).length > 1) {
		const msg = `the operand of \`${operator.name}\` must be {"match": {…}}, a condition on members, not ${shown(value)}`;
		reading.refuse('wrong_operand', at, msg, value);
		return null;
	}
	return { match: readWhole(value['match'], [...at, 'match'], depth + 1, memberScope(reading)) };
}
