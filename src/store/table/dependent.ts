import type { QueryBuilder } from 'objection';
import { type ReadingUnit, rowsAtOnce, type WritingUnit } from '../unit.js';
import { RelationshipTuple } from './relationship-tuple.js';
import { Role, RoleDerivation, RolePermission } from './role.js';

/** What loses something when what it depends on goes, or goes with it. */

/** The roles that are derived through any of these relations, oldest first. */
export function rolesThrough(unit: ReadingUnit, relationIds: readonly string[]): QueryBuilder<Role, Role[]> {
	const derived = unit
		.query(RoleDerivation)
		.whereRaw('role_derivations.relation_id = any(?::uuid[])', [relationIds])
		.select('role_derivations.role_id');
	return unit.query(Role).whereIn('roles.id', derived).orderBy('roles.id');
}

/** The roles that grant any of these actions, oldest first. */
export function rolesGranting(unit: ReadingUnit, actionIds: readonly string[]): QueryBuilder<Role, Role[]> {
	const granting = unit
		.query(RolePermission)
		.whereRaw('role_permissions.action_id = any(?::uuid[])', [actionIds])
		.select('role_permissions.role_id');
	return unit.query(Role).whereIn('roles.id', granting).orderBy('roles.id');
}

/** Deletes some tuples of these relations, as many as one statement takes, and returns them. Records nothing. */
export async function deleteSomeTuples(
	unit: WritingUnit,
	relationIds: readonly string[],
): Promise<readonly RelationshipTuple[]> {
	const ofRelations = () =>
		unit.query(RelationshipTuple).whereRaw('relationship_tuples.relation_id = any(?::uuid[])', [relationIds]);
	const some = ofRelations().select('relationship_tuples.id').limit(rowsAtOnce);
	return ofRelations().whereIn('relationship_tuples.id', some).delete().returning('*');
}
