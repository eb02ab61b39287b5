import { computedRoles } from '../../store/table/role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { derivationSteps } from './derivation-steps.js';

/**
 * Finds roles derived from computed roles, at any distance. Returns their ids. No derivation path shows these roles.
 */
export async function rolesFollowingComputed(unit: ReadingUnit): Promise<ReadonlySet<string>> {
	const sources = new Set((await computedRoles(unit).all()).map(({ id }) => id));
	const found = new Set<string>();
	if (sources.size === 0) return found;
	const steps = await derivationSteps(unit);
	// A Set also iterates over items added during the iteration.
	for (const id of sources) {
		for (const { source_id, target_id } of steps) {
			if (source_id !== id) continue;
			found.add(target_id);
			sources.add(target_id);
		}
	}
	return found;
}
