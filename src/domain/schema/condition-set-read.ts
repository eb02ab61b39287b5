import { onlyRow } from '../../store/query/only-row.js';
import type { ConditionSet } from '../../store/table/condition-set.js';
import { Resource } from '../../store/table/resource.js';
import { rowsWithIds } from '../../store/unit/keyed-rows.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { ConditionSetRead } from '../../wire/schema/condition-set.js';
import { readResources } from './resource.js';

/** Converts condition sets to API objects, each with its resource. */
export async function readConditionSets(
	unit: ReadingUnit,
	rows: readonly ConditionSet[],
): Promise<readonly ConditionSetRead[]> {
	const ids = [...new Set(rows.flatMap(({ resource_id }) => resource_id ?? []))];
	const resources = ids.length === 0 ? [] : [...(await rowsWithIds(unit, Resource, ids)).values()];
	const shown = new Map((await readResources(unit, resources)).map((resource) => [resource.id, resource]));
	return rows.map((row) => ({
		...row,
		...unit.scope,
		resource: shown.get(row.resource_id ?? '') ?? null,
		parameters: row.parameters ?? undefined,
	}));
}

export async function readConditionSet(unit: ReadingUnit, row: ConditionSet): Promise<ConditionSetRead> {
	return onlyRow(await readConditionSets(unit, [row]));
}
