import { parseConditions } from '../../../compiler/condition/parse/grammar.js';
import { Failure } from '../../failure.js';
import { type ConditionSet, conditionSetsWithText } from '../../store/table/condition-set.js';
import { Resource } from '../../store/table/resource.js';
import { rowsWithKeys } from '../../store/unit/keyed-rows.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { nameObjects } from './named-role.js';

/** Resources with instances that condition sets read by `fk_resource_type`. A set must not outlive such a resource. */

/** Returns the condition sets that read instances of any of these resources, each with the resource key. */
async function setsReading(
	unit: ReadingUnit,
	resources: ReadonlySet<string>,
): Promise<readonly { readonly set: ConditionSet; readonly resource: string }[]> {
	if (resources.size === 0) return [];
	const sets = await conditionSetsWithText(unit, 'fk_resource_type').all();
	return sets.flatMap((set) => {
		const { related } = parseConditions(set.conditions, { type: set.type, bound: set.resource_id !== null });
		const read = related.find(({ type }) => resources.has(type));
		return read === undefined ? [] : [{ set, resource: read.type }];
	});
}

/** True if condition sets of other resources read instances of this resource. */
export async function isRead(unit: ReadingUnit, resource: Resource): Promise<boolean> {
	return (await readersOf(unit, resource)).length > 0;
}

/** Rejects the deletion of a resource whose instances are read by sets of other resources. Throws `conflict`. */
export async function refuseReadResource(unit: ReadingUnit, resource: Resource): Promise<void> {
	const readers = await readersOf(unit, resource);
	if (readers.length > 0) throw stillRead(resource.key, readers);
}

async function readersOf(unit: ReadingUnit, { id, key }: Resource): Promise<readonly ConditionSet[]> {
	const reading = await setsReading(unit, new Set([key]));
	// The sets of the resource itself are deleted with the resource.
	return reading.map(({ set }) => set).filter(({ resource_id }) => resource_id !== id);
}

/** Rejects a unit that deleted a resource whose instances a remaining set reads. Throws `conflict`. */
export async function refuseMissingResources(unit: WritingUnit): Promise<void> {
	const deleted = unit.changes.filter(({ kind, operation }) => kind === 'resource' && operation === 'delete');
	const keys = deleted.map(({ key }) => key);
	const present = await rowsWithKeys(unit, Resource, keys);
	const reading = await setsReading(unit, new Set(keys.filter((key) => !present.has(key))));
	const [first] = reading;
	if (first === undefined) return;
	const readers = reading.filter(({ resource }) => resource === first.resource).map(({ set }) => set);
	throw stillRead(first.resource, readers);
}

function stillRead(resource: string, sets: readonly ConditionSet[]): Failure {
	const message = `instances of the resource \`${resource}\` are read in the conditions of ${nameObjects(sets)}`;
	return new Failure('conflict', message, { resource, condition_sets: sets.map(({ key }) => key) });
}
