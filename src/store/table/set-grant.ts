import { type QueryBuilder, raw } from 'objection';
import { whereIdsIn } from '../query/filter.js';
import { type RowQuery, rowQuery } from '../query/row-query.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import { sameEnvironment } from './environment-model.js';
import { hiddenRelations } from './relation.js';
import { RelationshipTuple } from './relationship-tuple.js';
import { instanceNameIn } from './resource-instance.js';
import type { AssignmentFilter, AssignmentRow } from './role-assignment.js';

/** Filter for assignments to sets of users. */
export interface SetGrantFilter
	extends Pick<AssignmentFilter, 'role_ids' | 'tenant_ids' | 'resource_ids' | 'resource_instance_ids'> {
	/** The sets' instances. */
	readonly subject_ids?: readonly string[] | undefined;
	/** The sets, as `<type>:<key>#<role>`. */
	readonly sets?: readonly string[] | undefined;
}

/** True if any role can be assigned to sets. */
export async function hasSetGrants(unit: ReadingUnit): Promise<boolean> {
	return (await hiddenRelations(unit).first()) !== undefined;
}

/** Returns matching assignments to sets, oldest first. The user id is the set's instance id. */
export function setGrantsBy(unit: ReadingUnit, filter: SetGrantFilter): RowQuery<AssignmentRow> {
	const set = `subject_types.key || ':' || subjects.key || substring(relations.key from position('#' in relations.key))`;
	const query: QueryBuilder<RelationshipTuple, RelationshipTuple[]> = unit
		.query(RelationshipTuple)
		.whereIn('relationship_tuples.relation_id', hiddenRelations(unit).select('relations.id'))
		.join('relations', sameEnvironment('relationship_tuples', 'relation_id', 'relations'))
		// A hidden relation has exactly one derivation.
		.join('role_derivations', (join) => {
			join
				.on('relationship_tuples.environment_id', 'role_derivations.environment_id')
				.andOn('relationship_tuples.relation_id', 'role_derivations.relation_id');
		})
		.join('roles', sameEnvironment('role_derivations', 'role_id', 'roles'))
		.join('resource_instances as subjects', sameEnvironment('relationship_tuples', 'subject_id', 'subjects'))
		.join('resources as subject_types', sameEnvironment('subjects', 'resource_id', 'subject_types'))
		.join('resource_instances as objects', sameEnvironment('relationship_tuples', 'object_id', 'objects'))
		.join('resources as object_types', sameEnvironment('objects', 'resource_id', 'object_types'))
		.join('tenants', sameEnvironment('relationship_tuples', 'tenant_id', 'tenants'))
		.select(
			'relationship_tuples.id',
			'relationship_tuples.environment_id',
			'relationship_tuples.created_at',
			'relationship_tuples.expires_at',
			'relationship_tuples.subject_id as user_id',
			'relationship_tuples.tenant_id',
			'relationship_tuples.object_id as resource_instance_id',
			'roles.id as role_id',
			'roles.key as role',
			'tenants.key as tenant',
			instanceNameIn('object_types', 'objects').as('resource_instance'),
		)
		.select(raw(set).as('user'), raw('null').as('condition_set'), raw('null').as('condition_values'))
		.orderBy('relationship_tuples.id');
	whereIdsIn(query, {
		'relationship_tuples.subject_id': filter.subject_ids,
		'relationship_tuples.object_id': filter.resource_instance_ids,
		'relationship_tuples.tenant_id': filter.tenant_ids,
		'role_derivations.role_id': filter.role_ids,
		'objects.resource_id': filter.resource_ids,
	});
	if (filter.sets !== undefined) query.whereRaw(`${set} = any(?::text[])`, [filter.sets]);
	return rowQuery(query.castTo<(RelationshipTuple & AssignmentRow)[]>());
}
