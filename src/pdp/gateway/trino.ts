/** Access control for Trino users, decided by checks. */

import type { z } from 'zod';
import type { Steps } from '../../../compiler/steps.js';
import { Failure } from '../../failure.js';
import type { TrinoColumnMasks, TrinoQuery, TrinoResource, TrinoRowFilters } from '../../wire/decision/gateway.js';
import { type DecisionContext, decide } from '../decide/decide.js';
import { type Mode, normalise } from '../decide/normalise.js';
import { evaluationFailed } from '../engine/engine.js';
import type { TrinoRules } from './gateway-settings.js';

/** Number of checks between two pauses. */
const stride = 16;

/** Resource type for the system, its users and its settings. These objects have no names in Trino. */
const system = 'trino_sys';

/** Denial codes for undecided checks. If such a denial removed a filter or a mask, users would see more data. */
const undecided: ReadonlySet<string> = new Set([evaluationFailed, 'policy_pending']);

/** Memoized checks for a request. */
class Checks {
	readonly #known = new Map<string, boolean>();
	readonly #context: DecisionContext;
	readonly #user: string;
	readonly #mode: Mode;
	#asked = 0;

	constructor(context: DecisionContext, { input }: TrinoQuery, mode: Mode) {
		this.#context = context;
		this.#user = input.context.identity.user;
		this.#mode = mode;
	}

	/** True if the user may perform an action on a resource type. */
	*allows(type: string, action: string): Steps<boolean> {
		return yield* this.#decided(type, action, false);
	}

	/**
	 * Like `allows`, for checks where a denial reveals more data. Throws `Failure` (`unavailable`) if the check is
	 * denied only because it could not be decided.
	 */
	*allowsForSure(type: string, action: string): Steps<boolean> {
		return yield* this.#decided(type, action, true);
	}

	*#decided(type: string, action: string, sure: boolean): Steps<boolean> {
		const name = JSON.stringify([type, action]);
		const before = this.#known.get(name);
		if (before !== undefined) return before;
		this.#asked += 1;
		if (this.#asked % stride === 0) yield;
		const check = { user: { key: this.#user }, action, resource: { type } };
		const input = normalise(check, this.#context.time, this.#mode);
		const { allow } = decide(this.#context, input, false);
		const { denial, engine } = this.#context;
		if (sure && !allow && (denial !== undefined || undecided.has(engine.code(input)))) {
			throw new Failure('unavailable', `\`${action}\` on \`${type}\` cannot be decided now, so no data may be shown`);
		}
		this.#known.set(name, allow);
		return allow;
	}
}

/** Returns whether an operation is allowed, or the indexes of the allowed resources. */
export function* allowedInTrino(context: DecisionContext, query: TrinoQuery, mode: Mode): Steps<boolean | number[]> {
	const { operation, resource, filterResources } = query.input.action;
	const checks = new Checks(context, query, mode);
	if (!filterResources) return yield* allowsOn(checks, operation, resource ?? {}, !resource);
	const [first] = filterResources;
	const columns = operation === 'FilterColumns' && filterResources.length === 1 ? first?.table?.columns : undefined;
	// If a single table lists its columns, the result contains column indexes.
	const each = columns?.length ? columns.map((column) => withColumn(first ?? {}, column)) : filterResources;
	const allowed: number[] = [];
	for (const [index, one] of each.entries()) {
		if (yield* allowsOn(checks, operation, one, false)) allowed.push(index);
	}
	return allowed;
}

function withColumn({ table }: TrinoResource, column: string): TrinoResource {
	return table === undefined ? {} : { table: { ...table, columns: [column] } };
}

function* allowsOn(checks: Checks, action: string, resource: TrinoResource, isSystem: boolean): Steps<boolean> {
	const type = isSystem ? system : resourceType(resource);
	if (type === null) return false;
	if (yield* checks.allows(type, action)) return true;
	const { table } = resource;
	// If no columns are listed, nothing else can allow the operation.
	if (!table?.columns?.length) return false;
	for (const column of table.columns) {
		if (!(yield* checks.allows(columnType(table, column), action))) return false;
	}
	return true;
}

/** Returns the resource type; null for kinds of resources that no operation uses. */
function resourceType(resource: TrinoResource): string | null {
	const { catalog, schema, table, function: named } = resource;
	if (catalog) return `trino_catalog_${catalog.name}`;
	if (schema) return `trino_schema_${schema.catalogName}_${schema.schemaName}`;
	if (table) return tableType(table);
	if (named) return functionType(named);
	const isSystem = resource.user ?? resource.systemSessionProperty ?? resource.catalogSessionProperty;
	return isSystem === undefined ? null : system;
}

type TableName = Omit<NonNullable<TrinoResource['table']>, 'columns'>;

function tableType({ catalogName, schemaName, tableName }: TableName): string {
	return `trino_table_${catalogName}_${schemaName}_${tableName}`;
}

function columnType({ catalogName, schemaName, tableName }: TableName, column: string): string {
	return `trino_column_${catalogName}_${schemaName}_${tableName}_${column}`;
}

function functionType({ functionName, schema, ...own }: NonNullable<TrinoResource['function']>): string | null {
	const { catalogName, schemaName } = schema ?? own;
	return catalogName && schemaName ? `trino_function_${catalogName}_${schemaName}_${functionName}` : null;
}

/** Returns the row filters for a user and table. Throws like `Checks.allowsForSure`. */
export function* rowFilters(
	context: DecisionContext,
	query: TrinoQuery,
	mode: Mode,
	rules: TrinoRules,
): Steps<z.output<typeof TrinoRowFilters>['result']> {
	const table = query.input.action.resource?.table;
	if (table === undefined) return [];
	const checks = new Checks(context, query, mode);
	const type = tableType(table);
	const found: { expression: string }[] = [];
	for (const { action, expression } of rules.rowFilters.get(type) ?? []) {
		if (yield* checks.allowsForSure(type, action)) found.push({ expression });
	}
	return found;
}

/** Returns the column masks for a user. Throws like `Checks.allowsForSure`. */
export function* columnMasks(
	context: DecisionContext,
	query: TrinoQuery,
	mode: Mode,
	rules: TrinoRules,
): Steps<z.output<typeof TrinoColumnMasks>['result']> {
	const checks = new Checks(context, query, mode);
	const found: z.output<typeof TrinoColumnMasks>['result'] = [];
	for (const [index, { column }] of (query.input.action.filterResources ?? []).entries()) {
		if (column === undefined) continue;
		const type = tableType(column);
		for (const { action, expression, identity } of rules.columnMasks.get(type)?.get(column.columnName) ?? []) {
			const applies =
				(yield* checks.allowsForSure(type, action)) ||
				(yield* checks.allowsForSure(columnType(column, column.columnName), action));
			if (!applies) continue;
			found.push({ index, viewExpression: { expression, ...(identity === undefined ? {} : { identity }) } });
			break;
		}
	}
	return found;
}
