import type { ReadingUnit } from '../unit/reading-unit.js';
import type { WritingUnit } from '../unit/writing-unit.js';
import { sameEnvironment } from './environment-model.js';
import { hiddenRelations, Relation } from './relation.js';
import { RoleDerivation } from './role.js';

/** A derivation's source role and relation, and whether a direct role on the object disables it. */
export type Derivation = Pick<RoleDerivation, 'source_role_id' | 'relation_id' | 'no_direct_roles_on_object'>;

/** A derivation with its keys. */
export interface DerivationRow extends Derivation {
	readonly role_id: string;
	/** The source role's key. */
	readonly role: string;
	/** The source role's resource, by id and by key. */
	readonly resource_id: string;
	readonly on_resource: string;
	readonly linked_by_relation: string;
}

/**
 * Returns these roles' derivations (default: all roles), in their stored order, including derivations through
 * hidden relations.
 */
export async function derivationRows(
	unit: ReadingUnit,
	roleIds?: readonly string[],
): Promise<readonly DerivationRow[]> {
	const query = unit
		.query(RoleDerivation)
		.join('roles', sameEnvironment('role_derivations', 'source_role_id', 'roles'))
		.join('resources', sameEnvironment('roles', 'resource_id', 'resources'))
		.join('relations', sameEnvironment('role_derivations', 'relation_id', 'relations'))
		.select('role_derivations.*', 'roles.key as role', 'roles.resource_id')
		.select('resources.key as on_resource', 'relations.key as linked_by_relation')
		.orderBy('role_derivations.id');
	if (roleIds !== undefined) query.whereRaw('role_derivations.role_id = any(?::uuid[])', [roleIds]);
	return query.castTo<DerivationRow[]>();
}

/** Returns the derivations through these relations. */
export async function derivationsThrough(
	unit: ReadingUnit,
	relationIds: readonly string[],
): Promise<readonly RoleDerivation[]> {
	return unit.query(RoleDerivation).whereRaw('role_derivations.relation_id = any(?::uuid[])', [relationIds]);
}

/**
 * Replaces these roles' derivations through relations or, if `by` is `sets`, through hidden relations. `derivations` is
 * keyed by role id. Does not write to the change log.
 */
export async function replaceDerivations(
	unit: WritingUnit,
	derivations: ReadonlyMap<string, readonly Derivation[]>,
	by: 'relations' | 'sets' = 'relations',
): Promise<void> {
	const relations = by === 'relations' ? unit.query(Relation) : hiddenRelations(unit);
	await unit
		.query(RoleDerivation)
		.whereRaw('role_derivations.role_id = any(?::uuid[])', [[...derivations.keys()]])
		.whereIn('role_derivations.relation_id', relations.select('relations.id'))
		.delete();
	const rows = [...derivations].flatMap(([role_id, given]) =>
		given.map(({ source_role_id, relation_id, no_direct_roles_on_object }) => {
			const { id, created_at } = unit.stamp();
			return { id, created_at, role_id, source_role_id, relation_id, no_direct_roles_on_object };
		}),
	);
	await unit.insert(RoleDerivation, rows, (row) => String(row.source_role_id));
}

/** Returns the ids of roles derived from at least one role in `roleIds`. */
export async function derivedRoleIds(unit: ReadingUnit, roleIds: readonly string[]): Promise<readonly string[]> {
	const rows = await unit.query(RoleDerivation).whereRaw('role_derivations.source_role_id = any(?::uuid[])', [roleIds]);
	return rows.map((row) => row.role_id);
}

/** Returns the derivations through hidden relations, from or to these roles. */
export async function setDerivationsAround(
	unit: ReadingUnit,
	roleIds: readonly string[],
): Promise<readonly RoleDerivation[]> {
	return unit
		.query(RoleDerivation)
		.whereIn('role_derivations.relation_id', hiddenRelations(unit).select('relations.id'))
		.where((either) => {
			for (const column of ['role_id', 'source_role_id']) {
				either.orWhereRaw('?? = any(?::uuid[])', [`role_derivations.${column}`, roleIds]);
			}
		});
}
