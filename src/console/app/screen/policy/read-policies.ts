import { answered, management } from '../../api.js';
import { environmentPath } from '../../session.js';

/** Reads a page of the policies that were published, the newest first. */
export function readPolicies(page: number, signal: AbortSignal) {
	return answered(
		management.GET('/v2/projects/{proj_id}/envs/{env_id}/policies', {
			params: { path: environmentPath(), query: { page, per_page: 30 } },
			signal,
		}),
	);
}

/** Reads the policy that was in force at a revision, with its files. */
export function readPolicy(revision: string, signal: AbortSignal) {
	return answered(
		management.GET('/v2/projects/{proj_id}/envs/{env_id}/policies/{revision}', {
			params: { path: { ...environmentPath(), revision } },
			signal,
		}),
	);
}

/** Has the policy that was in force at a revision tested, and reads how its tests came out. */
export function readTests(revision: string, signal: AbortSignal) {
	return answered(
		management.GET('/v2/projects/{proj_id}/envs/{env_id}/policies/{revision}/tests', {
			params: { path: { ...environmentPath(), revision } },
			signal,
		}),
	);
}
