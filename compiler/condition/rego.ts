/** Conditions as Rego: rules, and functions about the items of arrays, that a person can read aloud. */
import { jsonValue } from '../rego/json-value.js';
import { packagePart } from '../rego/path.js';
import { Fragment, lines, rego } from '../rego/rego.js';
import { isAsked } from './attribute.js';
import type { AttributePath, Comparison, Condition } from './condition.js';
import { kindToOrder, type Taken, taken } from './kinds.js';
import { type Operator, operatorNamed } from './operator.js';
import type { kindOf } from './value.js';

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
	/** The rules that these speak of. */
	readonly helpers: readonly Fragment[];
	/** The functions that these speak of as members of `matches`. */
	readonly matches: readonly Fragment[];
}

/** Writes a condition on attributes. */
export function writeCondition(condition: Condition): ConditionRego {
	const items = new Items();
	const rules = new Rules(items, '', (name) => rego`matches.${name}`);
	const holds = rules.statements(condition, attributeSpeech);
	const mistyped = rules.mistyped(condition, attributeSpeech);
	return { holds, mistyped, helpers: rules.written(), matches: items.written() };
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
	readonly #rules = new Rules(this, '(item)', (name) => name);
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
		return [...this.#functions, ...this.#rules.written()];
	}

	#write(condition: Condition<readonly string[]>, number: number): void {
		const speech = (path: readonly string[]) => below(rego`item`, path);
		const slot = this.#functions.push(rego``) - 1;
		const statements = this.#rules.statements(condition, speech);
		const constant = constantOf(condition) !== undefined;
		const mistyped = [[rego`not is_object(item)`], ...this.#rules.mistyped(condition, speech)];
		this.#functions[slot] = lines([
			rule(rego`match_${number}(item)`, constant ? [rego`is_object(item)`, ...statements] : statements),
			...mistyped.flatMap((body) => [rego``, rule(rego`mistyped_${number}(item)`, body)]),
		]);
	}
}

/** Rules beside each other: those of a set, without parameters, or functions about one item. */
class Rules {
	readonly #helpers: (readonly Fragment[])[] = [];
	readonly #counts = new Map<string, number>();

	constructor(
		readonly items: Items,
		readonly parameters: '' | '(item)',
		readonly functionNamed: (name: Fragment) => Fragment,
	) {}

	/** Every helper, each of its bodies a rule. */
	written(): readonly Fragment[] {
		return this.#helpers.flat();
	}

	/** Statements that are all true exactly when the condition holds. */
	statements<A>(condition: Condition<A>, speech: Speech<A>): Body {
		const constant = constantOf(condition);
		if (constant !== undefined) {
			return constant ? [] : [rego`false`];
		}
		switch (condition.kind) {
			case 'all':
				return condition.conditions.flatMap((one) => this.statements(one, speech));
			case 'any':
				return this.#alternatives(condition.conditions, speech);
			case 'not':
				return this.#negated(condition.condition, speech);
			default:
				return this.#comparison(condition, speech);
		}
	}

	/** Bodies of which one is true when a comparison in the condition is mistyped. */
	mistyped<A>(condition: Condition<A>, speech: Speech<A>): readonly Body[] {
		if (condition.kind === 'not') {
			return this.mistyped(condition.condition, speech);
		}
		if (condition.kind === 'comparison') {
			return this.#mistypedComparison(condition, speech);
		}
		return withoutRepetition(condition.conditions.flatMap((one) => this.mistyped(one, speech)));
	}

	#alternatives<A>(conditions: readonly Condition<A>[], speech: Speech<A>): Body {
		const possible = conditions.filter((one) => constantOf(one) === undefined);
		const [only] = possible;
		return only !== undefined && possible.length === 1
			? this.statements(only, speech)
			: [this.#helper('any', () => this.#bodies({ kind: 'any', conditions: possible }, speech))];
	}

	/** Of a negation the inside is what it denies. Else a rule is negated: `not` of an undefined value is not true. */
	#negated<A>(condition: Condition<A>, speech: Speech<A>): Body {
		if (condition.kind === 'not') {
			return this.statements(condition.condition, speech);
		}
		if (condition.kind === 'comparison' && operatorNamed(condition.operator)?.match === 'any') {
			return this.#comparison(condition, speech).map((itsRule) => rego`not ${itsRule}`);
		}
		return [rego`not ${this.#helper('excluded', () => this.#bodies(condition, speech))}`];
	}

	#bodies<A>(condition: Condition<A>, speech: Speech<A>): readonly Body[] {
		return condition.kind === 'any'
			? condition.conditions.filter((one) => constantOf(one) === undefined).flatMap((one) => this.#bodies(one, speech))
			: [this.statements(condition, speech)];
	}

	#comparison<A>(comparison: Comparison<A>, speech: Speech<A>): Body {
		const operator = operatorNamed(comparison.operator);
		const attribute = speech(comparison.attribute);
		const { operand } = comparison;
		if (operator === undefined) {
			return [rego`false`];
		}
		if ('match' in operand) {
			return this.#match(operator, attribute, operand.match);
		}
		if ('ref' in operand) {
			return operator.rego({ attribute, operand: attributeSpeech(operand.ref), literal: undefined });
		}
		const statements = operator.rego({ attribute, operand: jsonValue(operand.value, '\t'), literal: operand.value });
		return operator.missing?.(operand.value) === true
			? [rego`not ${this.#helper('present', () => [statements])}`]
			: statements;
	}

	#match(operator: Operator, attribute: Fragment, match: Condition<readonly string[]>): Body {
		if (operator.match === 'object') {
			const statements = this.statements(match, (path) => below(attribute, path));
			return [rego`is_object(${attribute})`, ...statements];
		}
		const matches = this.functionNamed(rego`match_${this.items.numberOf(match)}`);
		return operator.match === 'any'
			? [this.#helper('any_match', () => [[rego`some one in ${attribute}`, rego`${matches}(one)`]])]
			: [
					rego`is_array(${attribute})`,
					lines([rego`every one in ${attribute} {`, rego`		${matches}(one)`, rego`	}`]),
				];
	}

	/** A rule of its own, and how it is asked. The place in the order is that of its first mention. */
	#helper(kind: string, bodies: () => readonly Body[]): Fragment {
		const number = (this.#counts.get(kind) ?? 0) + 1;
		this.#counts.set(kind, number);
		const head = new Fragment(`${kind}_${number}${this.parameters}`);
		const slot = this.#helpers.push([]) - 1;
		this.#helpers[slot] = bodies().map((body) => rule(head, body));
		return head;
	}

	#mistypedComparison<A>(
		{ attribute: named, operator: name, operand }: Comparison<A>,
		speech: Speech<A>,
	): readonly Body[] {
		const operator = operatorNamed(name);
		const attribute = speech(named);
		if (operator === undefined) {
			return [];
		}
		if ('match' in operand) {
			return [...refusing(operator.attribute, attribute), ...this.#mistypedMatch(operator, attribute, operand.match)];
		}
		if ('value' in operand) {
			return refusing(operator.ordered ? kindTaken(operand.value) : operator.attribute, attribute);
		}
		const reference = attributeSpeech(operand.ref);
		const end = operator.operand === 'range' ? rego`${reference}[0]` : reference;
		return [
			...refusing(operator.attribute, attribute),
			...refusing(operator.operand, reference),
			...(operator.ordered ? [[rego`compare.of_two_kinds(${attribute}, ${end})`]] : []),
		];
	}

	#mistypedMatch(operator: Operator, attribute: Fragment, match: Condition<readonly string[]>): readonly Body[] {
		if (operator.match === 'object') {
			return this.mistyped(match, (path) => below(attribute, path));
		}
		const mistyped = this.functionNamed(rego`mistyped_${this.items.numberOf(match)}`);
		return [[rego`some one in ${attribute}`, rego`${mistyped}(one)`]];
	}
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

function refusing(kind: Taken, value: Fragment): readonly Body[] {
	const { refused } = taken[kind];
	return refused === undefined ? [] : [[rego`${refused}(${value})`]];
}

/** What an attribute must be to be compared by order with this operand. */
function kindTaken(operand: Parameters<typeof kindOf>[0]): Taken {
	return kindToOrder(operand) === 'number' ? 'number' : 'string';
}

function withoutRepetition(bodies: readonly Body[]): readonly Body[] {
	return [...new Map(bodies.map((body) => [lines(body).text, body])).values()];
}
