import { management } from '../../../api.js';
import type { Choice } from '../../../part/field/combobox.js';

const per_page = 10;

/** Suggests groups as `<resource>:<key>`. Rejects if the server cannot be reached. */
export async function proposeGroups(text: string, signal: AbortSignal): Promise<readonly Choice[]> {
	const query = { per_page, ...(text !== '' && { search: [text] }) };
	const { data } = await management.get('/v2/schema/{proj_id}/{env_id}/groups/direct', { query, signal });
	return data.map(({ group_resource_type_key, group_instance_key, group_tenant }) => ({
		value: `${group_resource_type_key}:${group_instance_key}`,
		note: `in ${group_tenant}`,
	}));
}
