/**
 * Writes conditions as Rego that a person can read: functions about a user or a resource, and about items of arrays.
 */

import type { Json } from '../model.js';
import { jsonValue } from '../rego/json-value.js';
import { packagePart } from '../rego/path.js';
import { Fragment, lines, list, rego } from '../rego/rego.js';
import { type AcceptedKind, acceptedKinds, orderedKind } from './accepted-kinds.js';
import { isAsked } from './attribute.js';
import type { AttributePath, Comparison, Condition } from './condition.js';
import { type Operator, operatorNamed, type Sides } from './operator.js';

/** Statements that are all true, from the first to the last. */
type Body = readonly Fragment[];

/** How an attribute is written. */
type AttributeWriter<Attribute> = (attribute: Attribute) => Fragment;

/** What a condition becomes. */
export interface ConditionRego {
	/** Statements that are all true exactly when the condition holds. */
	readonly holds: Body;
	/** Alternative bodies: one of them is true when a comparison is mistyped. */
	readonly mistyped: readonly Body[];
	/** The functions that these call. */
	readonly helpers: readonly Fragment[];
}

/**
 * Writes a condition on attributes for functions with one parameter, `object`: the attributes of the user or of the
 * resource. Functions, because the engine does not cache their results: caching costs more than most comparisons.
 */
export function writeCondition(condition: Condition, object: 'user' | 'resource'): ConditionRego {
	const items = new Items();
	const functions = new Functions(items, object, '');
	const holds = functions.statements(condition, attributeRego, true);
	const mistyped = functions.mistyped(condition, attributeRego, true);
	return { holds, mistyped, helpers: [...functions.written(), ...items.written()] };
}

/** A function with one body. A parameter that the body does not use becomes `_`, as `opa check --strict` demands. */
export function regoFunction(name: Fragment, parameters: readonly string[], body: Body): Fragment {
	const named = namesIn(body);
	const given = parameters.map((parameter) => new Fragment(named.has(parameter) ? parameter : '_'));
	const head = rego`${name}(${list(given)})`;
	return body.length === 0 ? rego`${head} := true` : rule(head, body);
}

/** The identifiers in code that do not follow a dot. */
export function namesIn(code: readonly Fragment[]): ReadonlySet<string> {
	return new Set(code.flatMap(({ text }) => withoutTexts(text).match(firstNames) ?? []));
}

const firstNames = /(?<![\w.])[a-z]\w*/g;

/** The code with its string literals emptied. */
function withoutTexts(code: string): string {
	return code.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
}

/** A rule with one body, as `opa fmt` prints it. */
export function rule(head: Fragment, body: Body): Fragment {
	const [first = rego`true`, ...others] = body;
	return others.length === 0 && !first.text.includes('\n')
		? rego`${head} if ${first}`
		: lines([rego`${head} if {`, ...body.map((statement) => rego`	${statement}`), rego`}`]);
}

function attributeRego(attribute: AttributePath): Fragment {
	const [first = '', ...rest] = attribute.path;
	return isAsked(attribute)
		? below(new Fragment(`${attribute.object}_${first}`), rest)
		: below(new Fragment(attribute.object), attribute.path);
}

function below(value: Fragment, path: readonly string[]): Fragment {
	return path.reduce((found, name) => rego`${found}${packagePart(name)}`, value);
}

/** The functions about items of arrays: `match_1(item)` says whether the item matches, `mistyped_1` whether it cannot. */
class Items {
	readonly #helpers = new Functions(this, 'item', 'item_');
	readonly #numbers = new Map<Condition<readonly string[]>, number>();
	readonly #functions: Fragment[] = [];

	/** The number of the two functions of a condition, which are written when it is first asked for. */
	functionNumber(condition: Condition<readonly string[]>): number {
		const known = this.#numbers.get(condition);
		if (known !== undefined) {
			return known;
		}
		const number = this.#numbers.size + 1;
		this.#numbers.set(condition, number);
		this.#write(condition, number);
		return number;
	}

	written(): readonly Fragment[] {
		return [...this.#functions, ...this.#helpers.written()];
	}

	#write(condition: Condition<readonly string[]>, number: number): void {
		const write = (path: readonly string[]) => below(rego`item`, path);
		const slot = this.#functions.push(rego``) - 1;
		const statements = this.#helpers.statements(condition, write, false);
		const constant = constantValue(condition) !== undefined;
		const mistyped = [[rego`not is_object(item)`], ...this.#helpers.mistyped(condition, write, false)];
		this.#functions[slot] = lines([
			regoFunction(rego`match_${number}`, ['item'], constant ? [rego`is_object(item)`, ...statements] : statements),
			...mistyped.flatMap((body) => [rego``, regoFunction(rego`mistyped_${number}`, ['item'], body)]),
		]);
	}
}

/** Functions that belong together: about the user or the resource of a set, or about one item. */
class Functions {
	readonly #helpers: (readonly Fragment[])[] = [];
	readonly #counts = new Map<string, number>();

	constructor(
		readonly items: Items,
		readonly parameter: 'user' | 'resource' | 'item',
		/** What the names of these functions begin with. */
		readonly prefix: '' | 'item_',
	) {}

	/** Every helper, each of its bodies a rule. */
	written(): readonly Fragment[] {
		return this.#helpers.flat();
	}

	/**
	 * Statements that are all true exactly when the condition holds. With `required`, where the set cannot match
	 * without them, they are not true of mistyped values either; elsewhere `mistyped` finds those.
	 */
	statements<A>(condition: Condition<A>, write: AttributeWriter<A>, required: boolean): Body {
		const constant = constantValue(condition);
		if (constant !== undefined) {
			return constant ? [] : [rego`false`];
		}
		switch (condition.kind) {
			case 'all':
				return condition.conditions.flatMap((one) => this.statements(one, write, required));
			case 'any':
				return this.#alternatives(condition.conditions, write);
			case 'not':
				return this.#negated(condition.condition, write);
			default:
				return this.#comparison(condition, write, required);
		}
	}

	/** Bodies of which one is true when a comparison in the condition is mistyped; `required` as above. */
	mistyped<A>(condition: Condition<A>, write: AttributeWriter<A>, required: boolean): readonly Body[] {
		if (condition.kind === 'not') {
			return this.mistyped(condition.condition, write, false);
		}
		if (condition.kind === 'comparison') {
			return this.#mistypedComparison(condition, write, required);
		}
		const still = required && condition.kind === 'all' && constantValue(condition) === undefined;
		return withoutRepetition(condition.conditions.flatMap((one) => this.mistyped(one, write, still)));
	}

	#alternatives<A>(conditions: readonly Condition<A>[], write: AttributeWriter<A>): Body {
		const possible = conditions.filter((one) => constantValue(one) === undefined);
		const [only] = possible;
		return only !== undefined && possible.length === 1
			? this.statements(only, write, false)
			: [this.#helper('any', () => this.#bodies({ kind: 'any', conditions: possible }, write))];
	}

	/**
	 * A double negation is its inside. Otherwise a function is negated, because the condition may take many statements.
	 */
	#negated<A>(condition: Condition<A>, write: AttributeWriter<A>): Body {
		if (condition.kind === 'not') {
			return this.statements(condition.condition, write, false);
		}
		if (condition.kind === 'comparison' && operatorNamed(condition.operator)?.match === 'any') {
			return this.#comparison(condition, write, false).map((statement) => rego`not ${statement}`);
		}
		return [rego`not ${this.#helper('excluded', () => this.#bodies(condition, write))}`];
	}

	#bodies<A>(condition: Condition<A>, write: AttributeWriter<A>): readonly Body[] {
		return condition.kind === 'any'
			? condition.conditions
					.filter((one) => constantValue(one) === undefined)
					.flatMap((one) => this.#bodies(one, write))
			: [this.statements(condition, write, false)];
	}

	#comparison<A>(comparison: Comparison<A>, write: AttributeWriter<A>, required: boolean): Body {
		const operator = operatorNamed(comparison.operator);
		const attribute = write(comparison.attribute);
		const { operand } = comparison;
		if (operator === undefined) {
			return [rego`false`];
		}
		if ('match' in operand) {
			return this.#match(operator, attribute, operand.match, required);
		}
		const sides =
			'ref' in operand
				? { attribute, operand: attributeRego(operand.ref), literal: undefined }
				: { attribute, operand: jsonValue(operand.value, '\t'), literal: operand.value };
		const known = { ...sides, guarded: required, exact: !('ref' in operand) || isAsked(operand.ref) };
		const statements = [...(required ? guards(operator, known) : []), ...operator.rego(known)];
		return sides.literal !== undefined && operator.missing?.(sides.literal) === true
			? [rego`not ${this.#helper('present', () => [statements])}`]
			: statements;
	}

	#match(operator: Operator, attribute: Fragment, match: Condition<readonly string[]>, required: boolean): Body {
		if (operator.match === 'object') {
			const statements = this.statements(match, (path) => below(attribute, path), required);
			return [rego`is_object(${attribute})`, ...statements];
		}
		const matches = rego`match_${this.items.functionNumber(match)}`;
		return operator.match === 'any'
			? [
					...(required ? [rego`is_array(${attribute})`] : []),
					this.#helper('any_match', () => [[rego`some one in ${attribute}`, rego`${matches}(one)`]]),
				]
			: [
					rego`is_array(${attribute})`,
					lines([rego`every one in ${attribute} {`, rego`		${matches}(one)`, rego`	}`]),
				];
	}

	/** Writes a function and returns a call of it. Functions stand in the order of their first calls. */
	#helper(kind: string, bodies: () => readonly Body[]): Fragment {
		const number = (this.#counts.get(kind) ?? 0) + 1;
		this.#counts.set(kind, number);
		const name = new Fragment(`${this.prefix}${kind}_${number}`);
		const slot = this.#helpers.push([]) - 1;
		this.#helpers[slot] = bodies().map((body) => regoFunction(name, [this.parameter], body));
		return rego`${name}(${new Fragment(this.parameter)})`;
	}

	#mistypedComparison<A>(
		{ attribute: named, operator: name, operand }: Comparison<A>,
		write: AttributeWriter<A>,
		required: boolean,
	): readonly Body[] {
		const operator = operatorNamed(name);
		const attribute = write(named);
		if (operator === undefined) {
			return [];
		}
		if ('match' in operand) {
			return this.#mistypedMatch(operator, attribute, operand.match, required);
		}
		if (required) {
			return [];
		}
		if ('value' in operand) {
			const unusable = operator.unusable?.(jsonValue(operand.value, '\t'));
			return [
				...refusing(attributeKind(operator, operand.value), attribute),
				...(unusable === undefined ? [] : [[unusable]]),
			];
		}
		const reference = attributeRego(operand.ref);
		return [
			...refusing(operator.attribute, attribute),
			...(operator.operand === 'compared' && isAsked(operand.ref) ? [] : refusing(operator.operand, reference)),
			...(operator.ordered ? [[rego`compare.of_two_kinds(${attribute}, ${orderedOperand(operator, reference)})`]] : []),
		];
	}

	#mistypedMatch(
		operator: Operator,
		attribute: Fragment,
		match: Condition<readonly string[]>,
		required: boolean,
	): readonly Body[] {
		const itself = required ? [] : refusing(operator.attribute, attribute);
		if (operator.match === 'object') {
			return [...itself, ...this.mistyped(match, (path) => below(attribute, path), required)];
		}
		const mistyped = rego`mistyped_${this.items.functionNumber(match)}`;
		return [...itself, [rego`some one in ${attribute}`, rego`${mistyped}(one)`]];
	}
}

/** Statements that are true exactly of values that the operator accepts. */
function guards(operator: Operator, { attribute, operand, literal }: Sides): Body {
	if (operator.guards === true) {
		return [];
	}
	if (literal !== undefined || !operator.ordered) {
		return [
			...accepting(literal === undefined ? operator.attribute : attributeKind(operator, literal), attribute),
			...(literal === undefined ? accepting(operator.operand, operand) : []),
		];
	}
	return [
		...accepting(operator.operand, operand),
		rego`compare.orderable(${attribute}, ${orderedOperand(operator, operand)})`,
	];
}

function accepting(kind: AcceptedKind, value: Fragment): Body {
	const { accepted } = acceptedKinds[kind];
	return accepted === undefined ? [] : [rego`${accepted}(${value})`];
}

function refusing(kind: AcceptedKind, value: Fragment): readonly Body[] {
	const { refused } = acceptedKinds[kind];
	return refused === undefined ? [] : [[rego`${refused}(${value})`]];
}

/** What an attribute must be to be compared with this operand. */
function attributeKind(operator: Operator, operand: Json): AcceptedKind {
	if (operator.ordered !== true) {
		return operator.attribute;
	}
	return orderedKind(operand) === 'number' ? 'number' : 'string';
}

/** The value that an attribute is ordered against. */
function orderedOperand({ operand }: Operator, reference: Fragment): Fragment {
	return operand === 'range' ? rego`${reference}[0]` : reference;
}

/** The condition's value where it is the same for all attributes; `undefined` where it depends on them. */
function constantValue<A>(condition: Condition<A>): boolean | undefined {
	if (condition.kind === 'comparison') {
		return undefined;
	}
	if (condition.kind === 'not') {
		const inside = constantValue(condition.condition);
		return inside === undefined ? undefined : !inside;
	}
	const decisive = condition.kind === 'any';
	const parts = condition.conditions.map(constantValue);
	if (parts.includes(decisive)) {
		return decisive;
	}
	return parts.includes(undefined) ? undefined : !decisive;
}

function withoutRepetition(bodies: readonly Body[]): readonly Body[] {
	return [...new Map(bodies.map((body) => [lines(body).text, body])).values()];
}
