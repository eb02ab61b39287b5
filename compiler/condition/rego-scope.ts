/** What the Rego of a condition stands in: a function about the user, the resource, or one item of an array. */
import { packagePart } from '../rego/path.js';
import { Fragment, rego } from '../rego/rego.js';
import { isAsked } from './attribute.js';
import type { AttributePath, Condition } from './condition.js';
import type { HelperFunctions } from './helper-functions.js';

/** How a condition is written where it stands. */
export interface RegoScope<Attribute> {
	/** Writes an attribute. */
	readonly attribute: (attribute: Attribute) => Fragment;
	/**
	 * Whether the set selects nothing unless the condition holds. Then its statements check the kinds of its values as
	 * well, and do not hold where one is mistyped. A condition inside `any` or `not` leaves that to the function
	 * `mistyped`: it makes the set select nothing, whatever the rest of the condition says.
	 */
	readonly required: boolean;
	/** The further functions with the parameter of this one. */
	readonly helpers: HelperFunctions;
	readonly items: ItemFunctions;
}

/** The functions about items of arrays. */
export interface ItemFunctions {
	/** The functions for a condition on an item, which are written when they are first asked for. */
	named(condition: Condition<readonly string[]>): ItemFunctionNames;
}

/** The names of the functions for a condition on an item. */
export interface ItemFunctionNames {
	/** True of an item that matches. */
	readonly match: Fragment;
	/** True of an item of which this cannot be said, because it is no object or a comparison is mistyped. */
	readonly mistyped: Fragment;
}

/** The scope of a part that need not hold for the set to select something. */
export function optional<A>(scope: RegoScope<A>): RegoScope<A> {
	return { ...scope, required: false };
}

/** The scope of a condition on the members of an object. */
export function scopeOfMembers<A>(object: Fragment, scope: RegoScope<A>): RegoScope<readonly string[]> {
	return { ...scope, attribute: (path) => memberRego(object, path) };
}

/** An attribute of a check as Rego, such as `user.address.city`, or `user_roles`, which is no attribute of the record. */
export function attributeRego(attribute: AttributePath): Fragment {
	const { object, path } = attribute;
	if (!isAsked(attribute)) {
		return memberRego(new Fragment(object), path);
	}
	const [first = '', ...rest] = path;
	return memberRego(new Fragment(`${object}_${first}`), rest);
}

/** What a path leads to from a value. */
export function memberRego(value: Fragment, path: readonly string[]): Fragment {
	return path.reduce((found, name) => rego`${found}${packagePart(name)}`, value);
}
