import type { components } from '#management-api';
import type { Draft } from '../../../model/draft/draft.js';
import { answeredOnce, management } from '../../api.js';

export type TestRun = components['schemas']['CheckTestResults'];

/** Runs the check tests against the published policy, or against a draft. Throws `ApiFailure`. */
export async function runTests(draft: Draft | null, signal: AbortSignal): Promise<TestRun> {
	return answeredOnce(
		management.post('/v2/projects/{proj_id}/envs/{env_id}/check_tests/run', {
			// The server validates the draft.
			body: (draft === null ? {} : { draft }) as never,
			signal,
		}),
	);
}
