import { chainFacts, readDerivations, type TestFacts, writeOpaTest } from '../../../model/check/opa-test.js';
import { answered, management } from '../../api.js';
import { environmentPath, openSession } from '../../session.js';
import type { CheckAnswer } from './ask-check.js';
import { gatherFacts } from './gather-facts.js';

/** Returns a test that asserts this answer. Throws `ApiFailure`. */
export async function readTest(answer: CheckAnswer, signal: AbortSignal): Promise<string> {
	const { check, allow, debug, revision, policyRevision } = answer;
	const path = { ...environmentPath(), revision: String(policyRevision ?? revision) };
	const [{ files }, { facts, truncated }] = await Promise.all([
		answered(management.GET('/v2/projects/{proj_id}/envs/{env_id}/policies/{revision}', { params: { path }, signal })),
		gatherFacts(check, debug, signal),
	]);
	const [first] = debug.attempts ?? [];
	const chain = first === undefined || !allow ? null : chainFacts(first, check);
	const attributes = {
		tenant: facts.tenant,
		userAttributes: facts.userAttributes,
		instanceAttributes: facts.instanceAttributes,
	};
	const chosen: TestFacts = chain === null ? facts : { ...chain, ...attributes };
	const { project, environment } = openSession();
	const about =
		chain === null ? 'the roles of the user and the paths to the instance' : 'the facts that allow the check';
	const notes = [
		`${allow ? 'Allowed' : 'Denied'} in ${project.key}/${environment.key} at revision ${revision}.`,
		`The facts are ${about}.`,
		...(chain === null && truncated ? ['The list of facts is incomplete.'] : []),
	];
	return writeOpaTest({ check, allow, facts: chosen, derivations: readDerivations(files), notes });
}
