import type { AssignableRole, GrantSet } from '../../../model/grant-condition.js';
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
	return {
		resource: role.resource,
		key: role.key,
		isPublic: role.public === true,
		grantableTo: role.grantable_to ?? [],
		conditions: await readSets(role.grant_conditions, signal),
	};
}

/** A relation, and the condition sets that it declares. */
export interface RelationConditions {
	readonly key: string;
	readonly conditions: readonly GrantSet[];
}

/** Reads the condition sets that a relation declares. */
export async function readRelationConditions(
	resource_id: string,
	relation_id: string,
	signal: AbortSignal,
): Promise<RelationConditions> {
	const path = '/v2/schema/{proj_id}/{env_id}/resources/{resource_id}/relations/{relation_id}';
	const relation = await management.get(path, { path: { resource_id, relation_id }, signal });
	return { key: relation.key, conditions: await readSets(relation.grant_conditions, signal) };
}

async function readSets(keys: readonly string[] = [], signal: AbortSignal): Promise<readonly GrantSet[]> {
	const sets = await Promise.all(
		keys.map((condition_set_id) =>
			management.get('/v2/schema/{proj_id}/{env_id}/condition_sets/{condition_set_id}', {
				path: { condition_set_id },
				signal,
			}),
		),
	);
	return sets.map(({ key, name, parameters = {} }) => ({ key, name, parameters }));
}
