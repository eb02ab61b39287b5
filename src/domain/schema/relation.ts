import { groupBy } from '../../../compiler/group-by.js';
import { isSetRelation } from '../../../compiler/user-set.js';
import { onlyRow } from '../../store/query/only-row.js';
import { rolesThrough } from '../../store/table/dependent-roles.js';
import { deleteRelations, Relation, relationsBy } from '../../store/table/relation.js';
import { Resource } from '../../store/table/resource.js';
import type { ChangedRecord } from '../../store/unit/change.js';
import { changeRecord, hasValues } from '../../store/unit/change-record.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { RelationBlockRead, RelationCreate, RelationRead } from '../../wire/schema/relation.js';
import { removeTuples } from '../facts/relationship-tuple.js';
import { type Blocks, findBlock, missingFrom } from './resource-blocks.js';
import { recordRoleChanges } from './role-record.js';

/** Converts relations to API objects, with both resource keys. */
export async function readRelations(unit: ReadingUnit, rows: readonly Relation[]): Promise<readonly RelationRead[]> {
	const resourceKey = await resourceKeys(unit, rows);
	return rows.map((row) => ({
		...row,
		...unit.scope,
		object_resource_id: row.resource_id,
		object_resource: resourceKey(row.resource_id),
		subject_resource: resourceKey(row.subject_resource_id),
	}));
}

export async function readRelation(unit: ReadingUnit, row: Relation): Promise<RelationRead> {
	return onlyRow(await readRelations(unit, [row]));
}

/** Returns a function that maps a resource id to the resource's relations, keyed by relation key. */
export async function relationBlocks(
	unit: ReadingUnit,
	resourceIds: readonly string[],
): Promise<(resourceId: string) => Record<string, RelationBlockRead>> {
	const rows = await relationsBy(unit, resourceIds).all();
	const resourceKey = await resourceKeys(unit, rows);
	const relations = groupBy(rows, (row) => row.resource_id);
	const readBlock = ({ subject_resource_id, name, description }: Relation): RelationBlockRead => ({
		resource_id: subject_resource_id,
		resource: resourceKey(subject_resource_id),
		relation_name: name,
		description,
	});
	return (id) => Object.fromEntries((relations.get(id) ?? []).map((row) => [row.key, readBlock(row)]));
}

/**
 * Adds a relation to its objects' resource. Throws `not_found` for the subject resource, and `duplicate` if the key is
 * taken.
 */
export async function createRelation(unit: WritingUnit, resource: Resource, body: RelationCreate): Promise<Relation> {
	const subject = await unit.find(Resource, body.subject_resource);
	const { key, name, description = null } = body;
	return addRelation(unit, resource, subject, { key, name, description });
}

/**
 * Sets a relation's name and description. If its subject resource changes, a new relation replaces it. The old relation
 * is then deleted with its tuples and derivations.
 */
export async function replaceRelation(
	unit: WritingUnit,
	resource: Resource,
	relation: Relation,
	subject: Resource,
	fields: Pick<Relation, 'name' | 'description'> & Partial<Pick<Relation, 'made_for_groups'>>,
): Promise<void> {
	if (relation.subject_resource_id !== subject.id) {
		await removeRelations(unit, [relation]);
		await addRelation(unit, resource, subject, { key: relation.key, ...fields });
	} else if (!hasValues(relation, fields)) {
		const before = relationRecord(relation, resource.key, subject.key);
		const after = relationRecord(await unit.change(Relation, relation, fields), resource.key, subject.key);
		unit.record('relation', 'update', relationName(resource.key, relation), before, after);
	}
}

/** Deletes relations with their tuples and derivations. Hidden relations are not recorded, only their tuples and roles. */
export async function removeRelations(unit: WritingUnit, relations: readonly Relation[]): Promise<void> {
	if (relations.length === 0) return;
	const resourceKey = await resourceKeys(unit, relations);
	const ids = relations.map((relation) => relation.id);
	await recordRoleChanges(unit, await rolesThrough(unit, ids).all(), async () => {
		await removeTuples(unit, { relation_ids: ids });
		await deleteRelations(unit, ids);
		for (const relation of relations.filter(({ key }) => !isSetRelation(key))) {
			const record = relationRecord(
				relation,
				resourceKey(relation.resource_id),
				resourceKey(relation.subject_resource_id),
			);
			unit.record('relation', 'delete', relationName(resourceKey(relation.resource_id), relation), record, null);
		}
		return [];
	});
}

/**
 * Replaces a resource's relations. Remaining relations keep their ids, names and tuples. A relation with a changed
 * subject resource is replaced by a new relation. Throws `not_found` for a missing resource.
 */
export async function setRelations(unit: WritingUnit, resource: Resource, blocks: Blocks<string>): Promise<void> {
	const subjects = await unit.findAll(Resource, Object.values(blocks));
	const existing = await relationsBy(unit, [resource.id]).all();
	const stays = (row: Relation) => subjects.get(findBlock(blocks, row.key) ?? '')?.id === row.subject_resource_id;
	await removeRelations(
		unit,
		existing.filter((row) => !stays(row)),
	);
	for (const [key, reference] of missingFrom(existing.filter(stays), blocks)) {
		const subject = subjects.get(reference);
		if (subject !== undefined) await addRelation(unit, resource, subject, { key, name: key, description: null });
	}
}

async function addRelation(
	unit: WritingUnit,
	resource: Resource,
	subject: Resource,
	fields: Pick<Relation, 'key' | 'name' | 'description'>,
): Promise<Relation> {
	const columns = { ...fields, ...unit.stamp(), resource_id: resource.id, subject_resource_id: subject.id };
	const name = relationName(resource.key, fields);
	const relation = onlyRow(await unit.insert(Relation, [columns], () => name));
	unit.record('relation', 'create', name, null, relationRecord(relation, resource.key, subject.key));
	return relation;
}

/** Returns a function that maps the ids of the resources on both sides to their keys. */
async function resourceKeys(unit: ReadingUnit, rows: readonly Relation[]): Promise<(id: string) => string> {
	const resources = await unit.findAll(
		Resource,
		rows.flatMap((row) => [row.resource_id, row.subject_resource_id]),
	);
	return (id) => resources.get(id)?.key ?? '';
}

function relationRecord(row: Relation, object_resource: string, subject_resource: string): ChangedRecord {
	const { grant_conditions, ...record } = changeRecord(row);
	const declared = row.grant_conditions.length > 0 && { grant_conditions };
	return { ...record, ...declared, object_resource, subject_resource };
}

function relationName(resource: string, relation: Pick<Relation, 'key'>): string {
	return `${resource}:${relation.key}`;
}
