import type { components } from '#management-api';
import { ApiFailure } from '../../../model/api-failure.js';
import type { LoggedRecord } from '../../../model/change/logged-change.js';
import { withChange } from '../../../model/draft/draft.js';
import { neededTenants, needsResources, undoChanges } from '../../../model/draft/undo-changes.js';
import { answered, management } from '../../api.js';
import { currentDraft, editDraft } from '../../current-draft.js';
import { environmentPath } from '../../session.js';

type Change = components['schemas']['ChangeRead'];

/**
 * Puts the reverse of changes into the draft, and says what it did. `whole` says that these are all changes of their
 * revision. Throws when nothing of it can be undone.
 */
export async function draftUndo(changes: readonly Change[], whole: boolean): Promise<string> {
	const [resources, tenants] = await Promise.all([
		needsResources(changes) ? readResources() : {},
		readTenants(neededTenants(changes)),
	]);
	const undo = undoChanges(changes, { resources, tenants, now: Date.now(), whole });
	if (undo.changes.length === 0) throw new Error('This cannot be undone: what it needs is not there any more.');
	// The reverse is the object as it was before the oldest of them: the server names what was changed after that.
	const seen = Math.min(...changes.map(({ revision }) => revision));
	editDraft(seen, (draft) => undo.changes.reduce(withChange, draft));
	const done =
		undo.changes.length === 1 ? 'The reverse is in the draft.' : `${undo.changes.length} changes are in the draft.`;
	return undo.left.length === 0
		? done
		: `${done} ${undo.left.length} cannot be undone by a draft, and are left as they are.`;
}

/** The resources as they are, or as they are drafted. */
async function readResources(): Promise<Readonly<Record<string, LoggedRecord>>> {
	const document = await answered(
		management.GET('/v2/projects/{proj_id}/envs/{env_id}/export', {
			params: { path: environmentPath(), query: { half: 'schema' } },
		}),
	);
	const drafted = (currentDraft.value?.changes ?? []).flatMap(({ kind, key, operation, value }) =>
		kind === 'resource' && key !== undefined && operation !== 'delete' ? [[key, value as LoggedRecord] as const] : [],
	);
	return { ...document.schema?.resources, ...Object.fromEntries(drafted) };
}

/** The keys of tenants, by id, without those that are gone. */
async function readTenants(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
	const found = await Promise.all(ids.map(async (id) => [id, await readTenantKey(id)] as const));
	return new Map(found.flatMap(([id, key]) => (key === null ? [] : [[id, key] as const])));
}

async function readTenantKey(tenant_id: string): Promise<string | null> {
	try {
		const path = { ...environmentPath(), tenant_id };
		return (await answered(management.GET('/v2/facts/{proj_id}/{env_id}/tenants/{tenant_id}', { params: { path } })))
			.key;
	} catch (error) {
		if (error instanceof ApiFailure && error.status === 404) return null;
		throw error;
	}
}
