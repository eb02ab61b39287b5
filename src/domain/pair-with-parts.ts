import { groupBy } from '../../compiler/group-by.js';
import type { KeyedModel } from '../store/table/environment-model.js';
import type { ReadingUnit } from '../store/unit/reading-unit.js';
import type { TableModel } from '../store/unit/table-model.js';

/** A reference to part of a resource, or to an object without a resource. */
export interface PartReference {
	readonly resource_id: string | null;
	readonly reference: string;
}

/**
 * Pairs each item with the row it refers to: a resource's action, relation or role. Throws `not_found` for the first
 * missing row.
 */
export async function pairWithParts<I, M extends KeyedModel>(
	unit: ReadingUnit,
	table: TableModel<M>,
	items: readonly I[],
	toReference: (item: I) => PartReference,
): Promise<readonly (readonly [I, M])[]> {
	const found = new Map<string | null, ReadonlyMap<string, M>>();
	for (const [resource_id, wanted] of groupBy(items.map(toReference), (reference) => reference.resource_id)) {
		const references = wanted.map(({ reference }) => reference);
		found.set(resource_id, await unit.findAll(table, references, { resource_id }));
	}
	return items.flatMap((item) => {
		const { resource_id, reference } = toReference(item);
		const row = found.get(resource_id)?.get(reference);
		return row === undefined ? [] : [[item, row] as const];
	});
}
