import { groupBy } from '../group-by.js';
import type { ChangedRecord } from '../store/change.js';
import { rolesThrough } from '../store/table/dependent.js';
import { deleteRelations, Relation, relationsBy } from '../store/table/relation.js';
import { Resource } from '../store/table/resource.js';
import { holds, type ReadingUnit, recordOf, type WritingUnit } from '../store/unit.js';
import type { RelationBlockRead, RelationCreate, RelationRead } from '../wire/relation.js';
import { type Blocks, blockOf, missingFrom } from './blocks.js';
import { only } from './only.js';
import { removeTuples } from './relationship-tuple.js';
import { recordingRoles } from './role-record.js';

/** Relations as the API shows them, with the keys of both resources. */
export async function readRelations(unit: ReadingUnit, rows: readonly Relation[]): Promise<readonly RelationRead[]> {
	const keyOf = await resourceKeys(unit, rows);
	return rows.map((row) => ({
		...row,
		...unit.scope,
		object_resource_id: row.resource_id,
		object_resource: keyOf(row.resource_id),
		subject_resource: keyOf(row.subject_resource_id),
	}));
}

/** One relation as the API shows it. */
export async function readRelation(unit: ReadingUnit, row: Relation): Promise<RelationRead> {
	return only(await readRelations(unit, [row]));
}

/** What resources show of the relations whose objects are theirs: by the resource's id, by the relation's key. */
export async function relationBlocks(
	unit: ReadingUnit,
	resourceIds: readonly string[],
): Promise<(resourceId: string) => Record<string, RelationBlockRead>> {
	const rows = await relationsBy(unit, resourceIds);
	const keyOf = await resourceKeys(unit, rows);
	const relations = groupBy(rows, (row) => row.resource_id);
	const blockOfRow = ({ subject_resource_id, name, description }: Relation): RelationBlockRead => ({
		resource_id: subject_resource_id,
		resource: keyOf(subject_resource_id),
		relation_name: name,
		description,
	});
	return (id) => Object.fromEntries((relations.get(id) ?? []).map((row) => [row.key, blockOfRow(row)]));
}

/** Adds a relation to the resource of its objects. Throws `not_found` for the other one, `duplicate` for its key. */
export async function createRelation(unit: WritingUnit, resource: Resource, body: RelationCreate): Promise<Relation> {
	const subject = await unit.find(Resource, body.subject_resource);
	const { key, name, description = null } = body;
	return addRelation(unit, resource, subject, { key, name, description });
}

/**
 * Makes a relation be named and described so. One whose subjects are of another resource now is a new one: the old one
 * goes with its tuples and with what is derived through it.
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
	} else if (!holds(relation, fields)) {
		const before = recordOfRelation(relation, resource.key, subject.key);
		const after = recordOfRelation(await unit.change(Relation, relation, fields), resource.key, subject.key);
		unit.record('relation', 'update', nameOf(resource.key, relation), before, after);
	}
}

/** Deletes relations with their tuples and with what is derived through them. */
export async function removeRelations(unit: WritingUnit, relations: readonly Relation[]): Promise<void> {
	if (relations.length === 0) return;
	const keyOf = await resourceKeys(unit, relations);
	const ids = relations.map((relation) => relation.id);
	await recordingRoles(unit, await rolesThrough(unit, ids), async () => {
		await removeTuples(unit, { relation_ids: ids });
		await deleteRelations(unit, ids);
		for (const relation of relations) {
			const record = recordOfRelation(relation, keyOf(relation.resource_id), keyOf(relation.subject_resource_id));
			unit.record('relation', 'delete', nameOf(keyOf(relation.resource_id), relation), record, null);
		}
		return [];
	});
}

/**
 * Makes a resource be the object of exactly these relations. Those it keeps keep their ids, names and tuples; one
 * whose subjects are of another resource now is a new one. Throws `not_found` for a resource that does not exist.
 */
export async function setRelations(unit: WritingUnit, resource: Resource, blocks: Blocks<string>): Promise<void> {
	const subjects = await unit.findAll(Resource, Object.values(blocks));
	const existing = await relationsBy(unit, [resource.id]);
	const stays = (row: Relation) => subjects.get(blockOf(blocks, row.key) ?? '')?.id === row.subject_resource_id;
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
	const name = nameOf(resource.key, fields);
	const relation = only(await unit.insert(Relation, [columns], () => name));
	unit.record('relation', 'create', name, null, recordOfRelation(relation, resource.key, subject.key));
	return relation;
}

/** The keys of the resources on both sides of relations, by id. */
async function resourceKeys(unit: ReadingUnit, rows: readonly Relation[]): Promise<(id: string) => string> {
	const resources = await unit.findAll(
		Resource,
		rows.flatMap((row) => [row.resource_id, row.subject_resource_id]),
	);
	return (id) => resources.get(id)?.key ?? '';
}

function recordOfRelation(row: Relation, object_resource: string, subject_resource: string): ChangedRecord {
	return { ...recordOf(row), object_resource, subject_resource };
}

function nameOf(resource: string, relation: Pick<Relation, 'key'>): string {
	return `${resource}:${relation.key}`;
}
