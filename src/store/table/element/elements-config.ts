import { raw } from 'objection';
import type { ElementsType, PermissionLevel } from '../../../wire/element/elements-config.js';
import { whereSearched } from '../../query/filter.js';
import { holdsNow } from '../../query/holds-now.js';
import { type RowQuery, rowQuery } from '../../query/row-query.js';
import type { ReadingUnit } from '../../unit/reading-unit.js';
import type { WritingUnit } from '../../unit/writing-unit.js';
import { EnvironmentModel, KeyedModel, sameEnvironment } from '../environment-model.js';
import { Role } from '../role.js';
import type { TenantUserRow } from '../tenant-user.js';

/** Element settings: integers, flags and strings. */
export type ElementsSettings = Readonly<Record<string, string | number | boolean>>;

/** An element: a page embedded by applications, with its roles' permission levels. */
export class ElementsConfig extends KeyedModel {
	static override readonly tableName = 'elements_configs';
	static override readonly jsonAttributes = ['settings'];
	static readonly kind = 'elements_config';
	static readonly title = 'ElementsConfig';

	declare name: string;
	declare elements_type: ElementsType;
	declare settings: ElementsSettings;
	/** True if the element has been opened at least once. */
	declare is_active: boolean;
	declare email_notifications: boolean;
	/** Webhook columns, which are all null if the element has no webhook. */
	declare webhook_id: string | null;
	declare webhook_url: string | null;
	declare webhook_created_at: Date | null;
	declare webhook_updated_at: Date | null;
	/** The webhook's encrypted bearer token. The change log omits it: see `changeRecord`. */
	declare secret_webhook_token: Uint8Array | null;
}

/** A permission level that is stored. Roles without a row have the level `UNCONFIGURED`. */
export type ConfiguredLevel = Exclude<PermissionLevel, 'UNCONFIGURED'>;

/** A role's level in an element. */
class ElementsLevel extends EnvironmentModel {
	static override readonly tableName = 'elements_levels';
	static readonly kind = 'elements_config';
	static readonly title = 'ElementsLevel';

	declare config_id: string;
	declare role_id: string;
	declare level: ConfiguredLevel;

	static override get idColumn(): string[] {
		return ['environment_id', 'config_id', 'role_id'];
	}
}

/** Returns the environment's elements, oldest first. */
export function allElementsConfigs(unit: ReadingUnit): RowQuery<ElementsConfig> {
	return rowQuery(unit.query(ElementsConfig).orderBy('elements_configs.id'));
}

/** Returns the elements with a level for any of these roles, oldest first. */
export function elementsConfigsNaming(unit: ReadingUnit, roleIds: readonly string[]): RowQuery<ElementsConfig> {
	const naming = unit
		.query(ElementsLevel)
		.whereRaw('elements_levels.role_id = any(?::uuid[])', [roleIds])
		.select('elements_levels.config_id');
	return rowQuery(unit.query(ElementsConfig).whereIn('elements_configs.id', naming).orderBy('elements_configs.id'));
}

/** A role's level in an element, with the role's names. */
export interface LevelRow {
	readonly config_id: string;
	readonly role_id: string;
	readonly level: ConfiguredLevel;
	readonly key: string;
	readonly name: string;
	/** The role's resource; `null` for a tenant role. */
	readonly resource_id: string | null;
	readonly resource: string | null;
}

/** Returns all roles' levels in these elements, ordered by level, then by role age, oldest first. */
export async function levelRows(unit: ReadingUnit, configIds: readonly string[]): Promise<readonly LevelRow[]> {
	if (configIds.length === 0) return [];
	return unit
		.query(ElementsLevel)
		.join('roles', sameEnvironment('elements_levels', 'role_id', 'roles'))
		.leftJoin('resources', sameEnvironment('roles', 'resource_id', 'resources'))
		.whereRaw('elements_levels.config_id = any(?::uuid[])', [configIds])
		.select('elements_levels.config_id', 'elements_levels.role_id', 'elements_levels.level')
		.select('roles.key', 'roles.name', 'roles.resource_id', 'resources.key as resource')
		.orderBy(['elements_levels.level', 'elements_levels.role_id'])
		.castTo<LevelRow[]>();
}

export interface RoleWithLevel {
	readonly id: string;
	readonly key: string;
	readonly name: string;
	readonly permission_level: PermissionLevel;
}

/** Filter for an element's roles. */
export interface ElementRoleFilter {
	readonly config_id: string;
	/** The roles' resource; `null` for tenant roles. */
	readonly resource_id: string | null;
	readonly search?: string | undefined;
	/** Only roles with these levels; `null` for all roles. */
	readonly levels: readonly PermissionLevel[] | null;
}

/** Returns the roles matching the filter, with their levels in the element, oldest first. */
export function elementRolesBy(unit: ReadingUnit, filter: ElementRoleFilter): RowQuery<RoleWithLevel> {
	const { config_id, resource_id, search, levels } = filter;
	const query = unit
		.query(Role)
		.leftJoin('elements_levels', (join) => {
			join
				.on('elements_levels.environment_id', 'roles.environment_id')
				.andOn('elements_levels.role_id', 'roles.id')
				.andOnVal('elements_levels.config_id', config_id);
		})
		.where('roles.resource_id', resource_id)
		.select('roles.id', 'roles.key', 'roles.name')
		.select(raw(`coalesce(elements_levels.level, 'UNCONFIGURED')`).as('permission_level'))
		.orderBy('roles.id');
	whereSearched(query, ['roles.key', 'roles.name'], search);
	if (levels !== null) query.whereRaw('elements_levels.level = any(?::text[])', [levels]);
	return rowQuery(query.castTo<(Role & RoleWithLevel)[]>());
}

/**
 * A user's level in an element, obtained from a role on an instance, or from a tenant role if the instance is `null`.
 */
export interface HeldLevel {
	readonly config_id: string;
	readonly level: ConfiguredLevel;
	readonly resource_instance_id: string | null;
}

/**
 * Returns a user's distinct levels in all elements, through roles in a tenant and on the tenant's instances. Ignores
 * conditional assignments unless `conditional` is set, because only checks evaluate conditions.
 */
export async function heldLevels(
	unit: ReadingUnit,
	{ user_id, tenant_id }: Pick<TenantUserRow, 'user_id' | 'tenant_id'>,
	{ conditional = false } = {},
): Promise<readonly HeldLevel[]> {
	const { rows } = await unit.raw<HeldLevel>(
		`select distinct elements_levels.config_id, elements_levels.level, role_assignments.resource_instance_id
		from role_assignments join elements_levels
			on elements_levels.environment_id = role_assignments.environment_id
			and elements_levels.role_id = role_assignments.role_id
		where role_assignments.environment_id = :environment_id
			and role_assignments.user_id = :user_id and role_assignments.tenant_id = :tenant_id
			and (:conditional or role_assignments.condition_set is null) and ${holdsNow('role_assignments')}`,
		{ user_id, tenant_id, conditional },
	);
	return rows;
}

/** Replaces all levels in an element with these levels, keyed by role id. Does not write to the change log. */
export async function replaceLevels(
	unit: WritingUnit,
	configId: string,
	levels: ReadonlyMap<string, ConfiguredLevel>,
): Promise<void> {
	await unit.query(ElementsLevel).where('elements_levels.config_id', configId).delete();
	const rows = Array.from(levels, ([role_id, level]) => ({ config_id: configId, role_id, level }));
	await unit.insert(ElementsLevel, rows, ({ role_id }) => String(role_id));
}

/** Removes these roles from all elements. Does not write to the change log. */
export async function deleteLevels(unit: WritingUnit, roleIds: readonly string[]): Promise<void> {
	await unit.query(ElementsLevel).whereRaw('elements_levels.role_id = any(?::uuid[])', [roleIds]).delete();
}

/** Deletes an element and its levels. Does not write to the change log. */
export async function deleteElementsConfig(unit: WritingUnit, { id }: ElementsConfig): Promise<void> {
	await unit.query(ElementsConfig).where('elements_configs.id', id).delete();
}
