/** The condition tree: the common source for decisions, previews, explanations and messages. */
import type { Json } from '../model.js';

/** Objects whose attributes a condition can name. */
export type AttributeObject = 'user' | 'resource' | 'tenant' | 'context';

/** An attribute, such as `user.address.city`: the first name is the attribute, further names lead into its value. */
export interface AttributePath {
	readonly object: AttributeObject;
	/** Never empty. */
	readonly path: readonly string[];
}

/** Members and indexes from `conditions` to a place in it. */
export type ConditionPath = readonly (string | number)[];

/** Right side of a comparison. `match` holds a condition on an object's members; its paths start there. */
export type Operand =
	| { readonly value: Json }
	| { readonly ref: AttributePath }
	| { readonly match: Condition<readonly string[]> };

/** Compares an attribute with an operand. */
export interface Comparison<Attribute = AttributePath> {
	readonly kind: 'comparison';
	readonly attribute: Attribute;
	/** A name in the operator table. */
	readonly operator: string;
	readonly operand: Operand;
	/** The operator's place in the text. */
	readonly at: ConditionPath;
}

/**
 * A condition in its author's order. An empty `all` holds, an empty `any` does not. Attribute-first nesting is
 * resolved: each comparison has its attribute.
 */
export type Condition<Attribute = AttributePath> =
	| { readonly kind: 'all' | 'any'; readonly conditions: readonly Condition<Attribute>[] }
	| { readonly kind: 'not'; readonly condition: Condition<Attribute> }
	| Comparison<Attribute>;
