import { Failure } from '../../failure.js';
import { heldLevels } from '../../store/table/element/elements-config.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { configuredLevels, type PermissionLevel } from '../../wire/element/elements-config.js';

/** A user acting in an element and a tenant, identified by ids. */
export interface ActingUser {
	readonly user_id: string;
	readonly tenant_id: string;
}

/** An actor's levels in an element. */
export interface ActorLevels {
	/** The level from the roles in the tenant. */
	readonly inTenant: PermissionLevel;
	/** Returns the best level from the roles in the tenant and on the instance. */
	onInstance(instanceId: string | null): PermissionLevel;
	/** Returns the instances on which an assigned role has this level. */
	instancesAt(level: PermissionLevel): readonly string[];
}

/**
 * Returns an actor's levels in an element. The best level among all roles applies; it is `UNCONFIGURED` if no role has
 * a level. Conditional assignments count only if `conditional` is set.
 */
export async function actorLevels(
	unit: ReadingUnit,
	configId: string,
	actor: ActingUser,
	{ conditional = false } = {},
): Promise<ActorLevels> {
	const held = (await heldLevels(unit, actor, { conditional })).filter(({ config_id }) => config_id === configId);
	const best = (instanceId: string | null) =>
		configuredLevels.find((level) =>
			held.some(
				(row) => row.level === level && (row.resource_instance_id === null || row.resource_instance_id === instanceId),
			),
		) ?? 'UNCONFIGURED';
	return {
		inTenant: best(null),
		onInstance: best,
		instancesAt: (level) => held.flatMap((row) => (row.level === level ? (row.resource_instance_id ?? []) : [])),
	};
}

/** Rejects a user whose roles have levels in elements, if no level is better than `HIDDEN`. Throws `hidden_user`. */
export async function refuseHiddenUser(unit: ReadingUnit, actor: ActingUser): Promise<void> {
	const levels = await heldLevels(unit, actor);
	if (levels.length === 0 || levels.some(({ level }) => level !== 'HIDDEN')) return;
	throw new Failure('hidden_user', 'Invalid user permission level', { code: 'INVALID_PERMISSION_LEVEL' });
}
