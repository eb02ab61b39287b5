import type { KeyedModel } from '../../store/table/environment-model.js';
import { instancesNamed } from '../../store/table/resource-instance.js';
import type { ReadingUnit, Table } from '../../store/unit.js';

/** What a filter narrows to: the ids of all that its values name; `undefined` for one that is not given. */
export async function idsNamed<M extends KeyedModel>(
	unit: ReadingUnit,
	table: Table<M>,
	references: readonly string[] | undefined,
): Promise<readonly string[] | undefined> {
	return references && (await unit.findNamed(table, references)).map(({ id }) => id);
}

/** As `idsNamed`, of resource instances: by id, by `<resource key>:<instance key>`, or by key in every resource. */
export async function instanceIdsNamed(
	unit: ReadingUnit,
	references: readonly string[] | undefined,
): Promise<readonly string[] | undefined> {
	return references && [...(await instancesNamed(unit, references)).values()].flat().map(({ id }) => id);
}
