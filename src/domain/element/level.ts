import { Failure } from '../../failure.js';
import { heldLevels } from '../../store/table/elements-config.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { configuredLevels, type PermissionLevel } from '../../wire/element/elements-config.js';

/** Who acts in an element: a user, in one tenant. Ids. */
export interface ActingUser {
	readonly user_id: string;
	readonly tenant_id: string;
}

/** The levels of an actor in one element. */
export interface ActorLevels {
	/** By the roles in the tenant. */
	readonly inTenant: PermissionLevel;
	/** By the roles in the tenant and those on an instance: the better one counts. */
	onInstance(instanceId: string | null): PermissionLevel;
	/** The instances on which a role has this level by itself. */
	instancesAt(level: PermissionLevel): readonly string[];
}

/**
 * The levels of an actor in an element. The best level of any role counts; `UNCONFIGURED` where no role of the actor has
 * a level (contract: Levels).
 */
export async function actorLevels(unit: ReadingUnit, configId: string, actor: ActingUser): Promise<ActorLevels> {
	const held = (await heldLevels(unit, actor)).filter(({ config_id }) => config_id === configId);
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

/**
 * Refuses a user whose roles have levels in elements, but none better than `HIDDEN`. Throws `hidden_user` (contract:
 * Levels).
 */
export async function refuseHiddenUser(unit: ReadingUnit, actor: ActingUser): Promise<void> {
	const levels = await heldLevels(unit, actor);
	if (levels.length === 0 || levels.some(({ level }) => level !== 'HIDDEN')) return;
	throw new Failure('hidden_user', 'Invalid user permission level', { code: 'INVALID_PERMISSION_LEVEL' });
}
