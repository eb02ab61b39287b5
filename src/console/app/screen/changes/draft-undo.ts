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
 * Adds the reverse of these changes to the draft and returns a summary. `whole` means that the list contains all
 * changes of its revision. Throws if nothing can be undone.
 */
export async function draftUndo(changes: readonly Change[], whole: boolean): Promise<string> {
	const [resources, tenants] = await Promise.all([
		needsResources(changes) ? readResources() : {},
		readTenants(neededTenants(changes)),
	]);
	const undo = undoChanges(changes, { resources, tenants, now: Date.now(), whole });
	if (undo.changes.length === 0) throw new Error('This cannot be undone because related objects no longer exist.');
	// The reverse restores the object to its state before the oldest change. The server reports any later change as a
	// conflict.
	const seen = Math.min(...changes.map(({ revision }) => revision));
	editDraft(seen, (draft) => undo.changes.reduce(withChange, draft));
	const done =
		undo.changes.length === 1 ? 'Undo added to the draft.' : `${undo.changes.length} changes added to the draft.`;
	return undo.left.length === 0 ? done : `${done} ${undo.left.length} changes cannot be undone by a draft.`;
}

/** Reads the resources and applies the draft's changes to them. */
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

/** Returns tenant keys, keyed by id. Deleted tenants are omitted. */
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
