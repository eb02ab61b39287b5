import type { Condition } from '../../../compiler/condition/condition.js';
import { rolesNamedIn } from '../../../compiler/condition/resource-roles.js';
import { everyone } from '../../../compiler/everyone.js';
import { type RoleFormula, roleFormula } from '../../../compiler/role-expression.js';
import { Failure, unprocessable } from '../../failure.js';
import { relationsWithConditions } from '../../store/table/relation.js';
import type { InstanceRow } from '../../store/table/resource-instance.js';
import { type Role, rolesOfResources, rolesWithConditions } from '../../store/table/role.js';
import { Holder } from '../../store/table/user.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { derivationSteps } from '../graph/derivation-steps.js';
import { findPaths } from '../graph/find-paths.js';
import { rolesFollowingComputed } from '../graph/roles-following-computed.js';
import type { AskedSelection } from './condition-selection.js';

/** Roles on the resource in previews. */

/** Returns the keys of the roles on the resource that a set and its ancestors name. */
export function rolesNamed({ own, ancestors }: AskedSelection): readonly string[] {
	const conditions: readonly Condition[] = [own, ...ancestors.map(({ condition }) => condition)];
	return [...new Set(conditions.flatMap((condition) => rolesNamedIn(condition).map(({ role }) => role)))];
}

/** Rejects a preview over all users if the set names roles on the resource. Throws `unprocessable`. */
export function refuseNamedRoles(selection: AskedSelection): void {
	if (rolesNamed(selection).length === 0) return;
	const msg =
		'a preview of all users cannot find roles on a resource: evaluate the set for one user and one instance, or ' +
		'request the authorized users from a decision point';
	throw unprocessable([{ loc: ['body', 'conditions'], msg, type: 'needs_decision_point' }]);
}

/**
 * Returns the named roles a user holds on an instance, assigned, derived or computed. `userId` is `undefined` for a
 * user who is not stored. Throws `limit_reached` if there are too many relationships to decide this, if a role is
 * derived from a computed role, if the user's own roles may block a public role, or if a named role depends on a
 * conditional assignment or relationship.
 */
export async function rolesHeldOn(
	unit: ReadingUnit,
	named: readonly string[],
	userId: string | undefined,
	{ id: instance_id, resource_id }: InstanceRow,
): Promise<readonly string[]> {
	const everyoneId = (await unit.findMany(Holder, [everyone])).get(everyone)?.id;
	const declaring = [...(await rolesWithConditions(unit)), ...(await relationsWithConditions(unit))];
	const conditional = declaring.length > 0 || undefined;
	const steps = await derivationSteps(unit);
	const unstoppable = steps.filter(({ stops }) => !stops);
	const roles = new Map((await rolesOfResources(unit, [resource_id]).all()).map((role) => [role.key, role]));
	const known = new Map<string, boolean>();
	const holds = async (key: string): Promise<boolean> => {
		const role = roles.get(key);
		if (role === undefined) return false;
		const before = known.get(key);
		if (before !== undefined) return before;
		const answer = role.computed === null ? await leadsTo(role) : await meets(roleFormula(role.computed));
		known.set(key, answer);
		return answer;
	};
	const meets = async (formula: RoleFormula): Promise<boolean> => {
		if (formula.kind === 'role') return (await holds(formula.role)) !== formula.negated;
		for (const part of formula.parts) {
			const met = await meets(part);
			if (met !== (formula.kind === 'all')) return met;
		}
		return formula.kind === 'all';
	};
	const followComputed = await rolesFollowingComputed(unit);
	const leadsTo = async ({ id: role_id, key }: Role): Promise<boolean> => {
		if (followComputed.has(role_id)) throw undecided(`the role \`${key}\` is derived from a computed role`);
		const leads = async (holder: string | undefined, along: typeof steps, conditional?: true) => {
			if (holder === undefined) return false;
			const from = { user_id: holder, ...(conditional && { conditional }) };
			const goal = { from, to: [{ role_id, instance_id }], steps: along };
			const { paths, more } = await findPaths(unit, goal, 1);
			if (paths.length === 0 && more)
				throw undecided(`too many relationships must be followed for the role \`${key}\``);
			return paths.length > 0;
		};
		if ((await leads(userId, steps)) || (await leads(everyoneId, unstoppable))) return true;
		if (conditional && ((await leads(userId, steps, true)) || (await leads(everyoneId, unstoppable, true)))) {
			throw undecided(`the role \`${key}\` depends on a conditional assignment or relationship`);
		}
		if (unstoppable.length === steps.length) return false;
		const unstopped = steps.map((step) => ({ ...step, stops: false }));
		if (!(await leads(everyoneId, unstopped, conditional))) return false;
		throw undecided(
			`the role \`${key}\` is derived from a role assigned to everyone, unless one of the user's own roles blocks it`,
		);
	};
	const held: string[] = [];
	for (const key of named) if (await holds(key)) held.push(key);
	return held.sort();
}

function undecided(reason: string): Failure {
	return new Failure('limit_reached', `${reason}: send a check to a decision point instead`);
}
