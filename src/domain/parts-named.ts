import { groupBy } from '../group-by.js';
import type { KeyedModel } from '../store/table/environment-model.js';
import type { ReadingUnit, Table } from '../store/unit.js';

/** What is named among the parts of one resource, or among what belongs to none. */
export interface PartReference {
	readonly resource_id: string | null;
	readonly reference: string;
}

/**
 * Pairs each item with the row that it names: an action, relation or role of the resource it says. Throws `not_found`
 * for the first that names nothing.
 */
export async function withPartsNamed<I, M extends KeyedModel>(
	unit: ReadingUnit,
	table: Table<M>,
	items: readonly I[],
	referenceOf: (item: I) => PartReference,
): Promise<readonly (readonly [I, M])[]> {
	const found = new Map<string | null, ReadonlyMap<string, M>>();
	for (const [resource_id, wanted] of groupBy(items.map(referenceOf), (reference) => reference.resource_id)) {
		const references = wanted.map(({ reference }) => reference);
		found.set(resource_id, await unit.findAll(table, references, { resource_id }));
	}
	return items.flatMap((item) => {
		const { resource_id, reference } = referenceOf(item);
		const row = found.get(resource_id)?.get(reference);
		return row === undefined ? [] : [[item, row] as const];
	});
}
