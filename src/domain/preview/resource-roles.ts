import type { Condition } from '../../../compiler/condition/condition.js';
import { rolesNamedIn } from '../../../compiler/condition/resource-roles.js';
import { Failure, unprocessable } from '../../failure.js';
import type { InstanceRow } from '../../store/table/resource-instance.js';
import { rolesKeyed } from '../../store/table/role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { derivationSteps } from '../graph/derivation-steps.js';
import { findPaths } from '../graph/find-paths.js';
import type { AskedSelection } from './condition-selection.js';

/** Roles on the resource in previews. */

/** Returns the keys of the roles on the resource that a set and its ancestors name. */
export function rolesNamed({ own, ancestors }: AskedSelection): readonly string[] {
	const conditions: readonly Condition[] = [own, ...ancestors.map(({ condition }) => condition)];
	return [...new Set(conditions.flatMap((condition) => rolesNamedIn(condition).map(({ role }) => role)))];
}

/** Refuses a preview over all users if the set names roles on the resource. Throws `unprocessable`. */
export function refuseNamedRoles(selection: AskedSelection): void {
	if (rolesNamed(selection).length === 0) return;
	const msg =
		'a preview of all users cannot find roles on a resource: evaluate the set for one user and one instance, or ask a ' +
		'decision point for the authorized users';
	throw unprocessable([{ loc: ['body', 'conditions'], msg, type: 'needs_decision_point' }]);
}

/**
 * Returns the named roles that a user holds on an instance, assigned or derived. Throws `limit_reached` if there are too
 * many relationships to decide this.
 */
export async function rolesHeldOn(
	unit: ReadingUnit,
	named: readonly string[],
	user_id: string,
	{ id: instance_id, resource_id }: InstanceRow,
): Promise<readonly string[]> {
	const steps = await derivationSteps(unit);
	const held: string[] = [];
	for (const { id: role_id, key } of await rolesKeyed(unit, resource_id, named).all()) {
		const { paths, more } = await findPaths(unit, { from: { user_id }, to: [{ role_id, instance_id }], steps }, 1);
		if (paths.length > 0) held.push(key);
		else if (more) {
			const message = `too many relationships lead to the role \`${key}\`: ask a decision point instead`;
			throw new Failure('limit_reached', message);
		}
	}
	return held.sort();
}
