/** The one tree of a condition: decisions, previews, explanations and messages all come from it. */
import type { Json } from '../model.js';

/** The objects whose attributes a condition can name. */
export type AttributeObject = 'user' | 'resource' | 'tenant' | 'context';

/** An attribute, such as `user.address.city`: the first name is the attribute's, further ones lead into its value. */
export interface AttributePath {
	readonly object: AttributeObject;
	/** At least one name. */
	readonly path: readonly string[];
}

/** The members and indexes from `conditions` to one place in it. */
export type ConditionPath = readonly (string | number)[];

/** What an attribute is compared with. `match` holds a condition on the members of an object; its paths start there. */
export type Operand =
	| { readonly value: Json }
	| { readonly ref: AttributePath }
	| { readonly match: Condition<readonly string[]> };

/** One attribute against one operand. */
export interface Comparison<Attribute = AttributePath> {
	readonly kind: 'comparison';
	readonly attribute: Attribute;
	/** A name in the operator table. */
	readonly operator: string;
	readonly operand: Operand;
	/** The place of the operator in the text. */
	readonly at: ConditionPath;
}

/**
 * A condition in its author's order. An `all` of nothing holds, an `any` of nothing does not. Attribute-first nesting
 * is resolved: each comparison has its attribute.
 */
export type Condition<Attribute = AttributePath> =
	| { readonly kind: 'all' | 'any'; readonly conditions: readonly Condition<Attribute>[] }
	| { readonly kind: 'not'; readonly condition: Condition<Attribute> }
	| Comparison<Attribute>;
