import { Failure, forbidden, notFound, unprocessable } from '../../failure.js';
import { ElementsConfig, levelRows } from '../../store/table/elements-config.js';
import type { InstanceRow } from '../../store/table/resource-instance.js';
import { Role, tenantRolesOnly } from '../../store/table/role.js';
import { Tenant } from '../../store/table/tenant.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { PermissionLevel } from '../../wire/element/elements-config.js';
import { type ActingUser, type ActorLevels, actorLevels } from './level.js';
import { findOwnInstance } from './request-target.js';
import { findElementRoles, roleSeparator } from './role.js';
import { resourceSetting } from './setting.js';

/** Who may do what in elements where users manage users (contract: Levels). */

/** An element that an actor sees: in a tenant, or on one instance in it. */
export interface OpenedElement {
	readonly config: ElementsConfig;
	readonly actor: ActingUser;
	readonly tenant: Tenant;
	/** `null` for the tenant as a whole. */
	readonly instance: InstanceRow | null;
	/** Of the actor, there: `LEVEL_1`, `LEVEL_2` or `LEVEL_3`. */
	readonly level: PermissionLevel;
}

/** An element in which an actor manages users, or at least sees them. */
export interface UserManagement extends OpenedElement {
	/** The level of each role that has one, by id. */
	readonly levelsOfRoles: ReadonlyMap<string, PermissionLevel>;
}

/** The levels that see an element, from the highest. */
const seeing = ['LEVEL_1', 'LEVEL_2', 'LEVEL_3'] as const satisfies readonly PermissionLevel[];
/** The levels of the roles that a manager gives and takes. */
const managed: readonly PermissionLevel[] = ['LEVEL_2', 'LEVEL_3', 'LEVEL_4'];
/** The levels of the roles that an element shows to users who do not own it. */
const shown: readonly PermissionLevel[] = ['LEVEL_1', ...managed];

/**
 * Opens an element for an actor: in their tenant, or on the instance there that `named` names. For an actor who does not
 * see it, the element is missing. Throws `not_found` for an unknown element or instance, and `unprocessable` where an
 * instance has to be named, because the settings of the element name a resource.
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

/** As `openElement`, for an element of user management. Throws `invalid` for one of another type. */
export async function openUserManagement(
	unit: ReadingUnit,
	reference: string,
	actor: ActingUser,
	named: string | undefined,
): Promise<UserManagement> {
	const opened = await openElement(unit, reference, actor, named);
	const { key, id, elements_type } = opened.config;
	if (elements_type !== 'user_management') {
		throw new Failure('invalid', `the element \`${key}\` is of the type \`${elements_type}\`, not \`user_management\``);
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
	// Before anything is looked up, so that who sees nothing learns nothing of what there is.
	if (!seesAny) throw unseen(config);
	if (named !== undefined) {
		return findOwnInstance(unit, actor, resource === undefined ? undefined : String(resource), named);
	}
	if (resource === undefined) return null;
	const msg = `is required: the element \`${config.key}\` is about instances of the resource \`${resource}\``;
	throw unprocessable([{ loc: ['query', 'resource_instance_id'], msg, type: 'missing' }]);
}

function sees(level: PermissionLevel): boolean {
	return seeing.some((one) => one === level);
}

function unseen({ key }: ElementsConfig): Failure {
	return notFound(ElementsConfig.title, key);
}

/** Refuses an actor who only views. Throws `forbidden`. */
export function requireManager({ level }: UserManagement): void {
	if (level === 'LEVEL_3') throw forbidden('only owners and managers of this element change its users');
}

/** The level of a role in the element. */
export function levelOfRole({ levelsOfRoles }: UserManagement, { id }: Pick<Role, 'id'>): PermissionLevel {
	return levelsOfRoles.get(id) ?? 'UNCONFIGURED';
}

/** Refuses a role that the actor may neither give nor take. Throws `forbidden`. */
export function requireManagedRole(management: UserManagement, role: Role): void {
	requireManager(management);
	if (management.level === 'LEVEL_1' || managed.includes(levelOfRole(management, role))) return;
	throw forbidden(`managers give and take roles of the levels 2 to 4; \`${role.key}\` is not one of them`);
}

/** The levels of the roles that the actor is shown; `null` for all. */
export function shownLevels({ level }: UserManagement): readonly PermissionLevel[] | null {
	return level === 'LEVEL_1' ? null : shown;
}

/**
 * Refuses to take a user out, or to take a role from them, when they are an owner and the actor is not. Taking somebody
 * out of a tenant takes the roles on its instances too, so an owner of any of those is one as well. Throws `forbidden`.
 */
export async function refuseOwner(
	unit: ReadingUnit,
	{ config, tenant, instance, level }: UserManagement,
	user: { readonly id: string },
): Promise<void> {
	if (level === 'LEVEL_1') return;
	const levels = await actorLevels(unit, config.id, { user_id: user.id, tenant_id: tenant.id });
	const owns = instance === null && levels.instancesAt('LEVEL_1').length > 0;
	if (!owns && levels.onInstance(instance?.id ?? null) !== 'LEVEL_1') return;
	throw forbidden('only owners take out an owner or take a role from one');
}

/**
 * The role that a reference names, among those that can be held where users are managed: an id, a key, or
 * `<resource>#<role>`. Throws `not_found`.
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
