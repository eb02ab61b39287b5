import { archive } from '../../../compiler/opa/archive.js';
import { notFound } from '../../failure.js';
import { methods, Raw, reply } from '../../http/endpoint.js';
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

const archiveType = 'application/x-tar';

export const RevisionPath = EnvironmentPath.extend({
	revision: Reference.meta({ description: 'A whole number.', example: '12' }),
});

/** Past environment policies, for `regolith policy` and `regolith diff`. */
export const policies = [
	endpoint({
		...methods({ tag, path: collection, params: EnvironmentPath }).get,
		name: 'listPolicies',
		summary: 'List published policies of an environment, newest first',
		description:
			'Lists one policy per compiled schema revision. Writes in quick succession are compiled together, under the ' +
			`last revision. The newest ${maxRemembered} policies per environment are kept.`,
		access: 'environment.read',
		query: PageQuery,
		returns: { 200: paginated(PolicyRevisionRead) },
		failures: { 404: 'No such project or environment' },
		handle: async ({ query }, { environment, policies: { history } }) => {
			const { data, ...counts } = await history.page(environment.id, query);
			return reply(200, { data: data.map(readPolicyRevision), ...counts });
		},
	}),
	endpoint({
		...methods({ tag, path: `${collection}/:revision`, params: RevisionPath }).get,
		name: 'getPolicyAtRevision',
		summary: 'Get the active policy at a revision',
		description:
			'`files` is a folder for `opa`, sorted by path: the Rego, the schema tables (`regolith/schema/data.json`) and ' +
			'the generated tests (`regolith/schema_test.rego`). Accepts any environment revision and returns the newest ' +
			'policy published up to that revision, with its `schema_revision`.',
		access: 'environment.read',
		returns: { 200: PolicyOfRevision },
		failures: { 404: 'No such project, environment or revision, or the policy is no longer stored' },
		handle: async ({ params }, { environment, policies: { history } }) => {
			const past = await policyAt(environment, params.revision, history);
			return reply(200, { ...readPolicyRevision(past), files: sortByPath(past.files) });
		},
	}),
	endpoint({
		...methods({ tag, path: `${collection}/:revision/archive`, params: RevisionPath }).get,
		name: 'getPolicyArchive',
		summary: 'Get the active policy at a revision as an archive',
		description:
			'Returns the `files` of the policy as a tar file, a folder for `opa`. Equal policies give equal bytes.',
		access: 'environment.read',
		returns: { 200: null },
		answerTypes: { 200: archiveType },
		failures: { 404: 'No such project, environment or revision, or the policy is no longer stored' },
		handle: async ({ params }, { environment, policies: { history } }) => {
			const { files } = await policyAt(environment, params.revision, history);
			const tar = await archive(files.map(({ path, text }) => ({ path, content: text })));
			return new Raw(200, { 'content-type': archiveType }, tar);
		},
	}),
	endpoint({
		...methods({ tag, path: `${collection}/:revision/tests`, params: RevisionPath }).get,
		name: 'testPolicyAtRevision',
		summary: 'Run the generated policy tests at a revision',
		description:
			'Runs `opa test` on the files of the active policy at the revision, like `regolith test`. Lists at most ' +
			`${maxListedTests} tests, failed tests first, then by name. Results are cached for a while. Tests one policy ` +
			'at a time; a few more requests can wait.',
		access: 'environment.read',
		returns: { 200: PolicyTestResults },
		failures: {
			404: 'No such project, environment or revision, or the policy is no longer stored',
			429: 'Too many policies are queued for testing',
			503: 'The tests exceeded the time limit or could not run',
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
	const wanted = readRevision(reference, revision);
	const past = wanted === null ? null : await history.at(id, wanted);
	if (past === null) throw notFound('Policy of revision', reference);
	return past;
}

/** Returns the revision in a path; `null` if it is not a number, or greater than the newest revision. */
export function readRevision(reference: string, newest: number): number | null {
	return /^\d{1,15}$/.test(reference) && Number(reference) <= newest ? Number(reference) : null;
}

function readPolicyRevision({ schema_revision, digest, published_at }: LivePolicy): Listed {
	return { schema_revision, hash: digest, published_at };
}

function sortByPath<F extends { readonly path: string }>(files: readonly F[]): F[] {
	return [...files].sort((left, right) => (left.path < right.path ? -1 : 1));
}
