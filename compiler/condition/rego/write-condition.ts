/**
 * Writes conditions as readable Rego. For example, a condition requires a level above 3, an e-mail address that does
 * not end with `@old.org`, and a team in which the user is the lead. It becomes the following code, in the three parts
 * of `ConditionRego`:
 *
 * ```rego
 * # holds
 * compare.number(user.level)
 * user.level > 3
 * not excluded_1(user)
 * is_array(user.teams)
 * any_match_1(user)
 *
 * # mistyped
 * compare.not_string(user.email)
 * some one in user.teams; mistyped_1(one)
 *
 * # helpers
 * excluded_1(user) if endswith(user.email, "@old.org")
 * any_match_1(user) if { some one in user.teams; match_1(one) }
 * match_1(item) if item.lead == true
 * mistyped_1(item) if not is_object(item)
 * mistyped_1(item) if compare.inexact(item.lead)
 * ```
 */
import { packagePart } from '../../rego/path.js';
import { type Fragment, lines, rego } from '../../rego/rego.js';
import { type Body, regoFunction } from '../../rego/rule.js';
import type { Comparison, Condition } from '../condition.js';
import { constantValue } from '../constant-value.js';
import { roleRequired } from '../resource-roles.js';
import { HelperFunctions } from './helper-functions.js';
import { attributeRego, type ItemFunctionNames, type ItemFunctions, memberRego, type RegoScope } from './rego-scope.js';
import { writeMistyped } from './write-mistyped.js';
import { writeStatements } from './write-statements.js';

/** Parts of a generated condition. */
export interface ConditionRego {
	/** Statements. The condition holds if and only if all statements are true. */
	readonly holds: Body;
	/**
	 * Alternative bodies. At least one body is true if a comparison is mistyped. Comparisons checked in `holds` have no
	 * body.
	 */
	readonly mistyped: readonly Body[];
	/** The called functions. */
	readonly helpers: readonly Fragment[];
}

/** The set whose condition is written. */
export interface WrittenSet {
	/** Parameter of the set's functions: user attributes, resource attributes or grant values. */
	readonly object: 'user' | 'resource' | 'grant';
	/** The set's resource type; null if it has none. */
	readonly resource: string | null;
}

/**
 * Writes a condition on attributes for functions with a single parameter, the set's `object`. Functions are faster than
 * rules here: the engine does not cache function results, and caching costs more than most comparisons.
 */
export function writeCondition(condition: Condition, { object, resource }: WrittenSet): ConditionRego {
	const helpers = new HelperFunctions('', object);
	const items = new ItemFunctionWriter();
	const rule = (comparison: Comparison) => heldRole(comparison, resource);
	const scope = { attribute: attributeRego, rule, required: true, helpers, items };
	const holds = writeStatements(condition, scope);
	const mistyped = writeMistyped(condition, scope);
	return { holds, mistyped, helpers: [...helpers.written(), ...items.written()] };
}

/**
 * Writes a reference to the rule for a role on the checked resource. Explanations and listings use the same rule. A
 * check evaluates it once, even if several sets name the role.
 */
function heldRole(comparison: Comparison, resource: string | null): Fragment | undefined {
	const role = roleRequired(comparison);
	if (role === undefined) return undefined;
	return rego`instances${packagePart(resource ?? '')}.holds${packagePart(role)}`;
}

/**
 * Writes the functions `match_1(item)` and `mistyped_1(item)` for each condition on array items, and their helper
 * functions.
 */
class ItemFunctionWriter implements ItemFunctions {
	readonly #names = new Map<Condition<readonly string[]>, ItemFunctionNames>();
	readonly #functions: Fragment[][] = [];
	readonly #helpers = new HelperFunctions('item_', 'item');
	readonly #scope: RegoScope<readonly string[]> = {
		attribute: (path) => memberRego(rego`item`, path),
		rule: () => undefined,
		required: false,
		helpers: this.#helpers,
		items: this,
	};

	/** Returns a condition's function names. Writes the functions on the first call. */
	named(condition: Condition<readonly string[]>): ItemFunctionNames {
		const known = this.#names.get(condition);
		if (known !== undefined) {
			return known;
		}
		const number = this.#names.size + 1;
		const names = { match: rego`match_${number}`, mistyped: rego`mistyped_${number}` };
		this.#names.set(condition, names);
		// Reserve the place before writing, because called functions come after their caller.
		const functions: Fragment[] = [];
		this.#functions.push(functions);
		functions.push(this.#write(condition, names));
		return names;
	}

	#write(condition: Condition<readonly string[]>, { match, mistyped }: ItemFunctionNames): Fragment {
		const isObject = rego`is_object(item)`;
		const statements = writeStatements(condition, this.#scope);
		// Only an object has fields, so no comparison holds for any other item. Only a constant condition needs an
		// explicit check.
		const matching = constantValue(condition) === undefined ? statements : [isObject, ...statements];
		const mistypedBodies = [[rego`not ${isObject}`], ...writeMistyped(condition, this.#scope)];
		return lines([
			regoFunction(match, ['item'], matching),
			...mistypedBodies.flatMap((body) => [rego``, regoFunction(mistyped, ['item'], body)]),
		]);
	}

	/** Returns all functions, in first-call order. */
	written(): readonly Fragment[] {
		return [...this.#functions.flat(), ...this.#helpers.written()];
	}
}
