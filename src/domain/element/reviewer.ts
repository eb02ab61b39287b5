import type { ElementRequest } from '../../store/table/element/element-request.js';
import { ElementsConfig } from '../../store/table/element/elements-config.js';
import { Role } from '../../store/table/role.js';
import { assignmentsBy } from '../../store/table/role-assignment.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { type ActingUser, actorLevels } from './level.js';
import { reviewerRole, reviewersSetting } from './setting.js';

/** The requests that an actor reviews: all requests in the tenant, or the requests for which `reviews` returns true. */
export type Reviewed =
	| 'all'
	| { readonly instances: readonly string[]; readonly reviews: (request: ElementRequest) => boolean };

/**
 * Returns the requests that an actor reviews. Owners in the linked user management element review access requests, and
 * users with `_Reviewer_` on the instance review operation approvals. For an approval without an instance, `_Reviewer_`
 * on any instance of the resource in the tenant suffices.
 */
export async function reviewedBy(unit: ReadingUnit, config: ElementsConfig, actor: ActingUser): Promise<Reviewed> {
	return config.elements_type === 'approval_flow' ? reviewedByOwner(unit, config, actor) : reviewedByRole(unit, actor);
}

async function reviewedByOwner(unit: ReadingUnit, config: ElementsConfig, actor: ActingUser): Promise<Reviewed> {
	const linked = config.settings[reviewersSetting];
	const management = linked === undefined ? undefined : await findManagement(unit, String(linked));
	if (management === undefined) return { instances: [], reviews: () => false };
	const levels = await actorLevels(unit, management.id, actor);
	if (levels.inTenant === 'LEVEL_1') return 'all';
	return {
		instances: levels.instancesAt('LEVEL_1'),
		reviews: ({ resource_instance_id }) => levels.onInstance(resource_instance_id) === 'LEVEL_1',
	};
}

async function findManagement(unit: ReadingUnit, reference: string): Promise<ElementsConfig | undefined> {
	const row = (await unit.findMany(ElementsConfig, [reference])).get(reference);
	return row?.elements_type === 'user_management' ? row : undefined;
}

async function reviewedByRole(unit: ReadingUnit, actor: ActingUser): Promise<Reviewed> {
	const held = await assignmentsBy(unit, {
		user_ids: [actor.user_id],
		tenant_ids: [actor.tenant_id],
		on_instances: true,
	}).all();
	// Only checks evaluate assignment conditions.
	const reviewing = held.filter(({ role, condition_set }) => role === reviewerRole && condition_set === null);
	const instances = reviewing.flatMap(({ resource_instance_id }) => resource_instance_id ?? []);
	const rows = await unit.findMany(Role, new Set(reviewing.map(({ role_id }) => role_id)));
	const resources = new Set([...rows.values()].map(({ resource_id }) => resource_id));
	return {
		instances,
		reviews: ({ resource_instance_id, resource_id }) =>
			resource_instance_id === null ? resources.has(resource_id) : instances.includes(resource_instance_id),
	};
}
