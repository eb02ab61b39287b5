import { answered, management } from '../../api.js';
import type { Choice } from '../../part/field/combobox.js';
import { environmentPath } from '../../session.js';

/** Suggestions from the server for directory fields. All functions reject if the server cannot be reached. */

const per_page = 10;

/** Suggests groups as `<resource>:<key>`. */
export async function proposeGroups(text: string, signal: AbortSignal): Promise<readonly Choice[]> {
	const query = { per_page, ...(text !== '' && { search: [text] }) };
	const { data } = await answered(
		management.GET('/v2/schema/{proj_id}/{env_id}/groups/direct', {
			params: { path: environmentPath(), query },
			signal,
		}),
	);
	return data.map(({ group_resource_type_key, group_instance_key, group_tenant }) => ({
		value: `${group_resource_type_key}:${group_instance_key}`,
		note: `in ${group_tenant}`,
	}));
}

/**
 * Suggests tenant roles, or the roles of an instance's resource. The instance is `<resource>:<key>`; an incomplete
 * instance has no suggestions.
 */
export function proposeRoles(instance: string | null) {
	return async (text: string, signal: AbortSignal): Promise<readonly Choice[]> => {
		if (instance === null) {
			const found = await answered(
				management.GET('/v2/schema/{proj_id}/{env_id}/roles', {
					params: { path: environmentPath(), query: sought(text) },
					signal,
				}),
			);
			return named(Array.isArray(found) ? found : found.data);
		}
		const [resource_id = '', key = ''] = instance.split(':');
		if (resource_id === '' || key === '') return [];
		const found = await answered(
			management.GET('/v2/schema/{proj_id}/{env_id}/resources/{resource_id}/roles', {
				params: { path: { ...environmentPath(), resource_id }, query: sought(text) },
				signal,
			}),
		);
		return named(found);
	};
}

/** Suggests relations in which this resource's instances can be the object. */
export function proposeRelations(resource_id: string) {
	return async (text: string, signal: AbortSignal): Promise<readonly Choice[]> => {
		const path = { ...environmentPath(), resource_id };
		const { data } = await answered(
			management.GET('/v2/schema/{proj_id}/{env_id}/resources/{resource_id}/relations', {
				params: { path, query: sought(text) },
				signal,
			}),
		);
		return data.map(({ key, subject_resource }) => ({ value: key, note: `of ${subject_resource}` }));
	};
}

function sought(text: string) {
	return { per_page, ...(text !== '' && { search: text }) };
}

function named(found: readonly { readonly key: string; readonly name: string }[]): readonly Choice[] {
	return found.map(({ key, name }) => ({ value: key, note: name === key ? null : name }));
}
