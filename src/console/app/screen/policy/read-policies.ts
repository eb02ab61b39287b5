import { management } from '../../api.js';

/** Reads a page of published policies, newest first. */
export function readPolicies(page: number, signal: AbortSignal) {
	return management.get('/v2/projects/{proj_id}/envs/{env_id}/policies', { query: { page, per_page: 30 }, signal });
}

/** Reads the policy that was active at a revision, with its files. */
export function readPolicy(revision: string, signal: AbortSignal) {
	return management.get('/v2/projects/{proj_id}/envs/{env_id}/policies/{revision}', { path: { revision }, signal });
}

/** Runs the tests of the policy that was active at a revision, and reads the results. */
export function readTests(revision: string, signal: AbortSignal) {
	return management.get('/v2/projects/{proj_id}/envs/{env_id}/policies/{revision}/tests', {
		path: { revision },
		signal,
	});
}
