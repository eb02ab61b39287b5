import { Failure, forbidden, notFound, unprocessable } from '../../failure.js';
import { ElementsConfig, levelRows } from '../../store/table/element/elements-config.js';
import type { InstanceRow } from '../../store/table/resource-instance.js';
import { Role, tenantRolesOnly } from '../../store/table/role.js';
import { Tenant } from '../../store/table/tenant.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { PermissionLevel } from '../../wire/element/elements-config.js';
import { type ActingUser, type ActorLevels, actorLevels } from './level.js';
import { findOwnInstance } from './request-target.js';
import { findElementRoles, roleSeparator } from './role.js';
import { resourceSetting } from './setting.js';

/** Permission rules for elements in which users manage other users. */

/** An element as seen by an actor: in a tenant, or on an instance there. */
export interface OpenedElement {
	readonly config: ElementsConfig;
	readonly actor: ActingUser;
	readonly tenant: Tenant;
	/** The instance; `null` if the element is open for the whole tenant. */
	readonly instance: InstanceRow | null;
	/** The actor's level there: `LEVEL_1`, `LEVEL_2` or `LEVEL_3`. */
	readonly level: PermissionLevel;
}

/** An element in which an actor manages or views users. */
export interface UserManagement extends OpenedElement {
	/** Configured levels, keyed by role id. */
	readonly levelsOfRoles: ReadonlyMap<string, PermissionLevel>;
}

/** Levels with access to an element, highest first. */
const seeing = ['LEVEL_1', 'LEVEL_2', 'LEVEL_3'] as const satisfies readonly PermissionLevel[];
/** Levels of the roles that a manager may assign and remove. */
const managed: readonly PermissionLevel[] = ['LEVEL_2', 'LEVEL_3', 'LEVEL_4'];
/** Levels of the roles shown to users other than owners. */
const shown: readonly PermissionLevel[] = ['LEVEL_1', ...managed];

/**
 * Opens an element for an actor, in the actor's tenant or on the instance `named`. Throws `not_found` for an unknown
 * element or instance, and for an actor without access. Throws `unprocessable` if the element's settings contain a
 * resource but `named` is undefined.
 */
export async function openElement(
	unit: ReadingUnit,
	reference: string,
	actor: ActingUser,
	named: string | undefined,
): Promise<OpenedElement> {
	const config = await unit.find(ElementsConfig, reference);
	const levels = await actorLevels(unit, config.id, actor);
	const instance = await findPlace(unit, config, actor, levels, named);
	const level = levels.onInstance(instance?.id ?? null);
	if (!sees(level)) throw unseen(config);
	return { config, actor, tenant: await unit.find(Tenant, actor.tenant_id), instance, level };
}

/** Like `openElement`, for a user management element. Throws `invalid` for a different type. */
export async function openUserManagement(
	unit: ReadingUnit,
	reference: string,
	actor: ActingUser,
	named: string | undefined,
): Promise<UserManagement> {
	const opened = await openElement(unit, reference, actor, named);
	const { key, id, elements_type } = opened.config;
	if (elements_type !== 'user_management') {
		throw new Failure('invalid', `the element \`${key}\` has the type \`${elements_type}\`, not \`user_management\``);
	}
	const levelsOfRoles = new Map((await levelRows(unit, [id])).map(({ role_id, level }) => [role_id, level]));
	return { ...opened, levelsOfRoles };
}

async function findPlace(
	unit: ReadingUnit,
	config: ElementsConfig,
	actor: ActingUser,
	levels: ActorLevels,
	named: string | undefined,
): Promise<InstanceRow | null> {
	const resource = config.settings[resourceSetting];
	const seesAny = sees(levels.inTenant) || seeing.some((level) => levels.instancesAt(level).length > 0);
	// Check this before any lookup, so an actor without access learns nothing.
	if (!seesAny) throw unseen(config);
	if (named !== undefined) {
		return findOwnInstance(unit, actor, resource === undefined ? undefined : String(resource), named);
	}
	if (resource === undefined) return null;
	const msg = `is required: the element \`${config.key}\` is for instances of the resource \`${resource}\``;
	throw unprocessable([{ loc: ['query', 'resource_instance_id'], msg, type: 'missing' }]);
}

function sees(level: PermissionLevel): boolean {
	return seeing.some((one) => one === level);
}

function unseen({ key }: ElementsConfig): Failure {
	return notFound(ElementsConfig.title, key);
}

/** Throws `forbidden` for an actor who may only view users. */
export function requireManager({ level }: UserManagement): void {
	if (level === 'LEVEL_3') throw forbidden('only owners and managers of this element can change its users');
}

/** Returns a role's level in the element. */
export function levelOfRole({ levelsOfRoles }: UserManagement, { id }: Pick<Role, 'id'>): PermissionLevel {
	return levelsOfRoles.get(id) ?? 'UNCONFIGURED';
}

/** Throws `forbidden` if the actor may neither assign nor remove the role. */
export function requireManagedRole(management: UserManagement, role: Role): void {
	requireManager(management);
	if (management.level === 'LEVEL_1' || managed.includes(levelOfRole(management, role))) return;
	throw forbidden(`managers can assign and remove only roles with the levels 2 to 4, got \`${role.key}\``);
}

/** Returns the role levels visible to the actor; `null` if all levels are visible. */
export function shownLevels({ level }: UserManagement): readonly PermissionLevel[] | null {
	return level === 'LEVEL_1' ? null : shown;
}

/**
 * Rejects the removal of an owner, or an owner's role, if the actor is not an owner. Removing a user from a tenant also
 * removes roles on the tenant's instances, so the owner of any instance is treated as an owner. A user who is an owner
 * only under a condition is treated as an owner too, because only checks evaluate the condition. Throws `forbidden`.
 */
export async function refuseOwner(
	unit: ReadingUnit,
	{ config, tenant, instance, level }: UserManagement,
	user: { readonly id: string },
): Promise<void> {
	if (level === 'LEVEL_1') return;
	const removed = { user_id: user.id, tenant_id: tenant.id };
	const levels = await actorLevels(unit, config.id, removed, { conditional: true });
	const owns = instance === null && levels.instancesAt('LEVEL_1').length > 0;
	if (!owns && levels.onInstance(instance?.id ?? null) !== 'LEVEL_1') return;
	throw forbidden("only owners can remove an owner or an owner's role");
}

/**
 * Returns the role with this id, key or `<resource>#<role>`, if users can hold it in the managed tenant or instance.
 * Throws `not_found`.
 */
export async function findManagedRole(
	unit: ReadingUnit,
	{ instance }: UserManagement,
	reference: string,
): Promise<Role> {
	const named = reference.includes(roleSeparator)
		? (await findElementRoles(unit, [reference])).get(reference)
		: reference;
	return unit.find(
		Role,
		named ?? reference,
		instance === null ? tenantRolesOnly : { resource_id: instance.resource_id },
	);
}
