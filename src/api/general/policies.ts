import { notFound } from '../../failure.js';
import { reply } from '../../http/endpoint.js';
import { maxRemembered, type PastPolicy, type PolicyHistory } from '../../store/policy/policy-history.js';
import type { LivePolicy } from '../../store/policy/publications.js';
import type { Environment } from '../../store/table/account.js';
import { Reference } from '../../wire/common.js';
import {
	type PolicyRevisionRead as Listed,
	maxListedTests,
	PolicyOfRevision,
	PolicyRevisionRead,
	PolicyTestResults,
} from '../../wire/general/policy.js';
import { paginated } from '../../wire/list.js';
import { PageQuery } from '../../wire/query.js';
import { EnvironmentPath, endpoint } from '../access.js';

const tag = 'Policies';
const collection = '/v2/projects/:proj_id/envs/:env_id/policies';

const RevisionPath = EnvironmentPath.extend({
	revision: Reference.meta({ description: 'A whole number.', example: '12' }),
});

/** Past environment policies, for `regolith policy` and `regolith diff`. */
export const policies = [
	endpoint({
		name: 'listPolicies',
		summary: 'The policies that were published for an environment; the newest first',
		description:
			'One for each revision of the schema that was compiled: of several writes within moments, the last. Kept are ' +
			`the newest ${maxRemembered} of an environment.`,
		tag,
		method: 'get',
		path: collection,
		access: 'environment.read',
		params: EnvironmentPath,
		query: PageQuery,
		returns: { 200: paginated(PolicyRevisionRead) },
		failures: { 404: 'No such project or environment' },
		handle: async ({ query }, { environment, policies: { history } }) => {
			const { data, ...counts } = await history.page(environment.id, query);
			return reply(200, { data: data.map(readPolicyRevision), ...counts });
		},
	}),
	endpoint({
		name: 'getPolicyAtRevision',
		summary: 'The policy that was in force at a revision of an environment',
		description:
			'`files` are a folder for `opa`: the Rego, the tables of the schema (`regolith/schema/data.json`) and the ' +
			'generated tests (`regolith/schema_test.rego`), sorted by path. The revision may be any of the environment: the ' +
			'policy is that of `schema_revision`, the newest published one up to there.',
		tag,
		method: 'get',
		path: `${collection}/:revision`,
		access: 'environment.read',
		params: RevisionPath,
		returns: { 200: PolicyOfRevision },
		failures: { 404: 'No such project, environment or revision, or its policy is no longer kept' },
		handle: async ({ params }, { environment, policies: { history } }) => {
			const past = await policyAt(environment, params.revision, history);
			return reply(200, { ...readPolicyRevision(past), files: sortByPath(past.files) });
		},
	}),
	endpoint({
		name: 'testPolicyAtRevision',
		summary: 'How the generated tests of the policy at a revision come out',
		description:
			'Runs `opa test` on the files of the policy that was in force at the revision, as `regolith test` does. Failed ' +
			`tests are listed first, then by name, ${maxListedTests} at most. Results are remembered for a while. One policy ` +
			'is tested at a time; few others wait.',
		tag,
		method: 'get',
		path: `${collection}/:revision/tests`,
		access: 'environment.read',
		params: RevisionPath,
		returns: { 200: PolicyTestResults },
		failures: {
			404: 'No such project, environment or revision, or its policy is no longer kept',
			429: 'Other policies wait to be tested already',
			503: 'The tests took too long, or could not be run',
		},
		handle: async ({ params }, { environment, policies: { history }, policyTests }) => {
			const { schema_revision, digest, files } = await policyAt(environment, params.revision, history);
			const { tests, ...counts } = await policyTests.test(environment.id, files);
			return reply(200, { schema_revision, hash: digest, ...counts, tests: [...tests] });
		},
	}),
];

/** Returns the policy that was active at a revision. Throws `not_found`. */
async function policyAt({ id, revision }: Environment, reference: string, history: PolicyHistory): Promise<PastPolicy> {
	const wanted = /^\d{1,15}$/.test(reference) ? Number(reference) : null;
	const past = wanted === null || wanted > revision ? null : await history.at(id, wanted);
	if (past === null) throw notFound('Policy of revision', reference);
	return past;
}

function readPolicyRevision({ schema_revision, digest, published_at }: LivePolicy): Listed {
	return { schema_revision, hash: digest, published_at };
}

function sortByPath<F extends { readonly path: string }>(files: readonly F[]): F[] {
	return [...files].sort((left, right) => (left.path < right.path ? -1 : 1));
}
