import { readConditions, tupleBetween } from '../../domain/facts/named-tuple.js';
import { unrelateMany, writeTuples } from '../../domain/facts/relationship-tuple.js';
import { readCondition } from '../../domain/schema/condition-values.js';
import { Relation } from '../../store/table/relation.js';
import { RelationshipTuple, type TupleFilter, tuplesUnordered } from '../../store/table/relationship-tuple.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { instanceParts } from '../../wire/common.js';
import type { TupleEntry } from '../../wire/general/environment-document.js';
import { findNamedInstances, instanceNamesInChunks, instanceResolver } from './instance.js';
import { type DocumentPart, type Entry, listEntries, sortedEntries, valuesByName, withoutDefaults } from './part.js';
import { partResolver } from './reference.js';

/** Relationships between instances. */
export const tuplePart: DocumentPart<TupleEntry> = {
	title: 'relationship tuple',
	member: ['facts', 'relationship_tuples'],
	scope: null,
	list: true,
	isEmpty: (unit) => unit.isEmpty(RelationshipTuple),
	entriesIn: ({ facts }) => listEntries(['facts', 'relationship_tuples'], facts?.relationship_tuples, tupleName),
	async *chunks(unit) {
		for await (const subjects of instanceNamesInChunks(unit)) {
			yield tupleEntries(unit, { subject_ids: subjects.map(({ id }) => id) });
		}
	},
	async stored(unit, entries) {
		const [subjects, objects] = [
			await findNamedInstances(unit, [...new Set(entries.map(({ value }) => value.subject))]),
			await findNamedInstances(unit, [...new Set(entries.map(({ value }) => value.object))]),
		];
		const [subject_ids, object_ids] = [subjects.map(({ id }) => id), objects.map(({ id }) => id)];
		return valuesByName(await tupleEntries(unit, { subject_ids, object_ids }));
	},
	toDocument: (value) => withoutDefaults(value, { expires_at: null, condition: null }),
	async write(unit, entries) {
		const resolved = await resolveTuples(unit, entries);
		const conditions = await readConditions(unit, resolved);
		const tuples = resolved.map(({ subject, relation, object, expires_at, condition, place }) => {
			return { ...tupleBetween(subject, relation, object, expires_at), ...conditions(condition), place };
		});
		await writeTuples(unit, tuples, 'replace');
	},
	async remove(unit, entries) {
		const tuples = await resolveTuples(unit, entries);
		await unrelateMany(
			unit,
			tuples.map(({ subject, relation, object, condition }) => ({
				subject: subject.id,
				relation: relation.id,
				object: object.id,
				condition,
			})),
		);
	},
};

async function tupleEntries(unit: ReadingUnit, filter: TupleFilter): Promise<readonly Entry<TupleEntry>[]> {
	const rows = await tuplesUnordered(unit, filter);
	return sortedEntries(
		rows.map(({ expires_at, ...row }) => {
			const { subject, relation, object } = row;
			const until = expires_at?.toISOString() ?? null;
			return { subject, relation, object, expires_at: until, condition: readCondition(row) ?? null };
		}),
		tupleName,
	);
}

/** Finds the objects in tuple entries. */
async function resolveTuples(unit: ReadingUnit, entries: readonly Entry<TupleEntry>[]) {
	const instanceAt = await instanceResolver(
		unit,
		entries.flatMap(({ value }) => [value.subject, value.object]),
	);
	const relationAt = await partResolver(
		unit,
		Relation,
		entries.map(({ value }) => namedRelation(value)),
	);
	return entries.map(({ place, value }) => ({
		subject: instanceAt(value.subject, [...place, 'subject']),
		object: instanceAt(value.object, [...place, 'object']),
		relation: relationAt(namedRelation(value), [...place, 'relation']),
		expires_at: value.expires_at ?? undefined,
		condition: value.condition ?? undefined,
		place: ['body', ...place],
	}));
}

function namedRelation({ relation, object }: TupleEntry) {
	return { resource: instanceParts(object)?.resource ?? '', key: relation };
}

function tupleName({ subject, relation, object, condition }: TupleEntry): string {
	const under = condition === null ? '' : ` under ${condition.set}`;
	return `${subject} ${relation} ${object}${under}`;
}
