import { type RowQuery, rowQuery } from '../query/row-query.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import type { WritingUnit } from '../unit/writing-unit.js';
import { KeyedModel } from './environment-model.js';

/** SQL condition for relations shown to users: relations that grant no role to sets of users. */
export const isShown = "position('#' in relations.key) = 0";

/** Relation from instances of a subject resource to instances of an object resource. */
export class Relation extends KeyedModel {
	static override readonly tableName = 'relations';
	static override readonly jsonAttributes = ['grant_conditions'];
	static readonly kind = 'relation';
	static readonly title = 'Relation';
	static readonly shown: string | undefined = isShown;

	/** The objects' resource. */
	declare resource_id: string;
	declare subject_resource_id: string;
	declare name: string;
	declare description: string | null;
	/** True if the groups API created the relation. The groups API deletes it when no group needs it. */
	declare made_for_groups: boolean;
	/** Condition set keys (type `grant`) under which relationships may be created. */
	declare grant_conditions: readonly string[];
}

/** A relation, or a hidden relation granting a role to sets of users. */
export class AnyRelation extends Relation {
	static override readonly shown = undefined;
}

/** Returns the relations with objects in these resources, oldest first. */
export function relationsBy(unit: ReadingUnit, resourceIds: readonly string[]): RowQuery<Relation> {
	return rowQuery(
		unit.query(Relation).whereRaw('relations.resource_id = any(?::uuid[])', [resourceIds]).orderBy('relations.id'),
	);
}

/** Returns the relations from a subject resource to an object resource, oldest first. */
export function relationsBetween(
	unit: ReadingUnit,
	subject_resource_id: string,
	resource_id: string,
): RowQuery<Relation> {
	return rowQuery(unit.query(Relation).where({ resource_id, subject_resource_id }).orderBy('relations.id'));
}

/** Returns a resource's relations on either side, oldest first, including hidden relations. */
export function relationsAround(unit: ReadingUnit, resourceId: string): RowQuery<Relation> {
	return rowQuery(
		unit
			.query(AnyRelation)
			.where((either) => {
				either.where('relations.resource_id', resourceId).orWhere('relations.subject_resource_id', resourceId);
			})
			.orderBy('relations.id'),
	);
}

/** Returns the relations that declare conditions, oldest first. */
export async function relationsWithConditions(unit: ReadingUnit): Promise<readonly Relation[]> {
	return unit.query(Relation).whereRaw(`relations.grant_conditions <> '[]'::jsonb`).orderBy('relations.id');
}

/** Deletes these relations. Does not write to the change log. */
export async function deleteRelations(unit: WritingUnit, ids: readonly string[]): Promise<void> {
	await unit.query(AnyRelation).whereRaw('relations.id = any(?::uuid[])', [ids]).delete();
}

/** Returns a query over the hidden relations. */
export function hiddenRelations(unit: ReadingUnit) {
	return unit.query(AnyRelation).whereRaw("position('#' in relations.key) > 0");
}

/** Returns these resources' hidden relations, oldest first. */
export function setRelationsOf(unit: ReadingUnit, resourceIds: readonly string[]): RowQuery<AnyRelation> {
	return rowQuery(
		hiddenRelations(unit).whereRaw('relations.resource_id = any(?::uuid[])', [resourceIds]).orderBy('relations.id'),
	);
}

/** Adds hidden relations. Does not write to the change log. */
export async function insertSetRelations(
	unit: WritingUnit,
	wanted: readonly Pick<Relation, 'key' | 'resource_id' | 'subject_resource_id'>[],
): Promise<readonly AnyRelation[]> {
	const columns = wanted.map((relation) => ({ ...unit.stamp(), ...relation, name: relation.key }));
	return unit.insert(AnyRelation, columns, ({ key }) => String(key));
}
