import { conditionSteps } from '../../../compiler/condition/condition-steps.js';
import { parseConditions } from '../../../compiler/condition/parse/grammar.js';
import { Failure } from '../../failure.js';
import { nextTurn } from '../../limit/next-turn.js';
import { estimateSteps } from '../../pattern/compiled-patterns.js';
import { computedRoleIds, type DerivationStep, derivationsWith } from '../../store/model/graph-walk.js';
import { type ConditionSet, grantConditionSets, resourcesWithUserSets } from '../../store/table/condition-set.js';
import { mostConditionSteps } from '../../store/table/most-condition-steps.js';
import { type Role, rolesWithConditions } from '../../store/table/role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { maxSteps } from './check-steps.js';
import { RoleCalls } from './role-calls.js';

/** Steps for looking up an assignment. */
const stepsOfAssignment = 1;

/**
 * Rejects conditional assignments that would make a check too long, with `limit_reached`. If roles are derived from an
 * assigned role, a check may evaluate all of the user's conditional assignments of this role in the tenant; otherwise
 * it evaluates only assignments on the instance. It evaluates an assignment once per call of its role. Reads the
 * written data, for these users or for all users.
 */
export async function refuseConditionsOverLimit(unit: ReadingUnit, userIds: readonly string[] | 'all'): Promise<void> {
	const declaring = await rolesWithConditions(unit);
	if (declaring.length === 0) return;
	const rules = await derivationsWith(unit, 'all');
	const calls = await mostCalls(unit, declaring, rules);
	const sets = [...(await stepsOfSets(unit))];
	const steps = new Map(sets.map(([key, needed]) => [key, stepsOfAssignment + needed]));
	const leadingRoleIds = rules.map(({ source_role_id }) => source_role_id);
	const found = await mostConditionSteps(unit, { userIds, leadingRoleIds, steps, calls });
	if (found === undefined || found.steps <= maxSteps) return;
	const place =
		found.resource_instance === null ? `in the tenant \`${found.tenant}\`` : `on \`${found.resource_instance}\``;
	const message =
		`a check of \`${found.user}\` ${place} would take more than the limit of ${maxSteps} steps for conditions of role ` +
		'assignments: assign fewer roles under conditions there, or simplify the conditions';
	throw new Failure('limit_reached', message, {
		user: found.user,
		...(found.resource_instance === null ? { tenant: found.tenant } : { resource_instance: found.resource_instance }),
		limit: maxSteps,
	});
}

/** Returns the steps of each `grant` condition set, keyed by set. */
export async function stepsOfSets(unit: ReadingUnit): Promise<ReadonlyMap<string, number>> {
	return new Map((await grantConditionSets(unit)).map((set) => [set.key, stepsOf(set)]));
}

function stepsOf({ conditions, parameters }: ConditionSet): number {
	const types = Object.fromEntries(Object.entries(parameters ?? {}).map(([name, { type }]) => [name, type]));
	const parsed = parseConditions(conditions, { type: 'grant', bound: false, parameters: Object.keys(types) });
	if (!('condition' in parsed)) return 0;
	return conditionSteps(parsed.condition, { parameters: types, patternSize: estimateSteps });
}

/** Returns the maximum number of times that a check calls each role. */
async function mostCalls(
	unit: ReadingUnit,
	roles: readonly Role[],
	rules: readonly DerivationStep[],
): Promise<ReadonlyMap<string, number>> {
	const calls = new RoleCalls(rules, await computedRoleIds(unit));
	const asked = await resourcesWithUserSets(unit);
	const most = new Map<string, number>();
	for (const [index, { id, resource_id }] of roles.entries()) {
		most.set(id, calls.mostTo(id, resource_id ?? '', asked));
		if (index % rolesAtOnce === rolesAtOnce - 1) await nextTurn();
	}
	return most;
}

/** Number of roles between pauses for other requests. */
const rolesAtOnce = 20;
