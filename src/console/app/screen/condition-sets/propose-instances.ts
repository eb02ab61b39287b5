import { answered, management } from '../../api.js';
import type { Choice } from '../../part/combobox.js';
import { environmentPath } from '../../session.js';

/** Instances that the server proposes for what was typed, as `<resource key>:<instance key>`. Rejects when it cannot be asked. */
export async function proposeInstances(text: string, signal: AbortSignal): Promise<readonly Choice[]> {
	const key = text.split(':').at(-1) ?? '';
	const query = { per_page: 10, ...(key !== '' && { search: [key] }) };
	const found = await answered(
		management.GET('/v2/facts/{proj_id}/{env_id}/resource_instances', {
			params: { path: environmentPath(), query },
			signal,
		}),
	);
	const instances = Array.isArray(found) ? found : found.data;
	return instances.map(({ key: own, resource }) => ({ value: `${resource}:${own}` }));
}
