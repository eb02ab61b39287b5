import { answered, management } from '../../api.js';
import { environmentPath } from '../../session.js';

/** Reads a page of published policies, newest first. */
export function readPolicies(page: number, signal: AbortSignal) {
	return answered(
		management.GET('/v2/projects/{proj_id}/envs/{env_id}/policies', {
			params: { path: environmentPath(), query: { page, per_page: 30 } },
			signal,
		}),
	);
}

/** Reads the policy that was active at a revision, with its files. */
export function readPolicy(revision: string, signal: AbortSignal) {
	return answered(
		management.GET('/v2/projects/{proj_id}/envs/{env_id}/policies/{revision}', {
			params: { path: { ...environmentPath(), revision } },
			signal,
		}),
	);
}

/** Runs the tests of the policy that was active at a revision, and reads the results. */
export function readTests(revision: string, signal: AbortSignal) {
	return answered(
		management.GET('/v2/projects/{proj_id}/envs/{env_id}/policies/{revision}/tests', {
			params: { path: { ...environmentPath(), revision } },
			signal,
		}),
	);
}
