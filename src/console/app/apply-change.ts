import type { DraftChange } from '../model/draft/draft.js';
import { answered, management } from './api.js';
import { environmentPath } from './session.js';

/** Makes a single change immediately, as a draft based on a revision. Throws `ApiFailure`. */
export async function applyChange(base_revision: number, change: DraftChange): Promise<void> {
	await answered(
		management.POST('/v2/projects/{proj_id}/envs/{env_id}/drafts/apply', {
			params: { path: environmentPath() },
			// The server validates the draft.
			body: { base_revision, changes: [change] } as never,
		}),
	);
}
