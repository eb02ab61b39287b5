/** OPA's Compile API on the listener for OPA clients: filters as UCAST and as SQL with literals. */

import { z } from 'zod';
import { Pauses, type Steps } from '../../../compiler/steps.js';
import { Failure, notFound } from '../../failure.js';
import { type ColumnMapping, ColumnMappingError, readColumns } from '../../filter/column-mapping.js';
import { comparisonsIn, inferKinds } from '../../filter/infer-kinds.js';
import { columnNameOf } from '../../filter/predicate-column.js';
import type { Residual } from '../../filter/residual.js';
import { type SqlDialectName, sqlDialects, toSqlLiterals } from '../../filter/sql/to-sql.js';
import { requireFieldNames } from '../../filter/to-prisma-where.js';
import { toUcast, type UcastVariant, ucastVariants } from '../../filter/to-ucast.js';
import { methods } from '../../http/endpoint.js';
import { CompileQuery } from '../../wire/decision/compile.js';
import { usualKeys } from '../../wire/decision/filter.js';
import { filterInput } from '../decide/contextual-facts.js';
import type { DecisionContext } from '../decide/decide.js';
import type { Mode } from '../decide/normalise.js';
import { valueChunks } from '../engine/json-chunks.js';
import { conditionSetsIn } from '../facts/condition-sets.js';
import type { Filter } from '../filter/filter.js';
import { endpoint, filterReply, unavailableOrCostly } from './endpoint.js';
import { answerFilter, orRefused } from './filter-endpoints.js';

/** The only path with a filter. */
const policyPath = 'regolith/check/allow';
/** Table of the rows, unless a mapping renames it. */
const table = 'resource';

/** A target such as `ucast+prisma`. */
type Target =
	| { readonly kind: 'ucast'; readonly dialect: UcastVariant }
	| { readonly kind: 'sql'; readonly dialect: SqlDialectName };

export function compileEndpoint(mode: Mode) {
	return endpoint({
		...methods({ tag: 'Documents', path: '/v1/compile/*path', params: z.object({ path: z.string() }) }).post,
		name: 'compileFilter',
		summary: 'Translate the policy into a filter for rows',
		access: 'key',
		body: CompileQuery,
		returns: { 200: z.unknown() },
		failures: { ...unavailableOrCostly, 404: 'No filter at this path' },
		handle: async ({ params, body, headers, closed }, { read }) => {
			if (params.path !== policyPath) throw notFound('policy', params.path);
			const { accept = '' } = headers;
			const targets = targetsOf(accept, body);
			requireSupported(body);
			const options = { maxKeys: body.input.max_keys ?? usualKeys, explain: false };
			const work = function* (context: DecisionContext) {
				const input = filterInput(context, body.input, mode, ['body', 'input']);
				const filter = yield* answerFilter(context, input, options);
				const results: (readonly [name: string, written: WrittenQuery])[] = [];
				for (const target of targets) {
					yield* orRefused(checkMapping(context, target, body));
					results.push([nameOf(target), yield* orRefused(write(filter, target, body))]);
				}
				const result = accept === multitarget ? Object.fromEntries(results) : results[0]?.[1];
				return { body: yield* valueChunks({ result }), validUntil: filter.valid_until };
			};
			return filterReply(await read({ kind: 'listing', work, closed }), accept);
		},
	});
}

const multitarget = 'application/vnd.opa.multitarget+json';
const singleTarget = /^application\/vnd\.opa\.(\w+)\.(\w+)\+json$/;

/** Returns the requested targets. Throws `Failure` for an unknown target. */
function targetsOf(accept: string, { options }: CompileQuery): readonly Target[] {
	if (accept === multitarget) {
		const names = options?.targetDialects ?? [];
		if (names.length === 0) throw new Failure('invalid', 'options.targetDialects must contain at least one target');
		return [...new Set(names)].map(
			(name) => targetNamed(name) ?? refuse(`unknown target \`${name}\` in options.targetDialects`),
		);
	}
	const [, kind, dialect] = singleTarget.exec(accept) ?? [];
	return [targetNamed(`${kind}+${dialect}`) ?? refuse(`unknown target in the header Accept: \`${accept}\``)];
}

function refuse(problem: string): never {
	throw new Failure('invalid', `${problem}; the targets are ${targetNames.join(', ')}`);
}

const targetNames = [
	...Object.keys(ucastVariants).map((name) => `ucast+${name}`),
	...Object.keys(sqlDialects).map((name) => `sql+${name}`),
];

function targetNamed(name: string): Target | undefined {
	if (!targetNames.includes(name)) return undefined;
	const [kind, dialect] = name.split('+');
	// The cast is safe, because `targetNames` contains the name.
	return { kind, dialect } as Target;
}

/** Name of a target's result in a response for several targets. */
function nameOf({ kind, dialect }: Target): string {
	return kind === 'ucast' ? kind : dialect;
}

/** Rejects unsupported fields that would make the response wrong if they were ignored. */
function requireSupported({ unknowns, options }: CompileQuery): void {
	const stranger = unknowns?.find((unknown) => !/^input\.resource(?:$|[.[])/.test(unknown));
	if (stranger !== undefined)
		throw new Failure('invalid', `unknowns must be below input.resource, got \`${stranger}\``);
	if (options?.maskRule) throw new Failure('invalid', 'options.maskRule is not supported');
}

/** Throws `ColumnMappingError` if a target's mapping names an attribute that no condition of the type compares. */
function* checkMapping(
	{ facts: { schema } }: DecisionContext,
	target: Target,
	{ input, options }: CompileQuery,
): Steps<void> {
	const { type } = input.resource;
	const names = Object.keys(mappingFor(target, options)).filter((name) => !knownNames.has(name));
	if (names.length === 0 || !schema.types.includes(type)) return;
	yield;
	const compared = conditionSetsIn(schema).comparedAttributes(type);
	const unknown = names.filter((name) => !compared.has(name));
	if (unknown.length === 0) return;
	throw new ColumnMappingError(
		unknown.map((name) => `column of \`${name}\`: no condition on \`${type}\` compares this attribute`).slice(0, 20),
	);
}

const knownNames: ReadonlySet<string> = new Set(['$self', 'key', 'tenant']);

/** A filter for a target. Without `query` no row passes; an empty `query` lets all rows pass. */
interface WrittenQuery {
	readonly query?: unknown;
}

/** Writes a filter for a target. Throws `FilterRefusal` and `ColumnMappingError`. */
function* write({ type, condition }: Filter, target: Target, { options }: CompileQuery): Steps<WrittenQuery> {
	const mapped = mappingFor(target, options);
	const place = own(mapped, '$self') ?? table;
	const field = (name: string) => `${place}.${own(mapped, name) ?? plainName(name)}`;
	const given = Object.keys(mapped).filter((name) => name !== '$self');
	const columns = condition === undefined ? {} : yield* columnsOf(condition, field);
	const read = readColumns({ ...Object.fromEntries(given.map((name) => [name, field(name)])), ...columns });
	if (target.dialect === 'prisma') requireFieldNames(read);
	if (type === 'always_deny') return {};
	if (condition === undefined) return { query: target.kind === 'sql' ? '' : {} };
	if (target.kind === 'ucast') return { query: yield* toUcast(condition, target.dialect, field) };
	return { query: `WHERE ${yield* toSqlLiterals(condition, target.dialect, columns, yield* inferKinds(condition))}` };
}

/** Returns the column names for the table's attributes, and its own name as `$self`. */
function mappingFor({ dialect }: Target, options: CompileQuery['options']): Readonly<Record<string, string>> {
	return own(own(options?.targetSQLTableMappings, dialect) ?? {}, table) ?? {};
}

/** Returns the default column of an attribute. Throws `ColumnMappingError` for a nested attribute. */
function plainName(name: string): string {
	if (!name.includes('.')) return name;
	throw new ColumnMappingError([`the nested attribute \`${name}\` needs a column in \`targetSQLTableMappings\``]);
}

/** Returns the columns that a filter compares. */
function* columnsOf(condition: Residual, field: (name: string) => string): Steps<ColumnMapping> {
	const names = new Set<string>();
	const pauses = new Pauses();
	for (const { column, operand } of comparisonsIn(condition)) {
		if (pauses.step()) yield;
		names.add(columnNameOf(column));
		if ('column' in operand) names.add(columnNameOf(operand.column));
	}
	return Object.fromEntries(Array.from(names, (name) => [name, field(name)]));
}

/** Returns an own property. */
function own<T>(members: Readonly<Record<string, T>> | null | undefined, name: string): T | undefined {
	return members && Object.hasOwn(members, name) ? members[name] : undefined;
}
