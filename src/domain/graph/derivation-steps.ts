import { derivationsWith } from '../../store/model/graph-walk.js';
import type { RoleStep } from '../../store/model/role-steps.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';

/** Returns a step for each derivation in the environment. */
export async function derivationSteps(unit: ReadingUnit): Promise<readonly RoleStep[]> {
	const derivations = await derivationsWith(unit, 'all');
	return derivations.map(({ role_id, source_role_id, relation_id, no_direct_roles_on_object }) => ({
		source_id: source_role_id,
		target_id: role_id,
		relation_id,
		stops: no_direct_roles_on_object,
	}));
}
