import { longest } from '../../../compiler/condition/accepted-kinds.js';
import { greatestWhole } from '../../../compiler/condition/value.js';
import { mapInSteps, Pauses, type Steps } from '../../../compiler/steps.js';
import type { Predicate, PredicateColumn, PredicateTest, Scalar } from '../predicate.js';
import { FilterRefusal } from '../residual.js';
import { relationSign } from './relation-sign.js';
import type { SqlDialect } from './sql-dialect.js';
import { code, joinSql, type SqlText, sql } from './sql-text.js';

/**
 * How values are written: as parameters, or as quoted literals. A list is a single parameter, but one literal per item.
 */
export type SqlForm = 'parameters' | 'literals';

/** Options for writing a predicate. */
export interface SqlWriting {
	readonly dialect: SqlDialect;
	/** Name in error messages. */
	readonly target: string;
	readonly form: SqlForm;
	readonly column: (column: PredicateColumn) => SqlText;
}

type Comparison = Extract<PredicateTest, { readonly kind: 'compare' }>;
type Membership = Extract<PredicateTest, { readonly kind: 'in' | 'not-in' }>;

/** Writes a predicate as a condition that can be joined with other conditions. Throws `FilterRefusal`. */
export function* writePredicate(predicate: Predicate, writing: SqlWriting, pauses = new Pauses(20)): Steps<SqlText> {
	if (pauses.step()) yield;
	if (!('parts' in predicate)) return yield* writeTest(predicate, writing);
	const { kind, parts } = predicate;
	if (parts.length === 0) return code(kind === 'all' ? '1 = 1' : '1 = 0');
	const written: SqlText[] = [];
	for (const part of parts) written.push(yield* writePredicate(part, writing, pauses));
	return sql`(${joinSql(written, kind === 'all' ? ' AND ' : ' OR ')})`;
}

function* writeTest(test: PredicateTest, writing: SqlWriting): Steps<SqlText> {
	const { dialect } = writing;
	const column = writing.column(test.column);
	switch (test.kind) {
		case 'missing':
			return sql`${column} IS NULL`;
		case 'present':
			return sql`${column} IS NOT NULL`;
		case 'inside':
		case 'outside':
			return writeBound(test.bound, test.kind === 'inside', column, dialect);
		case 'compare':
			return writeComparison(test, column, writing);
		case 'in':
		case 'not-in':
			return yield* writeMembership(test, column, writing);
		case 'search':
			return dialect.search(column, test.place, test.text, test.found);
	}
}

function writeBound(bound: 'exact' | 'searched', inside: boolean, column: SqlText, dialect: SqlDialect): SqlText {
	if (bound === 'searched') {
		return sql`${dialect.length(column)} ${relationSign(inside ? 'le' : 'gt')} ${code(String(longest.searched))}`;
	}
	const [least, greatest] = [code(String(-greatestWhole)), code(String(greatestWhole))];
	return inside
		? sql`${column} BETWEEN ${least} AND ${greatest}`
		: sql`(${column} < ${least} OR ${column} > ${greatest})`;
}

function writeComparison(test: Comparison, column: SqlText, writing: SqlWriting): SqlText {
	const { dialect, target } = writing;
	const { operand, relation } = test;
	const sign = relationSign(relation);
	const { kind } = test.column;
	if ('column' in operand) {
		const other = writing.column(operand.column);
		if (kind !== 'string') return sql`${column} ${sign} ${other}`;
		requireOrder(test, writing);
		return sql`${dialect.exactColumn(column)} ${sign} ${dialect.exactColumn(other)}`;
	}
	const { value } = operand;
	if (typeof value === 'boolean') return sql`${column} ${sign} ${code(dialect.truth[value ? 'true' : 'false'])}`;
	if (kind === 'time') {
		const written = dialect.timeTest?.(column, relation, Number(value));
		if (written === undefined) throw refusal(test, target);
		return written;
	}
	if (typeof value === 'number') return sql`${column} ${sign} ${value}`;
	const text = sql`${value}`;
	if (kind === 'uuid') return writeUuids(test, column, [text], writing);
	requireOrder(test, writing);
	const exact = sql`${dialect.exactColumn(column)} ${sign} ${dialect.exactValue(text)}`;
	return relation === 'eq' && dialect.addsIndexTest ? sql`(${column} = ${text} AND ${exact})` : exact;
}

function requireOrder(test: Comparison, { dialect, target }: SqlWriting): void {
	if (dialect.ordersText || test.relation === 'eq' || test.relation === 'ne') return;
	throw refusal(test, target);
}

function* writeMembership(test: Membership, column: SqlText, writing: SqlWriting): Steps<SqlText> {
	const { dialect, form } = writing;
	const { values, kind } = test;
	const found = kind === 'in';
	const [sign, texts] = [code(found ? 'IN' : 'NOT IN'), values.filter((value) => typeof value === 'string')];
	if (texts.length < values.length) return sql`${column} ${sign} (${commas(values.map(writeNumber))})`;
	const items = yield* mapInSteps(texts, (text) => sql`${text}`);
	if (test.column.kind === 'uuid') return writeUuids(test, column, items, writing);
	if (form === 'parameters') return dialect.inList(column, texts, found);
	const exact = sql`${dialect.exactColumn(column)} ${sign} (${commas(yield* mapInSteps(items, dialect.exactValue))})`;
	return found && dialect.addsIndexTest ? sql`(${column} IN (${commas(items)}) AND ${exact})` : exact;
}

function writeUuids(
	test: NamedTest,
	column: SqlText,
	items: readonly SqlText[],
	{ dialect, target }: SqlWriting,
): SqlText {
	if (dialect.uuidTest === undefined) throw refusal(test, target);
	return dialect.uuidTest(column, items, test.kind === 'in' || (test.kind === 'compare' && test.relation === 'eq'));
}

function writeNumber(value: Scalar): SqlText {
	return sql`${Number(value)}`;
}

function commas(items: readonly SqlText[]): SqlText {
	return joinSql(items, ', ');
}

type NamedTest = Extract<PredicateTest, { readonly name: string }>;

function refusal({ name, column }: NamedTest, target: string): FilterRefusal {
	return new FilterRefusal(
		name,
		target,
		`it has no exact comparison for \`${column.name}\` of type \`${column.kind}\``,
	);
}
