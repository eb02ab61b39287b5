import type { AssignableRole } from '../../../model/grant-condition.js';
import { management } from '../../api.js';

/** Reads the rules for assignments of a resource role, with the condition sets that it declares. */
export async function readAssignableRole(
	resource_id: string,
	role_id: string,
	signal: AbortSignal,
): Promise<AssignableRole> {
	const role = await management.get('/v2/schema/{proj_id}/{env_id}/resources/{resource_id}/roles/{role_id}', {
		path: { resource_id, role_id },
		signal,
	});
	const conditions = await Promise.all(
		(role.grant_conditions ?? []).map((condition_set_id) =>
			management.get('/v2/schema/{proj_id}/{env_id}/condition_sets/{condition_set_id}', {
				path: { condition_set_id },
				signal,
			}),
		),
	);
	return {
		resource: role.resource,
		key: role.key,
		isPublic: role.public === true,
		grantableTo: role.grantable_to ?? [],
		conditions: conditions.map(({ key, name, parameters = {} }) => ({ key, name, parameters })),
	};
}
