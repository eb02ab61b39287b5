import { hidePath } from '../../domain/element/config.js';
import { Failure, notFound } from '../../failure.js';
import { reply } from '../../http/endpoint.js';
import { type AttributedChange, historyBytes, historyLength, readHistory } from '../../store/history/history.js';
import { isUndoable, undoChanges } from '../../transfer/undo-changes.js';
import { ChangePage, ChangeQuery, type ChangeRead } from '../../wire/general/change.js';
import { maxDraftChanges, Undo, UndoRequest } from '../../wire/general/draft.js';
import { EnvironmentPath, endpoint, mayWrite } from '../access.js';
import { RevisionPath, readRevision } from './policies.js';

/** Maximum size of the records of the undone changes as JSON, in bytes. */
const maxUndoBytes = 8 * 1024 * 1024;

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
		handle: async ({ query }, { environment, unit, caller, clock }) => {
			const { page, per_page, ...filter } = query;
			const revision_to = Math.min(filter.revision_to ?? environment.revision, environment.revision);
			const found = await readHistory(unit, { ...filter, revision_to }, { page, per_page });
			return reply(200, {
				...found,
				data: found.data.map((change) => readChange(change, mayWrite(caller), clock.now())),
				revision: environment.revision,
			});
		},
	}),
	endpoint({
		name: 'undoChanges',
		summary: 'Write a draft that undoes the changes of a revision',
		description:
			`Returns draft changes that reverse the changes of a revision with at most ${maxDraftChanges} changes, or one ` +
			'of these changes. Nothing changes, and read-only access is enough. Apply the draft with `POST ' +
			'…/drafts/apply`, which rejects it if an object has changed again. `left` lists the changes that a ' +
			'draft cannot undo, such as ' +
			'settings, expired grants, and objects of a deleted tenant or resource.',
		tag: 'Drafts',
		method: 'post',
		path: '/v2/projects/:proj_id/envs/:env_id/changes/:revision/undo',
		access: 'environment.read',
		params: RevisionPath,
		body: UndoRequest,
		example: { position: 0 },
		returns: { 200: Undo },
		failures: {
			404: 'No such project, environment, revision or position',
			409: 'There are too many changes, they are too large, or a draft cannot undo any of them',
		},
		handle: async ({ params, body: { position, changes: drafted = [] } }, { environment, unit, clock }) => {
			const revision = readRevision(params.revision, environment.revision) ?? -1;
			const filter = { revision_from: revision, revision_to: revision, position };
			const length = await historyLength(unit, filter);
			if (length === 0) {
				throw notFound(
					'Change of revision',
					position === undefined ? params.revision : `${params.revision}, position ${position}`,
				);
			}
			if (length > maxDraftChanges) {
				throw new Failure('conflict', `revision ${revision} has more than ${maxDraftChanges} changes`);
			}
			// Such a draft would exceed the body limit of `drafts/apply`, and writing it would delay other requests.
			if ((await historyBytes(unit, filter)) > maxUndoBytes) {
				throw new Failure('conflict', `the changes of revision ${revision} are larger than ${maxUndoBytes} bytes`);
			}
			const { data } = await readHistory(unit, filter, { page: 1, per_page: maxDraftChanges });
			const { changes, left } = await undoChanges(unit, data, {
				drafted,
				whole: position === undefined,
				now: clock.now(),
			});
			if (changes.length === 0)
				throw new Failure('conflict', `a draft cannot undo the changes of revision ${revision}`);
			return reply(200, { base_revision: revision, changes, left: [...left] });
		},
	}),
];

function readChange(
	{ actor_id, actor_name, before, after, ...logged }: AttributedChange,
	withAddresses: boolean,
	now: Date,
): ChangeRead {
	const change = { ...logged, undoable: isUndoable({ ...logged, before, after }, now) };
	const actor = actor_id === null ? null : { id: actor_id, name: actor_name };
	return { ...(withAddresses ? { ...change, before, after } : withoutAddresses({ ...change, before, after })), actor };
}

/** Hides webhook URLs in a change from read-only keys, because a URL may contain a secret. */
export function withoutAddresses<C extends Pick<AttributedChange, 'before' | 'after'>>(change: C): C {
	return { ...change, before: withoutAddress(change.before), after: withoutAddress(change.after) };
}

function withoutAddress(record: AttributedChange['before']): AttributedChange['before'] {
	const url = record?.['webhook_url'];
	return typeof url === 'string' ? { ...record, webhook_url: hidePath(url) } : record;
}
