import type { KeyedModel } from '../../store/table/environment-model.js';
import { instancesNamed } from '../../store/table/resource-instance.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { TableModel } from '../../store/unit/table-model.js';

/** The ids of everything that the values of a filter name; `undefined` if the filter is not given. */
export async function findIds<M extends KeyedModel>(
	unit: ReadingUnit,
	table: TableModel<M>,
	references: readonly string[] | undefined,
): Promise<readonly string[] | undefined> {
	return references && (await unit.findNamed(table, references)).map(({ id }) => id);
}

/**
 * Like `findIds`, for resource instances, which are named by id, by `<resource key>:<instance key>`, or by a key in
 * any resource.
 */
export async function findInstanceIds(
	unit: ReadingUnit,
	references: readonly string[] | undefined,
): Promise<readonly string[] | undefined> {
	return references && [...(await instancesNamed(unit, references)).values()].flat().map(({ id }) => id);
}
