import { Relation } from '../store/table/relation.js';
import { type TupleFilter, tuplesBy } from '../store/table/relationship-tuple.js';
import type { ReadingUnit } from '../store/unit.js';
import { instanceParts } from '../wire/common.js';
import type { TupleEntry } from '../wire/environment-document.js';
import { relateUnbounded, unrelateMany } from './relationship-tuple.js';
import { referencesToInstances, rowsNamed, sortedInstances } from './transfer-instance.js';
import { type Entry, entriesOfList, type Part, sortedEntries, valuesOf } from './transfer-part.js';
import { referencesToParts } from './transfer-reference.js';

/** Which instances stand in which relations to which others. */
export const tuplePart: Part<TupleEntry> = {
	title: 'relationship tuple',
	member: ['facts', 'relationship_tuples'],
	scope: null,
	list: true,
	entriesOf: ({ facts }) => entriesOfList(['facts', 'relationship_tuples'], facts?.relationship_tuples, nameOf),
	async *portions(unit) {
		for await (const subjects of sortedInstances(unit)) {
			yield tuplesOf(unit, { subject_ids: subjects.map(({ id }) => id) });
		}
	},
	async held(unit, entries) {
		const [subjects, objects] = [
			await rowsNamed(unit, [...new Set(entries.map(({ value }) => value.subject))]),
			await rowsNamed(unit, [...new Set(entries.map(({ value }) => value.object))]),
		];
		const [subject_ids, object_ids] = [subjects.map(({ id }) => id), objects.map(({ id }) => id)];
		return valuesOf(await tuplesOf(unit, { subject_ids, object_ids }));
	},
	shown: (value) => value,
	async write(unit, entries) {
		await relateUnbounded(unit, await resolve(unit, entries));
	},
	async remove(unit, entries) {
		await unrelateMany(unit, await resolve(unit, entries));
	},
};

async function tuplesOf(unit: ReadingUnit, filter: TupleFilter): Promise<readonly Entry<TupleEntry>[]> {
	const rows = await tuplesBy(unit, filter).clearOrder().castTo<TupleEntry[]>();
	return sortedEntries(
		rows.map(({ subject, relation, object }) => ({ subject, relation, object })),
		nameOf,
	);
}

/** What the entries name, by ids. */
async function resolve(unit: ReadingUnit, entries: readonly Entry<TupleEntry>[]) {
	const instanceAt = await referencesToInstances(
		unit,
		entries.flatMap(({ value }) => [value.subject, value.object]),
	);
	const relationAt = await referencesToParts(
		unit,
		Relation,
		entries.map(({ value }) => relationOf(value)),
	);
	return entries.map(({ place, value }) => ({
		subject: instanceAt(value.subject, [...place, 'subject']).id,
		object: instanceAt(value.object, [...place, 'object']).id,
		relation: relationAt(relationOf(value), [...place, 'relation']).id,
	}));
}

function relationOf({ relation, object }: TupleEntry) {
	return { resource: instanceParts(object)?.resource ?? '', key: relation };
}

function nameOf({ subject, relation, object }: TupleEntry): string {
	return `${subject} ${relation} ${object}`;
}
