/** Filters as conditions for Prisma. */

import { runToEnd } from '../../compiler/steps.js';
import { type ColumnMapping, ColumnMappingError, mappedColumn, readColumns } from './column-mapping.js';
import type { Predicate, PredicateTest } from './predicate.js';
import { requirePlain } from './require-plain.js';
import { FilterRefusal, type Residual } from './residual.js';
import { toPredicate } from './to-predicate.js';

/** A condition for `where`. */
export type PrismaWhere = Readonly<Record<string, unknown>>;

/** Databases whose comparisons through Prisma are exact. Other databases ignore case or trailing blanks. */
export type PrismaProvider = 'postgresql' | 'sqlite';

const searches = { start: 'startsWith', end: 'endsWith', anywhere: 'contains' } as const;
const joins: ReadonlySet<string> = new Set(['AND', 'OR', 'NOT']);
const relations = { eq: 'equals', ne: 'not', lt: 'lt', le: 'lte', gt: 'gt', ge: 'gte' } as const;

/**
 * Writes a filter as a Prisma condition. `fields` names a field for each attribute; a field without `?` needs
 * `required`, because Prisma rejects a test for null on this field. Makes the same assumptions about columns as
 * `toUcast`. Throws `FilterRefusal` and `ColumnMappingError`.
 */
export function toPrismaWhere(residual: Residual, provider: PrismaProvider, fields: ColumnMapping): PrismaWhere {
	const mapped = readColumns(fields);
	requireFieldNames(mapped);
	const target = `prisma.${provider}`;
	const steps = toPredicate(residual, {
		target,
		readKind: (name) => {
			const { kind } = mappedColumn(mapped, name);
			return kind === 'uuid' && provider === 'sqlite' ? 'string' : kind;
		},
		isRequired: (name) => mapped.get(name)?.required === true,
		ignoresBounds: true,
	});
	const field = (name: string) => mappedColumn(mapped, name).identifiers.join('.');
	return writePart(runToEnd(steps), { target, provider, field });
}

/**
 * Throws `ColumnMappingError` for a field with the name of a Prisma operator, because Prisma would treat the test as
 * nested conditions.
 */
export function requireFieldNames(mapped: ReturnType<typeof readColumns>): void {
	const problems = [...mapped].flatMap(([attribute, { identifiers }]) =>
		identifiers.some((name) => joins.has(name)) ? [`field of \`${attribute}\`: must not be an operator of Prisma`] : [],
	);
	if (problems.length > 0) throw new ColumnMappingError(problems);
}

interface Writing {
	readonly target: string;
	readonly provider: PrismaProvider;
	readonly field: (name: string) => string;
}

function writePart(predicate: Predicate, writing: Writing): PrismaWhere {
	if ('parts' in predicate) {
		const parts = predicate.parts.map((part) => writePart(part, writing));
		return predicate.kind === 'all' ? { AND: parts } : { OR: parts };
	}
	const where = (test: unknown) => ({ [writing.field(predicate.column.name)]: test });
	const written = where(writeTest(predicate, writing));
	return predicate.kind === 'search' && !predicate.found ? { NOT: written } : written;
}

/** Writes the test of a field. */
function writeTest(test: PredicateTest, { target, provider }: Writing): unknown {
	switch (test.kind) {
		case 'missing':
			return null;
		case 'present':
			return { not: null };
		case 'inside':
		case 'outside':
			throw new FilterRefusal(test.column.name, target, 'it cannot limit numbers or string lengths');
		case 'compare': {
			const { operand, relation, name, column } = test;
			if ('column' in operand) throw new FilterRefusal(name, target, 'it compares fields only with values');
			const isOrder = relation !== 'eq' && relation !== 'ne';
			if (isOrder && column.kind === 'string' && provider !== 'sqlite') {
				throw new FilterRefusal(name, target, 'the collation determines the order of strings');
			}
			return { [relations[relation]]: column.kind === 'time' ? new Date(Number(operand.value)) : operand.value };
		}
		case 'in':
			return { in: test.values };
		case 'not-in':
			return { notIn: test.values };
		case 'search':
			if (provider === 'sqlite') requirePlain(test, target);
			if (!/[%_\\]/.test(test.text)) return { [searches[test.place]]: test.text };
			throw new FilterRefusal(test.name, target, 'Prisma reads `%`, `_` and `\\` in a search string as wildcards');
	}
}
