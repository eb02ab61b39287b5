import { createRelation, removeRelations, replaceRelation } from '../../domain/schema/relation.js';
import { Relation } from '../../store/table/relation.js';
import { Resource } from '../../store/table/resource.js';
import { rowsWithIds, rowsWithKeys } from '../../store/unit/keyed-rows.js';
import type { RelationEntry } from '../../wire/general/environment-document.js';
import { nestedPart } from './nested.js';
import { type DocumentPart, unknownReference, withoutDefaults, withPlace } from './part.js';

/** Relations, nested in their objects' resource. */
export const relationPart: DocumentPart<RelationEntry> = nestedPart<Relation, RelationEntry>({
	table: Relation,
	title: 'relation',
	member: 'relations',
	entryMap: ({ relations }) => relations,
	toDocument: (value) => withoutDefaults(value, { description: null, grant_conditions: [] }),
	async describe(unit, rows) {
		const subjects = await rowsWithIds(unit, Resource, [...new Set(rows.map((row) => row.subject_resource_id))]);
		return ({ name, description, subject_resource_id, grant_conditions }) => {
			const subject_resource = subjects.get(subject_resource_id)?.key ?? '';
			return { name, description, subject_resource, grant_conditions: [...grant_conditions] };
		};
	},
	async write(unit, entries) {
		const keys = entries.map(({ value }) => value.subject_resource);
		const subjects = await rowsWithKeys(unit, Resource, keys);
		for (const { key, place, value, resource, row } of entries) {
			const { subject_resource, name, description } = value;
			const grant_conditions = [...new Set(value.grant_conditions)];
			const subject = subjects.get(subject_resource);
			if (subject === undefined)
				throw unknownReference([...place, 'subject_resource'], Resource.title, subject_resource);
			const created = { key, name, description: description ?? undefined, subject_resource: subject.id };
			const declared = { ...created, declared_sets: grant_conditions };
			if (row === undefined) await withPlace(place, () => createRelation(unit, resource, declared));
			else await replaceRelation(unit, resource, row, subject, { name, description, grant_conditions });
		}
	},
	async removeOwned(unit, owned) {
		await removeRelations(
			unit,
			owned.map(({ row }) => row),
		);
	},
});
