import { type RowQuery, rowQuery } from '../query/row-query.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import { Role, RoleDerivation, RolePermission } from './role.js';

/** Roles affected when relations or actions are deleted. */

/** Returns the roles derived through any of these relations, oldest first. */
export function rolesThrough(unit: ReadingUnit, relationIds: readonly string[]): RowQuery<Role> {
	const derived = unit
		.query(RoleDerivation)
		.whereRaw('role_derivations.relation_id = any(?::uuid[])', [relationIds])
		.select('role_derivations.role_id');
	return rowQuery(unit.query(Role).whereIn('roles.id', derived).orderBy('roles.id'));
}

/** Returns the roles that grant any of these actions, oldest first. */
export function rolesGranting(unit: ReadingUnit, actionIds: readonly string[]): RowQuery<Role> {
	const granting = unit
		.query(RolePermission)
		.whereRaw('role_permissions.action_id = any(?::uuid[])', [actionIds])
		.select('role_permissions.role_id');
	return rowQuery(unit.query(Role).whereIn('roles.id', granting).orderBy('roles.id'));
}
