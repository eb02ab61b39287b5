/** The condition tree: the common source for decisions, previews, explanations and messages. */
import type { Json } from '../model.js';

/**
 * Objects whose attributes a condition can use; `grant`, the values stored with a conditional assignment or
 * relationship; and `now`, the check's time in milliseconds since 1970.
 */
export type AttributeObject = 'user' | 'resource' | 'tenant' | 'context' | 'grant' | 'now';

/**
 * An attribute, such as `user.address.city`: the first name in `path` is the attribute, and the other names are a path
 * into its value.
 */
export interface AttributePath {
	readonly object: AttributeObject;
	/** Empty only for `now`. */
	readonly path: readonly string[];
}

/** Condition type: for a user set, a resource set or grants. */
export type ConditionType = 'userset' | 'resourceset' | 'grant';

/** Field names and array indexes from `conditions` to a location inside it. */
export type ConditionPath = readonly (string | number)[];

/**
 * Right side of a comparison. `match` contains a condition on an object's fields, with paths relative to that object.
 * With `related`, a resource type, the attribute contains instance keys, and the objects are the stored attributes of
 * these instances.
 */
export type Operand = { readonly value: Json } | { readonly ref: AttributePath } | MatchOperand;

export interface MatchOperand {
	readonly match: Condition<readonly string[]>;
	readonly related?: string;
}

/** Compares an attribute with an operand. */
export interface Comparison<Attribute = AttributePath> {
	readonly kind: 'comparison';
	readonly attribute: Attribute;
	/** A name in the operator table. */
	readonly operator: string;
	readonly operand: Operand;
	/** The operator's location in the conditions. */
	readonly at: ConditionPath;
}

/**
 * A condition, with its parts in the author's order. An empty `all` holds, an empty `any` does not. Nesting below an
 * attribute is resolved: each comparison contains its attribute.
 */
export type Condition<Attribute = AttributePath> =
	| { readonly kind: 'all' | 'any'; readonly conditions: readonly Condition<Attribute>[] }
	| { readonly kind: 'not'; readonly condition: Condition<Attribute> }
	| Comparison<Attribute>;
