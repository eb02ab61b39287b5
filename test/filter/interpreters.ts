/** Small filter interpreters for rows in memory, with two-valued logic or the three-valued logic of databases. */

import { compareValues } from '../../compiler/condition/value.js';
import type { Json } from '../../compiler/model.js';
import type { Steps } from '../../compiler/steps.js';
import type { Row } from '../../src/filter/residual.js';
import type { CerbosFilter, CerbosOperand } from '../../src/filter/to-cerbos-plan.js';
import type { UcastNode } from '../../src/filter/to-ucast.js';
import type { PermitOperand } from '../../src/filter/write-permit-filter.js';

/**
 * How missing values compare: `unknown` as in SQL, where the negation of unknown is unknown, or `plain` as in programs,
 * where null differs from every value.
 */
type Nulls = 'unknown' | 'plain';

/** A truth value; null if unknown. */
type Truth = boolean | null;

type Select = (row: Row) => boolean;

/** Interprets a UCAST tree. `table` is the prefix of its field names. */
export function selectedByUcast(query: UcastQuery, nulls: Nulls, table = 'documents'): Select {
	if (query === undefined) return () => false;
	if (!('type' in query)) return () => true;
	const node = query as UcastNode;
	return (row) => ucastTruth(node, valuesOf(row), nulls, table) === true;
}

type UcastQuery =
	ReturnType<typeof import('../../src/filter/to-ucast.js').toUcast> extends Steps<infer Query> ? Query : never;

/** Values by column. */
type Values = Readonly<Record<string, Json>>;

function valuesOf({ key, tenant, attributes }: Row): Values {
	return { key, tenant, ...(attributes as Values) };
}

function ucastTruth(node: UcastNode, row: Values, nulls: Nulls, table: string): Truth {
	if (node.type === 'compound')
		return joinTruths(
			node.operator,
			node.value.map((one) => ucastTruth(one, row, nulls, table)),
		);
	const read = (field: string) => row[field.replace(`${table}.`, '')] ?? null;
	const { value } = node;
	const operand = typeof value === 'object' && value !== null && 'field' in value ? read(value.field) : (value as Json);
	return testTruth(node.operator, read(node.field), operand, nulls, value === null);
}

export function selectedByCerbos(filter: CerbosFilter, nulls: Nulls): Select {
	if (!('condition' in filter)) return () => filter.kind === 'KIND_ALWAYS_ALLOWED';
	return (row) => cerbosTruth(filter.condition, valuesOf(row), nulls) === true;
}

const cerbosNames: Readonly<Record<string, string>> = {
	le: 'lte',
	ge: 'gte',
	startsWith: 'startswith',
	endsWith: 'endswith',
};

function cerbosTruth(operand: CerbosOperand, row: Values, nulls: Nulls): Truth {
	if (!('expression' in operand)) throw new Error('not an expression');
	const { operator, operands } = operand.expression;
	if (operator === 'and' || operator === 'or' || operator === 'not') {
		return joinTruths(
			operator,
			operands.map((one) => cerbosTruth(one, row, nulls)),
		);
	}
	const [column, right] = operands;
	if (column === undefined || right === undefined || !('variable' in column) || !('value' in right))
		throw new Error(operator);
	const name = column.variable.replace('request.resource.id', 'key').replace(/^request\.resource\.attr\./, '');
	return testTruth(
		cerbosNames[operator] ?? operator,
		row[name] ?? null,
		right.value as Json,
		nulls,
		right.value === null,
	);
}

/** Interprets a condition for Permit's plugin, with the logic of SQL. */
export function selectedByPermit(condition: PermitOperand): Select {
	return (row) => permitTruth(condition, valuesOf(row)) === true;
}

function permitTruth(operand: PermitOperand, row: Values): Truth {
	if (!('expression' in operand)) throw new Error('not an expression');
	const { operator, operands } = operand.expression;
	if (operator === 'and' || operator === 'or') {
		return joinTruths(
			operator,
			operands.map((one) => permitTruth(one, row)),
		);
	}
	const [column, right] = operands;
	if (column === undefined || right === undefined || !('variable' in column) || !('value' in right))
		throw new Error(operator);
	const name = column.variable.replace(/^input\.resource\.(?:attributes\.)?/, '');
	return testTruth(cerbosNames[operator] ?? operator, row[name] ?? null, right.value, 'unknown', right.value === null);
}

/** Interprets a Prisma condition, with the logic of SQL. */
export function selectedByPrisma(where: object): Select {
	return (row) => prismaTruth(where, valuesOf(row)) === true;
}

const prismaNames: Readonly<Record<string, string>> = {
	equals: 'eq',
	notIn: 'nin',
	startsWith: 'startswith',
	endsWith: 'endswith',
};

function prismaTruth(where: object, row: Values): Truth {
	const parts = Object.entries(where).map(([name, value]): Truth => {
		if (name === 'AND' || name === 'OR') {
			return joinTruths(
				name === 'AND' ? 'and' : 'or',
				(value as object[]).map((one) => prismaTruth(one, row)),
			);
		}
		if (name === 'NOT') return joinTruths('not', [prismaTruth(value, row)]);
		if (value === null) return (row[name] ?? null) === null;
		if (typeof value !== 'object') return testTruth('eq', row[name] ?? null, value, 'unknown', false);
		return joinTruths(
			'and',
			Object.entries(value as object).map(([operator, operand]) => {
				const known = operator === 'not' ? 'ne' : (prismaNames[operator] ?? operator);
				const right = operand instanceof Date ? operand.toISOString() : (operand as Json);
				return testTruth(known, row[name] ?? null, right, 'unknown', right === null);
			}),
		);
	});
	return joinTruths('and', parts);
}

/** Joins truth values as SQL does. */
function joinTruths(operator: 'and' | 'or' | 'not', parts: readonly Truth[]): Truth {
	if (operator === 'not') return parts[0] === null ? null : parts[0] !== true;
	const decisive = operator === 'or';
	if (parts.includes(decisive)) return decisive;
	return parts.includes(null) ? null : !decisive;
}

function testTruth(operator: string, left: Json, right: Json, nulls: Nulls, isNullTest: boolean): Truth {
	if (isNullTest) return operator === 'eq' ? left === null : left !== null;
	const isNegative = operator === 'ne' || operator === 'nin';
	if (left === null || right === null) return nulls === 'unknown' ? null : isNegative;
	const found = (item: Json) => item === left;
	switch (operator) {
		case 'eq':
			return left === right;
		case 'ne':
			return left !== right;
		case 'in':
			return (right as Json[]).some(found);
		case 'nin':
			return !(right as Json[]).some(found);
		case 'contains':
			return String(left).includes(String(right));
		case 'startswith':
			return String(left).startsWith(String(right));
		case 'endswith':
			return String(left).endsWith(String(right));
	}
	if (typeof left !== typeof right) throw new Error(`${operator} of ${typeof left} and ${typeof right}`);
	const order = compareValues(left, right);
	switch (operator) {
		case 'lt':
			return order < 0;
		case 'lte':
			return order <= 0;
		case 'gt':
			return order > 0;
		case 'gte':
			return order >= 0;
		default:
			throw new Error(`unknown operator ${operator}`);
	}
}
