import { groupBy } from '../../../compiler/group-by.js';
import { isSetRelation } from '../../../compiler/user-set.js';
import { unprocessable } from '../../failure.js';
import { onlyRow } from '../../store/query/only-row.js';
import { rolesThrough } from '../../store/table/dependent-roles.js';
import { deleteRelations, Relation, relationsBy } from '../../store/table/relation.js';
import { Resource } from '../../store/table/resource.js';
import type { ChangedRecord } from '../../store/unit/change.js';
import { changeRecord, hasValues } from '../../store/unit/change-record.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { Columns } from '../../store/unit/table-model.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { RelationBlockRead, RelationCreate, RelationRead, RelationUpdate } from '../../wire/schema/relation.js';
import { refuseRelationsOverLimit } from '../check-limit/cycle-limit.js';
import { removeTuples } from '../facts/relationship-tuple.js';
import { refuseUnsoundLinks } from './computed-role.js';
import { definedFields } from './defined-fields.js';
import { refuseExcludedConditions, refuseWithdrawnRelationSets, resolveDeclaredSets } from './grant-condition.js';
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
		grant_conditions: declaredConditions(row),
	}));
}

/** Returns a relation's declared conditions; `undefined` if there are none. */
function declaredConditions({ grant_conditions }: Relation): string[] | undefined {
	return grant_conditions.length === 0 ? undefined : [...grant_conditions];
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
	const readBlock = (row: Relation): RelationBlockRead => ({
		resource_id: row.subject_resource_id,
		resource: resourceKey(row.subject_resource_id),
		relation_name: row.name,
		description: row.description,
		grant_conditions: declaredConditions(row),
	});
	return (id) => Object.fromEntries((relations.get(id) ?? []).map((row) => [row.key, readBlock(row)]));
}

export interface NewRelation
	extends Omit<RelationCreate, 'grant_conditions'>,
		Pick<RelationUpdate, 'grant_conditions'> {
	/**
	 * Declared set keys, instead of `grant_conditions`. An import may create these sets later, and checks them at its
	 * end.
	 */
	readonly declared_sets?: readonly string[];
}

/**
 * Adds a relation to its objects' resource. Throws `not_found` for the subject resource, `duplicate` if the key is
 * taken, and `unprocessable` for an unknown condition set.
 */
export async function createRelation(unit: WritingUnit, resource: Resource, body: NewRelation): Promise<Relation> {
	const subject = await unit.find(Resource, body.subject_resource);
	const { key, name, description = null, grant_conditions = [], declared_sets } = body;
	const sets = declared_sets ?? (await resolveDeclaredSets(unit, grant_conditions, conditionsPlace));
	return addRelation(unit, resource, subject, { key, name, description, grant_conditions: sets });
}

const conditionsPlace = ['body', 'grant_conditions'];

/**
 * Changes the passed relation fields. Throws `unprocessable` for an unknown condition set and for conditions of a
 * relation made for groups, `conflict` for a removed set in use, `limit_reached`, and like `refuseUnsoundLinks` and
 * `refuseExcludedConditions`.
 */
export async function changeRelation(
	unit: WritingUnit,
	resource: Resource,
	relation: Relation,
	{ name, description, grant_conditions }: RelationUpdate,
): Promise<Relation> {
	const declared = grant_conditions && (await resolveDeclaredSets(unit, grant_conditions, conditionsPlace));
	if (relation.made_for_groups && declared !== undefined && declared.length > 0) {
		const msg = 'must be empty: the relation was created for groups, whose roles have no conditions';
		throw unprocessable([{ loc: conditionsPlace, msg, type: 'value_error' }]);
	}
	const fields = definedFields({ name, description, grant_conditions: declared });
	const subject = await unit.find(Resource, relation.subject_resource_id);
	const changed = await rewriteRelation(unit, resource, relation, subject, fields);
	if (declared === undefined) return changed;
	await refuseWithdrawnRelationSets(unit, [changed]);
	await refuseExcludedConditions(unit, conditionsPlace);
	if (relation.grant_conditions.length === 0 && declared.length > 0) await refuseUnsoundLinks(unit);
	// A check walks a cycle with conditions. Otherwise the cycle has closures.
	if ((relation.grant_conditions.length === 0) !== (declared.length === 0)) {
		await refuseRelationsOverLimit(unit, [relation.id]);
	}
	return changed;
}

/**
 * Sets relation fields. If the subject resource changes, replaces the relation with a new relation, and deletes the old
 * relation with its tuples and derivations.
 */
export async function replaceRelation(
	unit: WritingUnit,
	resource: Resource,
	relation: Relation,
	subject: Resource,
	fields: Pick<Relation, 'name' | 'description'> & Partial<Pick<Relation, 'made_for_groups' | 'grant_conditions'>>,
): Promise<void> {
	if (relation.subject_resource_id !== subject.id) {
		await removeRelations(unit, [relation]);
		await addRelation(unit, resource, subject, { key: relation.key, ...fields });
	} else {
		await rewriteRelation(unit, resource, relation, subject, fields);
	}
}

/** Changes relation columns and records the change. Does nothing if the columns already have these values. */
async function rewriteRelation(
	unit: WritingUnit,
	resource: Resource,
	relation: Relation,
	subject: Resource,
	columns: Columns<Relation>,
): Promise<Relation> {
	if (hasValues(relation, columns)) return relation;
	const before = relationRecord(relation, resource.key, subject.key);
	const changed = await unit.change(Relation, relation, columns);
	const after = relationRecord(changed, resource.key, subject.key);
	unit.record('relation', 'update', relationName(resource.key, relation), before, after);
	return changed;
}

/**
 * Deletes relations with their tuples and derivations. Hidden relations are not recorded, only their tuples and roles.
 */
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
	fields: Pick<Relation, 'key' | 'name' | 'description'> & Partial<Pick<Relation, 'grant_conditions'>>,
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
