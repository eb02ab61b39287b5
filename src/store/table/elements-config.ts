import { raw } from 'objection';
import type { ElementsType, PermissionLevel } from '../../wire/element/elements-config.js';
import { whereSearched } from '../unit/filter.js';
import { holdsNow } from '../unit/holds-now.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import { type RowQuery, rowQuery } from '../unit/row-query.js';
import type { WritingUnit } from '../unit/writing-unit.js';
import { EnvironmentModel, KeyedModel, sameEnvironment } from './environment-model.js';
import { Role } from './role.js';
import type { TenantUserRow } from './tenant-user.js';

/** The settings of an element: whole numbers, flags and texts. */
export type ElementsSettings = Readonly<Record<string, string | number | boolean>>;

/** An element: a page that applications embed, with the permission levels of roles in it. */
export class ElementsConfig extends KeyedModel {
	static override readonly tableName = 'elements_configs';
	static override readonly jsonAttributes = ['settings'];
	static readonly kind = 'elements_config';
	static readonly title = 'ElementsConfig';

	declare name: string;
	declare elements_type: ElementsType;
	declare settings: ElementsSettings;
	/** Whether the element was opened by anybody yet. */
	declare is_active: boolean;
	declare email_notifications: boolean;
	/** The webhook: all of these are null where there is none. */
	declare webhook_id: string | null;
	declare webhook_url: string | null;
	declare webhook_created_at: Date | null;
	declare webhook_updated_at: Date | null;
	/** The encrypted bearer token of the webhook. The change log leaves it out: see `changeRecord`. */
	declare secret_webhook_token: Uint8Array | null;
}

/** A level that is stored; roles without a row are `UNCONFIGURED`. */
export type ConfiguredLevel = Exclude<PermissionLevel, 'UNCONFIGURED'>;

/** The level of one role in one element. */
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

/** The elements of the environment, oldest first. */
export function allElementsConfigs(unit: ReadingUnit): RowQuery<ElementsConfig> {
	return rowQuery(unit.query(ElementsConfig).orderBy('elements_configs.id'));
}

/** The elements in which one of these roles has a level, oldest first. */
export function elementsConfigsNaming(unit: ReadingUnit, roleIds: readonly string[]): RowQuery<ElementsConfig> {
	const naming = unit
		.query(ElementsLevel)
		.whereRaw('elements_levels.role_id = any(?::uuid[])', [roleIds])
		.select('elements_levels.config_id');
	return rowQuery(unit.query(ElementsConfig).whereIn('elements_configs.id', naming).orderBy('elements_configs.id'));
}

/** The level of a role in an element, with what names the role. */
export interface LevelRow {
	readonly config_id: string;
	readonly role_id: string;
	readonly level: ConfiguredLevel;
	readonly key: string;
	readonly name: string;
	/** The resource whose role it is; `null` for a tenant role. */
	readonly resource_id: string | null;
	readonly resource: string | null;
}

/** The levels of all roles in these elements, by level, then oldest role first. */
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

/** A role with its level in an element. */
export interface RoleWithLevel {
	readonly id: string;
	readonly key: string;
	readonly name: string;
	readonly permission_level: PermissionLevel;
}

/** Which roles of an element are listed. */
export interface ElementRoleFilter {
	readonly config_id: string;
	/** The resource whose roles these are; `null` for roles in tenants. */
	readonly resource_id: string | null;
	readonly search?: string | undefined;
	/** Only roles of these levels; `null` for all roles. */
	readonly levels: readonly PermissionLevel[] | null;
}

/** The roles that pass the filter, each with its level in the element, oldest first. */
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

/** A level of a user in an element, by a role in the tenant (`null`) or on an instance. */
export interface HeldLevel {
	readonly config_id: string;
	readonly level: ConfiguredLevel;
	readonly resource_instance_id: string | null;
}

/** The levels that a user's roles in a tenant, and on its instances, have in all elements; each once. */
export async function heldLevels(
	unit: ReadingUnit,
	{ user_id, tenant_id }: Pick<TenantUserRow, 'user_id' | 'tenant_id'>,
): Promise<readonly HeldLevel[]> {
	const { rows } = await unit.raw<HeldLevel>(
		`select distinct elements_levels.config_id, elements_levels.level, role_assignments.resource_instance_id
		from role_assignments join elements_levels
			on elements_levels.environment_id = role_assignments.environment_id
			and elements_levels.role_id = role_assignments.role_id
		where role_assignments.environment_id = :environment_id
			and role_assignments.user_id = :user_id and role_assignments.tenant_id = :tenant_id
			and ${holdsNow('role_assignments')}`,
		{ user_id, tenant_id },
	);
	return rows;
}

/** Gives roles, by id, these levels in an element, and all other roles none. Records nothing. */
export async function replaceLevels(
	unit: WritingUnit,
	configId: string,
	levels: ReadonlyMap<string, ConfiguredLevel>,
): Promise<void> {
	await unit.query(ElementsLevel).where('elements_levels.config_id', configId).delete();
	const rows = Array.from(levels, ([role_id, level]) => ({ config_id: configId, role_id, level }));
	await unit.insert(ElementsLevel, rows, ({ role_id }) => String(role_id));
}

/** Takes these roles out of every element. Records nothing. */
export async function deleteLevels(unit: WritingUnit, roleIds: readonly string[]): Promise<void> {
	await unit.query(ElementsLevel).whereRaw('elements_levels.role_id = any(?::uuid[])', [roleIds]).delete();
}

/** Deletes an element with its levels. Records nothing. */
export async function deleteElementsConfig(unit: WritingUnit, { id }: ElementsConfig): Promise<void> {
	await unit.query(ElementsConfig).where('elements_configs.id', id).delete();
}
