import { conditionSteps } from '../../../compiler/condition/condition-steps.js';
import { parseConditions } from '../../../compiler/condition/parse/grammar.js';
import { Failure } from '../../failure.js';
import {
	type ComputedRoleIds,
	computedRoleIds,
	type DerivationStep,
	derivationsWith,
} from '../../store/model/graph-walk.js';
import { grantConditionSets } from '../../store/table/condition-set.js';
import { rolesWithConditions } from '../../store/table/role.js';
import { mostConditionSteps } from '../../store/table/role-assignment.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { Derivations, maxSteps } from './check-steps.js';

/** Steps for looking up an assignment. */
const stepsOfAssignment = 1;

/**
 * Rejects conditional assignments that would make a check too long, with `limit_reached`. A check may evaluate all
 * conditional assignments of a user in a tenant, if roles are derived from the assigned roles, and otherwise those on
 * the instance. Reads the written data, of these users or of all users.
 */
export async function refuseConditionsOverLimit(unit: ReadingUnit, userIds: readonly string[] | 'all'): Promise<void> {
	const declaring = await rolesWithConditions(unit);
	if (declaring.length === 0) return;
	const rules = await derivationsWith(unit, 'all');
	const computed = rules.length === 0 ? [] : await computedRoleIds(unit);
	const steps = new Map(
		(await grantConditionSets(unit)).map(({ key, conditions, parameters }) => {
			const types = Object.fromEntries(Object.entries(parameters ?? {}).map(([name, { type }]) => [name, type]));
			const parsed = parseConditions(conditions, { type: 'grant', bound: false, parameters: Object.keys(types) });
			return [key, stepsOfAssignment + ('condition' in parsed ? conditionSteps(parsed.condition, types) : 0)];
		}),
	);
	const ids = declaring.map(({ id }) => id);
	const most = Math.floor(maxSteps / timesEvaluated(ids, rules, computed));
	const leadingRoleIds = rules.map(({ source_role_id }) => source_role_id);
	const found = await mostConditionSteps(unit, { userIds, leadingRoleIds, steps });
	if (found === undefined || found.steps <= most) return;
	const place =
		found.resource_instance === null ? `in the tenant \`${found.tenant}\`` : `on \`${found.resource_instance}\``;
	const message =
		`a check of \`${found.user}\` ${place} would take more than ${most} steps for conditions of role assignments, which ` +
		'is the limit: assign fewer roles under conditions there, or simplify the conditions';
	throw new Failure('limit_reached', message, {
		user: found.user,
		...(found.resource_instance === null ? { tenant: found.tenant } : { resource_instance: found.resource_instance }),
		limit: most,
	});
}

/**
 * Returns the maximum number of times that a check evaluates an assignment's condition: once for each role on a resource
 * that is assigned under a condition or leads back to such a role, and again where a check repeats its steps.
 */
function timesEvaluated(
	declaring: readonly string[],
	rules: readonly DerivationStep[],
	computed: readonly ComputedRoleIds[],
): number {
	const reached = new Set(declaring);
	const resources = new Map<string, number>();
	// The iteration includes ids added during the loop.
	for (const id of reached) {
		for (const { role_id, source_role_id } of rules) if (source_role_id === id) reached.add(role_id);
		for (const { role_id, operand_ids } of computed) if (operand_ids.includes(id)) reached.add(role_id);
	}
	const resourceOf = new Map([...rules, ...computed].map(({ role_id, resource_id }) => [role_id, resource_id]));
	for (const id of reached) {
		const resource = resourceOf.get(id);
		if (resource !== undefined) resources.set(resource, (resources.get(resource) ?? 0) + 1);
	}
	return Math.max(1, ...resources.values()) * new Derivations(rules, computed).repeated;
}
