/** Conditions as Rego: functions about a user or a resource, and about items of arrays, that a person can read aloud. */

import type { Json } from '../model.js';
import { jsonValue } from '../rego/json-value.js';
import { packagePart } from '../rego/path.js';
import { Fragment, lines, list, rego } from '../rego/rego.js';
import { isAsked } from './attribute.js';
import type { AttributePath, Comparison, Condition } from './condition.js';
import { kindToOrder, type Taken, taken } from './kinds.js';
import { type Operator, operatorNamed, type Sides } from './operator.js';

/** Statements that are all true, from the first to the last. */
type Body = readonly Fragment[];

/** How an attribute is written. */
type Speech<Attribute> = (attribute: Attribute) => Fragment;

/** What a condition becomes. */
export interface ConditionRego {
	/** Statements that are all true exactly when the condition holds. */
	readonly holds: Body;
	/** Bodies, of which one is true when a comparison is mistyped. */
	readonly mistyped: readonly Body[];
	/** The functions that these speak of. */
	readonly helpers: readonly Fragment[];
}

/**
 * Writes a condition on attributes for functions with one parameter, `object`: the attributes of the user or of the
 * resource. What is called with it is not kept by the engine, which would cost more than most comparisons do.
 */
export function writeCondition(condition: Condition, object: 'user' | 'resource'): ConditionRego {
	const items = new Items();
	const functions = new Functions(items, object, '');
	const holds = functions.statements(condition, attributeSpeech, true);
	const mistyped = functions.mistyped(condition, attributeSpeech, true);
	return { holds, mistyped, helpers: [...functions.written(), ...items.written()] };
}

/** A function with one body; a parameter that the body does not speak of is `_`, as strict checks want it. */
export function functionOf(name: Fragment, parameters: readonly string[], body: Body): Fragment {
	const named = namesIn(body);
	const given = parameters.map((parameter) => new Fragment(named.has(parameter) ? parameter : '_'));
	const head = rego`${name}(${list(given)})`;
	return body.length === 0 ? rego`${head} := true` : rule(head, body);
}

/** The names that no dot leads to, in code. */
export function namesIn(code: readonly Fragment[]): ReadonlySet<string> {
	return new Set(code.flatMap(({ text }) => withoutTexts(text).match(firstNames) ?? []));
}

const firstNames = /(?<![\w.])[a-z]\w*/g;

/** The code with empty texts in place of those it holds. */
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

function attributeSpeech(attribute: AttributePath): Fragment {
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

	/** The number of the two functions of a condition. */
	numberOf(condition: Condition<readonly string[]>): number {
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
		const speech = (path: readonly string[]) => below(rego`item`, path);
		const slot = this.#functions.push(rego``) - 1;
		const statements = this.#helpers.statements(condition, speech, false);
		const constant = constantOf(condition) !== undefined;
		const mistyped = [[rego`not is_object(item)`], ...this.#helpers.mistyped(condition, speech, false)];
		this.#functions[slot] = lines([
			functionOf(rego`match_${number}`, ['item'], constant ? [rego`is_object(item)`, ...statements] : statements),
			...mistyped.flatMap((body) => [rego``, functionOf(rego`mistyped_${number}`, ['item'], body)]),
		]);
	}
}

/** Functions beside each other: about the user or the resource of a set, or about one item. */
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
	 * Statements that are all true exactly when the condition holds. Where the set cannot match without them, they are
	 * not true of what is mistyped either (`required`); elsewhere `mistyped` says what is.
	 */
	statements<A>(condition: Condition<A>, speech: Speech<A>, required: boolean): Body {
		const constant = constantOf(condition);
		if (constant !== undefined) {
			return constant ? [] : [rego`false`];
		}
		switch (condition.kind) {
			case 'all':
				return condition.conditions.flatMap((one) => this.statements(one, speech, required));
			case 'any':
				return this.#alternatives(condition.conditions, speech);
			case 'not':
				return this.#negated(condition.condition, speech);
			default:
				return this.#comparison(condition, speech, required);
		}
	}

	/** Bodies of which one is true when a comparison in the condition is mistyped; `required` as above. */
	mistyped<A>(condition: Condition<A>, speech: Speech<A>, required: boolean): readonly Body[] {
		if (condition.kind === 'not') {
			return this.mistyped(condition.condition, speech, false);
		}
		if (condition.kind === 'comparison') {
			return this.#mistypedComparison(condition, speech, required);
		}
		const still = required && condition.kind === 'all' && constantOf(condition) === undefined;
		return withoutRepetition(condition.conditions.flatMap((one) => this.mistyped(one, speech, still)));
	}

	#alternatives<A>(conditions: readonly Condition<A>[], speech: Speech<A>): Body {
		const possible = conditions.filter((one) => constantOf(one) === undefined);
		const [only] = possible;
		return only !== undefined && possible.length === 1
			? this.statements(only, speech, false)
			: [this.#helper('any', () => this.#bodies({ kind: 'any', conditions: possible }, speech))];
	}

	/** Of a negation the inside is what it denies. Else a function is negated: it may have many statements. */
	#negated<A>(condition: Condition<A>, speech: Speech<A>): Body {
		if (condition.kind === 'not') {
			return this.statements(condition.condition, speech, false);
		}
		if (condition.kind === 'comparison' && operatorNamed(condition.operator)?.match === 'any') {
			return this.#comparison(condition, speech, false).map((statement) => rego`not ${statement}`);
		}
		return [rego`not ${this.#helper('excluded', () => this.#bodies(condition, speech))}`];
	}

	#bodies<A>(condition: Condition<A>, speech: Speech<A>): readonly Body[] {
		return condition.kind === 'any'
			? condition.conditions.filter((one) => constantOf(one) === undefined).flatMap((one) => this.#bodies(one, speech))
			: [this.statements(condition, speech, false)];
	}

	#comparison<A>(comparison: Comparison<A>, speech: Speech<A>, required: boolean): Body {
		const operator = operatorNamed(comparison.operator);
		const attribute = speech(comparison.attribute);
		const { operand } = comparison;
		if (operator === undefined) {
			return [rego`false`];
		}
		if ('match' in operand) {
			return this.#match(operator, attribute, operand.match, required);
		}
		const sides =
			'ref' in operand
				? { attribute, operand: attributeSpeech(operand.ref), literal: undefined }
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
		const matches = rego`match_${this.items.numberOf(match)}`;
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

	/** A function of its own, and how it is called. The place in the order is that of its first mention. */
	#helper(kind: string, bodies: () => readonly Body[]): Fragment {
		const number = (this.#counts.get(kind) ?? 0) + 1;
		this.#counts.set(kind, number);
		const name = new Fragment(`${this.prefix}${kind}_${number}`);
		const slot = this.#helpers.push([]) - 1;
		this.#helpers[slot] = bodies().map((body) => functionOf(name, [this.parameter], body));
		return rego`${name}(${new Fragment(this.parameter)})`;
	}

	#mistypedComparison<A>(
		{ attribute: named, operator: name, operand }: Comparison<A>,
		speech: Speech<A>,
		required: boolean,
	): readonly Body[] {
		const operator = operatorNamed(name);
		const attribute = speech(named);
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
		const reference = attributeSpeech(operand.ref);
		return [
			...refusing(operator.attribute, attribute),
			...(operator.operand === 'compared' && isAsked(operand.ref) ? [] : refusing(operator.operand, reference)),
			...(operator.ordered ? [[rego`compare.of_two_kinds(${attribute}, ${endOf(operator, reference)})`]] : []),
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
		const mistyped = rego`mistyped_${this.items.numberOf(match)}`;
		return [...itself, [rego`some one in ${attribute}`, rego`${mistyped}(one)`]];
	}
}

/** Statements that are true of values of kinds that the operator takes, and of no others. */
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
	return [...accepting(operator.operand, operand), rego`compare.orderable(${attribute}, ${endOf(operator, operand)})`];
}

function accepting(kind: Taken, value: Fragment): Body {
	const { accepted } = taken[kind];
	return accepted === undefined ? [] : [rego`${accepted}(${value})`];
}

function refusing(kind: Taken, value: Fragment): readonly Body[] {
	const { refused } = taken[kind];
	return refused === undefined ? [] : [[rego`${refused}(${value})`]];
}

/** What an attribute must be to be compared with this operand. */
function attributeKind(operator: Operator, operand: Json): Taken {
	if (operator.ordered !== true) {
		return operator.attribute;
	}
	return kindToOrder(operand) === 'number' ? 'number' : 'string';
}

/** What an attribute is compared with by order. */
function endOf({ operand }: Operator, reference: Fragment): Fragment {
	return operand === 'range' ? rego`${reference}[0]` : reference;
}

/** Whether the condition holds whatever the attributes are, or never; `undefined` when that depends on them. */
function constantOf<A>(condition: Condition<A>): boolean | undefined {
	if (condition.kind === 'comparison') {
		return undefined;
	}
	if (condition.kind === 'not') {
		const inside = constantOf(condition.condition);
		return inside === undefined ? undefined : !inside;
	}
	const decisive = condition.kind === 'any';
	const parts = condition.conditions.map(constantOf);
	if (parts.includes(decisive)) {
		return decisive;
	}
	return parts.includes(undefined) ? undefined : !decisive;
}

function withoutRepetition(bodies: readonly Body[]): readonly Body[] {
	return [...new Map(bodies.map((body) => [lines(body).text, body])).values()];
}
