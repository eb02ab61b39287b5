import type { GraphMode } from '../../../model/graph-question.js';
import { management } from '../../api.js';
import type { Choice } from '../../part/field/combobox.js';
import { proposeResources, proposeUsers } from '../../propose.js';

const per_page = 6;

/** Suggests start nodes that match a partial key. Rejects if the server cannot be reached. */
export async function proposeNodes(mode: GraphMode, text: string, signal: AbortSignal): Promise<readonly Choice[]> {
	const search = text.slice(text.lastIndexOf(':') + 1);
	if (mode === 'schema') {
		const resources = await proposeResources(search, signal);
		return resources.map(({ value, note }) => ({ value: `resource:${value}`, note }));
	}
	const query = { per_page, ...(search !== '' && { search: [search] }) };
	const [users, found] = await Promise.all([
		proposeUsers(search, signal),
		management.get('/v2/facts/{proj_id}/{env_id}/resource_instances', { query, signal }),
	]);
	const instances = Array.isArray(found) ? found : found.data;
	return [
		...users.slice(0, per_page).map(({ value, note }) => ({ value: `user:${value}`, note })),
		...instances.map(({ resource, key, tenant }) => ({ value: `instance:${resource}:${key}`, note: tenant })),
	];
}
