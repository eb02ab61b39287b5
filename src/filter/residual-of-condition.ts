/**
 * Converts set conditions to residuals: a back end of the condition tree, like Rego, JsonLogic and compiled functions.
 */

import { acceptedKinds } from '../../compiler/condition/accepted-kinds.js';
import { compileCondition } from '../../compiler/condition/compile-condition.js';
import type { AttributePath, Comparison, Condition } from '../../compiler/condition/condition.js';
import { type Operator, operatorNamed, type PatternMatcher } from '../../compiler/condition/operator.js';
import { durationsIn } from '../../compiler/condition/parse/grammar.js';
import { isResourceRoles, roleRequired } from '../../compiler/condition/resource-roles.js';
import { jsonKind } from '../../compiler/condition/value.js';
import type { Json } from '../../compiler/model.js';
import {
	type Column,
	type ColumnComparison,
	FilterRefusal,
	noRow,
	type Residual,
	type ResidualOperand,
} from './residual.js';

/** A value that a condition reads: a known value, where `undefined` is a missing value, or a column. */
export type Resolved = { readonly value: Json | undefined } | { readonly column: Column };

/** Context for reading a condition. */
export interface ConditionReading {
	/** Condition set key. */
	readonly name: string;
	readonly resolve: (attribute: AttributePath) => Resolved;
	readonly matches: PatternMatcher;
	/**
	 * Returns the sorted row keys on which the user holds a role. If absent, conditions on roles are rejected.
	 */
	readonly keysWithRole?: (role: string) => readonly string[];
}

/**
 * Returns the rows that a condition selects. A row with a mistyped comparison is not selected. The result is not
 * simplified. Throws `FilterRefusal` if the condition reads related instances, or roles without `keysWithRole`.
 */
export function residualOfCondition(condition: Condition, reading: ConditionReading): Residual {
	const guards: Residual[] = [];
	try {
		const holds = partOf(condition, reading, guards, true);
		return guards.length === 0 ? holds : { kind: 'all', parts: [holds, ...guards] };
	} catch (error) {
		if (error instanceof Mistyped) return noRow;
		throw error;
	}
}

/** Thrown if a comparison is mistyped for every row. */
class Mistyped extends Error {}

/**
 * Returns the residual of a condition part, and adds a guard for each comparison that may be mistyped. A `required`
 * comparison needs no guard, because the condition holds only if the comparison does.
 */
function partOf(condition: Condition, reading: ConditionReading, guards: Residual[], required: boolean): Residual {
	switch (condition.kind) {
		case 'comparison':
			return comparisonOf(condition, reading, required ? undefined : guards);
		case 'not':
			return { kind: 'not', part: partOf(condition.condition, reading, guards, false) };
		default: {
			const { kind, conditions } = condition;
			const inside = required && kind === 'all';
			return { kind, parts: conditions.map((one) => partOf(one, reading, guards, inside)) };
		}
	}
}

function comparisonOf(comparison: Comparison, reading: ConditionReading, guards: Residual[] | undefined): Residual {
	const { name, resolve } = reading;
	const operator = operatorNamed(comparison.operator);
	if (operator === undefined) throw new Mistyped();
	if ('match' in comparison.operand && comparison.operand.related !== undefined) {
		throw new FilterRefusal(name, 'filter', 'it reads related instances by `fk_resource_type`');
	}
	if (isResourceRoles(comparison.attribute)) {
		if (reading.keysWithRole === undefined) throw new FilterRefusal(name, 'filter', 'it names roles on the resource');
		const keys = reading.keysWithRole(roleRequired(comparison) ?? '');
		if (keys.length === 0) return noRow;
		return { kind: 'comparison', column: { kind: 'key' }, operator: 'in', operand: { value: keys }, name };
	}
	const left = resolve(comparison.attribute);
	const operand: ResidualOperand | Resolved =
		'ref' in comparison.operand ? resolve(comparison.operand.ref) : comparison.operand;
	if ('value' in left) {
		return 'column' in operand
			? reversed(operator, left.value, { column: operand.column, name }, guards)
			: constant(comparison, left.value, 'value' in operand ? operand.value : undefined, reading);
	}
	const { column } = left;
	const place = { column, name, ...(durationsIn(comparison).length > 0 ? { now: timeOf(reading) } : {}) };
	if (!('value' in operand)) return written({ ...place, operator: operator.name, operand }, operator, guards);
	return compared(operator, place, operand.value, guards);
}

/** Compares two known values. */
function constant(comparison: Comparison, left: Json | undefined, right: Json | undefined, reading: ConditionReading) {
	const { matches } = reading;
	const readers = { attribute: () => () => left, reference: () => () => right, related: () => ({}), matches };
	const truth = compileCondition(comparison, readers)(undefined, timeOf(reading));
	if (truth === 'mistyped') throw new Mistyped();
	return { kind: truth ? 'all' : 'any', parts: [] } as const;
}

/** Returns the check time in milliseconds since 1970, which is always known. */
function timeOf({ resolve }: ConditionReading): number {
	const now = resolve({ object: 'now', path: [] });
	return 'value' in now ? Number(now.value) : Number.NaN;
}

type Place = Pick<ColumnComparison, 'column' | 'name' | 'now'>;

/** Compares a column with a known operand. */
function compared(operator: Operator, place: Place, value: Json | undefined, guards: Residual[] | undefined): Residual {
	if (value === undefined) {
		const missing = { ...place, operator: operator.name, operand: { value: null } };
		guard(missing, operator, guards);
		return noRow;
	}
	if (!acceptedKinds[operator.operand].accepts(value)) throw new Mistyped();
	return written({ ...place, operator: operator.name, operand: { value } }, operator, guards);
}

/** Operators with the same meaning and exchanged sides. */
const mirrored: Readonly<Record<string, string>> = {
	equals: 'equals',
	'not-equals': 'not-equals',
	'greater-than': 'less-than',
	'greater-than-equals': 'less-than-equals',
	'less-than': 'greater-than',
	'less-than-equals': 'greater-than-equals',
	in: 'array_contains',
	array_contains: 'in',
	array_subset: 'array_superset',
	array_superset: 'array_subset',
	array_intersect: 'array_intersect',
};

/** Compares a known attribute with an operand in a column. */
function reversed(operator: Operator, left: Json | undefined, place: Place, guards: Residual[] | undefined): Residual {
	const mirror = operatorNamed(mirrored[operator.name] ?? '');
	if (mirror !== undefined) return compared(mirror, place, left, guards);
	const comparison = { ...place, operator: operator.name, operand: { value: left ?? null }, reversed: true } as const;
	if (left !== undefined && !acceptedKinds[operator.attribute].accepts(left)) throw new Mistyped();
	guards?.push({ kind: 'not', part: { kind: 'mistyped', ...comparison } });
	return left === undefined ? noRow : { kind: 'comparison', ...comparison };
}

function written(comparison: ColumnComparison, operator: Operator, guards: Residual[] | undefined): Residual {
	guard(comparison, operator, guards);
	return { kind: 'comparison', ...comparison };
}

/** Adds a guard, unless the comparison is never mistyped. */
function guard(comparison: ColumnComparison, operator: Operator, guards: Residual[] | undefined): void {
	if (guards === undefined || operator.attribute === 'anything' || isOfText(comparison, operator)) return;
	guards.push({ kind: 'not', part: { kind: 'mistyped', ...comparison } });
}

/** True if the column always has text, and the operator accepts every text. */
function isOfText({ column, operand }: ColumnComparison, { attribute, ordered }: Operator): boolean {
	if (column.kind === 'attribute' || !('value' in operand)) return false;
	if (attribute === 'orderable') {
		const { value } = operand;
		const [first = value] = Array.isArray(value) ? (value as readonly Json[]) : [];
		return ordered !== true || value === null || jsonKind(first) === 'string';
	}
	return attribute === 'compared' || attribute === 'string';
}
