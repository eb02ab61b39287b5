/** Context for generated Rego: a function about the user, the resource, or an array item. */
import { packagePart } from '../../rego/path.js';
import { Fragment, rego } from '../../rego/rego.js';
import { isAsked } from '../attribute.js';
import type { AttributePath, Comparison, Condition } from '../condition.js';
import type { HelperFunctions } from './helper-functions.js';

/** Context in which a condition is written. */
export interface RegoScope<Attribute> {
	/** Writes an attribute. */
	readonly attribute: (attribute: Attribute) => Fragment;
	/** Writes a comparison that is a single rule in the policy; `undefined` for all other comparisons. */
	readonly rule: (comparison: Comparison<Attribute>) => Fragment | undefined;
	/**
	 * If true, the set selects nothing unless the condition holds. Its statements then also check the kinds of its
	 * values, and fail on a mistyped value. Conditions inside `any` or `not` are not required: the function `mistyped`
	 * checks their values, and a mistyped value makes the set select nothing, regardless of the other conditions.
	 */
	readonly required: boolean;
	/** Helper functions with the same parameter. */
	readonly helpers: HelperFunctions;
	readonly items: ItemFunctions;
}

/** Functions about array items. */
export interface ItemFunctions {
	/** Returns the names of the functions for a condition on an item. Writes the functions on the first call. */
	named(condition: Condition<readonly string[]>): ItemFunctionNames;
}

/** Function names for a condition on an item. */
export interface ItemFunctionNames {
	/** Name of the function to detect a matching item. */
	readonly match: Fragment;
	/** Name of the function to detect an item with a mistyped comparison, or an item other than an object. */
	readonly mistyped: Fragment;
}

/** Returns the scope for a part that may fail while the set still selects something. */
export function optional<A>(scope: RegoScope<A>): RegoScope<A> {
	return { ...scope, required: false };
}

/** Returns the scope for a condition on an object's fields. */
export function scopeOfMembers<A>(object: Fragment, scope: RegoScope<A>): RegoScope<readonly string[]> {
	return { ...scope, attribute: (path) => memberRego(object, path), rule: () => undefined };
}

/**
 * Writes a checked attribute, such as `user.address.city`. Facts and values from the check are separate variables, such
 * as `user_roles`.
 */
export function attributeRego(attribute: AttributePath): Fragment {
	const { object, path } = attribute;
	if (object === 'now') return rego`now`;
	if (!isAsked(attribute)) {
		return memberRego(new Fragment(object), path);
	}
	const [first = '', ...rest] = path;
	return memberRego(new Fragment(`${object}_${first}`), rest);
}

/** If `type` is given, writes the attributes for the instance with this key; otherwise the value itself. */
export function relatedRego(type: string | undefined, value: Fragment): Fragment {
	return type === undefined ? value : rego`related(${type}, ${value})`;
}

/**
 * Writes the items of an array. Related instances are compared once per key, because each may have large attributes,
 * and an attribute of a check may repeat a key thousands of times.
 */
export function itemsRego(type: string | undefined, array: Fragment): Fragment {
	return type === undefined ? array : rego`compare.items(${array})`;
}

/** Writes the access to a path inside a value. */
export function memberRego(value: Fragment, path: readonly string[]): Fragment {
	return path.reduce((found, name) => rego`${found}${packagePart(name)}`, value);
}
