import type { DraftChange } from '../model/draft/draft.js';
import { management } from './api.js';

/** Makes a single change immediately, as a draft based on a revision. Throws `ApiFailure`. */
export async function applyChange(base_revision: number, change: DraftChange): Promise<void> {
	await management.post('/v2/projects/{proj_id}/envs/{env_id}/drafts/apply', {
		// The server validates the draft.
		body: { base_revision, changes: [change] } as never,
	});
}
