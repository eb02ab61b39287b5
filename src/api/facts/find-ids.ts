import type { KeyedModel } from '../../store/table/environment-model.js';
import { instancesNamed } from '../../store/table/resource-instance.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { TableModel } from '../../store/unit/table-model.js';

/** Returns the ids for all objects that match the filter values; `undefined` if there is no filter. */
export async function findIds<M extends KeyedModel>(
	unit: ReadingUnit,
	table: TableModel<M>,
	references: readonly string[] | undefined,
): Promise<readonly string[] | undefined> {
	return references && (await unit.findNamed(table, references)).map(({ id }) => id);
}

/**
 * Like `findIds`, for resource instances. The values may be ids, `<resource key>:<instance key>`, or instance keys in
 * any resource.
 */
export async function findInstanceIds(
	unit: ReadingUnit,
	references: readonly string[] | undefined,
): Promise<readonly string[] | undefined> {
	return references && [...(await instancesNamed(unit, references)).values()].flat().map(({ id }) => id);
}
