import { hidePath } from '../../domain/element/config.js';
import { reply } from '../../http/endpoint.js';
import { type AttributedChange, readHistory } from '../../store/history/history.js';
import { ChangePage, ChangeQuery, type ChangeRead } from '../../wire/general/change.js';
import { EnvironmentPath, endpoint, mayWrite } from '../access.js';

/** Environment change history: every write, from the change log. */
export const changes = [
	endpoint({
		name: 'listChanges',
		summary: 'List changes in an environment with actor, time and revision, newest first',
		description:
			'Lists every write in the environment, without secrets. `search` matches the keys of changed objects. For ' +
			"consistent pages during writes, send the first page's `revision` as `revision_to` with later pages: changes " +
			'up to a revision are immutable.',
		tag: 'Environments',
		method: 'get',
		path: '/v2/projects/:proj_id/envs/:env_id/changes',
		access: 'environment.read',
		params: EnvironmentPath,
		query: ChangeQuery,
		returns: { 200: ChangePage },
		failures: { 404: 'No such project or environment' },
		handle: async ({ query }, { environment, unit, caller }) => {
			const { page, per_page, ...filter } = query;
			const revision_to = Math.min(filter.revision_to ?? environment.revision, environment.revision);
			const found = await readHistory(unit, { ...filter, revision_to }, { page, per_page });
			return reply(200, {
				...found,
				data: found.data.map((change) => readChange(change, mayWrite(caller))),
				revision: environment.revision,
			});
		},
	}),
];

function readChange(
	{ actor_id, actor_name, before, after, ...change }: AttributedChange,
	withAddresses: boolean,
): ChangeRead {
	const actor = actor_id === null ? null : { id: actor_id, name: actor_name };
	return { ...(withAddresses ? { ...change, before, after } : withoutAddresses({ ...change, before, after })), actor };
}

/** Hides webhook addresses in a change from read-only keys, because an address may contain a secret. */
export function withoutAddresses<C extends Pick<AttributedChange, 'before' | 'after'>>(change: C): C {
	return { ...change, before: withoutAddress(change.before), after: withoutAddress(change.after) };
}

function withoutAddress(record: AttributedChange['before']): AttributedChange['before'] {
	const url = record?.['webhook_url'];
	return typeof url === 'string' ? { ...record, webhook_url: hidePath(url) } : record;
}
