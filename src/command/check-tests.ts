import { CheckTestResults } from '../wire/general/check-test-run.js';
import { readDraft } from './read-draft.js';
import { askFor, path } from './server.js';
import type { Session } from './session.js';
import { visible } from './terminal.js';

/** Response timeout in milliseconds. It is long because other requests may be ahead in the queue. */
const timeout = 600_000;

/** Runs the check tests of an environment, with the changes in a draft file if there is one. */
export async function runCheckTests(session: Session, draftFile?: string): Promise<CheckTestResults> {
	const { project, environment } = await session.place();
	const at = path`/v2/projects/${project}/envs/${environment}/check_tests/run`;
	// Send the draft as text so its numbers keep their exact form.
	const body = new TextEncoder().encode(draftFile === undefined ? '{}' : `{"draft":${readDraft(draftFile)}}`);
	return (await askFor(session.api, at, CheckTestResults, { method: 'POST', body, timeout })).body;
}

/** Returns failed check tests, the counts and, if requested, the coverage. */
export function checkTestText({ tests, passed, failed, truncated, coverage }: CheckTestResults, all?: true): string {
	if (tests.length === 0 && !all) return '';
	const failures = tests
		.filter((test) => !test.passed)
		.map(({ key, check: { user, action, resource }, expected, result }) => {
			const instance = resource.key === undefined ? resource.type : `${resource.type}:${resource.key}`;
			const check = `${user.key} ${action} ${instance} in ${resource.tenant ?? 'default'}`;
			return visible(`FAIL  ${key}  ${check}: expected ${expected}, got ${result.code}`);
		});
	const { permissions, derivations, set_rules } = coverage;
	const lists = {
		'No test checks the permission': permissions.first,
		'No test covers the derivation': derivations.first.map(
			({ role, relation, from }) => `${role} from ${from} by ${relation}`,
		),
		'No test covers the rule': set_rules.first.map(
			({ user_set, permission, resource_set }) => `${user_set} ${permission} ${resource_set}`,
		),
	};
	const uncovered = Object.entries(lists).flatMap(([title, names]) => names.map((name) => visible(`${title} ${name}`)));
	const share = ({ total, uncovered }: { total: number; uncovered: number }) => `${total - uncovered} of ${total}`;
	return [
		...failures,
		`${passed} of ${passed + failed} check tests pass${truncated ? '; the environment exceeds the per-run limit' : ''}`,
		`covered: ${share(permissions)} permissions, ${share(derivations)} derivations, ${share(set_rules)} rules`,
		...(all ? uncovered : []),
		'',
	].join('\n');
}
