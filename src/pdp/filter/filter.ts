/**
 * Data filters: a condition on rows of the application's table. A row satisfies the condition if a check with the row's
 * key, tenant and attributes is allowed.
 */

import type { PatternMatcher } from '../../../compiler/condition/operator.js';
import { Pauses, type Steps } from '../../../compiler/steps.js';
import { type Failure, unprocessable } from '../../failure.js';
import { comparisonsIn } from '../../filter/infer-kinds.js';
import { constantOf, FilterRefusal, noRow, type Residual } from '../../filter/residual.js';
import { simplifyResidual } from '../../filter/simplify-residual.js';
import type { FilterType } from '../../wire/decision/filter.js';
import { mostKeys } from '../../wire/decision/filter.js';
import type { DecisionContext } from '../decide/decide.js';
import type { FilterInput } from '../decide/normalise.js';
import type { EngineInput } from '../engine/engine.js';
import { type GrantBranch, grantBranches } from './grant-branches.js';
import { keysIn, tenantsIn } from './grant-parts.js';
import { type GrantedRows, grantedRows } from './granted-rows.js';
import { requireAgreement } from './require-agreement.js';

export interface Filter {
	readonly type: FilterType;
	/** Present if the type is `conditional`. */
	readonly condition?: Residual;
	readonly revision: number;
	/**
	 * Time in ISO 8601 at which the filter may change: the first expiry, or the decision time if conditions read the time;
	 * `null` if the filter does not depend on the time.
	 */
	readonly valid_until: string | null;
	readonly debug?: FilterReasons;
}

export interface FilterReasons {
	/** Denial code of an `always_deny`. */
	readonly code?: string;
	/** A branch for each grant. Together, the branches are the filter before it is simplified. */
	readonly branches: readonly GrantBranch[];
}

export interface FilterOptions {
	/** Maximum number of keys, including tenant keys. */
	readonly maxKeys: number;
	/** If set, adds the reasons. */
	readonly explain: boolean;
	/** Matches RE2 regular expressions, which browsers do not support. */
	readonly matches: PatternMatcher;
}

/**
 * Calculates a filter. Throws `Failure`: `unprocessable` if the filter is too large or cannot be expressed, and
 * `unavailable` if it differs from the policy.
 */
export function* filterRows(context: DecisionContext, input: FilterInput, options: FilterOptions): Steps<Filter> {
	const started = performance.now();
	const filter = yield* calculate(context, input, options);
	recordFilter(context, input, filter.type, started);
	return filter;
}

/** Returns `valid_until` for rows at a time. */
export function validUntil({ expiry, readTime }: GrantedRows, time: number): string | null {
	const until = readTime ? time : expiry;
	return until === undefined ? null : new Date(until).toISOString();
}

/** Logs a filter. `started` is the time at which its calculation started. */
export function recordFilter(
	{ record, time }: DecisionContext,
	{ resource, ...input }: FilterInput,
	type: FilterType,
	started: number,
): void {
	// A filter for all tenants is logged with an empty tenant key, which no tenant has.
	const logged: EngineInput = { ...input, resource: { ...resource, tenant: resource.tenant ?? '' }, time };
	record?.(logged, type, performance.now() - started, undefined, 'filter');
}

function* calculate(context: DecisionContext, input: FilterInput, options: FilterOptions): Steps<Filter> {
	const { revision } = context;
	const denied = denialOf(context, input);
	if (denied !== undefined) return alwaysDeny(revision, denied, options);
	const granted = yield* rowsGranted(context, input, options.matches);
	yield* requireFewKeys(granted, options.maxKeys);
	const condition = yield* residualOf(context, input, granted);
	yield* requireAgreement(context, { input, condition, granted, matches: options.matches });
	const valid_until = validUntil(granted, context.time);
	if (constantOf(condition) === false) {
		const code = denialCode(context, input);
		return { ...alwaysDeny(revision, code, options), valid_until };
	}
	const debug = options.explain ? { debug: { branches: yield* grantBranches(context, input, granted) } } : {};
	if (constantOf(condition) === true) return { type: 'always_allow', revision, valid_until, ...debug };
	return { type: 'conditional', condition, revision, valid_until, ...debug };
}

function alwaysDeny(revision: number, code: string, { explain }: FilterOptions): Filter {
	return {
		type: 'always_deny',
		revision,
		valid_until: null,
		...(explain ? { debug: { code, branches: [] } } : {}),
	};
}

/** Finds the granted rows of a filter whose type, action and tenant exist. */
export function* rowsGranted(
	context: DecisionContext,
	input: FilterInput,
	matches: PatternMatcher,
): Steps<GrantedRows> {
	const { names } = context.facts;
	const { tenant } = input.resource;
	const given = tenant === undefined ? undefined : names.number(tenant);
	try {
		return yield* grantedRows(context, { input, given, matches });
	} catch (error) {
		throw error instanceof FilterRefusal ? refusalFailure(error) : error;
	}
}

/** Returns the failure for a condition that the filter or its format cannot express. */
export function refusalFailure({ message }: FilterRefusal): Failure {
	return unprocessable([{ loc: ['body'], msg: message, type: 'filter_refused' }]);
}

/** Returns the denial code if no grant can matter: a denied context, or an unknown type, action or tenant. */
export function denialOf({ facts, denial }: DecisionContext, { action, resource }: FilterInput): string | undefined {
	if (denial !== undefined) return denial;
	if (!facts.schema.types.includes(resource.type)) return 'no_such_resource';
	if (!facts.schema.actions(resource.type).includes(action)) return 'no_such_action';
	if (resource.tenant !== undefined && !facts.tenants.has(resource.tenant)) return 'no_such_tenant';
	return undefined;
}

/**
 * Returns the denial code for a check on the type, in the given tenant, or else in any tenant, preferably a tenant of
 * the user.
 */
function denialCode({ engine, facts, time }: DecisionContext, input: FilterInput): string {
	const { user, resource } = input;
	const [own] = facts.tenantRoles.from(user.key, time);
	const [first] = facts.tenants.keys();
	const tenant = resource.tenant ?? own?.[0] ?? first ?? '';
	const code = engine.code({ ...input, resource: { ...resource, tenant }, time });
	// A check without a key may be allowed even if no row is allowed.
	return code === 'allow' ? 'no_permission' : code;
}

/** Throws `Failure` (`unprocessable`) if a filter has more than `maxKeys` keys. */
export function* requireFewKeys({ tenants, keys, groups }: GrantedRows, maxKeys: number): Steps<void> {
	const pauses = new Pauses(50);
	let count = tenants.size;
	for (const found of keys.values()) count += found.length;
	for (const group of groups) {
		count += group.tenants.length;
		for (const { residual } of group.rules) {
			count += countKeys(residual);
			if (pauses.step()) yield;
		}
	}
	if (count <= maxKeys) return;
	const msg =
		`the filter has ${count} keys of instances and tenants, and \`max_keys\` is ${maxKeys}: raise \`max_keys\` (at ` +
		`most ${mostKeys}), specify a tenant, or read the keys in pages with \`POST /filter/keys\``;
	throw unprocessable([{ loc: ['body'], msg, type: 'filter_too_large' }]);
}

/** Counts the instance keys in a residual. */
function countKeys(residual: Residual): number {
	let count = 0;
	for (const { column, operand } of comparisonsIn(residual)) {
		if (column.kind === 'key' && 'value' in operand && Array.isArray(operand.value)) count += operand.value.length;
	}
	return count;
}

/** Combines the granted rows into a simplified residual. */
export function* residualOf(
	{ facts: { names } }: DecisionContext,
	{ resource }: FilterInput,
	{ tenants, keys, groups }: GrantedRows,
): Steps<Residual> {
	const pauses = new Pauses(100);
	const parts: Residual[] = [yield* tenantsIn([...tenants.keys()].map((tenant) => names.text(tenant)))];
	/** Tenants without keys, grouped by equal rows. */
	const byRows = new Map<string, { rows: Residual; tenants: string[] }>();
	const bySets = new Map<number, Residual>();
	for (const { tenants: group, rules } of groups) {
		const rows = yield* simplifyResidual({ kind: 'any', parts: rules.map(({ residual }) => residual) });
		const text = groups.length > 1 ? JSON.stringify(rows) : '';
		const equal = byRows.get(text) ?? { rows, tenants: [] };
		byRows.set(text, equal);
		for (const tenant of group) {
			if (keys.has(tenant)) bySets.set(tenant, rows);
			else equal.tenants.push(names.text(tenant));
			if (pauses.step()) yield;
		}
		yield;
	}
	for (const { rows, tenants: equal } of byRows.values()) {
		parts.push({ kind: 'all', parts: [yield* tenantsIn(equal), rows] });
	}
	for (const [tenant, found] of keys) {
		const inTenant = [yield* keysIn(found.map(({ key }) => key)), bySets.get(tenant) ?? noRow];
		parts.push({ kind: 'all', parts: [yield* tenantsIn([names.text(tenant)]), { kind: 'any', parts: inTenant }] });
		if (pauses.step()) yield;
	}
	const rows: Residual = { kind: 'any', parts };
	return yield* simplifyResidual(
		resource.tenant === undefined ? rows : { kind: 'all', parts: [yield* tenantsIn([resource.tenant]), rows] },
	);
}
