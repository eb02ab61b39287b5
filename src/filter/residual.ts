/**
 * The part of a check that depends on a row in the application's table: a condition on the row's columns. The user, the
 * action, the context and the facts are already evaluated.
 */

import type { Operand as ConditionOperand } from '../../compiler/condition/condition.js';
import type { Json } from '../../compiler/model.js';

/** A column in the application's table: the resource's key, its tenant, or one of its attributes. */
export type Column =
	| { readonly kind: 'key' | 'tenant' }
	| {
			readonly kind: 'attribute';
			/** The attribute's name, then field names inside its value. Never empty. */
			readonly path: readonly string[];
			/** Declared attribute type, if known. */
			readonly type?: string;
	  };

/** Right side of a comparison. A value of null is a missing value. */
export type ResidualOperand =
	| { readonly value: Json }
	| { readonly column: Column }
	| Extract<ConditionOperand, { readonly match: unknown }>;

/** A column compared with an operand. */
export interface ColumnComparison {
	readonly column: Column;
	/** A name in the operator table. */
	readonly operator: string;
	readonly operand: ResidualOperand;
	/** If set, the operand is on the left side of the operator and the column on its right side. */
	readonly reversed?: true;
	/** Check time in milliseconds since 1970; only for operators with a duration. */
	readonly now?: number;
	/** Condition set key, or `roles`. Used in error messages. */
	readonly name: string;
}

/**
 * A condition on a row. An empty `all` holds, an empty `any` does not. All parts are two-valued:
 *
 * - `comparison` is true if the values satisfy the operator. A missing or mistyped value makes it false.
 * - `mistyped` is true if the values cannot be compared.
 */
export type Residual =
	| { readonly kind: 'all' | 'any'; readonly parts: readonly Residual[] }
	| { readonly kind: 'not'; readonly part: Residual }
	| ({ readonly kind: 'comparison' | 'mistyped' } & ColumnComparison);

/** A row of the application's table. */
export interface Row {
	readonly key: string;
	readonly tenant: string;
	/** An absent or null attribute is missing. */
	readonly attributes: Json;
}

/** True for every row. */
export const everyRow: Residual = { kind: 'all', parts: [] };

/** True for no row. */
export const noRow: Residual = { kind: 'any', parts: [] };

/** Returns the value of a constant residual; `undefined` if the result depends on the row. */
export function constantOf(residual: Residual): boolean | undefined {
	if (residual.kind !== 'all' && residual.kind !== 'any') return undefined;
	return residual.parts.length > 0 ? undefined : residual.kind === 'all';
}

/** Returns the column's name in responses: `resource.key`, `resource.tenant` or `resource.attributes.<path>`. */
export function columnText(column: Column): string {
	return column.kind === 'attribute' ? `resource.attributes.${column.path.join('.')}` : `resource.${column.kind}`;
}

/** Thrown if a target cannot express a condition exactly. A filter is never widened or shortened instead. */
export class FilterRefusal extends Error {
	override readonly name = 'FilterRefusal';

	/** @param condition condition set key, or `roles`. */
	constructor(
		readonly condition: string,
		/** Target name, such as `sql.sqlite`. */
		readonly target: string,
		reason: string,
	) {
		super(`\`${target}\` cannot express the condition \`${condition}\`: ${reason}`);
	}
}
